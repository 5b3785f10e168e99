#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <set>

#include "pipeline/sources/mysql/log_stream_tables.h"
#include "schema/base/check.h"
#include "schema/base/letter_case.h"
#include "schema/ddl/change_parts.h"

// The statements of LogStream.
namespace driftless::mysql {
namespace {

bool StartsWith(std::string_view sql, std::string_view word) {
  return sql.size() >= word.size() && EqualsIgnoringCase(sql.substr(0, word.size()), word);
}

}  // namespace

std::map<TablePath, TableSchemaPtr> LogStream::CapturedTables() const {
  std::map<TablePath, TableSchemaPtr> tables;
  for (const TableSchemaPtr& table : catalog_.Tables()) {
    if (IsCaptured(table->path) && !online_.IsHidden(table->path)) {
      tables[table->path] = table;
    }
  }
  return tables;
}

Result<bool> LogStream::Query(const BinlogEvent& event) {
  std::string buffer;
  DRIFTLESS_ASSIGN_OR_RETURN(const QueryEvent query, ParseQuery(event, &buffer));
  const std::string_view raw = query.sql;
  if (raw == "BEGIN") {
    in_transaction_ = true;
    if (commit_time_ms_ == 0) commit_time_ms_ = int64_t{event.timestamp} * 1000;
    return true;
  }
  if (raw == "COMMIT") return EndTransaction();
  if (StartsWith(raw, "SAVEPOINT ") || StartsWith(raw, "ROLLBACK TO ")) return true;
  if (StartsWith(raw, "XA ")) {
    if (StartsWith(raw, "XA START ") || StartsWith(raw, "XA BEGIN ")) {
      open_xa_ = raw.substr(9);
      xa_begin_ = position_;
      return true;
    }
    const bool commits = StartsWith(raw, "XA COMMIT ");
    if (!commits && !StartsWith(raw, "XA ROLLBACK ")) return true;  // XA END
    const std::string_view id = raw.substr(raw.find(' ', 3) + 1);
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, XaEnd(std::string(id), commits));
    if (!go_on) return false;
    return EndTransaction();
  }
  if (raw == "ROLLBACK") return EndTransaction();
  const QueryEvent::AlterPhase phase =
      query.alter_phase != QueryEvent::AlterPhase::kNone ? query.alter_phase : alter_phase_;
  alter_phase_ = QueryEvent::AlterPhase::kNone;
  if (phase != QueryEvent::AlterPhase::kStart && phase != QueryEvent::AlterPhase::kRollback) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string sql, QueryText(query));
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, Statement(sql, query));
    if (!go_on) return false;
    // CREATE TABLE ... SELECT stands inside of its transaction, whose rows follow.
    if (!catalog_.settings().IsMariaDb() && sql.ends_with("START TRANSACTION")) return true;
  }
  if (catalog_.settings().IsMariaDb() && maria_gtid_ && !maria_standalone_) return true;
  return EndTransaction();
}

Result<bool> LogStream::Statement(const std::string& sql, const QueryEvent& query) {
  StatementContext context;
  context.default_database = query.database;
  if (query.sql_mode) context.sql_mode = SqlModeFromBits(*query.sql_mode);
  DRIFTLESS_ASSIGN_OR_RETURN(const auto settled, Settled(sql, context));
  if (settled) return *settled;
  auto effect = catalog_.Apply(sql, context);
  if (!effect) return NotUnderstood(sql, context, std::move(effect).error());
  if (effect->kind == StatementEffect::Kind::kRows) {
    return MakeError(ErrorKind::kUnsupported, "a change was logged as a statement, not as rows")
        .Hint(
            "Set binlog_format = ROW for all sessions, and start the pipeline on a new state "
            "folder, so that it takes a snapshot.");
  }
  std::vector<TablePath> touched;
  for (const StatementChange& change : effect->changes) {
    touched.push_back(change.table);
    if (change.after() != nullptr) touched.push_back(change.after()->path);
  }
  auto outcome = online_.Translate(std::move(*effect));
  std::set<TablePath> again;
  std::set<TablePath> created;
  for (const StatementChange& change : outcome.changes) {
    if (change.before() == nullptr) created.insert(change.table);
  }
  for (const RowsWithoutEvents& rows : outcome.rows_without_events) {
    if (!IsCaptured(rows.table)) continue;
    UnseenChange unseen{rows.table, PointHere(), fmt::format("{}:{}", file_, event_end_),
                        sql,        rows.what,   rows.is_conversion};
    if (CanReadAgain(&unseen)) again.insert(rows.table);
    if (!output_->Unseen(unseen)) return false;
  }
  for (const TablePath& left : outcome.tables_left) {
    if (!IsCaptured(left)) continue;
    spdlog::warn("{}:{}: table {} was renamed away; its sink tables get no more rows", file_,
                 event_end_, left.ToString());
  }
  for (const StatementChange& change : outcome.changes) {
    std::erase(touched, change.table);
    if (change.after() != nullptr) std::erase(touched, change.after()->path);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, SendChanges(std::move(outcome.changes), sql));
  if (!go_on) return false;
  DRIFTLESS_TRY(RememberHidden(touched, sql));
  return ReadAgain(again, created, sql);
}

