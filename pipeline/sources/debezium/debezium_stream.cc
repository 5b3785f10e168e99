#include "pipeline/sources/debezium/debezium_stream.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "schema/base/check.h"

namespace driftless::debezium {
namespace {

// How often one record may change its table's inferred schema: once for its fields, once for each
// kind of value that did not fit.
constexpr int kAttemptsMax = 4;

std::string Excerpt(std::string_view text) {
  constexpr size_t kMax = 80;
  return std::string(text.substr(0, kMax)) + (text.size() > kMax ? "..." : "");
}

}  // namespace

struct DebeziumStream::Table {
  TablePath path;
  std::string database_key;  // how records name it
  std::string table_key;
  bool captured = false;        // selected, and no shadow of an online schema change...
  uint64_t captured_epoch = 0;  // ...as DdlTracker said at this epoch
  bool has_ddl = false;         // its schema came from statements
  bool waits = false;           // in front of a statement that is not understood
  OpenBatch batch;
  RowPlan plan;
  bool plan_is_current = false;
  bool ever_without_key = false;  // now or in an earlier version: before images are always decoded
  uint64_t schema_id = 0;         // of the embedded schema that the plan was made with
  std::string schema_text;        // and its text
  uint64_t key_schema_id = 0;
  std::string key_schema_text;
  // Without schemas: what keys of the table look like, so that another key is seen.
  std::vector<std::string> key_marks;  // `"id":` of each column
  std::unique_ptr<EmbeddedSchema> embedded;

  const TableSchemaPtr& schema() const { return batch.schema(); }
  void RememberKey() {
    key_marks.clear();
    for (const ColumnId id : schema()->primary_key) {
      key_marks.push_back("\"" + JsonKeyOf(schema()->Find(id)->name) + "\":");
    }
  }
  // False where the record's key has other columns than the table's.
  bool HasKey(std::string_view key) const {
    if (key.empty()) return key_marks.empty();
    if (key_marks.empty() || key.substr(1).compare(0, key_marks[0].size(), key_marks[0]) != 0) {
      return false;
    }
    return std::all_of(key_marks.begin() + 1, key_marks.end(), [&](const std::string& mark) {
      return key.find(mark) != std::string_view::npos;
    });
  }
};

std::string DebeziumStream::Place::Text() const {
  return *origin + ":" + std::to_string(point.offset);
}

DebeziumStream::DebeziumStream(StreamOptions options, const SourceContext& context, StreamId stream,
                               SourceOutput* output)
    : options_(std::move(options)),
      context_(context),
      stream_(stream),
      output_(output),
      rows_(options_.format),
      batches_(stream, output),
      ddl_(options_.on_unparsed_ddl.value_or(context_.on_unparsed_ddl),
           options_.tinyint1_is_boolean,
           [this](const TablePath& path) { return IsCaptured(path); }) {}

DebeziumStream::~DebeziumStream() = default;

bool DebeziumStream::IsCaptured(const TablePath& path) const {
  return !options_.tables || options_.tables->Matches(path);
}

bool DebeziumStream::IsCapturedNow(Table* table) const {
  if (table->captured_epoch != ddl_.epoch()) [[unlikely]] {
    table->captured_epoch = ddl_.epoch();
    table->captured = IsCaptured(table->path) && !ddl_.IsHidden(table->path);
  }
  return table->captured;
}

Result<void> DebeziumStream::Restore(const Point& last) {
  if (context_.history == nullptr) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const auto at, context_.history->At(last));
  DRIFTLESS_ASSIGN_OR_RETURN(auto all, context_.history->All(std::nullopt));
  std::erase_if(all, [&](const SchemaVersion& version) {
    return version.point.stream != stream_ || last.Precedes(version.point);
  });
  ddl_.Restore(at, all);
  for (const SchemaVersion& version : at) {
    if (version.schema != nullptr) DRIFTLESS_TRY(Adopt(version.table, version.schema));
  }
  for (const SchemaVersion& version : all) {
    if (version.schema == nullptr || !version.schema->primary_key.empty()) continue;
    FindTable(version.table)->ever_without_key = true;
  }
  return {};
}

Result<bool> DebeziumStream::Line(std::string_view line, const Point& point,
                                  const std::string& origin) {
  const Place place{point, &origin, line};
  ++counters_.records;
  Record record;
  if (!reader_.ReadLine(line, &record)) {
    return Bad(place, MakeError(ErrorKind::kInvalidInput, reader_.fault())
                          .At(static_cast<int>(point.offset),
                              static_cast<int>(reader_.fault_offset()) + 1));
  }
  return Dispatch(record, place);
}

