#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "schema/base/result.h"

namespace re2 {
class RE2;
}

namespace driftless {

// Compiles a regular expression written for java.util.regex on RE2, whose time is linear in the
// text. What RE2 does not have (lookaround, back references, possessive repetition) is an error
// that says so.
enum class LetterCase : uint8_t { kSensitive, kInsensitive };
Result<std::shared_ptr<const re2::RE2>> CompileRegex(std::string_view pattern,
                                                     LetterCase letter_case);

}  // namespace driftless