// Whether a table whose rows changed without events is read again (rows-without-events: resync).
bool LogStream::CanReadAgain(UnseenChange* unseen) const {
  const TableSchemaPtr schema = catalog_.Find(unseen->table);
  if (!context_.reads_tables_again || unseen->is_conversion || schema == nullptr) return false;
  if (unseen->what.starts_with("DISCARD ")) return false;  // nobody can read it until IMPORT
  if (schema->primary_key.empty()) {
    // Where a sink does not empty its table, every row would be there twice.
    unseen->what += "; a table without a primary key is not read again";
    return false;
  }
  unseen->is_read_again = true;
  return true;
}

// The sinks' tables are emptied, where the policy lets them, before their rows come again.
Result<bool> LogStream::ReadAgain(const std::set<TablePath>& tables,
                                  const std::set<TablePath>& created, const std::string& sql) {
  for (const TablePath& table : tables) {
    if (!created.contains(table)) {
      const TableSchemaPtr schema = catalog_.Find(table);
      StatementChange empty;
      empty.table = table;
      empty.parts.push_back({0, TruncateTable{}, schema, schema});
      std::vector<StatementChange> changes;
      changes.push_back(std::move(empty));
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, SendChanges(std::move(changes), sql));
      if (!go_on) return false;
    }
    if (!hooks_.read_again(table)) return false;
  }
  return true;
}

// Tables of online schema changes are told to nobody; a restart between their steps must know them,
// and which drops wait for the next step.
Result<void> LogStream::RememberHidden(const std::vector<TablePath>& tables,
                                       const std::string& sql) {
  std::set<TablePath> done;
  for (const TablePath& path : tables) {
    if (!done.insert(path).second) continue;
    const Point point = StatementPoint();
    ++statement_row_;
    const TableSchemaPtr tracked = catalog_.Find(path);
    TableSchemaPtr schema = tracked;
    DRIFTLESS_TRY(Remember(path, point, &schema, sql));
    if (schema != nullptr && schema != tracked) catalog_.Load(schema);
  }
  return {};
}

Result<void> LogStream::Remember(const TablePath& path, const Point& point, TableSchemaPtr* schema,
                                 std::string_view statement) {
  if (context_.history == nullptr) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const auto known, context_.history->Find(path, point));
  if (known) {
    if (known->schema != nullptr && *schema != nullptr) *schema = known->schema;
    return {};
  }
  SchemaVersion version;
  version.table = path;
  version.point = point;
  version.position = fmt::format("{}:{}", file_, event_end_);
  version.time_ms = commit_time_ms_;
  version.schema = *schema;
  version.statement = statement;
  return context_.history->Put(version);
}

Result<bool> LogStream::SetSchema(const TablePath& path, const TableSchemaPtr& schema) {
  return batches_.SetSchema(&TableOf(path)->batch, schema);
}

Result<bool> LogStream::SendChanges(std::vector<StatementChange> changes, const std::string& sql) {
  const auto text = std::make_shared<const std::string>(sql);
  for (StatementChange& change : changes) {
    Point point = PointHere();
    point.row = statement_row_++;
    change.point = point;
    change.commit_time_ms = commit_time_ms_;
    change.statement = text;
    TableSchemaPtr after = change.after();
    const TablePath to = after == nullptr ? change.table : after->path;
    const TableSchemaPtr computed = after;
    DRIFTLESS_TRY(Remember(to, point, &after, sql));
    if (to != change.table) {
      TableSchemaPtr none;
      DRIFTLESS_TRY(Remember(change.table, point, &none, sql));
    }
    if (after != computed) change.parts.back().after = after;
    const TableSchemaPtr tracked = catalog_.Find(to);
    if (after != computed && tracked == computed) catalog_.Load(after);
    if (!IsCaptured(change.table) && !IsCaptured(to)) continue;
    if (to != change.table) {
      // Under its new name the table goes on; it need not join.
      if (IsCaptured(change.table)) Admit(to);
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, SetSchema(change.table, nullptr));
      if (!go_on) return false;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, SetSchema(to, after));
    if (!go_on) return false;
    const auto sent = std::make_shared<const StatementChange>(std::move(change));
    if (!output_->Schema(sent, fmt::format("{}:{}", file_, event_end_))) return false;
  }
  return true;
}

