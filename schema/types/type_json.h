#pragma once

#include <string_view>

#include "schema/base/json_reader.h"
#include "schema/types/logical_type.h"

namespace driftless {

// A logical type stands in our documents as its Flink SQL text. For .cc files only, as
// json_reader.h is.
inline LogicalType ReadType(const JsonObject& object, std::string_view key) {
  auto type = ParseLogicalType(object.String(key));
  if (type) return *std::move(type);
  object.problem()->Set(object.Path(key) + ": " + type.error().message());
  return LogicalType();
}

}  // namespace driftless
