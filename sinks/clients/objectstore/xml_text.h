#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace driftless {

// Enough XML for S3's answers, which have neither attributes nor comments inside: the contents of
// <tag>...</tag>, in order. Elements of one name do not contain each other there.
std::vector<std::string_view> XmlElements(std::string_view xml, std::string_view tag);

// The text of the first such element, entities replaced; nullopt where there is none.
std::optional<std::string> XmlText(std::string_view xml, std::string_view tag);

std::string XmlEscape(std::string_view text);

}  // namespace driftless
