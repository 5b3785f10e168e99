#include "schema/events/change_batch_copy.h"

namespace driftless {
namespace {

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

}  // namespace

void CopyValue(const ColumnView& view, int64_t row, ColumnBuilder* out) {
  CopyValue(view, out->physical(), row, out);
}

void ChangeBatchCopy::Begin(Op op, int64_t row) {
  builder_.BeginRow(op, batch_.point(row), batch_.commit_times_ms()[row]);
  if (!batch_.transaction(row).empty()) builder_.SetTransaction(batch_.transaction(row));
}

// An absent value is not appended at all: EndRow makes it absent, and a delete keeps no after.
void ChangeBatchCopy::After(int column, const ColumnView& view, int64_t row) {
  if (view.IsAbsent(row)) return;
  CopyValue(view, builder_.after(column).physical(), row, &builder_.after(column));
}

void ChangeBatchCopy::Before(int column, const ColumnView& view, int64_t row) {
  if (view.IsAbsent(row)) return;
  CopyValue(view, builder_.before(column).physical(), row, &builder_.before(column));
}

void ChangeBatchCopy::Row(int64_t row) {
  Begin(batch_.ops()[row], row);
  for (int i = 0; i < Width(); ++i) After(i, batch_.after()[i], row);
  if (batch_.HasBefore(row)) {
    for (int i = 0; i < Width(); ++i) Before(i, batch_.before()[i], row);
  }
  builder_.EndRow();
}

void ChangeBatchCopy::DeleteOfUpdate(int64_t row) {
  Begin(Op::kDelete, row);
  for (int i = 0; i < Width(); ++i) {
    // What the before image lacks did not change.
    const ColumnView& before = batch_.before()[i];
    Before(i, before.IsAbsent(row) ? batch_.after()[i] : before, row);
  }
  builder_.EndRow();
}

void ChangeBatchCopy::InsertOfUpdate(int64_t row) {
  Begin(Op::kInsert, row);
  for (int i = 0; i < Width(); ++i) {
    const ColumnView& after = batch_.after()[i];
    After(i, after.IsAbsent(row) ? batch_.before()[i] : after, row);
  }
  builder_.EndRow();
}

}  // namespace driftless
