#include "schema/types/overlay.h"

namespace driftless {
namespace {

bool BitAt(const uint8_t* bitmap, int64_t row) {
  return ((bitmap[row >> 3] >> (row & 7)) & 1) != 0;
}

}  // namespace

void Overlay(const LogicalType& type, const ColumnView& base, const uint8_t* mask,
             const ColumnView& other, OverlayRows other_rows, OwnedColumn* out) {
  out->Prepare(type, 0);
  int64_t begin = 0;
  while (begin < base.length) {
    const bool from_other = BitAt(mask, begin);
    int64_t end = begin + 1;
    while (end < base.length && BitAt(mask, end) == from_other) ++end;
    if (!from_other) {
      out->AppendRows(type, base, begin, end);
    } else if (other_rows == OverlayRows::kSame) {
      out->AppendRows(type, other, begin, end);
    } else {
      for (int64_t row = begin; row < end; ++row) out->AppendRows(type, other, 0, 1);
    }
    begin = end;
  }
}

void Repeat(const LogicalType& type, const ColumnView& value, int64_t length, OwnedColumn* out) {
  out->Prepare(type, 0);
  for (int64_t row = 0; row < length; ++row) out->AppendRows(type, value, 0, 1);
}

void MakeZero(const LogicalType& type, OwnedColumn* out) {
  out->Prepare(type, 1);
  out->SetValid(0);
  if (!out->offsets.empty()) out->offsets.push_back(0);
  if (type.kind() != TypeKind::kRow) return;
  for (size_t i = 0; i < out->children.size(); ++i) {
    MakeZero(type.children()[i].type, &out->children[i]);
  }
}

}  // namespace driftless
