#include "pipeline/sources/debezium/ddl_tracker.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "pipeline/sources/debezium/row_schema.h"
#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/splitter.h"
#include "schema/ddl/online_schema_change.h"

namespace driftless::debezium {
namespace {

bool StartsWithWord(std::string_view sql, std::string_view word) {
  while (!sql.empty() && static_cast<unsigned char>(sql.front()) <= ' ') sql.remove_prefix(1);
  return sql.size() > word.size() && EqualsIgnoringCase(sql.substr(0, word.size()), word);
}

std::string Shortened(const std::string& sql) {
  constexpr size_t kMax = 400;
  return sql.size() <= kMax ? sql : sql.substr(0, kMax) + "...";
}

StatementChange Inferred(const TablePath& table, std::vector<SchemaChange> parts) {
  StatementChange statement;
  statement.table = table;
  statement.inferred = true;
  statement.parts = std::move(parts);
  return statement;
}

// Debezium cuts the end of a conditional comment that ends a statement, as of
// "... /*!50500 PARTITION BY ... */". Gives the end back where the text does not parse without it.
std::string Repaired(const std::string& ddl, const mysql::DdlCatalog& catalog,
                     const mysql::StatementContext& context) {
  const size_t open = ddl.rfind("/*!");
  if (open == std::string::npos || ddl.find("*/", open) != std::string::npos) return ddl;
  const auto as_it_is = catalog.Preview(ddl, context);
  if (as_it_is || as_it_is.error().kind() != ErrorKind::kParse) return ddl;
  return ddl + " */";
}

}  // namespace

struct DdlTracker::Dialect {
  Dialect(mysql::ServerSettings with, OnlineSchemaChange::Patterns patterns)
      : settings(std::move(with)), catalog(settings), online(&catalog, std::move(patterns)) {}
  mysql::ServerSettings settings;
  mysql::DdlCatalog catalog;
  OnlineSchemaChange online;
};

DdlTracker::DdlTracker(OnUnparsedDdl on_unparsed, bool tinyint1_is_boolean,
                       OnlineSchemaChange::Patterns online, IsCaptured is_captured)
    : on_unparsed_(on_unparsed),
      tinyint1_is_boolean_(tinyint1_is_boolean),
      online_(std::move(online)),
      is_captured_(std::move(is_captured)) {}

DdlTracker::~DdlTracker() = default;

void DdlTracker::Restore(const std::vector<SchemaVersion>& at,
                         const std::vector<SchemaVersion>& all) {
  restored_ = at;
  restored_drops_ = OnlineSchemaChange::WaitingDropsIn(all, online_);
  for (const SchemaVersion& version : all) {
    if (version.schema != nullptr) {
      next_incarnation_ = std::max(next_incarnation_, version.schema->incarnation + 1);
    }
  }
}

void DdlTracker::MakeDialect(std::string_view connector) {
  mysql::ServerSettings settings;
  if (connector == "mariadb") settings.dialect = mysql::Dialect::kMariaDb;
  settings.tinyint1_is_boolean = tinyint1_is_boolean_;
  dialect_ = std::make_unique<Dialect>(std::move(settings), online_);
  for (const SchemaVersion& version : restored_) {
    if (version.schema != nullptr) dialect_->catalog.Load(version.schema);
  }
  restored_.clear();
  dialect_->catalog.SetNextIncarnation(next_incarnation_);
  dialect_->online.RestoreWaitingDrops(std::move(restored_drops_));
  ++epoch_;
}

bool DdlTracker::IsHidden(const TablePath& path) const {
  return dialect_ != nullptr && dialect_->online.IsHidden(path);
}

uint64_t DdlTracker::NextIncarnation() {
  if (dialect_ == nullptr) return next_incarnation_++;
  const uint64_t next = dialect_->catalog.next_incarnation();
  dialect_->catalog.SetNextIncarnation(next + 1);
  return next;
}

void DdlTracker::Load(const TableSchemaPtr& schema) {
  if (dialect_ != nullptr) {
    ++epoch_;
    dialect_->catalog.Load(schema);
    return;
  }
  // No statement has come yet; should one come, the catalog takes this up.
  const auto found = std::find_if(restored_.begin(), restored_.end(), [&](const auto& version) {
    return version.table == schema->path;
  });
  if (found != restored_.end()) {
    found->schema = schema;
  } else {
    restored_.push_back({.table = schema->path, .schema = schema});
  }
}

TableSchemaPtr DdlTracker::Find(const TablePath& path) const {
  return dialect_ == nullptr ? nullptr : dialect_->catalog.Find(path);
}

bool DdlTracker::IsNamed(std::string_view column, std::string_view in_record) {
  if (EqualsIgnoringCase(column, in_record)) return true;
  std::string quoted;
  for (const char c : column) quoted.append(c == '`' ? 2 : 1, c);
  return EqualsIgnoringCase(quoted, in_record);
}

Result<TableSchemaPtr> DdlTracker::TableOf(const std::string& create, const TablePath& path) {
  if (dialect_ == nullptr) MakeDialect("mysql");
  mysql::DdlCatalog scratch(dialect_->settings);
  DRIFTLESS_TRY(scratch.Apply(create, mysql::StatementContext{}));
  TableSchemaPtr created = scratch.Find(path);
  if (created == nullptr) return MakeError(ErrorKind::kInvalidInput, "no table: " + create);
  return created;
}

namespace {

// What the table is after the effect: its last change's schema, null where it is gone.
TableSchemaPtr After(const mysql::DdlCatalog& catalog, const mysql::StatementEffect& effect,
                     const TablePath& path) {
  for (size_t i = effect.changes.size(); i-- > 0;) {
    const StatementChange& change = effect.changes[i];
    const TableSchemaPtr after = change.after();
    if (after != nullptr && after->path == path) return after;
    if (change.table == path) return nullptr;  // dropped or renamed away
  }
  return catalog.Find(path);
}

// Compares with the record's own picture of the tables; empty where nothing differs.
std::string Difference(const mysql::DdlCatalog& catalog, const mysql::StatementEffect& effect,
                       const SchemaChangeRecord& change) {
  for (const auto& table : change.tables) {
    const TableSchemaPtr after = After(catalog, effect, table.table);
    const std::string name = table.table.ToString();
    if (table.type == "DROP") {
      if (after != nullptr) return name + " is gone in the record but not by the statement";
      continue;
    }
    if (after == nullptr) return name + " is in the record but not there by the statement";
    if (after->columns.size() != table.columns.size()) {
      return name + " has " + std::to_string(table.columns.size()) + " columns in the record and " +
             std::to_string(after->columns.size()) + " by the statement";
    }
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (!DdlTracker::IsNamed(after->columns[i].name, table.columns[i])) {
        return "column " + std::to_string(i + 1) + " of " + name + " is " + table.columns[i] +
               " in the record and " + after->columns[i].name + " by the statement";
      }
    }
  }
  return "";
}

// In the order in which they are named, each once.
std::vector<TablePath> ConcernedBy(const mysql::DdlCatalog& catalog,
                                   const SchemaChangeRecord& change) {
  mysql::StatementContext context;
  context.default_database = change.database;
  std::vector<TablePath> concerned;
  const auto add = [&](const TablePath& table) {
    if (std::find(concerned.begin(), concerned.end(), table) == concerned.end()) {
      concerned.push_back(table);
    }
  };
  for (const auto& table : change.tables) add(table.table);
  for (const TablePath& table : catalog.TablesNamedIn(change.ddl, context)) add(table);
  return concerned;
}

}  // namespace

