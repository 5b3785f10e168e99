#include "sinks/formats/message_reader.h"

namespace driftless {
namespace {

using debezium::Record;
using debezium::RecordKind;

// Maxwell's messages (maxwells-daemon.io/dataformat): one row, or, with output_ddl, one statement.
// `ts` counts seconds for rows and milliseconds for statements.
class MaxwellReader : public MessageReader {
 public:
  bool Read(std::string_view topic, std::string_view key, std::string_view value,
            Record* record) override {
    failed_ = false;
    *record = Record{};
    record->topic = topic;
    if (value.empty() || value == "null") {
      record->kind = RecordKind::kTombstone;
      return true;
    }
    if (!index_.Build(value)) return Fail(index_.error());
    type_ = {};
    JsonCursor cursor(index_);
    record->payload = cursor;
    JsonCursor data;
    JsonCursor old;
    int64_t ts = 0;
    std::string_view key_columns;
    JsonObjectWalk walk(&cursor);
    std::string_view name;
    while (walk.Next(&name)) {
      if (name == "database") {
        if (!ReadText(&cursor, &database_, &record->database)) return false;
        continue;
      }
      if (name == "table") {
        if (!ReadText(&cursor, &table_, &record->table)) return false;
        continue;
      }
      if (name == "type") {
        if (!ReadText(&cursor, &type_text_, &type_)) return false;
        continue;
      }
      if (name == "ts") {
        if (!ReadNumber(&cursor, &ts)) return false;
        continue;
      }
      if (name == "xid" && !cursor.IsNull()) record->transaction = cursor.Token();
      if (name == "data" && cursor.Peek() == '{') data = cursor;
      if (name == "old" && cursor.Peek() == '{') old = cursor;
      JsonCursor at = cursor;
      if (name == "primary_key_columns" && cursor.Peek() == '[') key_columns = at.RawValue();
      if (!cursor.Skip()) return Fail("the message is cut off");
    }
    if (walk.failed()) return Fail("the message is no well-formed JSON object", cursor.Offset());
    if (!cursor.done()) return Fail("something follows the message", cursor.Offset());
    return Classify(key, key_columns, data, old, ts, record);
  }

 private:
  bool Classify(std::string_view key, std::string_view key_columns, const JsonCursor& data,
                const JsonCursor& old, int64_t ts, Record* record) {
    record->commit_time_ms = ts * 1000;
    record->kind = RecordKind::kChange;
    if (type_ == "insert") {
      record->op = Op::kInsert;
    } else if (type_ == "bootstrap-insert") {
      record->op = Op::kRead;
    } else if (type_ == "update") {
      record->op = Op::kUpdate;
    } else if (type_ == "delete") {
      record->op = Op::kDelete;
    } else if (type_.starts_with("table-") || type_.starts_with("database-")) {
      record->kind = RecordKind::kSchemaChange;
      record->connector = "mysql";
      record->commit_time_ms = ts;
      return true;
    } else if (type_.starts_with("bootstrap-")) {
      record->kind = RecordKind::kMessage;
      return true;
    } else {
      return Fail("the message has none of Maxwell's types");
    }
    if (!data.valid()) return Fail("the message has no row in data");
    (record->op == Op::kDelete ? record->before : record->after) = data;
    if (record->op == Op::kUpdate) record->before = old;
    record->before_is_partial = record->op == Op::kUpdate;
    NameKey(key, key_columns, record);
    return true;
  }

  // {"database":"shop","table":"orders","pk.id":7} in the message's key; ["id"] with
  // output_primary_key_columns.
  void NameKey(std::string_view key, std::string_view columns, Record* record) {
    key_text_ = "{";
    const std::string_view text = columns.empty() ? key : columns;
    const std::string_view mark = columns.empty() ? "\"pk." : "\"";
    for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at)) {
      const size_t begin = at + mark.size();
      size_t end = begin;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size()) break;
      if (key_text_.size() > 1) key_text_ += ',';
      key_text_.append("\"").append(text.substr(begin, end + 1 - begin)).append(":0");
      at = end + 1;
    }
    key_text_ += '}';
    if (key_text_.size() > 2) record->key = key_text_;
  }

  JsonIndex index_;
  std::string database_, table_, type_text_, key_text_;
  std::string_view type_;
};

}  // namespace

std::unique_ptr<MessageReader> MakeMaxwellReader() { return std::make_unique<MaxwellReader>(); }

}  // namespace driftless
