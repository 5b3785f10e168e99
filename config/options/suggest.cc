#include "config/options/suggest.h"

#include <algorithm>
#include <vector>

#include "schema/base/letter_case.h"

namespace driftless {
namespace {

constexpr size_t kListedMax = 16;
constexpr size_t kComparedBytesMax = 128;  // longer keys are no typing mistakes

std::string Normal(std::string_view text) {
  std::string normal = LowerCase(text);
  std::replace_if(normal.begin(), normal.end(), [](char c) { return c == '_' || c == '.'; }, '-');
  return normal;
}

// Damerau's distance with transpositions of neighbours (optimal string alignment).
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t k = 0; k <= b.size(); ++k) d[0][k] = k;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t k = 1; k <= b.size(); ++k) {
      d[i][k] = std::min(
          {d[i - 1][k] + 1, d[i][k - 1] + 1, d[i - 1][k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1)});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
        d[i][k] = std::min(d[i][k], d[i - 2][k - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

// "interval" for "checkpoint-interval": whole words that are missing at one end.
bool IsWordEnd(std::string_view part, std::string_view whole) {
  if (part.size() < 4 || part.size() >= whole.size()) return false;
  const size_t rest = whole.size() - part.size();
  return (whole.ends_with(part) && whole[rest - 1] == '-') ||
         (whole.starts_with(part) && whole[part.size()] == '-');
}

}  // namespace

std::string_view Nearest(std::string_view text, std::span<const std::string_view> known) {
  if (text.size() > kComparedBytesMax) return {};
  const std::string wanted = Normal(text);
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, wanted.size() / 3) + 1;
  for (std::string_view word : known) {
    const std::string normal = Normal(word);
    size_t distance = Distance(wanted, normal);
    if (IsWordEnd(wanted, normal) || IsWordEnd(normal, wanted)) {
      distance = std::min<size_t>(distance, 2);
    }
    if (distance < best_distance) {
      best_distance = distance;
      best = word;
    }
  }
  return best;
}

std::string Suggest(std::string_view text, std::span<const std::string_view> known) {
  const std::string_view nearest = Nearest(text, known);
  if (!nearest.empty()) return "Did you mean \"" + std::string(nearest) + "\"?";
  if (known.empty() || known.size() > kListedMax) return {};
  std::string list = "One of: ";
  for (size_t i = 0; i < known.size(); ++i) {
    if (i > 0) list += ", ";
    list += known[i];
  }
  return list + ".";
}

}  // namespace driftless
