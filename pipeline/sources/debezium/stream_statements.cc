#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <map>

#include "pipeline/sources/debezium/debezium_stream.h"
#include "pipeline/sources/debezium/stream_table.h"

// The statements of a stream: those that records hold, and those that are learnt from rows.
namespace driftless::debezium {

// Binds the table's name to a schema (null: it is gone); rows under the old one are sent first.
Result<bool> DebeziumStream::Adopt(const TablePath& path, TableSchemaPtr schema) {
  Table* table = FindTable(path);
  table->has_ddl =
      schema != nullptr && std::any_of(schema->columns.begin(), schema->columns.end(),
                                       [](const Column& c) { return !c.source.type_text.empty(); });
  table->plan_is_current = false;
  table->by_statement |= schema != nullptr && !restoring_;
  table->ever_without_key |= schema != nullptr && schema->primary_key.empty();
  return batches_.SetSchema(&table->batch, std::move(schema));
}

Result<bool> DebeziumStream::SendInferred(Table* table, const RowShape& shape, Missing missing,
                                          const Record& record, const Place& place, bool* changed) {
  auto statement = std::make_shared<StatementChange>();
  statement->table = table->path;
  statement->point = NextStatement(place);
  statement->commit_time_ms = record.commit_time_ms;
  statement->inferred = true;
  statement->from_snapshot = record.op == Op::kRead;
  if (table->schema() == nullptr) {
    TableSchemaPtr created = SchemaOfShape(table->path, ddl_.NextIncarnation(), shape);
    statement->parts.push_back({0, CreateTable{}, nullptr, std::move(created)});
  } else {
    statement->parts = DifferenceByName(table->schema(), shape, missing);
  }
  *changed = !statement->parts.empty();
  if (!*changed) return true;
  TableSchemaPtr after = statement->after();
  DRIFTLESS_TRY(Remember(statement->point, table->path, &after, record, place, ""));
  statement->parts.back().after = after;
  ddl_.Load(after);
  table->plan_is_current = false;
  table->ever_without_key |= after->primary_key.empty();
  if (!batches_.SetSchema(&table->batch, after)) return false;
  return SendStatement(statement, place);
}

Result<bool> DebeziumStream::AdoptLearnt(TableSchemaPtr schema, const Point& point,
                                         const std::string& origin) {
  Table* table = FindTable(schema->path);
  if (table->schema() != nullptr && *table->schema() == *schema) return true;
  const Place place{point, &origin, {}};
  DRIFTLESS_TRY(Remember(NextStatement(place), schema->path, &schema, Record(), place, ""));
  ddl_.Load(schema);
  table->plan_is_current = false;
  table->row_tells = false;
  table->ever_without_key |= schema->primary_key.empty();
  return batches_.SetSchema(&table->batch, std::move(schema));
}

TableSchemaPtr DebeziumStream::SchemaOf(std::string_view database, std::string_view table) const {
  std::string name(database);
  name += '\0';
  name += table;
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : found->second->schema();
}

Result<void> DebeziumStream::Remember(const Point& point, const TablePath& path,
                                      TableSchemaPtr* schema, const Record& record,
                                      const Place& place, std::string_view statement) {
  if (context_.history == nullptr) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const auto known, context_.history->Find(path, point));
  if (known) {
    // A replay: the identities of the first time count.
    if (known->schema != nullptr && *schema != nullptr && !(*known->schema == **schema)) {
      spdlog::warn("{}: the schema of {} is read differently than before; the history's counts",
                   place.Text(), path.ToString());
      *schema = known->schema;
    }
    return {};
  }
  SchemaVersion version;
  version.table = path;
  version.point = point;
  version.position = place.Text();
  version.time_ms = record.commit_time_ms;
  version.schema = *schema;
  version.statement = statement;
  return context_.history->Put(version);
}

Result<bool> DebeziumStream::SendStatement(const StatementChangePtr& change, const Place& place) {
  ++counters_.schema_changes;
  return output_->Schema(change, place.Text());
}

Result<bool> DebeziumStream::Truncate(const Record& record, const Place& place) {
  Table* table = FindTable(record);
  ddl_.Start(record.connector);
  if (!IsCapturedNow(table)) {
    ++counters_.filtered;
    return true;
  }
  if (table->waits || table->schema() == nullptr) return true;  // nothing of it was ever sent
  auto statement = std::make_shared<StatementChange>();
  statement->table = table->path;
  statement->point = NextStatement(place);
  statement->commit_time_ms = record.commit_time_ms;
  statement->parts.push_back({0, TruncateTable{}, table->schema(), table->schema()});
  if (!batches_.Seal(&table->batch)) return false;
  return SendStatement(statement, place);
}

DebeziumStream::Table* DebeziumStream::FindTable(const TablePath& path) {
  Record named;
  named.database = path.database;
  named.table = path.table;
  return FindTable(named);
}

Result<bool> DebeziumStream::Park(UnclearStatement statement, const Place& place) {
  statement.position = place.Text();
  for (const TablePath& path : statement.tables) {
    Table* table = FindTable(path);
    table->waits = any_waits_ = true;
    if (!batches_.Seal(&table->batch)) return false;
  }
  return output_->Park(statement);
}

