#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace driftless {

// The length in bytes of the well-formed UTF-8 sequence at `at` (1..4), or 0 where there is none:
// overlong forms, surrogates and code points above U+10FFFF are not well-formed (Unicode 15, table
// 3-7). `at` < text.size().
size_t Utf8SequenceLength(std::string_view text, size_t at);

bool IsValidUtf8(std::string_view text);

// Number of code points; each byte of a malformed sequence counts as one.
int64_t Utf8Length(std::string_view text);

// The first `code_points` code points of `text`.
std::string_view Utf8Prefix(std::string_view text, int64_t code_points);

}  // namespace driftless
