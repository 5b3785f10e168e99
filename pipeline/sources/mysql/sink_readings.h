#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/sources/mysql/snapshot_progress.h"
#include "pipeline/sources/source.h"

namespace driftless::mysql {

// What a restart has to read of the snapshot, from what each sink's own position says of it: after
// a crash they stand at different places.
class SinkReadings {
 public:
  using Places = std::function<std::vector<SinkPlace>(const TablePath&)>;
  SinkReadings(StreamId snapshot, StreamId log, Places places)
      : snapshot_(snapshot), log_(log), places_(std::move(places)) {}

  // Of these tables, and of others that the positions tell of: under names that statements to come
  // will give them. Errors: kCorrupt.
  Result<std::map<TablePath, TableProgress>> Left(const std::vector<TablePath>& tables);

 private:
  Result<std::optional<TableProgress>> LeftOf(const TablePath& path);
  Result<const SnapshotProgress*> ProgressAt(const std::string& text);

  const StreamId snapshot_;
  const StreamId log_;
  const Places places_;
  std::map<std::string, SnapshotProgress> known_;  // by resume text
};

}  // namespace driftless::mysql
