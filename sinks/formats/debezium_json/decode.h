#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "schema/events/change_batch_builder.h"
#include "sinks/formats/debezium_json/value_plan.h"
#include "sinks/formats/json/json_index.h"

namespace driftless::debezium {

// What a record is. Kinds without effect on tables are told apart so that they can be counted.
enum class RecordKind : uint8_t {
  kChange,        // op c, u, d, r
  kTruncate,      // op t
  kSchemaChange,  // the topic named like the prefix: ddl and tableChanges
  kTombstone,     // value null, behind every delete
  kTransaction,   // BEGIN and END records
  kHeartbeat,
  kMessage,  // op m: a logical message of PostgreSQL
  kUnknown,
};

// One record, taken apart but not decoded: views into the text that was parsed, valid until the
// next one. Strings of `source` are resolved (no escapes).
struct Record {
  RecordKind kind = RecordKind::kUnknown;
  Op op = Op::kInsert;         // kChange
  std::string_view topic;      // empty where lines are plain payloads
  std::string_view connector;  // "mysql", "postgresql"; empty where another program wrote it
  std::string_view database;   // source.db
  std::string_view schema;     // source.schema: PostgreSQL and others
  std::string_view table;
  bool snapshot = false;         // source.snapshot is anything but "false"
  int64_t commit_time_ms = 0;    // source.ts_ms, else ts_ms; 0 where there is none
  std::string_view transaction;  // transaction.id, else gtid or txId; empty where there is none
  JsonCursor before;             // at the object; not valid() where absent or null
  JsonCursor after;
  JsonCursor payload;             // the whole payload, for records other than changes
  std::string_view value_schema;  // JSON text of the embedded schema; empty where there is none
  uint64_t value_schema_id = 0;   // equal for equal neighbours of a topic; 0: compare the text
  std::string_view key_schema;
  uint64_t key_schema_id = 0;
  std::string_view key;  // JSON text of the key's payload; empty where there is none
  // Of Canal and Maxwell: `before` has only what differs from `after`.
  bool before_is_partial = false;
  // Of Canal: how a row describes itself, as JSON texts; empty where there is none.
  std::string_view column_types;   // MySQL's type of each column, in their order
  std::string_view column_codes;   // its java.sql.Types
  std::string_view key_names;      // the primary key
  bool values_are_canals = false;  // written by Canal, not by another program in its form
  int64_t built_ms = 0;            // when Canal made the message, which it does in their order
  int64_t batch = 0;               // in which Canal sent it; counts from 1 at every start of Canal

  // The database or schema that names the table in its TablePath.
  std::string_view path_database() const { return schema.empty() ? database : schema; }
};

// Takes records apart. Keeps buffers between records; one thread.
class RecordReader {
 public:
  RecordReader();
  ~RecordReader();

  // One line of a file: `{"topic":..,"key":..,"value":..}`, `{"schema":..,"payload":..}`, or a bare
  // payload. kJsonPadding readable bytes must follow. False where it is no JSON or no record of
  // Debezium's form: fault() says why, fault_offset() where in the line (0-based). `index`: of many
  // lines, this one among them, or not, or null; it is lasting as the line is.
  bool ReadLine(std::string_view line, Record* record, const JsonIndex* index = nullptr);
  // Whether most of the last line was its payload, so that an index of such lines is worth its
  // cost; embedded schemas are not read again and again.
  bool line_is_payload() const { return line_is_payload_; }
  // A message of Kafka: its parts stand alone. `value` is followed by kJsonPadding readable bytes;
  // an empty one is a tombstone.
  bool ReadMessage(std::string_view topic, std::string_view key, std::string_view value,
                   Record* record);

  const char* fault() const { return fault_; }
  size_t fault_offset() const { return fault_offset_; }