Result<DdlOutcome> DdlTracker::Apply(const Record& record, SchemaChangeRecord change) {
  if (dialect_ == nullptr) MakeDialect(record.connector);
  Dialect* dialect = dialect_.get();
  std::vector<mysql::RowsWithoutEvents> rows;
  DRIFTLESS_ASSIGN_OR_RETURN(DdlOutcome outcome,
                             ApplyUntranslated(dialect, record, std::move(change), &rows));
  return outcome.unclear ? outcome : Translate(dialect, std::move(outcome), std::move(rows));
}

Result<DdlOutcome> DdlTracker::ApplyPart(const Record& record, SchemaChangeRecord change) {
  if (dialect_ == nullptr) MakeDialect(record.connector);
  std::vector<mysql::RowsWithoutEvents> rows;  // a rename has none
  DRIFTLESS_ASSIGN_OR_RETURN(DdlOutcome outcome,
                             ApplyUntranslated(dialect_.get(), record, std::move(change), &rows));
  std::move(outcome.changes.begin(), outcome.changes.end(), std::back_inserter(parts_));
  outcome.changes.clear();
  return outcome;
}

int DdlTracker::names_reached() const {
  std::set<TablePath> names;
  for (const StatementChange& change : parts_) {
    for (const SchemaChange& part : change.parts) {
      if (const auto* rename = std::get_if<RenameTable>(&part.detail)) names.insert(rename->to);
    }
  }
  return static_cast<int>(names.size());
}