std::optional<std::vector<TablePath>> DebeziumStream::DrawnIn(const Record& record,
                                                              const SchemaChangeRecord& change) {
  if (!any_waits_) return std::nullopt;
  bool waits = false;
  std::vector<TablePath> others;
  for (const TablePath& path : ddl_.Concerned(record, change)) {
    if (!IsCaptured(path)) continue;
    if (FindTable(path)->waits) {
      waits = true;
    } else {
      others.push_back(path);
    }
  }
  if (!waits) return std::nullopt;
  return others;
}

Result<bool> DebeziumStream::SchemaChanged(const Record& record, const Place& place) {
  auto change = options_.records == RecordFormat::kCanalJson     ? ParseCanalStatement(record)
                : options_.records == RecordFormat::kMaxwellJson ? ParseMaxwellStatement(record)
                                                                 : ParseSchemaChange(record);
  if (rename_ && (!change || !change->IsPartOfRename() ||
                  change->log_position != rename_->statement.log_position)) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, FinishRename());
    if (!go_on) return false;
  }
  if (!change) return Bad(place, change.error());
  return TakeStatement(record, place, std::move(*change));
}

// `time_ms` is that of the binary log, in whole seconds.
DebeziumStream::Repeated DebeziumStream::NoteStatement(int64_t time_ms, const TablePath& table,
                                                       const std::string& statement) {
  const size_t identity = std::hash<std::string>()(std::to_string(time_ms) + " " + table.database +
                                                   " " + table.table + " " + statement);
  const bool is_known = std::find(recent_statements_.begin(), recent_statements_.end(), identity) !=
                        recent_statements_.end();
  if (is_known) return time_ms < last_statement_time_ms_ ? Repeated::kYes : Repeated::kMaybe;
  constexpr size_t kMax = 1000;
  if (recent_statements_.size() == kMax) recent_statements_.pop_front();
  recent_statements_.push_back(identity);
  last_statement_time_ms_ = std::max(last_statement_time_ms_, time_ms);
  return Repeated::kNo;
}

Result<bool> DebeziumStream::PassOver(const SchemaChangeRecord& change, const Place& place) {
  spdlog::warn("{}: Canal sent this statement before, and it is passed over: {}", place.Text(),
               change.ddl);
  ++counters_.ignored_ddl;
  return true;
}

Result<bool> DebeziumStream::TakeStatement(const Record& record, const Place& place,
                                           SchemaChangeRecord statement) {
  SchemaChangeRecord* const change = &statement;
  const TablePath named{"", std::string(record.database), std::string(record.table)};
  const Repeated repeated =
      record.batch == 0 ? Repeated::kNo : NoteStatement(record.commit_time_ms, named, change->ddl);
  if (repeated == Repeated::kYes) return PassOver(*change, place);
  UnclearStatement unclear;
  unclear.point = place.point;
  unclear.point.row = NextStatementRow(place);
  unclear.text = change->ddl;
  // What a statement means for one table may depend on another that waits.
  if (auto others = DrawnIn(record, *change)) {
    if (others->empty()) return true;
    unclear.tables = std::move(*others);
    unclear.why = "the statement also concerns a table that waits for a decision";
    unclear.follows_another = true;
    return Park(std::move(unclear), place);
  }
  std::optional<UnclearAnswer> answer;
  if (context_.answers != nullptr) {
    DRIFTLESS_ASSIGN_OR_RETURN(answer, context_.answers->AnswerTo(unclear.point));
  }
  if (answer && answer->kind == UnclearAnswer::Kind::kSkip) {
    spdlog::warn("{}: the statement is passed over, as was decided: {}", place.Text(), change->ddl);
    ++counters_.ignored_ddl;
    return true;
  }
  const bool is_part = !answer && change->IsPartOfRename() && !record.snapshot;
  auto outcome = answer    ? ddl_.ApplyGiven(record, *change, answer->schema, answer->tables)
                 : is_part ? ddl_.ApplyPart(record, *change)
                           : ddl_.Apply(record, *change);
  // Sent twice within a second, or once more by Canal: the second one's effect is there.
  if (repeated == Repeated::kMaybe && (!outcome || outcome->unclear)) {
    return PassOver(*change, place);
  }
  if (!outcome && !answer) return std::move(outcome.error()).Position(place.Text());
  if (!outcome) {
    unclear.tables = std::move(answer->tables);
    unclear.why = "the schema that was given cannot be used: " + outcome.error().ToString();
    return Park(std::move(unclear), place);
  }
  if (outcome->unclear) {
    unclear.tables = std::move(outcome->unclear->tables);
    unclear.why = outcome->unclear->why.ToString();
    if (is_part && rename_) {  // the statement as a whole is not understood
      rename_.reset();
      for (TablePath& table : ddl_.GiveUpParts()) {
        const auto known = std::find(unclear.tables.begin(), unclear.tables.end(), table);
        if (known == unclear.tables.end()) unclear.tables.push_back(std::move(table));
      }
    }
    return Park(std::move(unclear), place);
  }
  if (!is_part) return SendChanges(std::move(*outcome), *change, record, place);
  for (const std::string& warning : outcome->warnings) {
    spdlog::warn("{}: {}", place.Text(), warning);
  }
  return TakePart(statement, record, place);
}