 private:
  struct Known;
  bool Fail(const char* fault, size_t offset = 0);
  bool SplitLine(std::string_view line, Record* record, std::string_view* value);
  bool SplitByIndex(std::string_view line, Record* record, std::string_view* value);
  enum class Part : uint8_t { kKey, kValue };
  bool SplitSchema(std::string_view text, Part part, Record* record, std::string_view* payload);
  bool ReadPayload(std::string_view payload, Record* record);
  bool ReadSource(JsonCursor* cursor, Record* record);
  bool ReadTransaction(JsonCursor* cursor, Record* record);
  bool ReadText(JsonCursor* cursor, int slot, std::string_view* text);

  JsonIndex index_;
  JsonIndex line_index_;
  std::unique_ptr<Known> known_;
  std::string scratch_[8];
  std::string_view line_;
  const JsonIndex* lines_ = nullptr;  // of many lines
  bool line_is_payload_ = false;
  const char* fault_ = "";
  size_t fault_offset_ = 0;
};

// How the row images of one table version are read.
class RowPlan {
 public:
  RowPlan() = default;
  // `wire` is the node of the row in the embedded schema ("after"), or null.
  RowPlan(const TableSchema& schema, const ConnectField* wire, const Format& format);
  // For rows whose fields have other names than the columns, which stand in the same order.
  RowPlan(const TableSchema& schema, const std::vector<std::string>& labels, const Format& format);

  struct Field {
    std::string key;  // as it stands between the quotes in the record
    int column = 0;   // index in the schema
    bool is_key = false;
    ValuePlan value;
  };
  const std::vector<Field>& fields() const { return fields_; }
  // The field of a JSON key, which is tried at `expected` first; -1 where there is none.
  int Find(std::string_view key, size_t expected) const {
    if (expected < fields_.size() && fields_[expected].key == key) {
      return static_cast<int>(expected);
    }
    return FindSlow(key);
  }

 private:
  int FindSlow(std::string_view key) const;
  std::vector<Field> fields_;
  std::unordered_map<std::string, int> by_key_;
};

// What stopped the decoding of an image.
struct RowFault {
  enum class Kind : uint8_t { kNone, kMalformed, kUnknownField, kTwice, kValue };
  Kind kind = Kind::kNone;
  const char* why = "";
  std::string_view key;    // raw, of the field
  std::string_view value;  // the start of its text
  int column = -1;
};

// Decodes row images into the open row of a builder.
class RowDecoder {
 public:
  explicit RowDecoder(const Format& format) : values_(format) {}

  enum class Image : uint8_t { kAfter, kBefore };
  // Decodes the object at `cursor` into the builder's open row. Columns that the object lacks are
  // left to EndRow, which makes them absent. False: see fault(); the caller abandons the row.
  bool Decode(const RowPlan& plan, JsonCursor cursor, Image image, ChangeBatchBuilder* builder);
  // True where every field of the object is null but those of the key, and there is one: what
  // PostgreSQL sends of a deleted row under the default replica identity.
  static bool HasOnlyKey(const RowPlan& plan, JsonCursor cursor);
  // True where the key's fields have the same text in both images.
  static bool SameKey(const RowPlan& plan, JsonCursor before, JsonCursor after);
  // The key's fields alone (`before` of a delete that has only its key).
  bool DecodeKey(const RowPlan& plan, JsonCursor cursor, ChangeBatchBuilder* builder);
  // Completes a before image that had only what differs: the columns that it lacks, from `after`.
  bool DecodeUnchanged(const RowPlan& plan, JsonCursor after, ChangeBatchBuilder* builder);
  // True where a before image that has only what differs shows another key.
  static bool ChangesKey(const RowPlan& plan, JsonCursor before, JsonCursor after);

  const RowFault& fault() const { return fault_; }
  int64_t clamped() const { return values_.clamped(); }
  int missing_fields() const { return missing_; }  // of the last image
  // Its fields stood in another order than the plan's.
  bool reordered() const { return reordered_; }

 private:
  enum class Which : uint8_t { kAll, kKey, kMissing };
  bool DecodeFields(const RowPlan& plan, JsonCursor cursor, Image image, Which which,
                    ChangeBatchBuilder* builder);
  ValueDecoder values_;
  RowFault fault_;
  int missing_ = 0;
  bool reordered_ = false;
};

}  // namespace driftless::debezium
