#include "sinks/paimon/metadata.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <random>

namespace driftless::paimon {
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

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return parts;
}

}  // namespace

int PaimonSchema::IndexOf(std::string_view name) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

const PaimonField* PaimonSchema::Find(std::string_view name) const {
  const int index = IndexOf(name);
  return index < 0 ? nullptr : &fields[static_cast<size_t>(index)];
}

const PaimonField* PaimonSchema::FindId(int32_t field_id) const {
  const auto found = std::ranges::find(fields, field_id, &PaimonField::id);
  return found == fields.end() ? nullptr : &*found;
}

std::vector<std::string> PaimonSchema::TrimmedPrimaryKeys() const {
  std::vector<std::string> keys;
  for (const std::string& key : primary_keys) {
    if (std::ranges::find(partition_keys, key) == partition_keys.end()) keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> PaimonSchema::BucketKeys() const {
  std::vector<std::string> keys = SplitList(Option("bucket-key", ""));
  return keys.empty() ? TrimmedPrimaryKeys() : keys;
}

int32_t PaimonSchema::Buckets() const {
  const std::string text = Option("bucket", "-1");
  int32_t buckets = -1;
  std::from_chars(text.data(), text.data() + text.size(), buckets);
  return buckets;
}

std::string PaimonSchema::Option(std::string_view key, std::string_view default_value) const {
  const auto found = options.find(std::string(key));
  return std::string(found == options.end() ? default_value : std::string_view(found->second));
}

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

std::string TableDirectory(const TablePath& table) { return table.database + ".db/" + table.table; }

std::string BucketDirectory(std::string_view table_directory, std::string_view partition_path,
                            int32_t bucket) {
  std::string path(table_directory);
  path.append("/").append(partition_path).append("bucket-");
  return path + (bucket == -2 ? "postpone" : std::to_string(bucket));
}

}  // namespace driftless::paimon
