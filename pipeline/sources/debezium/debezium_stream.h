#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "config/definition/selector.h"
#include "pipeline/sources/debezium/ddl_tracker.h"
#include "pipeline/sources/debezium/row_schema.h"
#include "pipeline/sources/open_batches.h"
#include "pipeline/sources/source.h"
#include "sinks/formats/debezium_json/decode.h"
#include "sinks/formats/message_reader.h"

namespace re2 {
class RE2;
}

namespace driftless::debezium {

enum class OnBadRecord : uint8_t { kFail, kDeadLetter };

enum class RecordFormat : uint8_t { kDebeziumJson, kCanalJson, kMaxwellJson, kJson };

// How long a row waits for a statement: one of a table that nothing told of describes itself.
enum class Patience : uint8_t { kFull, kBrief };
// kPass: the message is a statement that has been taken.
enum class MessageTurn : uint8_t { kTake, kPass, kStop };

struct StreamOptions {
  RecordFormat records = RecordFormat::kDebeziumJson;
  Format format;
  PlainJsonOptions plain;  // kJson
  OnBadRecord on_bad_record = OnBadRecord::kFail;
  std::optional<OnUnparsedDdl> on_unparsed_ddl;  // none: as the pipeline says
  bool tinyint1_is_boolean = false;
  OnlineSchemaChange::Patterns online;
  std::optional<TableSelector> tables;  // none: every table of the stream
  // Canal's own filters; null: every name.
  std::shared_ptr<const re2::RE2> databases;
  std::shared_ptr<const re2::RE2> table_names;
  std::string time_zone;  // of the Canal server; empty: the pipeline's
  InferenceRules inference;
  // Statements come from elsewhere (Statement): where a row does not fit the schema at its place,
  // asks for those up to it and waits for them a while; true: some came. Then what they did not
  // tell is inferred. Null: statements stand between the rows.
  std::function<Result<bool>(Patience)> more_statements;
  // Called in front of a message of Canal, once it is taken apart: brings the statements from
  // elsewhere that come before it. Null: none do.
  std::function<Result<MessageTurn>(const Record&)> before_message;
  // The stream holds the statements that change columns, not those about indexes (our Kafka
  // sink's): an index that a statement names is believed to be there.
  bool believes_indexes = false;
};

// What was read and what became of it.
struct StreamCounters {
  int64_t records = 0;
  int64_t changes = 0;
  int64_t schema_changes = 0;  // statements sent on
  int64_t filtered = 0;        // changes of tables that are not captured
  int64_t tombstones = 0;
  int64_t transactions = 0;  // BEGIN and END records
  int64_t heartbeats = 0;
  int64_t messages = 0;     // logical messages
  int64_t ignored_ddl = 0;  // statements that concern no captured table or nothing we track
  int64_t dead_letters = 0;
  int64_t waiting = 0;     // changes of parked tables: read again once their statement is decided
  int64_t other_keys = 0;  // rows of Canal that got another key
  int64_t relabelled = 0;  // Canal's rows whose fields had the names of another time
};

// One ordered stream of change records, whatever brings them, Debezium's or of another format:
// decodes rows into batches, follows the tables' schemas and sends both on in order. The rules
// stand in this folder's README. One thread.
class DebeziumStream {
 public:
  DebeziumStream(StreamOptions options, const SourceContext& context, StreamId stream,
                 SourceOutput* output);
  ~DebeziumStream();

  // Takes up the schemas in force behind `last`, the last record that need not be read again.
  // Errors: those of the history.
  Result<void> Restore(const Point& last);

  // The row number of every record's change in its point. Statements that a record holds, or that
  // are learnt from its row, come before it: they count from 0.
  static constexpr uint32_t kChangeRow = 1000;

