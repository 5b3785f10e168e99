#include "pipeline/sources/kafka/statement_mark.h"

#include <algorithm>
#include <charconv>

namespace driftless {
namespace {

void AppendHex(uint64_t number, std::string* text) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
  text->append(digits, end);
}

}  // namespace

std::string StatementMark::ToText() const {
  return std::to_string(run) + "." + std::to_string(number);
}

std::optional<StatementMark> StatementMark::Parse(std::string_view text) {
  StatementMark mark;
  const char* const end = text.data() + text.size();
  const auto [dot, no_run] = std::from_chars(text.data(), end, mark.run);
  if (no_run != std::errc() || dot == end || *dot != '.') return std::nullopt;
  if (std::from_chars(dot + 1, end, mark.number).ec != std::errc()) return std::nullopt;
  return mark;
}

// FNV-1a: the same everywhere, because positions keep it.
uint64_t RecentStatements::IdentityOf(std::string_view name, std::string_view message) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      hash ^= static_cast<uint8_t>(c);
      hash *= 0x100000001b3;
    }
  };
  add(name);
  add(std::string_view("\0", 1));
  add(message);
  return hash;
}

bool RecentStatements::Contains(uint64_t identity) const {
  return std::find(identities_.begin(), identities_.end(), identity) != identities_.end();
}

void RecentStatements::Add(uint64_t identity) {
  if (identities_.size() == kMax) identities_.pop_front();
  identities_.push_back(identity);
}

std::string RecentStatements::ToText() const {
  std::string text;
  for (const uint64_t identity : identities_) {
    if (!text.empty()) text += ',';
    AppendHex(identity, &text);
  }
  return text;
}

RecentStatements RecentStatements::Parse(std::string_view text) {
  RecentStatements recent;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    uint64_t identity = 0;
    const auto [next, error] = std::from_chars(at, end, identity, 16);
    if (error != std::errc()) break;
    recent.Add(identity);
    at = next < end && *next == ',' ? next + 1 : end;
  }
  return recent;
}

}  // namespace driftless