Result<bool> DebeziumStream::Message(std::string_view topic, std::string_view key,
                                     std::string_view value, const Point& point,
                                     const std::string& origin) {
  const Place place{point, &origin, value};
  ++counters_.records;
  Record record;
  if (!reader_.ReadMessage(topic, key, value, &record)) {
    return Bad(place, MakeError(ErrorKind::kInvalidInput, reader_.fault()));
  }
  return Dispatch(record, place);
}

// A record that cannot be used: kept aside or the end, as the user said.
Result<bool> DebeziumStream::Bad(const Place& place, Error error) {
  error = std::move(error).Position(place.Text());
  if (options_.on_bad_record == OnBadRecord::kFail) {
    return std::move(error).Hint(
        error.hint().empty()
            ? "Repair the record, or set on-bad-record: dead-letter to put such records aside."
            : error.hint());
  }
  ++counters_.dead_letters;
  return output_->DeadLetter(place.point, place.Text(), place.line, error);
}

Result<bool> DebeziumStream::Dispatch(const Record& record, const Place& place) {
  last_event_time_ms_ = std::max(last_event_time_ms_, record.commit_time_ms);
  switch (record.kind) {
    case RecordKind::kChange: return Change(record, place);
    case RecordKind::kTruncate: return Truncate(record, place);
    case RecordKind::kSchemaChange: return SchemaChanged(record, place);
    case RecordKind::kTombstone: ++counters_.tombstones; break;
    case RecordKind::kTransaction: ++counters_.transactions; break;
    case RecordKind::kHeartbeat: ++counters_.heartbeats; break;
    case RecordKind::kMessage: ++counters_.messages; break;
    case RecordKind::kUnknown: break;
  }
  return true;
}

DebeziumStream::Table* DebeziumStream::FindTable(const Record& record) {
  const std::string_view database = record.path_database();
  if (last_table_ != nullptr && last_table_->table_key == record.table &&
      last_table_->database_key == database) {
    return last_table_;
  }
  lookup_.assign(database);
  lookup_ += '\0';
  lookup_ += record.table;
  auto found = tables_.find(lookup_);
  if (found == tables_.end()) {
    auto table = std::make_unique<Table>();
    table->database_key = database;
    table->table_key = record.table;
    table->path = TablePath{"", std::string(database), std::string(record.table)};
    found = tables_.emplace(lookup_, std::move(table)).first;
  }
  last_table_ = found->second.get();
  return last_table_;
}

// Binds the table's name to a schema (null: it is gone); rows under the old one are sent first.
Result<bool> DebeziumStream::Adopt(const TablePath& path, TableSchemaPtr schema) {
  Table* table = FindTable(path);
  table->has_ddl =
      schema != nullptr && std::any_of(schema->columns.begin(), schema->columns.end(),
                                       [](const Column& c) { return !c.source.type_text.empty(); });
  table->plan_is_current = false;
  table->ever_without_key |= schema != nullptr && schema->primary_key.empty();
  return batches_.SetSchema(&table->batch, std::move(schema));
}

Result<bool> DebeziumStream::Change(const Record& record, const Place& place) {
  if (record.table.empty()) {
    return Bad(place, MakeError(ErrorKind::kInvalidInput, "the record's source names no table"));
  }
  Table* table = FindTable(record);
  ddl_.Start(record.connector);
  if (!IsCapturedNow(table)) {
    ++counters_.filtered;
    return true;
  }
  if (table->waits) {
    ++counters_.waiting;
    return true;
  }
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Step step, FollowSchema(table, record, place));
    if (step != Step::kGoOn) return step == Step::kPutAside;
    ChangeBatchBuilder* builder = nullptr;
    if (!batches_.Begin(&table->batch, &builder)) return false;
    if (DecodeRow(table, record, builder, place)) {
      ++counters_.changes;
      return batches_.End(&table->batch, place.line.size());
    }
    bool learnt = false;
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, LearnFromRow(table, record, place, &learnt));
    if (!go_on) return false;
    if (!learnt) break;
  }
  return Bad(place, RowError(*table));
}

