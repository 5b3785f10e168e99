#pragma once

#include <string_view>

#include "schema/base/result.h"

namespace driftless::flink {

// Whether a pattern that stands in the text of an expression can be read: a wrong one is an error
// before the first row comes. Errors: kInvalidConfig.
Result<void> CheckPattern(std::string_view function, std::string_view pattern);

}  // namespace driftless::flink