std::vector<TablePath> DdlTracker::GiveUpParts() {
  std::set<TablePath> named;
  for (const StatementChange& change : std::exchange(parts_, {})) {
    named.insert(change.table);
    if (change.after() != nullptr) named.insert(change.after()->path);
  }
  std::erase_if(named, [this](const TablePath& table) { return !is_captured_(table); });
  return {named.begin(), named.end()};
}

DdlOutcome DdlTracker::ApplyRest() {
  DdlOutcome outcome;
  outcome.changes = std::exchange(parts_, {});
  if (outcome.changes.empty()) return outcome;
  return Translate(dialect_.get(), std::move(outcome), {});
}

// Takes online schema changes for what they are.
DdlOutcome DdlTracker::Translate(Dialect* dialect, DdlOutcome outcome,
                                 std::vector<mysql::RowsWithoutEvents> rows) {
  const auto touch = [&](const std::vector<StatementChange>& changes) {
    for (const StatementChange& statement : changes) {
      outcome.touched.push_back(statement.table);
      if (statement.after() != nullptr) outcome.touched.push_back(statement.after()->path);
    }
  };
  touch(outcome.changes);
  mysql::StatementEffect effect;
  effect.changes = std::move(outcome.changes);
  effect.rows_without_events = std::move(rows);
  OnlineSchemaChange::Outcome translated = dialect->online.Translate(std::move(effect));
  outcome.changes = std::move(translated.changes);
  touch(outcome.changes);
  for (const auto& moved : translated.rows_without_events) {
    if (!is_captured_(moved.table)) continue;
    outcome.unseen.push_back({moved.table, {}, "", "", moved.what, moved.is_conversion});
  }
  for (const TablePath& left : translated.tables_left) {
    if (!is_captured_(left)) continue;
    outcome.warnings.push_back(left.ToString() +
                               " was swapped away: its sink table gets no more rows");
  }
  ++epoch_;
  return outcome;
}

