#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pipeline/sources/mysql/snapshot_progress.h"
#include "pipeline/sources/source.h"
#include "schema/history/history.h"

namespace driftless::mysql {

// What a start does for sinks that have no position in the log where others have one: they were
// added to the pipeline, or killed before their first commit. The log is read on from where the
// others are; these are shown the tables as they are there, and get the rows by a reading of their
// own, so that the others never see of it.
struct LackingSinks {
  struct Introduction {  // of one table
    SinkChoice sinks;
    std::vector<TableSchemaPtr> versions;  // see LogStream::Introduce
  };
  std::vector<Introduction> introductions;
  // Of a table some rows were committed before the sink was killed, and what the log has told of
  // them since is not read again.
  struct Gap {
    TablePath table;
    std::string sink;
    std::string place;  // up to which the sink has the log, for people
  };
  std::vector<Gap> gaps;
};

struct LackingInputs {
  StreamId stream = 0;    // the log's
  StreamId snapshot = 0;  // the snapshot's
  Point at;               // where it is read on
  bool wants_snapshot = true;
  std::map<TablePath, TableSchemaPtr> tables;  // captured, as they are there
  std::vector<SchemaVersion> history;          // of the stream, oldest first for each table
  std::function<std::vector<SinkPlace>(const TablePath&)> places;
};

// Whether a sink that has no position in the log may have rows of a table all the same: a schema
// change commits those before it.
class RowEvidence {
 public:
  // `history` must live as long as this.
  RowEvidence(StreamId log, StreamId snapshot, bool wants_snapshot,
              const std::vector<SchemaVersion>& history);
  bool HasRows(const TablePath& path, const SinkPlace& place) const;
  // In the order of the history; null: none.
  const std::vector<const SchemaVersion*>* VersionsOf(const TablePath& path) const;

 private:
  const StreamId log_;
  const StreamId snapshot_;
  const bool wants_snapshot_;
  std::map<TablePath, std::vector<const SchemaVersion*>> versions_;
};

// `progress` is that of the others, and gets what is to be read for the lacking ones.
LackingSinks FindLackingSinks(const LackingInputs& inputs, SnapshotProgress* progress);

}  // namespace driftless::mysql