bool DebeziumStream::DecodeRow(Table* table, const Record& record, ChangeBatchBuilder* builder,
                               const Place& place) {
  using Image = RowDecoder::Image;
  builder->BeginRow(record.op, place.point, record.commit_time_ms);
  if (!record.transaction.empty()) builder->SetTransaction(record.transaction);
  bool ok = true;
  if (record.after.valid() && record.op != Op::kDelete) {
    ok = rows_.Decode(table->plan, record.after, Image::kAfter, builder);
    // A Debezium connector lists every column of the table in its order, so a field that is missing
    // is a column that is gone, and one in another place a column that moved (or was made again).
    // Other programs leave out what they do not know.
    if (ok && (rows_.missing_fields() > 0 || rows_.reordered()) && !table->has_ddl &&
        record.value_schema.empty() && !record.connector.empty()) {
      builder->AbandonRow();
      return false;
    }
  }
  if (ok && record.before.valid()) {
    if (record.op == Op::kDelete) {
      // Under PostgreSQL's default replica identity the other columns are not sent; Debezium shows
      // them as null.
      ok = record.connector == "postgresql" && RowDecoder::HasOnlyKey(table->plan, record.before)
               ? rows_.DecodeKey(table->plan, record.before, builder)
               : rows_.Decode(table->plan, record.before, Image::kBefore, builder);
    } else if (context_.wants_before_images ||
               (record.op == Op::kUpdate &&
                (table->ever_without_key ||  // the whole row is its key, at a sink at least
                 !RowDecoder::SameKey(table->plan, record.before, record.after)))) {
      ok = rows_.Decode(table->plan, record.before, Image::kBefore, builder);
    }
  }
  if (!ok) {
    builder->AbandonRow();
    return false;
  }
  builder->EndRow();
  return true;
}

Error DebeziumStream::RowError(const Table& table) const {
  const RowFault& fault = rows_.fault();
  std::string text = "table " + table.path.ToString();
  if (!fault.key.empty()) text += ", field \"" + std::string(fault.key) + "\"";
  text += ": " + std::string(fault.why);
  if (fault.column >= 0 && table.schema() != nullptr &&
      static_cast<size_t>(fault.column) < table.schema()->columns.size()) {
    text += " (the column is " +
            table.schema()->columns[static_cast<size_t>(fault.column)].type.ToString() + ")";
  }
  if (!fault.value.empty()) text += "; the value is " + Excerpt(fault.value);
  return MakeError(ErrorKind::kInvalidInput, std::move(text));
}

Result<DebeziumStream::Step> DebeziumStream::PutAside(const Place& place, const Error& error) {
  DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, Bad(place, error));
  return go_on ? Step::kPutAside : Step::kStop;
}

Result<DebeziumStream::Step> DebeziumStream::FollowSchema(Table* table, const Record& record,
                                                          const Place& place) {
  const bool same_schema = record.value_schema_id == table->schema_id &&
                           record.key_schema_id == table->key_schema_id &&
                           (record.value_schema_id != 0 || record.value_schema.empty());
  const bool same_key = table->has_ddl || table->embedded != nullptr || record.op == Op::kDelete ||
                        table->HasKey(record.key);
  if (table->plan_is_current && same_schema && same_key) [[likely]]
    return Step::kGoOn;
  if (!record.value_schema.empty() && !same_schema) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Step step, FollowEmbedded(table, record, place));
    if (step != Step::kGoOn) return step;
  } else if (table->schema() == nullptr) {
    const JsonCursor& row = record.after.valid() ? record.after : record.before;
    auto shape = ShapeOfRow(row, record.key, nullptr);
    if (!shape) return PutAside(place, shape.error());
    bool changed = false;
    DRIFTLESS_ASSIGN_OR_RETURN(
        const bool go_on, SendInferred(table, *shape, Missing::kKept, record, place, &changed));
    if (!go_on) return Step::kStop;
  }
  MakePlan(table, record);
  const bool shows_key = !table->has_ddl && table->embedded == nullptr && record.after.valid();
  if (shows_key && !table->HasKey(record.key)) {
    // Only the key is another one than before: PostgreSQL's ADD or DROP PRIMARY KEY.
    bool learnt = false;
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, LearnFromRow(table, record, place, &learnt));
    if (!go_on) return Step::kStop;
    MakePlan(table, record);
  }
  return Step::kGoOn;
}

void DebeziumStream::MakePlan(Table* table, const Record& record) {
  if (table->plan_is_current) return;
  Format format = options_.format;
  format.time_is_micros = record.connector == "mysql" || record.connector == "mariadb";
  table->plan = RowPlan(*table->schema(),
                        table->embedded == nullptr ? nullptr : table->embedded->Row(), format);
  table->plan_is_current = true;
  table->RememberKey();
}

