#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/relation/relation.h"
#include "schema/base/result.h"

namespace driftless::table_api {

// One argument of DataTypes.X(..): a number, a type or a FIELD.
struct TypeArgumentValue {
  std::optional<int64_t> number;
  std::optional<LogicalType> type;
  std::optional<flink::Field> field;
};

// DataTypes.DECIMAL(10, 2) and so on. Errors: kRefused for unknown names (with a suggestion) and
// arguments that do not fit.
Result<LogicalType> MakeDataType(std::string_view name, const std::vector<TypeArgumentValue>& args);

}  // namespace driftless::table_api
