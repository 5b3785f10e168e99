#pragma once

#include <string>
#include <string_view>

namespace driftless {

// Lower case of UTF-8 text: ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic letters;
// everything else stays. What MySQL's utf8mb3_general_ci makes equal in identifiers, without its
// accent folding (MySQL 8.4 Reference Manual, 11.2.3: column names are not case-sensitive).
std::string LowerCase(std::string_view text);

bool EqualsIgnoringCase(std::string_view a, std::string_view b);

}  // namespace driftless
