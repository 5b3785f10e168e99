#include "pipeline/sources/mysql/sink_readings.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

namespace driftless::mysql {
namespace {

bool Has(const std::vector<std::string>& sinks, const std::string& sink) {
  return std::find(sinks.begin(), sinks.end(), sink) != sinks.end();
}

// Whether the same of the table is read; how far the log has passed it is a matter of each sink.
bool SamePart(const TableProgress& a, const TableProgress& b) {
  return a.frontier() == b.frontier() && a.finished == b.finished && a.order == b.order;
}

}  // namespace

Result<const SnapshotProgress*> SinkReadings::ProgressAt(const std::string& text) {
  auto found = known_.find(text);
  if (found == known_.end()) {
    DRIFTLESS_ASSIGN_OR_RETURN(SnapshotProgress progress, SnapshotProgress::Parse(text));
    found = known_.emplace(text, std::move(progress)).first;
  }
  return static_cast<const SnapshotProgress*>(&found->second);
}

Result<std::map<TablePath, TableProgress>> SinkReadings::Left(
    const std::vector<TablePath>& tables) {
  std::map<TablePath, TableProgress> all;
  std::set<TablePath> looked;
  std::vector<TablePath> left = tables;
  while (!left.empty()) {
    for (const TablePath& path : left) {
      looked.insert(path);
      DRIFTLESS_ASSIGN_OR_RETURN(std::optional<TableProgress> table, LeftOf(path));
      if (table) all[path] = *std::move(table);
    }
    left.clear();
    for (const auto& [text, progress] : known_) {
      for (const auto& [path, table] : progress.tables) {
        if (!looked.contains(path)) left.push_back(path);
      }
    }
  }
  return all;
}

// Sinks without a position in the log do not count. Where others have different parts of one
// reading, it goes on at the least, and repeats.
Result<std::optional<TableProgress>> SinkReadings::LeftOf(const TablePath& path) {
  std::vector<std::string> reading;
  std::vector<std::string> owed;
  bool some_have_it = false;
  bool differ = false;
  const TableProgress* least = nullptr;
  Point place;                 // of `least`, in the snapshot
  std::optional<Point> as_of;  // where the first of those that lack something has the log
  for (const SinkPlace& sink : places_(path)) {
    const std::optional<Point> last = sink.from.Last(log_);
    const std::optional<Point> here = sink.from.Last(snapshot_);
    if (!last || !here) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const SnapshotProgress* progress,
                               ProgressAt(sink.from.Resume(snapshot_)));
    const auto found = progress->tables.find(path);
    const bool is_owed = found != progress->tables.end() && Has(found->second.owed_to, sink.sink);
    if (found == progress->tables.end() || (!is_owed && !found->second.Readers().Has(sink.sink))) {
      some_have_it = true;
      continue;
    }
    if (!as_of || last->Precedes(*as_of)) as_of = last;
    if (is_owed) {
      owed.push_back(sink.sink);
      continue;
    }
    reading.push_back(sink.sink);
    const TableProgress& part = found->second;
    // A schema change may have committed chunks that the position does not tell of.
    differ |=
        sink.furthest.Last(snapshot_) != here || (least != nullptr && !SamePart(*least, part));
    if (least == nullptr || here->Precedes(place)) {
      least = &part;
      place = *here;
    }
  }
  if (reading.empty() && owed.empty()) return std::optional<TableProgress>();
  TableProgress left;
  if (least != nullptr) {
    left = *least;
    left.repeats |= differ;
    if (differ) {
      spdlog::warn(
          "mysql source: not all sinks have the same part of the snapshot of {}; what only some of "
          "them have is sent to all again",
          path.ToString());
    }
  } else {
    reading = std::exchange(owed, {});
  }
  left.only_for = some_have_it ? std::move(reading) : std::vector<std::string>();
  left.owed_to = std::move(owed);
  left.as_of = as_of;
  return std::optional<TableProgress>(std::move(left));
}

}  // namespace driftless::mysql
