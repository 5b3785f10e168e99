#pragma once

#include <functional>
#include <string_view>

#include "schema/events/change_batch_builder.h"

namespace driftless::iceberg {

// Appends a column's default once. `json`: the value as table metadata has it (specification,
// appendix D, "JSON single-value serialization"). Errors: kUnsupported for nested types; kCorrupt.
Result<std::function<void(ColumnBuilder*)>> DefaultFill(const LogicalType& type,
                                                        std::string_view json);

}  // namespace driftless::iceberg
