#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// What of a snapshot is left to do: the resume text of the stream "snapshot".
struct SnapshotProgress {
  // Counts the starts of reading. A chunk that is read again may hold other rows, so its points
  // must lie behind all points of the reading before.
  uint64_t attempt = 0;
  uint64_t chunk = 0;              // chunks finished in this attempt
  std::vector<TablePath> left;     // in order; the first is being read
  std::vector<std::string> after;  // key of the last row read of left.front(); empty: none yet

  // Where the views of tables without a key stood: the log up to there is in what was read.
  std::map<TablePath, std::string> seen;  // LogPosition texts
  // The log's end when the snapshot was done; empty before. A table that is emptied or made anew
  // before that place must be read again behind it.
  std::string end;

  bool done() const { return left.empty(); }
  std::string Serialize() const;
  static Result<SnapshotProgress> Parse(std::string_view text);
};

}  // namespace driftless::mysql
