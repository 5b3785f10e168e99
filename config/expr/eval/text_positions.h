#pragma once

#include <cstdint>
#include <string_view>

namespace driftless::flink {

// Places in UTF-8 text, counted in code points. A byte of a malformed sequence counts as one.

// The byte where code point `index` (0-based) begins; the size where there are fewer.
size_t ByteOfCodePoint(std::string_view text, int64_t index);
// SUBSTRING's rule (Flink: SqlFunctionUtils.substring): 1-based, a negative start counts from the
// end, 0 is 1. `length` < 0: to the end.
std::string_view Substring(std::string_view text, int64_t start, int64_t length);
// 1-based place of `part` in `text` from code point `from` (1-based) on; 0 where it is not there.
int64_t PositionOf(std::string_view part, std::string_view text, int64_t from);

}  // namespace driftless::flink
