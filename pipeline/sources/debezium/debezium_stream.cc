#include "pipeline/sources/debezium/debezium_stream.h"

#include <re2/re2.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "pipeline/sources/debezium/stream_table.h"
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

// Texts of moments that name no zone are in the Canal server's.
StreamOptions WithZone(StreamOptions options, const SourceContext& context) {
  const std::string& name = options.time_zone.empty() ? context.local_time_zone : options.time_zone;
  if (auto zone = TimeZone::Load(name.empty() ? "UTC" : name)) options.format.zone = *zone;
  return options;
}

}  // namespace

std::string DebeziumStream::Place::Text() const {
  return *origin + ":" + std::to_string(point.offset);
}

DebeziumStream::DebeziumStream(StreamOptions options, const SourceContext& context, StreamId stream,
                               SourceOutput* output)
    : options_(WithZone(std::move(options), context)),
      context_(context),
      stream_(stream),
      output_(output),
      rows_(options_.format),
      batches_(stream, output),
      ddl_(options_.on_unparsed_ddl.value_or(context_.on_unparsed_ddl),
           options_.tinyint1_is_boolean, options_.online,
           [this](const TablePath& path) { return IsCaptured(path); }) {
  switch (options_.records) {
    case RecordFormat::kDebeziumJson: break;
    case RecordFormat::kCanalJson:
      other_reader_ = MakeCanalReader();
      canal_statement_reader_ = MakeCanalReader();
      break;
    case RecordFormat::kMaxwellJson: other_reader_ = MakeMaxwellReader(); break;
    case RecordFormat::kJson: other_reader_ = MakePlainJsonReader(options_.plain); break;
  }
}

DebeziumStream::~DebeziumStream() = default;

bool DebeziumStream::IsCaptured(const TablePath& path) const {
  if (options_.databases != nullptr && !re2::RE2::FullMatch(path.database, *options_.databases)) {
    return false;
  }
  if (options_.table_names != nullptr && !re2::RE2::FullMatch(path.table, *options_.table_names)) {
    return false;
  }
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
  restoring_ = true;
  for (const SchemaVersion& version : at) {
    if (version.schema != nullptr) DRIFTLESS_TRY(Adopt(version.table, version.schema));
  }
  restoring_ = false;
  any_statement_ = last.row < kChangeRow;
  last_statement_ = last;
  for (const SchemaVersion& version : all) {
    if (!version.statement.empty()) {
      FindTable(version.table)->by_statement = true;
      NoteStatement(version.time_ms, version.table, version.statement);
    }
    if (version.schema == nullptr || !version.schema->primary_key.empty()) continue;
    FindTable(version.table)->ever_without_key = true;
  }
  return {};
}

