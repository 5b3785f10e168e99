#pragma once

#include <span>
#include <string>
#include <string_view>

namespace driftless {

// The word of `known` that was probably meant, by edit distance without letter case and with "_",
// "." and "-" taken as equal; empty where nothing is near enough.
std::string_view Nearest(std::string_view text, std::span<const std::string_view> known);

// "Did you mean \"x\"?", or "One of: a, b, c." where nothing is near and the list is short, else
// "".
std::string Suggest(std::string_view text, std::span<const std::string_view> known);

}  // namespace driftless
