#include "pipeline/sources/mysql/snapshot_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "pipeline/state/positions.h"

namespace driftless::mysql {

void TableProgress::Add(ReadChunk chunk) {
  if (chunk.last.empty()) finished = true;
  ++chunks_read;
  // Neighbours of one view are one.
  if (!chunks.empty() && chunks.back().seen == chunk.seen) {
    chunks.back() = std::move(chunk);
  } else {
    chunks.push_back(std::move(chunk));
  }
}

void TableProgress::StartAnew() {
  order.clear();
  merged.clear();
  chunks.clear();
  finished = false;
  rows = 0;
  chunks_read = 0;
}

SinkChoice TableProgress::Others() const {
  std::vector<std::string> lack = only_for;
  lack.insert(lack.end(), owed_to.begin(), owed_to.end());
  return SinkChoice::AllBut(std::move(lack));
}

bool SnapshotProgress::has_unread() const {
  return std::any_of(tables.begin(), tables.end(),
                     [](const auto& table) { return !table.second.finished; });
}

LogPlace SnapshotProgress::furthest() const {
  LogPlace furthest;
  for (const auto& [path, table] : tables) {
    for (const ReadChunk& chunk : table.chunks) furthest = std::max(furthest, chunk.seen);
  }
  return furthest;
}

void SnapshotProgress::Finish(const TablePath& path) {
  const auto found = tables.find(path);
  if (found == tables.end()) return;
  ++tables_done;
  rows_done += found->second.rows;
  chunks_done += found->second.chunks_read;
  tables.erase(found);
}

void SnapshotProgress::Pass(const LogPlace& place) {
  std::vector<TablePath> finished;
  for (auto& [path, table] : tables) {
    size_t passed = 0;
    while (passed < table.chunks.size() && table.chunks[passed].seen <= place) ++passed;
    if (passed > 0) table.merged = table.chunks[passed - 1].last;
    table.chunks.erase(table.chunks.begin(),
                       table.chunks.begin() + static_cast<std::ptrdiff_t>(passed));
    if (table.finished && table.chunks.empty()) finished.push_back(path);
  }
  for (const TablePath& path : finished) EndReading(path);
}

void SnapshotProgress::EndReading(const TablePath& path) {
  std::vector<std::string> owed = std::move(tables[path].owed_to);
  Finish(path);
  if (!owed.empty()) tables[path].only_for = std::move(owed);
}

void SnapshotProgress::Forget(const TablePath& path, const IsGone& is_gone) {
  const auto found = tables.find(path);
  if (found == tables.end()) return;
  TableProgress& table = found->second;
  std::erase_if(table.owed_to, is_gone);
  if (std::erase_if(table.only_for, is_gone) > 0 && table.only_for.empty()) EndReading(path);
}

namespace {

constexpr std::string_view kFormat = "snapshot-2";

// Fields between tabs; texts in hex, so that none has a tab.
class FieldWriter {
 public:
  void Number(uint64_t value) { text_ += fmt::format("\t{}", value); }
  void Text(std::string_view bytes) {
    text_ += '\t';
    for (const char c : bytes) text_ += fmt::format("{:02x}", static_cast<uint8_t>(c));
  }
  void Bound(const ChunkBound& bound) {
    Number(bound.size());
    for (const std::string& value : bound) Text(value);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_{kFormat};
};

class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) {}
  bool failed() const { return failed_; }
  bool at_end() const { return at_end_; }

  std::string_view Field() {
    if (at_end_) {
      failed_ = true;
      return {};
    }
    const size_t end = std::min(rest_.find('\t'), rest_.size());
    const std::string_view field = rest_.substr(0, end);
    at_end_ = end == rest_.size();
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return field;
  }
  uint64_t Number() { return std::strtoull(std::string(Field()).c_str(), nullptr, 10); }
  std::string Text() {
    const std::string_view hex = Field();
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
      bytes += static_cast<char>(std::strtol(std::string(hex.substr(i, 2)).c_str(), nullptr, 16));
    }
    return bytes;
  }
  ChunkBound Bound() {
    ChunkBound bound;
    for (uint64_t left = Number(); left > 0 && !failed_; --left) bound.push_back(Text());
    return bound;
  }

