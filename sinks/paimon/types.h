#pragma once

#include <string>
#include <string_view>

#include "schema/base/result.h"
#include "schema/types/logical_type.h"

namespace driftless::paimon {

// An atomic type as Paimon's schema files spell it: "TIMESTAMP(6) WITH LOCAL TIME ZONE NOT NULL".
std::string PaimonTypeText(const LogicalType& type);

// The inverse. Errors: kCorrupt; kUnsupported for BLOB, VECTOR, GEOMETRY, GEOGRAPHY and VARIANT.
Result<LogicalType> ParsePaimonType(std::string_view text);

// The column type that a Paimon table gets for a logical type, nullability kept: the same type,
// except TIMESTAMP_TZ, whose zone Paimon cannot keep (TIMESTAMP_LTZ), and lengths of 0 (1).
// Errors: kUnsupported for VARIANT, and for nested types in a key.
Result<LogicalType> ToPaimonType(const LogicalType& type, bool is_key);

// Whether Paimon lets a column change from one type to another and can read old files then
// (SchemaManager and CastExecutors of Paimon 1.4). Nullability is left out of account.
bool CanChangeType(const LogicalType& from, const LogicalType& to);

}  // namespace driftless::paimon
