#include <algorithm>

#include "sinks/formats/message_reader.h"

namespace driftless {
namespace {

using debezium::Record;
using debezium::RecordKind;

class PlainJsonReader : public MessageReader {
 public:
  explicit PlainJsonReader(PlainJsonOptions options) : options_(std::move(options)) {}

  bool Read(std::string_view topic, std::string_view key, std::string_view value,
            Record* record) override {
    failed_ = false;
    *record = Record{};
    record->topic = topic;
    record->kind = RecordKind::kChange;
    const bool has_key = !key.empty() && key.front() == '{';
    if (has_key) record->key = key;
    JsonCursor row;
    if (value.empty() || value == "null") {
      if (!has_key) {
        record->kind = RecordKind::kTombstone;
        return true;
      }
      key_.assign(key);
      key_.append(kJsonPadding, ' ');
      if (!key_index_.Build(std::string_view(key_).substr(0, key.size()))) {
        return Fail(key_index_.error());
      }
      record->op = Op::kDelete;
      row = record->before = JsonCursor(key_index_);
    } else {
      if (!index_.Build(value)) return Fail(index_.error());
      row = record->after = record->payload = JsonCursor(index_);
      if (row.Peek() != '{') return Fail("the row is no JSON object");
      JsonCursor check = row;
      if (!SkipChecked(&check)) return Fail("the row is no well-formed JSON", check.Offset());
      if (!check.done()) return Fail("something follows the row", check.Offset());
    }
    return NameTable(topic, row, record);
  }

 private:
  bool NameTable(std::string_view topic, JsonCursor row, Record* record) {
    if (options_.table_fields.empty()) {
      name_.assign(topic.empty() ? std::string_view(options_.table) : topic);
    } else {
      name_.clear();
      for (const std::string& field : options_.table_fields) {
        if (!AppendField(row, field)) return false;
      }
    }
    const size_t dot = name_.find('.');
    if (dot == std::string::npos) {
      record->database = "default";
      record->table = name_;
    } else {
      record->database = std::string_view(name_).substr(0, dot);
      record->table = std::string_view(name_).substr(dot + 1);
    }
    return !record->table.empty() || Fail("the row names no table");
  }

  bool AppendField(JsonCursor row, std::string_view field) {
    JsonObjectWalk walk(&row);
    std::string_view key;
    while (walk.Next(&key)) {
      if (key != field) {
        if (!row.Skip()) break;
        continue;
      }
      if (row.Peek() == '{' || row.Peek() == '[' || row.IsNull()) break;
      std::string_view text = row.Token();
      if (row.Peek() == '"' && !ReadJsonString(row.Token(), &scratch_, &text)) break;
      if (!name_.empty()) name_ += '.';
      name_ += text;
      return true;
    }
    return Fail("the row lacks a field that json.decode.parser-table-id.fields names");
  }

  const PlainJsonOptions options_;
  JsonIndex index_;
  JsonIndex key_index_;
  std::string key_, name_, scratch_;
};

}  // namespace

std::unique_ptr<MessageReader> MakePlainJsonReader(PlainJsonOptions options) {
  return std::make_unique<PlainJsonReader>(std::move(options));
}

}  // namespace driftless
