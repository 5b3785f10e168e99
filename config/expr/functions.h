#pragma once

#include <string_view>
#include <vector>

#include "schema/types/logical_type.h"

namespace driftless::flink {

// How a function's type follows from its arguments'.
enum class FunctionResult : uint8_t {
  kString,       // STRING, nullable if an argument is
  kNullString,   // STRING, always nullable
  kSameAsFirst,  // UPPER, ABS, ROUND
  kSameAsLast,   // TRIM
  kInt,
  kBigInt,
  kDouble,
  kBoolean,
  kDate,
  kNullDate,
  kTime,
  kNullTimestamp3,  // TIMESTAMP(3)
  kTimestamp3,      // TIMESTAMP(3) NOT NULL
  kNullLtz3,        // TIMESTAMP_LTZ(3)
  kLtz3,            // TIMESTAMP_LTZ(3) NOT NULL
  kNullInt,
  kNullBoolean,
  kBytes,
  kVariant,
  kStringArray,  // ARRAY<STRING>
  kElement,      // of the first argument, nullable
};

struct FunctionInfo {
  std::string_view name;  // upper case
  int least = 0;          // arguments
  int most = 0;           // -1: any number
  FunctionResult result = FunctionResult::kString;
};

const FunctionInfo* FindFunction(std::string_view upper);  // null: not built in
LogicalType FunctionType(const FunctionInfo& function, const std::vector<LogicalType>& arguments);

}  // namespace driftless::flink
