#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sources/mysql/chunk_key.h"
#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/sink_choice.h"
#include "schema/base/result.h"
#include "schema/events/point.h"
#include "schema/history/history.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// A place in the log, in the terms of points: transactions that end at or before it.
struct LogPlace {
  uint64_t epoch = 0;
  uint64_t offset = 0;
  static LogPlace Of(const LogPosition& position) { return {position.Epoch(), position.offset}; }
  friend auto operator<=>(const LogPlace&, const LogPlace&) = default;
};

// A chunk that was read in a view which the log has not passed yet: the view has all that stands at
// or before `seen`, and nothing behind it.
struct ReadChunk {
  ChunkBound last;  // empty: to the table's end
  LogPlace seen;
  friend bool operator==(const ReadChunk&, const ReadChunk&) = default;
};

// How far the snapshot of one table is. Chunks follow each other in the order of the key, so what
// has been read is always the beginning of the table.
struct TableProgress {
  std::string order;              // ChunkKey::order() of the bounds; empty: none yet, or one chunk
  ChunkBound merged;              // rows up to here are the log's own; empty: none
  std::vector<ReadChunk> chunks;  // behind `merged`
  bool finished = false;          // the table's end is read
  // Some sink may have rows of it from an earlier reading: no row of the log is left out, so that
  // rows which are gone since then go there too.
  bool repeats = false;
  // The sinks that lack the table, where others have it and get the whole log; empty: all.
  std::vector<std::string> only_for;
  // Sinks that lack it, too, but came while it was being read: they get nothing of it until that is
  // over, and then a reading of their own.
  std::vector<std::string> owed_to;
  int64_t rows = 0;
  int64_t chunks_read = 0;
  int64_t rows_estimated = 0;  // the server's guess of the whole table; 0: not known
  bool is_estimated = false;   // in this run
  // In a restart: statements up to here come again, and what they change of it is in it already.
  std::optional<Point> as_of;

  const ChunkBound& frontier() const { return chunks.empty() ? merged : chunks.back().last; }
  bool begun() const { return finished || !merged.empty() || !chunks.empty(); }
  // Whom the chunks are for, and those that have the table already.
  SinkChoice Readers() const {
    return only_for.empty() ? SinkChoice::AllBut(owed_to) : SinkChoice::Only(only_for);
  }
  SinkChoice Others() const;
  void Add(ReadChunk chunk);
  // What has been read is read again from the table's beginning.
  void StartAnew();
};

// What of a snapshot is left to do: the resume text of the stream "snapshot".
struct SnapshotProgress {
  // Counts the starts of reading: points of a later one lie behind all points of those before.
  uint64_t attempt = 0;
  uint64_t number = 0;  // of the last chunk or report of this attempt
  // Tables that are not wholly the log's own yet.
  std::map<TablePath, TableProgress> tables;
  // Which tables the options capture, all of which are part of the stream: TableSelection::text().
  // Empty: not known.
  std::string selection;
  // Of tables that are.
  int64_t tables_done = 0;
  int64_t rows_done = 0;
  int64_t chunks_done = 0;

  bool done() const { return tables.empty(); }
  bool has_unread() const;
  // The log is here: chunks whose views it has reached become its own.
  void Pass(const LogPlace& place);
  // Nothing more of the table is read, for nobody.
  void Finish(const TablePath& table);
  // These sinks wait for nothing of the table any more.
  using IsGone = std::function<bool(const std::string& sink)>;
  void Forget(const TablePath& table, const IsGone& is_gone);
  // The furthest view that the log must still reach.
  LogPlace furthest() const;

  std::string Serialize() const;
  // Errors: kCorrupt.
  static Result<SnapshotProgress> Parse(std::string_view text);

 private:
  void EndReading(const TablePath& table);
};

// The number of a start of reading: behind that of every start which the history tells of, or a
// sink's position, so that no point comes twice.
uint64_t NextAttempt(StreamId stream, const std::vector<SchemaVersion>& history,
                     const std::vector<CutPosition>& positions);

}  // namespace driftless::mysql
