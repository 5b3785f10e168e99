#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "config/definition/pipeline_options.h"
#include "pipeline/sources/debezium/row_schema.h"
#include "pipeline/sources/mysql/binlog/table_map.h"
#include "pipeline/sources/mysql/log_stream_tables.h"
#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/splitter.h"

// What of LogStream is not certain: statements that are not understood, and tables that are not as
// the statements in the log say (policy, 5.7).
namespace driftless::mysql {
namespace {

std::string Shortened(std::string_view sql) {
  constexpr size_t kMax = 400;
  return sql.size() <= kMax ? std::string(sql) : std::string(sql.substr(0, kMax)) + "...";
}

// Where the words are not at a statement's beginning, rows that do not fit will tell.
bool HasWordsEarly(std::string_view sql, std::string_view words) {
  const std::string_view head = sql.substr(0, 40);
  for (size_t i = 0; i + words.size() <= head.size(); ++i) {
    if (EqualsIgnoringCase(head.substr(i, words.size()), words)) return true;
  }
  return false;
}

// Whether a statement that failed because its table is not tracked concerns that one alone,
// whatever other names stand in it: columns, referenced tables.
bool IsAboutOneTable(std::string_view sql) {
  const auto has = [&](std::string_view word) {
    for (size_t i = 0; i + word.size() <= sql.size(); ++i) {
      if (EqualsIgnoringCase(sql.substr(i, word.size()), word)) return true;
    }
    return false;
  };
  if (!HasWordsEarly(sql, "ALTER TABLE") && !HasWordsEarly(sql, "INDEX")) return false;
  return !has("RENAME") && !has("EXCHANGE");
}

// What turns the tracked table into `created`; empty where nothing differs.
std::vector<SchemaChange> PartsTo(const TableSchemaPtr& before, const TableSchema& created,
                                  uint64_t incarnation) {
  if (before != nullptr) {
    return debezium::DifferenceByName(before, debezium::ShapeOfTable(created),
                                      debezium::Missing::kDropped);
  }
  auto schema = std::make_shared<TableSchema>(created);
  schema->incarnation = incarnation;
  std::vector<SchemaChange> parts;
  parts.push_back({0, CreateTable{}, nullptr, std::move(schema)});
  return parts;
}

}  // namespace

Result<std::optional<UnclearAnswer>> LogStream::AnswerHere() const {
  if (context_.answers == nullptr) return std::optional<UnclearAnswer>();
  return context_.answers->AnswerTo(StatementPoint());
}

// Statements at one place are numbered, and so is what stands in for a statement that is missing.
Point LogStream::StatementPoint() const {
  Point point = PointHere();
  point.row = statement_row_;
  return point;
}

Result<bool> LogStream::Park(std::vector<TablePath> tables, std::string text, std::string why,
                             bool follows_another) {
  UnclearStatement unclear;
  unclear.point = StatementPoint();
  unclear.position = fmt::format("{}:{}", file_, event_end_);
  unclear.text = std::move(text);
  unclear.why = std::move(why);
  unclear.follows_another = follows_another;
  for (const TablePath& path : tables) {
    Table* table = TableOf(path);
    table->waits = any_waits_ = true;
    if (!batches_.Seal(&table->batch)) return false;
  }
  unclear.tables = std::move(tables);
  ++statement_row_;
  return output_->Park(unclear);
}

// The captured tables that a statement may concern: those that it names, and those that it makes.
std::vector<TablePath> LogStream::Concerned(const std::string& sql,
                                            const StatementContext& context) const {
  std::vector<TablePath> concerned;
  const auto add = [&](const TablePath& table) {
    if (!IsCaptured(table) || online_.IsHidden(table)) return;
    if (std::find(concerned.begin(), concerned.end(), table) == concerned.end()) {
      concerned.push_back(table);
    }
  };
  for (const TablePath& table : catalog_.TablesNamedIn(sql, context)) add(table);
  if (const auto preview = catalog_.Preview(sql, context)) {
    for (const StatementChange& change : preview->changes) {
      add(change.table);
      if (change.after() != nullptr) add(change.after()->path);
    }
  }
  return concerned;
}

// What a statement means for one table may depend on another that waits: both wait then.
Result<std::optional<bool>> LogStream::Settled(const std::string& sql,
                                               const StatementContext& context) {
  if (any_waits_) {
    std::vector<TablePath> concerned = Concerned(sql, context);
    const auto waits = [this](const TablePath& table) { return TableOf(table)->waits; };
    const size_t all = concerned.size();
    std::erase_if(concerned, waits);
    if (concerned.size() < all) {
      if (concerned.empty()) return std::optional<bool>(true);
      DRIFTLESS_ASSIGN_OR_RETURN(
          const bool go_on,
          Park(std::move(concerned), sql,
               "the statement also concerns a table that waits for a decision", true));
      return std::optional<bool>(go_on);
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(auto answer, AnswerHere());
  if (!answer) return std::optional<bool>();
  if (answer->kind == UnclearAnswer::Kind::kSkip) {
    spdlog::warn("{}:{}: the statement is passed over, as was decided: {}", file_, event_end_,
                 Shortened(sql));
    return std::optional<bool>(true);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, FollowGiven(std::move(*answer), sql));
  return std::optional<bool>(go_on);
}

// The tables are as a person says from here on.
Result<bool> LogStream::FollowGiven(UnclearAnswer answer, const std::string& sql) {
  DdlCatalog scratch(catalog_.settings());
  StatementContext context;
  if (!answer.tables.empty()) context.default_database = answer.tables.front().database;
  Result<void> read = [&]() -> Result<void> {
    for (const StatementText& statement :
         SplitStatements(answer.schema, catalog_.settings(), SqlMode{})) {
      DRIFTLESS_TRY(scratch.Apply(statement.text, context));
    }
    for (const TablePath& path : answer.tables) {
      if (scratch.Find(path) != nullptr) return {};
    }
    return MakeError(ErrorKind::kInvalidInput, "the text creates none of the tables that wait");
  }();
  if (!read) {
    return Park(std::move(answer.tables), sql,
                "the schema that was given cannot be used: " + read.error().ToString(), false);
  }
  std::vector<std::pair<TablePath, TableSchemaPtr>> tables;
  for (const TablePath& path : answer.tables) {
    if (TableSchemaPtr created = scratch.Find(path)) tables.emplace_back(path, std::move(created));
  }
  return FollowTables(tables, sql);
}

Result<bool> LogStream::FollowTables(
    const std::vector<std::pair<TablePath, TableSchemaPtr>>& tables, const std::string& sql) {
  StatementEffect effect;
  for (const auto& [path, created] : tables) {
    const TableSchemaPtr before = catalog_.Find(path);
    auto parts = PartsTo(before, *created, catalog_.next_incarnation());
    if (parts.empty()) continue;
    if (before == nullptr) catalog_.SetNextIncarnation(catalog_.next_incarnation() + 1);
    catalog_.Load(parts.back().after);
    StatementChange change;
    change.table = path;
    change.inferred = true;
    change.parts = std::move(parts);
    effect.changes.push_back(std::move(change));
  }
  return SendChanges(online_.Translate(std::move(effect)).changes, sql);
}

Result<bool> LogStream::NotUnderstood(const std::string& sql, const StatementContext& context,
                                      Error error) {
  // CREATE TABLE ... AS SELECT, whose columns the text does not tell: the tables that it reads are
  // as they were, and the new one is taken from the server when its first row comes.
  if (error.kind() == ErrorKind::kUnsupported && !HasWordsEarly(sql, "OR REPLACE")) {
    spdlog::warn("{}:{}: {}; the table is taken from the server with its first row", file_,
                 event_end_, error.ToString());
    return true;
  }
  if (error.kind() == ErrorKind::kNotFound && IsAboutOneTable(sql)) return true;
  std::vector<TablePath> tables = Concerned(sql, context);
  // Its text may hold a password, so that it is not told.
  if (tables.empty()) {
    if (error.kind() != ErrorKind::kNotFound) {
      spdlog::warn("{}:{}: a statement that names no captured table is not understood: {}", file_,
                   event_end_, error.ToString());
    }
    return true;
  }
  std::string names;
  for (const TablePath& table : tables) {
    names += (names.empty() ? "" : ", ") + table.ToString();
  }
  const std::string why =
      fmt::format("a statement on {} is not understood for certain: {}; the statement: {}", names,
                  error.ToString(), Shortened(sql));
  switch (on_unparsed_) {
    case OnUnparsedDdl::kPark: return Park(std::move(tables), sql, why, false);
    case OnUnparsedDdl::kIgnore:
      spdlog::warn("{}:{}: {}; the next row's own description counts", file_, event_end_, why);
      for (const TablePath& table : tables) TableOf(table)->is_uncertain = true;
      return true;
    case OnUnparsedDdl::kFail: break;
  }
  return MakeError(error.kind(), why)
      .Hint(
          "Rows behind it are not decoded with a schema that is not certain. Set on-unparsed-ddl: "
          "park, and say with `driftless decide` how the table is behind it, or leave the table "
          "out with tables.exclude.");
}

// The rows at hand are not as the statements say: one of them was not in the log (sql_log_bin, a
// filter), or was not understood. `schema` is null where no statement made the table at all.
Result<bool> LogStream::Differs(const TableMap& map, Table* table, const Error& difference) {
  DRIFTLESS_ASSIGN_OR_RETURN(auto answer, AnswerHere());
  if (answer && answer->kind == UnclearAnswer::Kind::kSchema) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, FollowGiven(std::move(*answer), ""));
    const TableSchemaPtr given = catalog_.Find(table->path);
    if (!go_on || table->waits) return go_on;
    const std::string still = given == nullptr ? "no schema" : DifferenceOf(map, *given);
    if (still.empty()) return true;
    return Park({table->path}, "", "the schema that was given is not that of the rows: " + still,
                false);
  }
  const std::string why = fmt::format("the rows of {} are not as the statements in the log say: {}",
                                      table->path.ToString(), difference.ToString());
  if (on_unparsed_ == OnUnparsedDdl::kPark) return Park({table->path}, "", why, false);
  if (on_unparsed_ == OnUnparsedDdl::kIgnore) {
    const auto now = hooks_.fetch(table->path, catalog_.next_incarnation());
    if (now && DifferenceOf(map, **now).empty()) {
      spdlog::warn("{}:{}: {}; it goes on as the server has it now", file_, event_end_, why);
      return FollowTables({{table->path, *now}}, "");
    }
  }
  return MakeError(ErrorKind::kConflict, why)
      .Hint(
          "A statement on the table was not in the log (sql_log_bin, a filter), or not understood. "
          "Set on-unparsed-ddl: park, and say with `driftless decide ID schema FILE` how the table "
          "is here, or start the pipeline on a new state folder, so that it takes a snapshot.");
}

}  // namespace driftless::mysql