Result<void> LogStream::NumberBehindHistory() {
  statement_row_ = 0;
  if (context_.history == nullptr) return {};
  const Point here = PointHere();
  DRIFTLESS_ASSIGN_OR_RETURN(const auto versions, context_.history->All(std::nullopt));
  for (const SchemaVersion& version : versions) {
    const Point& there = version.point;
    const bool is_here =
        there.stream == here.stream && there.epoch == here.epoch && there.offset == here.offset;
    // Tables that joined at this place are behind all statements anyway.
    if (is_here && !LogPosition::IsBehindRows(there)) {
      statement_row_ = std::max(statement_row_, there.row + 1);
    }
  }
  return {};
}

Result<bool> LogStream::Announce(const TableSchemaPtr& schema) {
  Point point = PointHere();
  point.row = statement_row_++;
  return AnnounceAt(point, schema);
}

Result<bool> LogStream::Repeat(const TableSchemaPtr& version) {
  std::vector<SchemaChange> parts = SplitIntoParts(catalog_.Find(version->path), *version, {});
  catalog_.Load(version);
  if (parts.empty()) return SetSchema(version->path, version);
  parts.back().after = version;
  StatementChange change;
  change.table = version->path;
  change.inferred = true;
  change.parts = std::move(parts);
  std::vector<StatementChange> changes;
  changes.push_back(std::move(change));
  return SendChanges(std::move(changes), "");
}

Result<bool> LogStream::Alter(const TableSchemaPtr& now) {
  DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, FollowTables({{now->path, now}}, ""));
  if (!go_on) return false;
  // What no sink sees of it (a character set, the values of an ENUM), but decoding does.
  auto altered = std::make_shared<TableSchema>(*catalog_.Find(now->path));
  bool differs = altered->charset != now->charset || altered->collation != now->collation;
  altered->charset = now->charset;
  altered->collation = now->collation;
  for (Column& column : altered->columns) {
    const Column& as_it_is = now->columns[static_cast<size_t>(now->IndexOfName(column.name))];
    differs |= column.source != as_it_is.source;
    column.source = as_it_is.source;
  }
  if (!differs) return true;
  TableSchemaPtr schema = std::move(altered);
  DRIFTLESS_TRY(Remember(now->path, StatementPoint(), &schema, ""));
  ++statement_row_;
  catalog_.Load(schema);
  return SetSchema(now->path, schema);
}

bool LogStream::Introduce(const std::vector<TableSchemaPtr>& versions) {
  TableSchemaPtr before;
  for (const TableSchemaPtr& version : versions) {
    auto change = std::make_shared<StatementChange>();
    change->table = version->path;
    change->point = PointHere();
    change->point.row = LogPosition::kIntroductions + introductions_++;
    change->inferred = true;
    if (before == nullptr) {
      change->from_snapshot = true;
      change->parts.push_back({0, CreateTable{}, nullptr, version});
    } else {
      change->parts = SplitIntoParts(before, *version, {});
      if (!change->parts.empty()) change->parts.back().after = version;
    }
    before = version;
    if (change->parts.empty()) continue;
    if (!output_->Schema(change, fmt::format("{}:{}", file_, event_end_))) return false;
  }
  return true;
}

void LogStream::Admit(const TablePath& table) {
  if (aside_.erase(table) == 0) return;
  TableOf(table)->is_captured = IsCaptured(table);
  mapped_.clear();  // what is mapped knows that nobody wants the rows
}

Result<bool> LogStream::Join(const TableSchemaPtr& schema) {
  DRIFTLESS_CHECK(!in_transaction_);
  Admit(schema->path);
  ++position_.joined;
  auto numbered = std::make_shared<TableSchema>(*schema);
  numbered->incarnation = catalog_.next_incarnation();
  catalog_.SetNextIncarnation(catalog_.next_incarnation() + 1);
  return AnnounceAt(position_.PointOf(stream_), std::move(numbered));
}

Result<void> LogStream::Leave(const TablePath& table) {
  DRIFTLESS_CHECK(!in_transaction_);
  ++position_.joined;
  TableSchemaPtr none;
  return Remember(table, position_.PointOf(stream_), &none, "");
}

Result<bool> LogStream::AnnounceAt(const Point& point, const TableSchemaPtr& schema) {
  TableSchemaPtr created = schema;
  if (online_.IsHidden(schema->path)) {
    catalog_.Load(created);
    online_.AdoptShadow(schema->path);
    created = catalog_.Find(schema->path);
  }
  DRIFTLESS_TRY(Remember(schema->path, point, &created, ""));
  catalog_.Load(created);
  if (online_.IsHidden(schema->path)) return true;
  auto change = std::make_shared<StatementChange>();
  change->table = created->path;
  change->point = point;
  change->inferred = true;
  change->from_snapshot = true;
  change->parts.push_back({0, CreateTable{}, nullptr, created});
  DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, SetSchema(created->path, created));
  if (!go_on) return false;
  return output_->Schema(change, fmt::format("{}:{}", file_, event_end_));
}

}  // namespace driftless::mysql