Result<DdlOutcome> DdlTracker::ApplyUntranslated(Dialect* dialect, const Record& record,
                                                 SchemaChangeRecord change,
                                                 std::vector<mysql::RowsWithoutEvents>* rows) {
  mysql::StatementContext context;
  context.default_database = change.database;
  change.ddl = Repaired(change.ddl, dialect->catalog, context);
  if (record.snapshot) return ApplySnapshot(dialect, change);
  auto preview = dialect->catalog.Preview(change.ddl, context);
  if (!preview) return NotUnderstood(dialect, change, preview.error());
  const std::string difference = Difference(dialect->catalog, *preview, change);
  if (!difference.empty()) {
    return NotUnderstood(
        dialect, change,
        MakeError(ErrorKind::kUnsupported,
                  "the statement and the record's tableChanges disagree: " + difference));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(mysql::StatementEffect effect,
                             dialect->catalog.Apply(change.ddl, context));
  DdlOutcome outcome;
  outcome.changes = std::move(effect.changes);
  const auto text = std::make_shared<const std::string>(std::move(change.ddl));
  for (StatementChange& statement : outcome.changes) statement.statement = text;
  *rows = std::move(effect.rows_without_events);
  return outcome;
}

// A snapshot drops and creates every table; only the creation means anything here, and where the
// table is known already (a second snapshot), only what differs.
Result<DdlOutcome> DdlTracker::ApplySnapshot(Dialect* dialect, const SchemaChangeRecord& change) {
  DdlOutcome outcome;
  if (StartsWithWord(change.ddl, "DROP")) {
    for (const auto& table : change.tables) dialect->online.Announce(table.table);
  }
  if (StartsWithWord(change.ddl, "DROP") || StartsWithWord(change.ddl, "TRUNCATE")) return outcome;
  mysql::StatementContext context;
  context.default_database = change.database;
  const bool creates = std::any_of(change.tables.begin(), change.tables.end(),
                                   [](const auto& t) { return t.type == "CREATE"; });
  const bool known = creates && dialect->catalog.Find(change.tables.front().table) != nullptr;
  if (!known) {
    auto effect = dialect->catalog.Apply(change.ddl, context);
    if (effect) {
      outcome.changes = std::move(effect->changes);
    } else if (creates) {
      return NotUnderstood(dialect, change, effect.error());
    }  // else about databases or sessions: CREATE DATABASE of one that is known
  } else {
    mysql::DdlCatalog scratch(dialect->settings);
    auto effect = scratch.Apply(change.ddl, context);
    if (!effect) return NotUnderstood(dialect, change, effect.error());
    const TablePath& path = change.tables.front().table;
    const TableSchemaPtr created = scratch.Find(path);
    const TableSchemaPtr before = dialect->catalog.Find(path);
    if (created == nullptr) return outcome;
    auto parts = DifferenceByName(before, ShapeOfTable(*created), Missing::kDropped);
    if (!parts.empty()) {
      dialect->catalog.Load(parts.back().after);
      outcome.changes.push_back(Inferred(path, std::move(parts)));
    }
  }
  for (StatementChange& statement : outcome.changes) statement.from_snapshot = true;
  return outcome;
}

std::vector<TablePath> DdlTracker::Concerned(const Record& record,
                                             const SchemaChangeRecord& change) {
  if (dialect_ == nullptr) MakeDialect(record.connector);
  return ConcernedBy(dialect_->catalog, change);
}

Result<DdlOutcome> DdlTracker::NotUnderstood(Dialect* dialect, const SchemaChangeRecord& change,
                                             const Error& cause) {
  std::vector<TablePath> concerned = ConcernedBy(dialect->catalog, change);
  std::erase_if(concerned, [&](const TablePath& table) { return !is_captured_(table); });
  if (concerned.empty()) {
    DdlOutcome outcome;
    outcome.warnings.push_back("a statement that concerns no captured table was not understood: " +
                               cause.message());
    return outcome;
  }
  if (change.names_no_database) {
    DdlOutcome outcome;
    std::string names;
    for (const TablePath& table : concerned) {
      names += (names.empty() ? "" : ", ") + table.ToString();
    }
    outcome.warnings.push_back(
        "a statement names no database, so that nobody can say which table "
        "it is about; the next rows of " +
        names + " tell: " + Shortened(change.ddl));
    outcome.told_by_rows = std::move(concerned);
    return outcome;
  }
  // The stream began behind the table's CREATE: the record's own picture is all there is, and it is
  // whole. Nothing was known that could be lost.
  const bool whole = std::any_of(change.tables.begin(), change.tables.end(),
                                 [](const auto& t) { return !t.columns.empty(); });
  const bool unknown_table =
      cause.kind() == ErrorKind::kNotFound && whole &&
      std::all_of(change.tables.begin(), change.tables.end(),
                  [&](const auto& t) { return dialect->catalog.Find(t.table) == nullptr; });
  if (unknown_table || on_unparsed_ == OnUnparsedDdl::kIgnore) {
    DRIFTLESS_ASSIGN_OR_RETURN(DdlOutcome outcome, AdoptTables(dialect, change));
    outcome.warnings.push_back("a statement was not understood (" + cause.message() +
                               "); the tables follow the record's own tableChanges");
    return outcome;
  }
  std::string names;
  for (const TablePath& table : concerned) {
    names += (names.empty() ? "" : ", ") + table.ToString();
  }
  Error error(cause.kind(), "a statement on " + names + " is not understood for certain: " +
                                cause.message() + "; the statement: " + Shortened(change.ddl));
  if (cause.line() > 0) error = std::move(error).At(cause.line(), cause.column());
  if (on_unparsed_ == OnUnparsedDdl::kPark) {
    DdlOutcome outcome;
    outcome.unclear = {std::move(concerned), std::move(error)};
    return outcome;
  }
  return std::move(error).Hint(
      "Rows behind it are not decoded with a schema that is not certain. Set on-unparsed-ddl: "
      "ignore to go on with the columns that the record's tableChanges give, or leave the table "
      "out of `tables`.");
}

Result<DdlOutcome> DdlTracker::AdoptTables(Dialect* dialect, const SchemaChangeRecord& change) {
  DdlOutcome outcome;
  for (const auto& table : change.tables) {
    const TableSchemaPtr before = dialect->catalog.Find(table.table);
    if (table.type == "DROP" || table.columns.empty()) {
      if (before == nullptr) continue;
      dialect->catalog.Forget(table.table);
      outcome.changes.push_back(Inferred(table.table, {{0, DropTable{}, before, nullptr}}));
      continue;
    }
    mysql::DdlCatalog scratch(dialect->settings);
    DRIFTLESS_TRY(scratch.Apply(table.create, mysql::StatementContext{}));
    const TableSchemaPtr created = scratch.Find(table.table);
    if (created == nullptr)
      return MakeError(ErrorKind::kInvalidInput,
                       "the schema-change record describes a table that cannot be created");
    FollowTable(dialect, table.table, *created, &outcome);
  }
  return outcome;
}

// The table is `created` from here on: what that changes.
void DdlTracker::FollowTable(Dialect* dialect, const TablePath& path, const TableSchema& created,
                             DdlOutcome* outcome) {
  const TableSchemaPtr before = dialect->catalog.Find(path);
  std::vector<SchemaChange> parts;
  if (before == nullptr) {
    auto schema = std::make_shared<TableSchema>(created);
    schema->incarnation = NextIncarnation();
    parts.push_back({0, CreateTable{}, nullptr, std::move(schema)});
  } else {
    parts = DifferenceByName(before, ShapeOfTable(created), Missing::kDropped);
  }
  if (parts.empty()) return;
  dialect->catalog.Load(parts.back().after);
  outcome->changes.push_back(Inferred(path, std::move(parts)));
}

Result<DdlOutcome> DdlTracker::ApplyGiven(const Record& record, const SchemaChangeRecord& change,
                                          const std::string& text,
                                          const std::vector<TablePath>& tables) {
  if (dialect_ == nullptr) MakeDialect(record.connector);
  Dialect* dialect = dialect_.get();
  mysql::DdlCatalog scratch(dialect->settings);
  mysql::StatementContext context;
  context.default_database = change.database;
  for (const mysql::StatementText& statement :
       mysql::SplitStatements(text, dialect->settings, mysql::SqlMode{})) {
    DRIFTLESS_TRY(scratch.Apply(statement.text, context));
  }
  DdlOutcome outcome;
  bool any = false;
  for (const TablePath& table : tables) {
    const TableSchemaPtr created = scratch.Find(table);
    if (created == nullptr) continue;
    any = true;
    FollowTable(dialect, table, *created, &outcome);
  }
  if (!any) {
    return MakeError(ErrorKind::kInvalidInput,
                     "the text creates none of the tables, the first of which is " +
                         (tables.empty() ? "unknown" : tables.front().ToString()));
  }
  return Translate(dialect, std::move(outcome), {});
}

}  // namespace driftless::debezium
