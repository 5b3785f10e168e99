#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/events/point.h"

namespace driftless::mysql {

class Connection;
struct ServerFacts;

// Where a reader stands in a server's binary log, always between two transactions.
struct LogPosition {
  std::string file;
  uint64_t offset = 0;  // of the next event
  std::string gtids;    // what is behind us: MySQL a set, MariaDB the last of each domain; may be
                        // empty where the server has no GTIDs
  std::string server;   // ServerFacts::identity
  uint64_t generation = 0;  // counts servers: points of a later server come later
  // Tables that became part of the stream, or left it, at this very place: no statement tells so.
  uint32_t joined = 0;

  // "file:offset [gtids]" for people.
  std::string ToString() const;
  // The resume text and its inverse. Errors: kCorrupt.
  std::string Serialize() const;
  static Result<LogPosition> Parse(std::string_view text);

  // The epoch of points in this file: generation and the file's number.
  uint64_t Epoch() const;
  // Goes on to another place.
  void Reach(const std::string& new_file, uint64_t new_offset) {
    if (file == new_file && offset == new_offset) return;
    file = new_file;
    offset = new_offset;
    joined = 0;
  }

  // Points between two transactions: behind every row and statement of the last event there. The
  // rows' numbers stay below.
  static constexpr uint32_t kBehindRows = 0xf0000000;
  Point PointOf(StreamId stream) const {
    return Point{stream, Epoch(), offset, kBehindRows + joined, 0};
  }
  static bool IsBehindRows(const Point& point) { return point.row >= kBehindRows; }
  // Points of statements that show a sink, where the log is read on, the tables that others have.
  static constexpr uint32_t kIntroductions = 0xe0000000;
  static bool IsIntroduction(const Point& point) {
    return point.row >= kIntroductions && point.row < kBehindRows;
  }
};

// "binlog.000042" is 42; 0 where there is no number.
uint64_t LogFileNumber(std::string_view file);

// The end of the log now. On MySQL its GTID set never has more than what is committed, while file
// and offset may be ahead of that (mysql-source.md 10.3 measured it).
Result<LogPosition> CurrentLogPosition(Connection* connection, const ServerFacts& facts);

struct LogFile {
  std::string name;
  uint64_t bytes = 0;
};
// Oldest first. Errors: those of the connection (REPLICATION CLIENT is needed).
Result<std::vector<LogFile>> ListLogFiles(Connection* connection);

}  // namespace driftless::mysql
