#pragma once

#include <string>
#include <string_view>

#include "schema/types/logical_type.h"

namespace driftless::iceberg {

// Iceberg's text of a primitive type: "long", "decimal(12, 2)". Errors: kUnsupported for what
// Iceberg has no primitive for.
Result<std::string> PrimitiveText(const LogicalType& type);
// The inverse, nullable. Errors: kUnsupported for variant, geometry, geography; kCorrupt.
Result<LogicalType> ParsePrimitive(std::string_view text);

// The type of the column that a logical type gets, in normal form. Errors: kUnsupported.
Result<LogicalType> ToIcebergType(const LogicalType& type, bool is_key);
// Why a column cannot be promoted from one type to another; empty: it can (specification, "Schema
// Evolution").
std::string PromotionProblem(const LogicalType& from, const LogicalType& to);

}  // namespace driftless::iceberg
