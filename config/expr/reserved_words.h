#pragma once

#include <string_view>

namespace driftless::flink {

// Whether Flink 2.3 reserves `upper` (a word in upper case): it needs back-ticks as a name.
bool IsReservedWord(std::string_view upper);

// Reserved words that may open a function call (UPPER, CAST, CURRENT_TIMESTAMP, ...): the parser
// itself knows these functions, so the printer leaves their names bare.
bool IsParserFunction(std::string_view upper);

}  // namespace driftless::flink