Result<bool> DebeziumStream::TakePart(const SchemaChangeRecord& pair, const Record& record,
                                      const Place& place) {
  if (!rename_) {
    rename_.emplace();
    rename_->statement.log_position = pair.log_position;
    rename_->statement.tables_named = pair.tables_named;
  }
  rename_->point = place.point;
  rename_->origin = *place.origin;
  rename_->commit_time_ms = record.commit_time_ms;
  std::string& ddl = rename_->statement.ddl;
  ddl += (ddl.empty() ? "" : "; ") + pair.ddl;
  // Where all names have been reached it need not wait for the next record to know its end.
  return ddl_.names_reached() < pair.tables_named ? Result<bool>(true) : FinishRename();
}

// The pairs are one change, which stands where the last one did: swapped names go on as what they
// are, in whatever order the pairs went.
Result<bool> DebeziumStream::FinishRename() {
  const Rename rename = std::move(*rename_);
  rename_.reset();
  Record record;
  record.commit_time_ms = rename.commit_time_ms;
  const Place place{rename.point, &rename.origin, {}};
  return SendChanges(ddl_.ApplyRest(), rename.statement, record, place);
}

Result<bool> DebeziumStream::End() {
  if (rename_) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, FinishRename());
    if (!go_on) return false;
  }
  return Flush();
}

Result<bool> DebeziumStream::SendChanges(DdlOutcome outcome, const SchemaChangeRecord& change,
                                         const Record& record, const Place& place) {
  for (const std::string& warning : outcome.warnings) {
    spdlog::warn("{}: {}", place.Text(), warning);
  }
  if (!SendUnseen(outcome.unseen, change, place)) return false;
  for (const TablePath& path : outcome.told_by_rows) {
    FindTable(path)->row_tells = true;
    FindTable(path)->plan_is_current = false;
  }
  if (outcome.touched.empty()) {
    if (outcome.unseen.empty()) ++counters_.ignored_ddl;
    return true;
  }
  const auto text = std::make_shared<const std::string>(change.ddl);
  // A name's last state is its version behind this record: RENAME a TO t, b TO a, t TO b.
  std::map<TablePath, TableSchemaPtr> after;
  std::map<TablePath, Point> made_at;
  for (StatementChange& statement : outcome.changes) {
    statement.point = NextStatement(place);
    made_at[statement.table] = statement.point;
    if (statement.after() != nullptr) made_at[statement.after()->path] = statement.point;
  }
  for (const TablePath& path : outcome.touched) {
    after[path] = ddl_.Find(path);
    // Shadow tables of online schema changes are tracked, and told of to nobody.
    if (!made_at.contains(path)) made_at[path] = NextStatement(place);
  }
  for (auto& [path, schema] : after) {
    const TableSchemaPtr computed = schema;
    DRIFTLESS_TRY(Remember(made_at[path], path, &schema, record, place, change.ddl));
    if (schema == nullptr) continue;
    if (schema != computed || options_.believes_indexes) ddl_.Load(schema);
  }
  for (const auto& [path, schema] : after) {
    const auto is_of = [&](const StatementChange& statement) {
      return statement.table == path ||
             (statement.after() != nullptr && statement.after()->path == path);
    };
    if (std::any_of(outcome.changes.begin(), outcome.changes.end(), is_of)) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, Adopt(path, schema));
    if (!go_on) return false;
  }
  bool sent = false;
  for (StatementChange& statement : outcome.changes) {
    const TableSchemaPtr last = statement.after();
    const TablePath to = last == nullptr ? statement.table : last->path;
    const bool is_final = last != nullptr && after[to] != nullptr &&
                          after[to]->incarnation == last->incarnation &&
                          after[to]->version == last->version;
    const TableSchemaPtr now = is_final ? after[to] : last;
    if (is_final) statement.parts.back().after = now;
    if (to != statement.table) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, Adopt(statement.table, nullptr));
      if (!go_on) return false;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(bool go_on, Adopt(to, now));
    if (!go_on) return false;
    if (!IsCaptured(statement.table) && !IsCaptured(to)) continue;
    statement.commit_time_ms = record.commit_time_ms;
    if (statement.statement == nullptr) statement.statement = text;
    sent = true;
    DRIFTLESS_ASSIGN_OR_RETURN(
        go_on, SendStatement(std::make_shared<const StatementChange>(std::move(statement)), place));
    if (!go_on) return false;
  }
  if (!sent && outcome.unseen.empty()) ++counters_.ignored_ddl;
  return true;
}

bool DebeziumStream::SendUnseen(const std::vector<UnseenChange>& unseen,
                                const SchemaChangeRecord& change, const Place& place) {
  for (UnseenChange rows : unseen) {
    rows.point = place.point;
    rows.position = place.Text();
    rows.statement = change.ddl;
    if (!output_->Unseen(rows)) return false;
  }
  return true;
}

}  // namespace driftless::debezium