Result<bool> DebeziumStream::Line(std::string_view line, const Point& point,
                                  const std::string& origin, const JsonIndex* index) {
  const Place place{point, &origin, line};
  ++counters_.records;
  if (other_reader_ != nullptr) return OtherMessage("", "", line, place);
  Record record;
  if (!reader_.ReadLine(line, &record, index)) {
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
  if (other_reader_ != nullptr) return OtherMessage(topic, key, value, place);
  Record record;
  if (!reader_.ReadMessage(topic, key, value, &record)) {
    return Bad(place, MakeError(ErrorKind::kInvalidInput, reader_.fault()));
  }
  return Dispatch(record, place);
}

Result<bool> DebeziumStream::Statement(std::string_view key, std::string_view value,
                                       const Point& point, const std::string& origin) {
  const Place place{point, &origin, value};
  Record record;
  if (canal_statement_reader_ != nullptr) {
    if (!canal_statement_reader_->Read("", key, value, &record)) {
      return Bad(place, MakeError(ErrorKind::kInvalidInput, canal_statement_reader_->fault()));
    }
    return SchemaChanged(record, place);
  }
  if (!statement_reader_.ReadMessage("", key, value, &record)) {
    return Bad(place, MakeError(ErrorKind::kInvalidInput, statement_reader_.fault()));
  }
  if (record.kind == RecordKind::kChange) {
    return MakeError(ErrorKind::kInvalidConfig, origin + ": the topic holds rows of table " +
                                                    std::string(record.table) +
                                                    ": it is none of schema changes")
        .Hint("Name the topic of schema changes in schema-topic, or leave it out of the pattern.");
  }
  return record.kind == RecordKind::kSchemaChange ? SchemaChanged(record, place) : true;
}

Result<bool> DebeziumStream::OtherMessage(std::string_view topic, std::string_view key,
                                          std::string_view value, const Place& place) {
  MessageReader& reader = *other_reader_;
  const auto fault = [&] {
    return MakeError(ErrorKind::kInvalidInput, reader.fault())
        .At(static_cast<int>(place.point.offset), static_cast<int>(reader.fault_offset()) + 1);
  };
  last_row_ = kChangeRow;
  Record record;
  if (!reader.Read(topic, key, value, &record)) return Bad(place, fault());
  if (options_.before_message) {
    DRIFTLESS_ASSIGN_OR_RETURN(const MessageTurn turn, options_.before_message(record));
    if (turn != MessageTurn::kTake) return turn == MessageTurn::kPass;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(bool go_on, Dispatch(record, place));
  Place next = place;
  while (go_on && reader.NextRow(&record)) {
    next.point.row = ++last_row_;
    DRIFTLESS_ASSIGN_OR_RETURN(go_on, Dispatch(record, next));
  }
  if (go_on && reader.failed()) return Bad(place, fault());
  return go_on;
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
  if (rename_ && record.kind != RecordKind::kSchemaChange) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, FinishRename());
    if (!go_on) return false;
  }
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

Result<bool> DebeziumStream::Change(const Record& record, const Place& place) {
  if (record.table.empty()) {
    return Bad(place, MakeError(ErrorKind::kInvalidInput, "the record's source names no table"));
  }
  Table* table = FindTable(record);
  ddl_.Start(record.column_types.empty() ? record.connector : std::string_view("mysql"));
  if (!IsCapturedNow(table)) {
    ++counters_.filtered;
    return true;
  }
  if (table->waits) {
    ++counters_.waiting;
    return true;
  }
  bool waited = false;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Step step, FollowSchema(table, record, place));
    if (step != Step::kGoOn) return step == Step::kPutAside;
    if (table->waits || !IsCapturedNow(table)) {  // by a statement that came for this row
      ++(table->waits ? counters_.waiting : counters_.filtered);
      return true;
    }
    ChangeBatchBuilder* builder = nullptr;
    if (!batches_.Begin(&table->batch, &builder)) return false;
    if (DecodeRow(table, record, builder, place, waited)) {
      ++counters_.changes;
      return batches_.End(&table->batch, place.line.size());
    }
    if (!waited && MayWait(*table, record)) {
      waited = true;
      DRIFTLESS_ASSIGN_OR_RETURN(const bool came, options_.more_statements(Patience::kFull));
      if (output_->stopping()) return false;
      attempt -= 1;
      if (came) continue;
    }
    bool learnt = false;
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, LearnFromRow(table, record, place, &learnt));
    if (!go_on) return false;
    if (!learnt) break;
  }
  return Bad(place, RowError(*table));
}

// A row without a field that the table has may be from behind the statement that drops it.
// What a self-describing row cannot say (whether a column takes NULL) may be told by one too.
bool DebeziumStream::MayWait(const Table& table, const Record& record) const {
  return options_.more_statements && table.has_ddl &&
         (!record.column_types.empty() || rows_.fault().kind == RowFault::Kind::kUnknownField ||
          rows_.missing_fields() > 0 || rows_.reordered());
}

