#include "pipeline/runtime/key_change.h"

#include <cstring>
#include <set>
#include <vector>

#include "schema/events/change_batch_builder.h"

namespace driftless {
namespace {

size_t FixedWidth(PhysicalKind kind) {
  switch (kind) {
    case PhysicalKind::kFixed8: return 1;
    case PhysicalKind::kFixed16: return 2;
    case PhysicalKind::kFixed32: return 4;
    case PhysicalKind::kFixed64: return 8;
    case PhysicalKind::kFixed128: return 16;
    default: return 0;
  }
}

bool SameValue(PhysicalKind kind, const ColumnView& a, const ColumnView& b, int64_t row) {
  if (a.IsNull(row) || b.IsNull(row)) return a.IsNull(row) == b.IsNull(row);
  if (kind == PhysicalKind::kBit) return a.Bit(row) == b.Bit(row);
  if (kind == PhysicalKind::kVariable) return a.Bytes(row) == b.Bytes(row);
  const size_t width = FixedWidth(kind);
  // Nested types are no keys in any sink.
  if (width == 0) return true;
  const size_t at = static_cast<size_t>(row) * width;
  return std::memcmp(a.values + at, b.values + at, width) == 0;
}

// Indices of the batch's columns that feed the key or the partition of the sink.
std::vector<size_t> KeyColumns(const TableSchema& source, const EvolvedSchema& sink) {
  std::vector<size_t> columns;
  std::set<int> seen;
  const auto add = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const EvolvedColumn* column = sink.FindName(name);
      if (column == nullptr || column->source == 0) continue;
      const int index = source.IndexOf(column->source);
      if (index >= 0 && seen.insert(index).second) columns.push_back(static_cast<size_t>(index));
    }
  };
  add(sink.primary_key);
  add(sink.partition_keys);
  return columns;
}

// A before value that was not sent says nothing: the key is taken as unchanged, as every source
// sends a full before image of the key where it changes.
bool ChangesKey(const ChangeBatch& batch, const std::vector<size_t>& keys, int64_t row) {
  if (batch.ops()[row] != Op::kUpdate || !batch.HasBefore(row)) return false;
  for (const size_t key : keys) {
    const ColumnView& before = batch.before()[key];
    const ColumnView& after = batch.after()[key];
    if (before.IsAbsent(row) || after.IsAbsent(row)) continue;
    const PhysicalKind kind = batch.schema()->columns[key].type.physical();
    if (!SameValue(kind, before, after, row)) return true;
  }
  return false;
}

void CopyValue(const ColumnView& view, PhysicalKind kind, int64_t row, ColumnBuilder* out);

void CopyList(const ColumnView& view, int64_t row, ColumnBuilder* out) {
  ColumnBuilder& elements = out->child(0);
  for (int32_t i = view.offsets[row]; i < view.offsets[row + 1]; ++i) {
    CopyValue(view.children[0], elements.physical(), i, &elements);
  }
  out->CloseList();
}

void CopyValue(const ColumnView& view, PhysicalKind kind, int64_t row, ColumnBuilder* out) {
  if (view.IsAbsent(row)) return out->AppendAbsent();
  if (view.IsNull(row)) return out->AppendNull();
  switch (kind) {
    case PhysicalKind::kBit: return out->AppendBit(view.Bit(row));
    case PhysicalKind::kFixed8: return out->AppendFixed(view.Fixed<uint8_t>(row));
    case PhysicalKind::kFixed16: return out->AppendFixed(view.Fixed<uint16_t>(row));
    case PhysicalKind::kFixed32: return out->AppendFixed(view.Fixed<uint32_t>(row));
    case PhysicalKind::kFixed64: return out->AppendFixed(view.Fixed<uint64_t>(row));
    case PhysicalKind::kFixed128: return out->AppendInt128(view.Fixed<__int128>(row));
    case PhysicalKind::kVariable: return out->AppendBytes(view.Bytes(row));
    case PhysicalKind::kList: return CopyList(view, row, out);
    case PhysicalKind::kStruct:
      for (int i = 0; i < out->child_count(); ++i) {
        CopyValue(view.children[i], out->child(i).physical(), row, &out->child(i));
      }
      return out->CloseStruct();
  }
}

class Splitter {
 public:
  explicit Splitter(const ChangeBatch& batch)
      : batch_(batch), builder_(batch.schema(), batch.stream()) {}

  void Copy(int64_t row) {
    Begin(batch_.ops()[row], row);
    for (int i = 0; i < Width(); ++i) After(i, batch_.after()[i], row);
    if (batch_.HasBefore(row)) {
      for (int i = 0; i < Width(); ++i) Before(i, batch_.before()[i], row);
    }
    builder_.EndRow();
  }

  void Split(int64_t row) {
    Begin(Op::kDelete, row);
    for (int i = 0; i < Width(); ++i) {
      // What the before image lacks did not change.
      const ColumnView& before = batch_.before()[i];
      Before(i, before.IsAbsent(row) ? batch_.after()[i] : before, row);
    }
    builder_.EndRow();
    Begin(Op::kInsert, row);
    for (int i = 0; i < Width(); ++i) {
      const ColumnView& after = batch_.after()[i];
      After(i, after.IsAbsent(row) ? batch_.before()[i] : after, row);
    }
    builder_.EndRow();
  }

  ChangeBatchPtr Seal() { return builder_.Seal(); }

 private:
  int Width() const { return static_cast<int>(batch_.schema()->columns.size()); }
  void Begin(Op op, int64_t row) {
    builder_.BeginRow(op, batch_.point(row), batch_.commit_times_ms()[row]);
    if (!batch_.transaction(row).empty()) builder_.SetTransaction(batch_.transaction(row));
  }
  // An absent value is not appended at all: EndRow makes it absent, and a delete keeps no after.
  void After(int i, const ColumnView& view, int64_t row) {
    if (!view.IsAbsent(row)) CopyValue(view, builder_.after(i).physical(), row, &builder_.after(i));
  }
  void Before(int i, const ColumnView& view, int64_t row) {
    if (view.IsAbsent(row)) return;
    CopyValue(view, builder_.before(i).physical(), row, &builder_.before(i));
  }

  const ChangeBatch& batch_;
  ChangeBatchBuilder builder_;
};

}  // namespace

ChangeBatchPtr SplitKeyChanges(const ChangeBatchPtr& batch, const EvolvedSchema& sink_table) {
  if (batch->before().empty()) return batch;
  const std::vector<size_t> keys = KeyColumns(*batch->schema(), sink_table);
  if (keys.empty()) return batch;
  int64_t first = 0;
  while (first < batch->size() && !ChangesKey(*batch, keys, first)) ++first;
  if (first == batch->size()) return batch;
  Splitter splitter(*batch);
  for (int64_t row = 0; row < batch->size(); ++row) {
    if (row >= first && ChangesKey(*batch, keys, row)) {
      splitter.Split(row);
    } else {
      splitter.Copy(row);
    }
  }
  return splitter.Seal();
}

}  // namespace driftless
