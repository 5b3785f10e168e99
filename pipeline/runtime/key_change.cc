#include "pipeline/runtime/key_change.h"

#include <cstring>
#include <set>
#include <vector>

#include "schema/events/change_batch_copy.h"

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

}  // namespace

ChangeBatchPtr SplitKeyChanges(const ChangeBatchPtr& batch, const EvolvedSchema& sink_table) {
  if (batch->before().empty()) return batch;
  const std::vector<size_t> keys = KeyColumns(*batch->schema(), sink_table);
  if (keys.empty()) return batch;
  int64_t first = 0;
  while (first < batch->size() && !ChangesKey(*batch, keys, first)) ++first;
  if (first == batch->size()) return batch;
  ChangeBatchCopy copy(*batch);
  for (int64_t row = 0; row < batch->size(); ++row) {
    if (row >= first && ChangesKey(*batch, keys, row)) {
      copy.DeleteOfUpdate(row);
      copy.InsertOfUpdate(row);
    } else {
      copy.Row(row);
    }
  }
  return copy.Seal();
}

}  // namespace driftless
