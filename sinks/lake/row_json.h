#pragma once

#include <span>
#include <string>

#include "schema/events/change_batch.h"

namespace driftless::lake {

// One value, in the forms below; NULL is null.
void AppendValueJson(const LogicalType& type, const ColumnView& view, int64_t row,
                     std::string* out);

// One row as a JSON object, in the order of the fields. Integers and floating point numbers are
// numbers (NaN and infinities texts), decimals texts with all digits of their scale, dates and
// times ISO 8601 with exactly the precision's digits and 'T' between both, zoned ones with a
// trailing Z, bytes "0x..." in hexadecimal, maps lists of [key, value] in the order of the key's
// text.
void AppendRowJson(std::span<const RowField> fields, std::span<const ColumnView> columns,
                   int64_t row, std::string* out);

}  // namespace driftless::lake
