#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "schema/base/result.h"

namespace driftless {

// Compiles a regular expression written for java.util.regex on RE2, whose time is linear in the
// text. What RE2 does not have (lookaround, back references, possessive repetition) is an error
// that says so. Include this from .cc files only.
enum class LetterCase : uint8_t { kSensitive, kInsensitive };
Result<std::shared_ptr<const RE2>> CompileRegex(std::string_view pattern, LetterCase letter_case);

}  // namespace driftless
