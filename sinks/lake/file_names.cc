#include "sinks/lake/file_names.h"

#include <charconv>
#include <cstdio>
#include <random>

namespace driftless::lake {
namespace {

std::string Hex16(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

uint64_t Random64() {
  thread_local std::mt19937_64 engine{(static_cast<uint64_t>(std::random_device{}()) << 32) |
                                      std::random_device{}()};
  return engine();
}

// FNV-1a with an avalanche step: stable over builds and machines, which std::hash is not.
uint64_t StableHash(std::string_view text) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash ^= static_cast<uint8_t>(c);
    hash *= 1099511628211ULL;
  }
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdULL;
  hash ^= hash >> 33;
  return hash;
}

template <typename T>
bool TakeHex(std::string_view* text, T* value) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value, 16);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

bool TakeDash(std::string_view* text) {
  if (!text->starts_with('-')) return false;
  text->remove_prefix(1);
  return true;
}

}  // namespace

FileNames::FileNames(std::string owner, uint64_t first_cut, uint32_t attempt)
    : owner_(std::move(owner)),
      first_cut_(first_cut),
      attempt_(attempt),
      random_(Hex16(Random64())) {}

std::string FileNames::Next(std::string_view prefix, std::string_view suffix) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "-%llx-%x-", static_cast<unsigned long long>(first_cut_),
                attempt_);
  std::string name(prefix);
  name.append("-").append(owner_).append(numbers).append(random_).append("-");
  return name.append(std::to_string(counter_++)).append(suffix);
}

std::string FileOwner(std::string_view pipeline, std::string_view sink, const TablePath& table) {
  std::string identity(pipeline);
  identity.append(1, '\0').append(sink).append(1, '\0').append(table.database);
  return Hex16(StableHash(identity.append(1, '\0').append(table.table)));
}

std::optional<OwnedName> ParseOwnedName(std::string_view file_name, std::string_view owner) {
  const size_t at = file_name.find(owner);
  if (owner.empty() || at == std::string_view::npos || at == 0 || file_name[at - 1] != '-') {
    return std::nullopt;
  }
  std::string_view rest = file_name.substr(at + owner.size());
  OwnedName name;
  uint64_t random = 0;
  if (!TakeDash(&rest) || !TakeHex(&rest, &name.first_cut) || !TakeDash(&rest) ||
      !TakeHex(&rest, &name.attempt) || !TakeDash(&rest) || !TakeHex(&rest, &random) ||
      !TakeDash(&rest)) {
    return std::nullopt;
  }
  return name;
}

}  // namespace driftless::lake
