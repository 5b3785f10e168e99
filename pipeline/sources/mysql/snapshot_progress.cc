#include "pipeline/sources/mysql/snapshot_progress.h"

#include <fmt/format.h>

#include <cstdlib>

#include "pipeline/state/positions.h"

namespace driftless::mysql {
namespace {

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return text;
}

std::string Unhex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::strtol(std::string(text.substr(i, 2)).c_str(), nullptr, 16));
  }
  return bytes;
}

}  // namespace

// Fields between tabs: attempt, chunk, end, number of key values, the values, number of views,
// pairs of table and place, the tables that are left; texts in hex.
std::string SnapshotProgress::Serialize() const {
  std::string text = fmt::format("{}\t{}\t{}\t{}", attempt, chunk, Hex(end), after.size());
  for (const std::string& value : after) text += "\t" + Hex(value);
  text += fmt::format("\t{}", seen.size());
  for (const auto& [table, place] : seen) {
    text += "\t" + Hex(EncodeTablePath(table)) + "\t" + Hex(place);
  }
  for (const TablePath& table : left) text += "\t" + Hex(EncodeTablePath(table));
  return text;
}

Result<SnapshotProgress> SnapshotProgress::Parse(std::string_view text) {
  std::vector<std::string> fields;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\t', at), text.size());
    fields.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  SnapshotProgress progress;
  size_t at = 0;
  const auto next = [&] { return at < fields.size() ? fields[at++] : std::string(); };
  const auto number = [&] { return std::strtoull(next().c_str(), nullptr, 10); };
  if (fields.size() < 5) {
    return MakeError(ErrorKind::kCorrupt,
                     "the position of the MySQL snapshot is not readable: " + std::string(text));
  }
  progress.attempt = number();
  progress.chunk = number();
  progress.end = Unhex(next());
  for (size_t left = number(); left > 0 && at < fields.size(); --left) {
    progress.after.push_back(Unhex(next()));
  }
  for (size_t left = number(); left > 0 && at < fields.size(); --left) {
    DRIFTLESS_ASSIGN_OR_RETURN(TablePath table, DecodeTablePath(Unhex(next())));
    progress.seen[std::move(table)] = Unhex(next());
  }
  while (at < fields.size()) {
    DRIFTLESS_ASSIGN_OR_RETURN(TablePath table, DecodeTablePath(Unhex(next())));
    progress.left.push_back(std::move(table));
  }
  return progress;
}

}  // namespace driftless::mysql
