#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/definition/selector.h"
#include "pipeline/sources/mysql/source_options.h"
#include "schema/history/history.h"

namespace driftless::mysql {

// `tables` and `tables.exclude`, as text in the resume text of the snapshot, so that a start knows
// what the one before captured.
class TableSelection {
 public:
  static std::string TextOf(const SourceOptions& options);
  // Errors: kCorrupt.
  static Result<TableSelection> Parse(std::string_view text);
  bool Matches(const TablePath& table) const {
    return tables_->Matches(table) && !(exclude_ && exclude_->Matches(table));
  }

 private:
  std::optional<TableSelector> tables_;
  std::optional<TableSelector> exclude_;
};

// What a start finds of the tables that no statement in the log brings, or takes away.
struct JoiningTables {
  // There and captured now, but never part of the stream: they join at the log's present end.
  std::vector<TablePath> newcomers;
  // Joins that are in the history behind the place of the start, in their order: they come again,
  // as statements do.
  std::vector<SchemaVersion> again;
  // Part of the stream at that place, and captured no more.
  std::vector<TablePath> leaving;
};

struct JoiningInputs {
  const SourceOptions* options = nullptr;
  std::optional<TableSelection> before;  // what the last start captured; none: the same
  Point at;                              // where the log is read on
  Point committed;                       // what the sinks have; at or behind `at`
  std::vector<SchemaVersion> history;    // of the log's stream, oldest first for each table
  std::vector<TablePath> listed;         // captured tables that the server has now
};

JoiningTables FindJoiningTables(const JoiningInputs& inputs);

}  // namespace driftless::mysql