  // One record; its point's row is kChangeRow. `origin` and the point's offset name it for people:
  // "orders.jsonl:17". kJsonPadding readable bytes must follow the line. False: the pipeline stops.
  // Errors end the stream; the record that caused one has had no effect. `index`: of many lines
  // (RecordReader::ReadLine), or null; worth making while wants_index().
  Result<bool> Line(std::string_view line, const Point& point, const std::string& origin,
                    const JsonIndex* index = nullptr);
  bool wants_index() const { return other_reader_ == nullptr && reader_.line_is_payload(); }
  // One message of Kafka: its key and value stand alone, an empty value is a tombstone. Else as
  // Line.
  Result<bool> Message(std::string_view topic, std::string_view key, std::string_view value,
                       const Point& point, const std::string& origin);
  // A statement that stands in another topic or partition, in front of the record at `point`; its
  // value is followed by kJsonPadding bytes. May be called within more_statements and
  // before_message. Else as Message.
  Result<bool> Statement(std::string_view key, std::string_view value, const Point& point,
                         const std::string& origin);
  // A schema that another partition has learnt from a row and has sent: it holds here too, in front
  // of the record at `point`. False: the pipeline stops.
  Result<bool> AdoptLearnt(TableSchemaPtr schema, const Point& point, const std::string& origin);
  // The table's columns now; null where there is no such table.
  TableSchemaPtr SchemaOf(std::string_view database, std::string_view table) const;
  // Where the last statement stands: its row is below kChangeRow; row and offset 0 before any.
  const Point& last_statement() const { return last_statement_; }

  // The row number of the last record's last change: kChangeRow, more where it had several rows.
  uint32_t last_row() const { return last_row_; }
  // Sends everything that waits. False: the pipeline stops.
  bool Flush() { return batches_.SealAll(); }
  bool idle() const { return batches_.empty(); }
  // A statement is not over: the stream can only be taken up again in front of it.
  bool in_statement() const { return rename_.has_value(); }
  // The stream ends here: what was a part of a statement is all of it. False: the pipeline stops.
  Result<bool> End();

  const StreamCounters& counters() const { return counters_; }
  int64_t last_event_time_ms() const { return last_event_time_ms_; }
  int64_t clamped_values() const { return rows_.clamped(); }

 private:
  struct Table;
  // Where the present record stands.
  struct Place {
    Point point;  // of the record's change; row is kChangeRow
    const std::string* origin = nullptr;
    std::string_view line;
    std::string Text() const;
  };
  // Statements of one record stand one after the other, all before its change: a row must not be
  // covered by the cut of the schema change that was learnt from it.
  Point NextStatement(const Place& place) {
    last_statement_ = {place.point.stream, place.point.epoch, place.point.offset,
                       NextStatementRow(place), 0};
    any_statement_ = true;
    return last_statement_;
  }
  uint32_t NextStatementRow(const Place& place) const {
    const bool same = any_statement_ && last_statement_.epoch == place.point.epoch &&
                      last_statement_.offset == place.point.offset;
    return same ? last_statement_.row + 1 : 0;
  }

  Result<bool> Bad(const Place& place, Error error);
  Result<bool> OtherMessage(std::string_view topic, std::string_view key, std::string_view value,
                            const Place& place);
  Result<bool> Dispatch(const Record& record, const Place& place);
  Result<bool> Change(const Record& record, const Place& place);
  Result<bool> Truncate(const Record& record, const Place& place);
  Result<bool> SchemaChanged(const Record& record, const Place& place);
  Result<bool> TakeStatement(const Record& record, const Place& place, SchemaChangeRecord change);
  // Several tables renamed by one statement: the pairs come in a record each.
  Result<bool> TakePart(const SchemaChangeRecord& pair, const Record& record, const Place& place);
  Result<bool> FinishRename();

