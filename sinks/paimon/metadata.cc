#include "sinks/paimon/metadata.h"

#include <algorithm>
#include <charconv>

namespace driftless::paimon {
namespace {

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

std::string TableDirectory(const TablePath& table) { return table.database + ".db/" + table.table; }

std::string BucketDirectory(std::string_view table_directory, std::string_view partition_path,
                            int32_t bucket) {
  std::string path(table_directory);
  path.append("/").append(partition_path).append("bucket-");
  return path + (bucket == -2 ? "postpone" : std::to_string(bucket));
}

}  // namespace driftless::paimon
