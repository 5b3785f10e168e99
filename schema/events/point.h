#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless {

// Names one ordered stream of one source: "files", "binlog", "topic-3". Interned per pipeline:
// the runtime keeps the names, everything else carries the number.
using StreamId = uint32_t;

// Where one row or one statement stands in one source stream. Totally ordered inside that stream
// only; comparing points of two streams is a bug (checked).
//   files:  epoch = number of the file in reading order, offset = line number (1-based)
//   MySQL:  epoch = number of the log file, offset = end position of the event
//   PostgreSQL: epoch = 0, offset = commit LSN, row counts inside the transaction
//   Kafka:  one stream per partition, offset = record offset
struct Point {
  StreamId stream = 0;
  uint64_t epoch = 0;
  uint64_t offset = 0;
  uint32_t row = 0;   // inside the event
  uint32_t part = 0;  // statement part inside the row; rows have 0

  friend bool operator==(const Point&, const Point&) = default;
  // Order inside one stream. Both must belong to the same stream.
  bool Precedes(const Point& other) const;
  // "3:1077:0.0"; the stream is not in it.
  std::string ToString() const;
};

Result<Point> ParsePoint(std::string_view text, StreamId stream);

// A chunk of a snapshot: the table's number in the source and the chunk's number in the table.
struct ChunkId {
  uint32_t table = 0;
  uint64_t chunk = 0;
  friend auto operator<=>(const ChunkId&, const ChunkId&) = default;
};

// What has been consumed: per stream everything up to and including a point, and the finished
// chunks. A partial order, so there is no operator<: use Covers, Meet and Extend.
// Laws (tested as properties): Meet is commutative, associative and idempotent; a point is covered
// by Meet(a, b) exactly when both cover it.
class CutPosition {
 public:
  bool Covers(const Point& point) const;
  bool Covers(const ChunkId& chunk) const;
  // Grows to cover `point` and all before it in its stream. `resume` is what the source needs to go
  // on behind it (a GTID set, a file name); opaque here, kept with the furthest point.
  void Extend(const Point& point, std::string_view resume = {});
  void Extend(const ChunkId& chunk);
  static CutPosition Meet(const CutPosition& a, const CutPosition& b);
  // The smallest position that covers what either covers.
  static CutPosition Join(const CutPosition& a, const CutPosition& b);
  // Whether everything that `other` covers is covered here too.
  bool Covers(const CutPosition& other) const;

  // The furthest covered point of the stream, or none.
  std::optional<Point> Last(StreamId stream) const;
  const std::string& Resume(StreamId stream) const;
  bool empty() const { return streams_.empty() && chunks_.empty(); }

  // Text for the state database; ParseCutPosition(Serialize()) is the same position.
  std::string Serialize() const;

  friend bool operator==(const CutPosition&, const CutPosition&) = default;

 private:
  friend Result<CutPosition> ParseCutPosition(std::string_view text);
  struct Stream {
    Point last;
    std::string resume;
    friend bool operator==(const Stream&, const Stream&) = default;
  };
  std::map<StreamId, Stream> streams_;
  std::set<ChunkId> chunks_;
};

Result<CutPosition> ParseCutPosition(std::string_view text);

}  // namespace driftless