bool DebeziumStream::DecodeRow(Table* table, const Record& record, ChangeBatchBuilder* builder,
                               const Place& place, bool waited) {
  using Image = RowDecoder::Image;
  builder->BeginRow(record.op, place.point, record.commit_time_ms);
  if (!record.transaction.empty()) builder->SetTransaction(record.transaction);
  bool ok = true;
  if (record.after.valid() && record.op != Op::kDelete) {
    ok = rows_.Decode(table->plan, record.after, Image::kAfter, builder);
    // A Debezium connector lists every column of the table in its order, so a field that is missing
    // is a column that is gone, and one in another place a column that moved (or was made again).
    // Other programs leave out what they do not know.
    const bool shows_all = !table->has_ddl || (options_.more_statements && !waited);
    if (ok && (rows_.missing_fields() > 0 || rows_.reordered()) && shows_all &&
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
    } else if (WantsBefore(*table, record)) {
      ok = rows_.Decode(table->plan, record.before, Image::kBefore, builder) &&
           (!record.before_is_partial || rows_.DecodeUnchanged(table->plan, record.after, builder));
    }
  }
  if (!ok) {
    builder->AbandonRow();
    return false;
  }
  builder->EndRow();
  return true;
}

bool DebeziumStream::WantsBefore(const Table& table, const Record& record) {
  // Where the table has no key the whole row is its key, at a sink at least.
  const bool wants =
      context_.wants_before_images || (record.op == Op::kUpdate && table.ever_without_key);
  if (record.op != Op::kUpdate || (wants && !record.before_is_partial)) return wants;
  const bool other_key = record.before_is_partial
                             ? RowDecoder::ChangesKey(table.plan, record.before, record.after)
                             : !RowDecoder::SameKey(table.plan, record.before, record.after);
  counters_.other_keys += other_key ? 1 : 0;
  return wants || other_key;
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
  if (!record.column_types.empty()) return FollowDescription(table, record, place);
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
    auto shape = ShapeOfRow(row, record.key, nullptr, options_.inference);
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

Format DebeziumStream::FormatOf(const Record& record) const {
  Format format = options_.format;
  format.time_is_micros = record.connector == "mysql" || record.connector == "mariadb";
  format.members_are_numbers = record.values_are_canals;
  return format;
}

void DebeziumStream::MakePlan(Table* table, const Record& record) {
  if (table->plan_is_current) return;
  table->plan =
      RowPlan(*table->schema(), table->embedded == nullptr ? nullptr : table->embedded->Row(),
              FormatOf(record));
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
  if (!record.column_types.empty()) return true;  // what the row says of itself was followed
  const bool unknown_field = rows_.fault().kind == RowFault::Kind::kUnknownField;
  if (table->has_ddl) {
    if (!unknown_field) return true;
    if (table->embedded == nullptr) {
      if (!options_.more_statements) return true;
      spdlog::warn(
          "{}: no statement that adds column \"{}\" to table {} came in time; it is inferred",
          place.Text(), rows_.fault().key, table->path.ToString());
      const bool after = record.after.valid();
      auto inferred = ShapeOfRow(after ? record.after : record.before, record.key,
                                 table->schema().get(), options_.inference);
      if (!inferred) return true;
      for (RowShape::Field& field : inferred->fields) {
        if (table->schema()->FindName(field.name) != nullptr) field.type_is_known = false;
      }
      inferred->key_is_known = false;
      return SendInferred(table, *inferred, Missing::kKept, record, place, learnt);
    }
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
  auto shape = ShapeOfRow(in_after ? record.after : record.before, record.key,
                          table->schema().get(), options_.inference);
  if (!shape) return true;
  // Only an after image of a connector that lists all columns shows that one is gone.
  const Missing missing =
      in_after && !record.connector.empty() ? Missing::kDropped : Missing::kKept;
  return SendInferred(table, *shape, missing, record, place, learnt);
}

}  // namespace driftless::debezium
