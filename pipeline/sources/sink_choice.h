#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace driftless {

// Some of a pipeline's sinks, by name.
struct SinkChoice {
  enum class Kind : uint8_t { kAll, kOnly, kAllBut };

  static SinkChoice Only(std::vector<std::string> sinks) { return {Kind::kOnly, std::move(sinks)}; }
  // Of nobody: all.
  static SinkChoice AllBut(std::vector<std::string> sinks) {
    return sinks.empty() ? SinkChoice() : SinkChoice{Kind::kAllBut, std::move(sinks)};
  }
  bool IsAll() const { return kind == Kind::kAll; }
  bool Has(std::string_view sink) const {
    if (IsAll()) return true;
    const bool is_named = std::find(sinks.begin(), sinks.end(), sink) != sinks.end();
    return is_named == (kind == Kind::kOnly);
  }

  Kind kind = Kind::kAll;
  std::vector<std::string> sinks;
};

}  // namespace driftless
