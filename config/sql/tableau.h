#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace driftless::flink {

using TableauRow = std::vector<std::optional<std::string>>;  // nothing: NULL, printed as nothing

// The table that Flink's client prints for DESCRIBE and SHOW, with its footer; "Empty set" where
// there are no rows. Widths count East-Asian wide characters twice.
std::string Tableau(const std::vector<std::string>& header, const std::vector<TableauRow>& rows);

// The same with columns of at least these widths.
std::string Tableau(const std::vector<std::string>& header, const std::vector<TableauRow>& rows,
                    const std::vector<size_t>& widths);

// Columns on a terminal: UTF-16 units, and one more for a wide or fullwidth character.
size_t DisplayWidth(std::string_view utf8);

}  // namespace driftless::flink
