#include "sinks/clients/objectstore/xml_text.h"

#include <utility>

namespace driftless {
namespace {

constexpr std::pair<std::string_view, char> kEntities[] = {{"&lt;", '<'},    {"&gt;", '>'},
                                                           {"&amp;", '&'},   {"&quot;", '"'},
                                                           {"&apos;", '\''}, {"&#34;", '"'}};

}  // namespace

std::vector<std::string_view> XmlElements(std::string_view xml, std::string_view tag) {
  const std::string open = "<" + std::string(tag) + ">";
  const std::string close = "</" + std::string(tag) + ">";
  std::vector<std::string_view> elements;
  size_t at = 0;
  while ((at = xml.find(open, at)) != std::string_view::npos) {
    const size_t begin = at + open.size();
    const size_t end = xml.find(close, begin);
    if (end == std::string_view::npos) break;
    elements.push_back(xml.substr(begin, end - begin));
    at = end + close.size();
  }
  return elements;
}

std::optional<std::string> XmlText(std::string_view xml, std::string_view tag) {
  const std::vector<std::string_view> elements = XmlElements(xml, tag);
  if (elements.empty()) return std::nullopt;
  std::string text;
  std::string_view rest = elements.front();
  while (!rest.empty()) {
    size_t taken = 1;
    char c = rest.front();
    for (const auto& [entity, value] : kEntities) {
      if (!rest.starts_with(entity)) continue;
      c = value;
      taken = entity.size();
      break;
    }
    text += c;
    rest.remove_prefix(taken);
  }
  return text;
}

std::string XmlEscape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '&': escaped += "&amp;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

}  // namespace driftless
