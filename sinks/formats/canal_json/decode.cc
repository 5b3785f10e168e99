#include <optional>

#include "schema/base/json_writer.h"
#include "sinks/formats/message_reader.h"

namespace driftless {
namespace {

using debezium::Record;
using debezium::RecordKind;

// com.alibaba.otter.canal.protocol.FlatMessage: the rows of one event of the binary log, or one
// statement. Members come in any order.
class CanalReader : public MessageReader {
 public:
  bool Read(std::string_view topic, std::string_view key, std::string_view value,
            Record* record) override {
    failed_ = false;
    data_.reset();
    old_.reset();
    *record = Record{};
    record->topic = topic;
    record->key = key;
    if (value.empty() || value == "null") {
      record->kind = RecordKind::kTombstone;
      return true;
    }
    if (value.find_first_not_of(" \t") != value.find('{')) {
      return Fail(
          "the value is no JSON object; what Canal writes with canal.mq.flatMessage=false is not "
          "read");
    }
    if (!index_.Build(value)) return Fail(index_.error());
    type_ = {};
    has_sql_ = is_ddl_ = false;
    JsonCursor cursor(index_);
    record->payload = cursor;
    JsonObjectWalk walk(&cursor);
    std::string_view name;
    while (walk.Next(&name)) {
      if (!ReadMember(name, &cursor, record)) return false;
    }
    if (walk.failed()) return Fail("the message is no well-formed JSON", cursor.Offset());
    if (!cursor.done()) return Fail("something follows the message", cursor.Offset());
    return Classify(record);
  }

  bool NextRow(Record* record) override { return data_ && TakeRow(record); }

 private:
  bool ReadMember(std::string_view name, JsonCursor* cursor, Record* record) {
    if (name == "database") return ReadText(cursor, &database_, &record->database);
    if (name == "table") return ReadText(cursor, &table_, &record->table);
    if (name == "type") return ReadText(cursor, &type_text_, &type_);
    if (name == "gtid") return ReadText(cursor, &gtid_, &record->transaction);
    if (name == "es") return ReadNumber(cursor, &record->commit_time_ms);
    if (name == "id") return ReadNumber(cursor, &record->batch);
    if (name == "ts") return ReadNumber(cursor, &record->built_ms);
    if (name == "isDdl") is_ddl_ = cursor->Token() == "true";
    if (name == "sql") has_sql_ = cursor->Peek() == '"' && cursor->Token().size() > 2;
    JsonCursor at = *cursor;
    if (name == "mysqlType" && cursor->Peek() == '{') record->column_types = at.RawValue();
    if (name == "sqlType" && cursor->Peek() == '{') record->column_codes = at.RawValue();
    if (name == "pkNames" && cursor->Peek() == '[') record->key_names = at.RawValue();
    if (name == "data" && cursor->Peek() == '[') data_at_ = *cursor, data_.emplace(&data_at_);
    if (name == "old" && cursor->Peek() == '[') old_at_ = *cursor, old_.emplace(&old_at_);
    return cursor->Skip() || Fail("the message is cut off");
  }

  bool Classify(Record* record) {
    // Programs that write Canal's form have no batch number, and write values their own way.
    record->values_are_canals = record->batch > 0;
    if (type_ == "INSERT" || type_ == "UPDATE" || type_ == "DELETE") {
      record->kind = RecordKind::kChange;
      record->op = type_ == "INSERT" ? Op::kInsert : type_ == "UPDATE" ? Op::kUpdate : Op::kDelete;
      if (!data_) return Fail("the message has no rows in data");
      if (record->op != Op::kUpdate) old_.reset();
      record->before_is_partial = record->op == Op::kUpdate;
      if (record->key_names.size() > 2) NameKey(record);
      return TakeRow(record) || failed_ || Fail("the message has no rows in data");
    }
    data_.reset();
    if (is_ddl_ || (has_sql_ && type_ != "QUERY")) {
      record->kind = RecordKind::kSchemaChange;
      record->connector = "mysql";
      return true;
    }
    record->kind = type_ == "MHEARTBEAT" ? RecordKind::kHeartbeat
                   : type_ == "QUERY"    ? RecordKind::kMessage  // text of rows
                                         : RecordKind::kTransaction;
    return !type_.empty() || Fail("the message has no type");
  }

  bool TakeRow(Record* record) {
    if (!data_->Next()) return data_->failed() && Fail("data is malformed", data_at_.Offset());
    if (data_at_.Peek() != '{') return Fail("a row in data is no object", data_at_.Offset());
    JsonCursor row = data_at_;
    if (!data_at_.Skip()) return Fail("the message is cut off");
    JsonCursor old;
    if (old_ && old_->Next()) {
      if (old_at_.Peek() == '{') old = old_at_;
      if (!old_at_.Skip()) return Fail("the message is cut off");
    }
    (record->op == Op::kDelete ? record->before : record->after) = row;
    if (record->op == Op::kUpdate) record->before = old;
    return true;
  }

  // The fields that make the key, as the text of a key that has them.
  void NameKey(Record* record) {
    key_text_ = "{";
    const std::string_view list = record->key_names;
    for (size_t at = 1; at < list.size();) {
      const size_t begin = list.find('"', at);
      if (begin == std::string_view::npos) break;
      size_t end = begin + 1;
      while (end < list.size() && list[end] != '"') end += list[end] == '\\' ? 2 : 1;
      if (end >= list.size()) break;
      if (key_text_.size() > 1) key_text_ += ',';
      key_text_.append(list.substr(begin, end + 1 - begin)).append(":0");
      at = end + 1;
    }
    key_text_ += '}';
    record->key = key_text_;
  }

  JsonIndex index_;
  std::string database_, table_, type_text_, gtid_, key_text_;
  std::string_view type_;
  bool is_ddl_ = false;
  bool has_sql_ = false;
  JsonCursor data_at_, old_at_;
  std::optional<JsonArrayWalk> data_, old_;
};

}  // namespace

std::unique_ptr<MessageReader> MakeCanalReader() { return std::make_unique<CanalReader>(); }

}  // namespace driftless
