#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "schema/events/change_batch_builder.h"
#include "schema/model/table.h"

namespace driftless::iceberg {

// Appends a column's default once. `json`: the value as table metadata has it (specification,
// appendix D, "JSON single-value serialization"). Errors: kUnsupported for nested types; kCorrupt.
Result<std::function<void(ColumnBuilder*)>> DefaultFill(const LogicalType& type,
                                                        std::string_view json);

// A source column's default as table metadata has it; empty where it cannot be said for certain: no
// literal, no value of the type, or a moment whose time zone only the source's server knows.
std::string DefaultJson(const LogicalType& type, const DefaultValue& value);

}  // namespace driftless::iceberg