 private:
  std::string_view rest_;
  bool at_end_ = false;
  bool failed_ = false;
};

}  // namespace

std::string SnapshotProgress::Serialize() const {
  FieldWriter out;
  for (const uint64_t value :
       {attempt, number, static_cast<uint64_t>(tables_done), static_cast<uint64_t>(rows_done),
        static_cast<uint64_t>(chunks_done), static_cast<uint64_t>(tables.size())}) {
    out.Number(value);
  }
  for (const auto& [path, table] : tables) {
    out.Text(EncodeTablePath(path));
    out.Text(table.order);
    out.Number((table.finished ? 1 : 0) + (table.repeats ? 2 : 0));
    out.Number(static_cast<uint64_t>(table.rows));
    out.Number(static_cast<uint64_t>(table.chunks_read));
    out.Number(static_cast<uint64_t>(table.rows_estimated));
    out.Bound(table.merged);
    out.Number(table.chunks.size());
    for (const ReadChunk& chunk : table.chunks) {
      out.Bound(chunk.last);
      out.Number(chunk.seen.epoch);
      out.Number(chunk.seen.offset);
    }
  }
  out.Text(selection);
  for (const auto& [path, table] : tables) {
    if (table.only_for.empty() && table.owed_to.empty()) continue;
    out.Text(EncodeTablePath(path));
    out.Bound(table.only_for);
    out.Bound(table.owed_to);
  }
  return out.Take();
}

Result<SnapshotProgress> SnapshotProgress::Parse(std::string_view text) {
  FieldReader in(text);
  SnapshotProgress progress;
  const bool is_ours = in.Field() == kFormat;
  progress.attempt = in.Number();
  progress.number = in.Number();
  progress.tables_done = static_cast<int64_t>(in.Number());
  progress.rows_done = static_cast<int64_t>(in.Number());
  progress.chunks_done = static_cast<int64_t>(in.Number());
  for (uint64_t left = in.Number(); left > 0 && !in.failed(); --left) {
    DRIFTLESS_ASSIGN_OR_RETURN(TablePath path, DecodeTablePath(in.Text()));
    TableProgress& table = progress.tables[std::move(path)];
    table.order = in.Text();
    const uint64_t flags = in.Number();
    table.finished = (flags & 1) != 0;
    table.repeats = (flags & 2) != 0;
    table.rows = static_cast<int64_t>(in.Number());
    table.chunks_read = static_cast<int64_t>(in.Number());
    table.rows_estimated = static_cast<int64_t>(in.Number());
    table.merged = in.Bound();
    for (uint64_t chunks = in.Number(); chunks > 0 && !in.failed(); --chunks) {
      ReadChunk& chunk = table.chunks.emplace_back();
      chunk.last = in.Bound();
      chunk.seen.epoch = in.Number();
      chunk.seen.offset = in.Number();
    }
  }
  if (!in.at_end()) progress.selection = in.Text();
  while (!in.at_end() && !in.failed()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const TablePath path, DecodeTablePath(in.Text()));
    TableProgress& table = progress.tables[path];
    table.only_for = in.Bound();
    table.owed_to = in.Bound();
  }
  if (!is_ours || in.failed()) {
    return MakeError(ErrorKind::kCorrupt,
                     "the position of the MySQL snapshot is not readable: " + std::string(text))
        .Hint("Start the pipeline on a new state folder, so that it takes a snapshot.");
  }
  return progress;
}

uint64_t NextAttempt(StreamId stream, const std::vector<SchemaVersion>& history,
                     const std::vector<CutPosition>& positions) {
  uint64_t last = 0;
  for (const SchemaVersion& version : history) {
    if (version.point.stream == stream) last = std::max(last, version.point.epoch);
  }
  for (const CutPosition& position : positions) {
    if (const std::optional<Point> point = position.Last(stream)) {
      last = std::max(last, point->epoch);
    }
  }
  return last + 1;
}

}  // namespace driftless::mysql
