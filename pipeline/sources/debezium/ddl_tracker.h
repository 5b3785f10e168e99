#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/definition/pipeline_options.h"
#include "pipeline/sources/debezium/statement_record.h"
#include "pipeline/sources/source.h"
#include "schema/base/result.h"
#include "schema/ddl/online_schema_change.h"
#include "schema/events/schema_change.h"
#include "schema/history/history.h"

namespace driftless::mysql {
struct RowsWithoutEvents;
}

namespace driftless::debezium {

// What a schema-change record means for the tracked tables.
struct DdlOutcome {
  std::vector<StatementChange> changes;  // in order; points are not filled in
  std::vector<TablePath> touched;        // all tables whose schema may be another one now
  std::vector<std::string> warnings;     // differences, tables that have left
  std::vector<UnseenChange> unseen;      // points and texts are not filled in
  // The statement is not understood for certain and its tables are to wait: nothing was applied.
  struct Unclear {
    std::vector<TablePath> tables;
    Error why;
  };
  std::optional<Unclear> unclear;
  // The statement may be about these tables or not, and their rows describe themselves: they tell.
  std::vector<TablePath> told_by_rows;
};

// The schemas of a MySQL or MariaDB stream, kept up by its DDL records: the statement's text is
// understood by schema/ddl, and Debezium's own picture of the tables is the check. Online schema
// changes are followed: their shadow tables are tracked but never told of. One thread.
class DdlTracker {
 public:
  using IsCaptured = std::function<bool(const TablePath&)>;
  DdlTracker(OnUnparsedDdl on_unparsed, bool tinyint1_is_boolean,
             OnlineSchemaChange::Patterns online, IsCaptured is_captured);
  ~DdlTracker();

  // Takes up the versions in force at a restart; `all` are all versions up to there, which number
  // the incarnations.
  void Restore(const std::vector<SchemaVersion>& at, const std::vector<SchemaVersion>& all);

  // To be told of every record's connector before FindTable or IsHidden: streams without statements
  // have online schema changes too.
  void Start(std::string_view connector) {
    if (dialect_ == nullptr && (connector == "mysql" || connector == "mariadb")) {
      MakeDialect(connector);
    }
  }
  // Whether the table is a shadow or a leftover of an online schema change. The answer holds while
  // `epoch` stays the same.
  bool IsHidden(const TablePath& path) const;
  uint64_t epoch() const { return epoch_; }

  // Errors: kUnsupported or kParse for a statement that is not understood for certain and concerns
  // a captured table, where the user wants it to stop; it names the statement and says what to do.
  // Then nothing is applied.
  Result<DdlOutcome> Apply(const Record& record, SchemaChangeRecord change);
  // The same for one pair of a RENAME of several tables: what it means is told by ApplyRest, behind
  // the last pair. Only what is not understood (`unclear`) and warnings come at once.
  Result<DdlOutcome> ApplyPart(const Record& record, SchemaChangeRecord change);
  DdlOutcome ApplyRest();
  int names_reached() const;  // by the pairs so far
  // In place of ApplyRest, where another pair is not understood: the captured tables of the pairs
  // so far, which wait too. Nothing of them may be used any more.
  std::vector<TablePath> GiveUpParts();
  // The tables that the record may concern, captured or not.
  std::vector<TablePath> Concerned(const Record& record, const SchemaChangeRecord& change);
  // In place of a statement that is not understood: a person's CREATE TABLE statements for `tables`
  // as they are afterwards. A table that the text does not create stays as it is. Errors: those of
  // the text, and kInvalidInput where it creates none of the tables.
  Result<DdlOutcome> ApplyGiven(const Record& record, const SchemaChangeRecord& change,
                                const std::string& text, const std::vector<TablePath>& tables);

  // The table that a CREATE TABLE statement makes where there is nothing else.
  Result<TableSchemaPtr> TableOf(const std::string& create, const TablePath& path);
  // Whether a column of a record is this one: readers of the binary log keep the quoting of names,
  // so that `a``b` is a``b in their records.
  static bool IsNamed(std::string_view column, std::string_view in_record);

  // The number for a table that is created without a statement.
  uint64_t NextIncarnation();
  // Puts a schema in as it is: one learnt from rows, or the history's.
  void Load(const TableSchemaPtr& schema);
  TableSchemaPtr Find(const TablePath& path) const;

 private:
  struct Dialect;
  void MakeDialect(std::string_view connector);
  DdlOutcome Translate(Dialect* dialect, DdlOutcome outcome,
                       std::vector<mysql::RowsWithoutEvents> rows);
  Result<DdlOutcome> ApplyUntranslated(Dialect* dialect, const Record& record,
                                       SchemaChangeRecord change,
                                       std::vector<mysql::RowsWithoutEvents>* rows);
  Result<DdlOutcome> ApplySnapshot(Dialect* dialect, const SchemaChangeRecord& change);
  Result<DdlOutcome> NotUnderstood(Dialect* dialect, const SchemaChangeRecord& change,
                                   const Error& cause);
  void FollowTable(Dialect* dialect, const TablePath& path, const TableSchema& created,
                   DdlOutcome* outcome);
  Result<DdlOutcome> AdoptTables(Dialect* dialect, const SchemaChangeRecord& change);

  const OnUnparsedDdl on_unparsed_;
  const bool tinyint1_is_boolean_;
  const OnlineSchemaChange::Patterns online_;
  const IsCaptured is_captured_;
  std::unique_ptr<Dialect> dialect_;
  std::vector<SchemaVersion> restored_;
  std::vector<StatementChange> restored_drops_;
  std::vector<StatementChange> parts_;  // of a statement that is not over
  uint64_t epoch_ = 1;
  uint64_t next_incarnation_ = 1;
};

}  // namespace driftless::debezium