// The record has another embedded schema than the one before it. Where the table has no DDL, that
// is how its changes are seen; else it only says how values are written.
Result<DebeziumStream::Step> DebeziumStream::FollowEmbedded(Table* table, const Record& record,
                                                            const Place& place) {
  const auto remember = [&] {
    table->schema_id = record.value_schema_id;
    table->key_schema_id = record.key_schema_id;
  };
  if (table->embedded != nullptr && table->schema_text == record.value_schema &&
      table->key_schema_text == record.key_schema) {
    remember();
    return Step::kGoOn;
  }
  auto embedded = ParseEmbedded(record.value_schema);
  if (!embedded) return PutAside(place, embedded.error());
  if (!table->has_ddl) {
    auto shape = ShapeOfSchema(*embedded, record.key_schema);
    if (!shape) return PutAside(place, shape.error());
    bool changed = false;
    DRIFTLESS_ASSIGN_OR_RETURN(
        const bool go_on, SendInferred(table, *shape, Missing::kDropped, record, place, &changed));
    if (!go_on) return Step::kStop;
  }
  remember();
  table->schema_text = record.value_schema;
  table->key_schema_text = record.key_schema;
  table->embedded = std::make_unique<EmbeddedSchema>(std::move(*embedded));
  table->plan_is_current = false;
  return Step::kGoOn;
}

Result<bool> DebeziumStream::LearnFromRow(Table* table, const Record& record, const Place& place,
                                          bool* learnt) {
  *learnt = false;
  const bool unknown_field = rows_.fault().kind == RowFault::Kind::kUnknownField;
  if (table->has_ddl) {
    if (!unknown_field || table->embedded == nullptr) return true;
    // The statement that added the column is not in the stream; the row's own schema is certain.
    spdlog::warn(
        "{}: table {} has a column \"{}\" that no statement added; it follows the "
        "records' embedded schema",
        place.Text(), table->path.ToString(), rows_.fault().key);
    auto shape = ShapeOfSchema(*table->embedded, record.key_schema);
    if (!shape) return true;
    for (RowShape::Field& field : shape->fields) {
      if (table->schema()->FindName(field.name) != nullptr) field.type_is_known = false;
    }
    return SendInferred(table, *shape, Missing::kKept, record, place, learnt);
  }
  if (table->embedded != nullptr) return true;  // the row contradicts its own schema
  const bool in_after = record.after.valid();
  auto shape =
      ShapeOfRow(in_after ? record.after : record.before, record.key, table->schema().get());
  if (!shape) return true;
  // Only an after image of a connector that lists all columns shows that one is gone.
  const Missing missing =
      in_after && !record.connector.empty() ? Missing::kDropped : Missing::kKept;
  return SendInferred(table, *shape, missing, record, place, learnt);
}

Result<bool> DebeziumStream::SendInferred(Table* table, const RowShape& shape, Missing missing,
                                          const Record& record, const Place& place, bool* changed) {
  auto statement = std::make_shared<StatementChange>();
  statement->table = table->path;
  statement->point = place.NextStatement();
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
  statement->point = place.NextStatement();
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
  auto change = ParseSchemaChange(record);
  if (!change) return Bad(place, change.error());
  UnclearStatement unclear;
  unclear.point = place.point;
  unclear.point.row = 0;
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
  auto outcome = answer ? ddl_.ApplyGiven(record, *change, answer->schema, answer->tables)
                        : ddl_.Apply(record, *change);
  if (!outcome && !answer) return std::move(outcome.error()).Position(place.Text());
  if (!outcome) {
    unclear.tables = std::move(answer->tables);
    unclear.why = "the schema that was given cannot be used: " + outcome.error().ToString();
    return Park(std::move(unclear), place);
  }
  if (outcome->unclear) {
    unclear.tables = std::move(outcome->unclear->tables);
    unclear.why = outcome->unclear->why.ToString();
    return Park(std::move(unclear), place);
  }
  return SendChanges(std::move(*outcome), *change, record, place);
}

Result<bool> DebeziumStream::SendChanges(DdlOutcome outcome, const SchemaChangeRecord& change,
                                         const Record& record, const Place& place) {
  for (const std::string& warning : outcome.warnings) {
    spdlog::warn("{}: {}", place.Text(), warning);
  }
  if (!SendUnseen(outcome.unseen, change, place)) return false;
  if (outcome.touched.empty()) {
    if (outcome.unseen.empty()) ++counters_.ignored_ddl;
    return true;
  }
  const auto text = std::make_shared<const std::string>(change.ddl);
  // A name's last state is its version behind this record: RENAME a TO t, b TO a, t TO b.
  std::map<TablePath, TableSchemaPtr> after;
  std::map<TablePath, Point> made_at;
  for (StatementChange& statement : outcome.changes) {
    statement.point = place.NextStatement();
    made_at[statement.table] = statement.point;
    if (statement.after() != nullptr) made_at[statement.after()->path] = statement.point;
  }
  for (const TablePath& path : outcome.touched) {
    after[path] = ddl_.Find(path);
    // Shadow tables of online schema changes are tracked, and told of to nobody.
    if (!made_at.contains(path)) made_at[path] = place.NextStatement();
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