  Table* FindTable(const Record& record);
  bool IsCaptured(const TablePath& path) const;
  bool IsCapturedNow(Table* table) const;
  enum class Step : uint8_t { kGoOn, kPutAside, kStop };
  // Brings the table's schema up to what the record shows, before any of its rows is decoded.
  Result<Step> FollowSchema(Table* table, const Record& record, const Place& place);
  Result<Step> FollowEmbedded(Table* table, const Record& record, const Place& place);
  // The same for rows that give MySQL's type of each column, as Canal's do (canal_rows.cc).
  Result<Step> FollowDescription(Table* table, const Record& record, const Place& place);
  void MakePlan(Table* table, const Record& record);
  Format FormatOf(const Record& record) const;
  Result<Step> PutAside(const Place& place, const Error& error);
  // After a row did not fit: learns from the row where no schema is given. False: nothing to learn.
  Result<bool> LearnFromRow(Table* table, const Record& record, const Place& place, bool* learnt);
  // Whether the statements that say what the row shows may be on their way.
  bool MayWait(const Table& table, const Record& record) const;
  // Canal repeats what it had sent since its last acknowledgement when it is started again.
  enum class Repeated : uint8_t { kNo, kMaybe, kYes };
  Repeated NoteStatement(int64_t time_ms, const TablePath& table, const std::string& statement);
  Result<bool> PassOver(const SchemaChangeRecord& change, const Place& place);
  Result<bool> SendInferred(Table* table, const RowShape& shape, Missing missing,
                            const Record& record, const Place& place, bool* changed);
  // Parks the tables in front of a statement that nobody has decided on.
  Result<bool> Park(UnclearStatement statement, const Place& place);
  // The captured tables of a statement that do not wait; none where nothing of it waits.
  std::optional<std::vector<TablePath>> DrawnIn(const Record& record,
                                                const SchemaChangeRecord& change);
  bool SendUnseen(const std::vector<UnseenChange>& unseen, const SchemaChangeRecord& change,
                  const Place& place);
  Result<bool> SendChanges(DdlOutcome outcome, const SchemaChangeRecord& change,
                           const Record& record, const Place& place);
  Table* FindTable(const TablePath& path);
  Result<bool> SendStatement(const StatementChangePtr& change, const Place& place);
  // Writes the versions that statements made to the history, which has the last word on identities.
  Result<void> Remember(const Point& point, const TablePath& path, TableSchemaPtr* schema,
                        const Record& record, const Place& place, std::string_view statement);
  Result<bool> Adopt(const TablePath& path, TableSchemaPtr schema);
  bool DecodeRow(Table* table, const Record& record, ChangeBatchBuilder* builder,
                 const Place& place, bool waited);
  bool WantsBefore(const Table& table, const Record& record);
  Error RowError(const Table& table) const;

  const StreamOptions options_;
  const SourceContext context_;
  const StreamId stream_;
  SourceOutput* const output_;
  RecordReader reader_;
  RecordReader statement_reader_;  // of Statement: a record may be held while it reads
  std::unique_ptr<MessageReader> canal_statement_reader_;  // the same for Canal's
  std::unique_ptr<MessageReader> other_reader_;            // of formats other than Debezium's
  RowDecoder rows_;
  OpenBatches batches_;
  DdlTracker ddl_;
  std::unordered_map<std::string, std::unique_ptr<Table>> tables_;  // by database, '\0', table
  Table* last_table_ = nullptr;
  bool any_waits_ = false;
  bool restoring_ = false;
  std::string lookup_;
  struct Rename {
    SchemaChangeRecord statement;  // of all pairs so far
    Point point;                   // of the last record
    std::string origin;
    int64_t commit_time_ms = 0;
  };
  std::optional<Rename> rename_;
  std::deque<size_t> recent_statements_;  // Canal's, as hashes
  int64_t last_statement_time_ms_ = 0;
  StreamCounters counters_;
  int64_t last_event_time_ms_ = 0;
  uint32_t last_row_ = kChangeRow;
  Point last_statement_;
  bool any_statement_ = false;
};

}  // namespace driftless::debezium
