#pragma once

#include <cstdint>

#include "schema/types/owned_column.h"

namespace driftless {

// Which rows of the second column an overlay takes.
enum class OverlayRows : uint8_t {
  kSame,   // row by row
  kFirst,  // always row 0: a constant
};

// Fills `out` with `base`, but takes the rows whose bit in `mask` is set (LSB first, base.length
// bits) from `other`. Nulls and absent marks come along. Works in runs of rows.
void Overlay(const LogicalType& type, const ColumnView& base, const uint8_t* mask,
             const ColumnView& other, OverlayRows other_rows, OwnedColumn* out);

// Fills `out` with `length` times row 0 of `value`.
void Repeat(const LogicalType& type, const ColumnView& value, int64_t length, OwnedColumn* out);

// The type's zero value as a column of one row: 0, "", false, 1970-01-01, an empty list.
void MakeZero(const LogicalType& type, OwnedColumn* out);

}  // namespace driftless
