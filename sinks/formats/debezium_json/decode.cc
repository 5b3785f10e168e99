#include "sinks/formats/debezium_json/decode.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace driftless::debezium {
namespace {

// Slots of RecordReader::scratch_, for strings with escapes.
enum Slot : int {
  kTopic,
  kConnector,
  kDatabase,
  kSchema,
  kTable,
  kTransactionId,
  kSnapshot,
  kGtid
};

// Whether `key` is this literal. The length is known when this is compiled, so that a comparison is
// a load or two and no call: a record has some twenty members.
template <size_t kSize>
[[gnu::always_inline]] inline bool Is(std::string_view key, const char (&literal)[kSize]) {
  return key.size() == kSize - 1 && std::memcmp(key.data(), literal, kSize - 1) == 0;
}

bool StartsWith(std::string_view text, size_t at, std::string_view what) {
  return text.size() - at >= what.size() &&
         std::memcmp(text.data() + at, what.data(), what.size()) == 0;
}

// The end of the JSON value that begins at `at`, found by counting brackets outside of strings;
// npos where the text ends before. The caller's record is checked by the parts that are read.
size_t EndOfValue(std::string_view text, size_t at) {
  if (at >= text.size()) return std::string_view::npos;
  const char first = text[at];
  if (first != '{' && first != '[' && first != '"') {
    const size_t end = text.find_first_of(",}] \t", at);
    return end;
  }
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        in_string = false;
        if (depth == 0) return at + 1;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return at + 1;
    }
  }
  return std::string_view::npos;
}

bool ReadNumber(std::string_view token, int64_t* value) {
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), *value);
  return error == std::errc() && end == token.data() + token.size();
}

std::string QuotedInside(std::string_view name) {
  std::string text;
  for (const char c : name) text.append(c == '`' ? 2 : 1, c);
  return text;
}

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

// Embedded schemas repeat from record to record, some kilobytes each: the last ones are remembered
// (per topic; without topics the last few), so that a record is only compared with them, not
// searched.
struct RecordReader::Known {
  static constexpr size_t kRecentMax = 8;
  static constexpr size_t kTopicsMax = 1 << 14;

  struct Schema {
    std::string text;
    uint64_t id = 0;
  };
  struct Topic {
    Schema key;
    Schema value;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  // Where the schema of this topic's keys or values is remembered; the least recently used place
  // where there is no topic.
  Schema* Find(std::string_view topic, bool is_value, std::string_view text) {
    if (!topic.empty()) {
      if (last_ == nullptr || last_topic_ != topic) {
        auto found = topics_.find(topic);
        if (found == topics_.end()) {
          if (topics_.size() >= kTopicsMax) topics_.clear();
          found = topics_.emplace(std::string(topic), Topic()).first;
        }
        last_ = &found->second;
        last_topic_.assign(topic);
      }
      return is_value ? &last_->value : &last_->key;
    }
    for (size_t i = 0; i < recent_.size(); ++i) {
      if (!StartsWith(text, 0, recent_[i].text)) continue;
      if (i > 0) std::swap(recent_[i], recent_[i - 1]);
      return &recent_[i > 0 ? i - 1 : 0];
    }
    if (recent_.size() < kRecentMax) recent_.emplace_back();
    return &recent_.back();
  }
  uint64_t NextId() { return ++ids_; }

 private:
  std::unordered_map<std::string, Topic, Hash, std::equal_to<>> topics_;
  std::vector<Schema> recent_;
  Topic* last_ = nullptr;
  std::string last_topic_;
  uint64_t ids_ = 0;
};

RecordReader::RecordReader() : known_(std::make_unique<Known>()) {}
RecordReader::~RecordReader() = default;

bool RecordReader::Fail(const char* fault, size_t offset) {
  fault_ = fault;
  fault_offset_ = offset;
  return false;
}

bool RecordReader::ReadLine(std::string_view line, Record* record, const JsonIndex* index) {
  line_ = line = TrimRight(line);
  lines_ = index;
  *record = Record{};
  std::string_view value;
  if (!SplitLine(line, record, &value) && !SplitByIndex(line, record, &value)) return false;
  if (value == "null") {
    record->kind = RecordKind::kTombstone;
    return true;
  }
  line_is_payload_ = value.size() * 2 > line.size();
  return ReadPayload(value, record);
}

bool RecordReader::ReadMessage(std::string_view topic, std::string_view key, std::string_view value,
                               Record* record) {
  line_ = value = TrimRight(value);
  lines_ = nullptr;
  *record = Record{};
  record->topic = topic;
  key = TrimRight(key);
  if (!key.empty() && key != "null" && !SplitSchema(key, Part::kKey, record, &record->key)) {
    record->key = key;
  }
  if (value.empty() || value == "null") {
    record->kind = RecordKind::kTombstone;
    return true;
  }
  std::string_view payload = value;
  SplitSchema(value, Part::kValue, record, &payload);
  return ReadPayload(payload, record);
}

// The compact form that Connect's JSON converter and the recorders write, without blanks. Anything
// else takes SplitByIndex.
bool RecordReader::SplitLine(std::string_view line, Record* record, std::string_view* value) {
  if (line.size() < 2 || line.back() != '}') return false;
  if (!StartsWith(line, 0, "{\"topic\":\"")) {
    if (SplitSchema(line, Part::kValue, record, value)) return true;
    if (StartsWith(line, 0, "{\"before\":") || StartsWith(line, 0, "{\"after\":")) {
      *value = line;
      return true;
    }
    return false;
  }
  const size_t topic_begin = 10;
  const size_t topic_end = line.find('"', topic_begin);
  if (topic_end == std::string_view::npos) return false;
  const std::string_view topic = line.substr(topic_begin, topic_end - topic_begin);
  if (topic.find('\\') != std::string_view::npos) return false;
  size_t at = topic_end + 1;
  if (!StartsWith(line, at, ",\"key\":")) return false;
  at += 7;
  const size_t key_end = EndOfValue(line, at);
  if (key_end == std::string_view::npos) return false;
  const std::string_view key = line.substr(at, key_end - at);
  if (!StartsWith(line, key_end, ",\"value\":")) return false;
  const std::string_view whole = line.substr(key_end + 9, line.size() - key_end - 10);
  record->topic = topic;
  if (key != "null" && !SplitSchema(key, Part::kKey, record, &record->key)) record->key = key;
  if (!SplitSchema(whole, Part::kValue, record, value)) *value = whole;
  return true;
}

// {"schema":S,"payload":P} in its compact form.
bool RecordReader::SplitSchema(std::string_view text, Part part, Record* record,
                               std::string_view* payload) {
  constexpr std::string_view kHead = "{\"schema\":";
  constexpr std::string_view kMiddle = ",\"payload\":";
  if (!StartsWith(text, 0, kHead) || text.back() != '}') return false;
  const std::string_view rest = text.substr(kHead.size());
  Known::Schema* known = known_->Find(record->topic, part == Part::kValue, rest);
  if (known->text.empty() || !StartsWith(rest, 0, known->text) ||
      !StartsWith(rest, known->text.size(), kMiddle)) {
    const size_t size = EndOfValue(rest, 0);
    if (size == std::string_view::npos || !StartsWith(rest, size, kMiddle)) return false;
    known->text.assign(rest.substr(0, size));
    known->id = known_->NextId();
  }
  const size_t size = known->text.size();
  const std::string_view schema = rest.substr(0, size);
  if (schema != "null") {
    (part == Part::kValue ? record->value_schema : record->key_schema) = schema;
    (part == Part::kValue ? record->value_schema_id : record->key_schema_id) = known->id;
  }
  *payload = rest.substr(size + kMiddle.size(), rest.size() - size - kMiddle.size() - 1);
  return true;
}

// The general way, for other orders of the members and for blanks.
bool RecordReader::SplitByIndex(std::string_view line, Record* record, std::string_view* value) {
  if (line.empty()) return Fail("the line is empty");
  if (!line_index_.Build(line)) return Fail(line_index_.error());
  const auto split = [&](JsonCursor cursor, std::string_view* schema, std::string_view* payload) {
    std::string_view found_schema;
    std::string_view found_payload;
    JsonObjectWalk walk(&cursor);
    std::string_view key;
    while (walk.Next(&key)) {
      const std::string_view name = key;
      const std::string_view raw = cursor.RawValue();
      if (name == "schema") found_schema = raw;
      if (name == "payload") found_payload = raw;
    }
    if (walk.failed() || found_payload.empty()) return false;
    *schema = found_schema == "null" ? std::string_view() : found_schema;
    *payload = found_payload;
    return true;
  };
  JsonCursor cursor(line_index_);
  JsonCursor probe = cursor;
  JsonCursor value_at;
  JsonCursor key_at;
  bool has_topic = false;
  JsonObjectWalk walk(&probe);
  std::string_view key;
  while (walk.Next(&key)) {
    if (key == "topic" && probe.Peek() == '"') {
      has_topic = true;
      if (!ReadText(&probe, kTopic, &record->topic)) return false;
      continue;
    }
    if (key == "value") value_at = probe;
    if (key == "key") key_at = probe;
    if (!probe.Skip()) return Fail("the record is cut off", probe.Offset());
  }
  if (walk.failed()) return Fail("the record is no well-formed JSON object", probe.Offset());
  if (!probe.done()) return Fail("something follows the record", probe.Offset());
  if (!has_topic || !value_at.valid()) {
    record->topic = {};
    if (!split(cursor, &record->value_schema, value)) *value = line;
    return true;
  }
  if (key_at.valid() && !key_at.IsNull() && !split(key_at, &record->key_schema, &record->key)) {
    record->key = key_at.RawValue();
  }
  if (!split(value_at, &record->value_schema, value)) *value = value_at.RawValue();
  return true;
}

bool RecordReader::ReadText(JsonCursor* cursor, int slot, std::string_view* text) {
  if (cursor->IsNull()) {
    cursor->Advance();
    return true;
  }
  if (!ReadJsonString(cursor->Token(), &scratch_[slot], text)) {
    return Fail("a string was expected in the record's description of its source",
                cursor->Offset());
  }
  cursor->Advance();
  return true;
}

bool RecordReader::ReadSource(JsonCursor* cursor, Record* record) {
  if (cursor->IsNull()) {
    cursor->Advance();
    return true;
  }
  std::string_view snapshot;
  JsonObjectWalk walk(cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    bool ok = true;
    if (Is(key, "db")) {
      ok = ReadText(cursor, kDatabase, &record->database);
    } else if (Is(key, "table")) {
      ok = ReadText(cursor, kTable, &record->table);
    } else if (Is(key, "schema")) {
      ok = ReadText(cursor, kSchema, &record->schema);
    } else if (Is(key, "connector")) {
      ok = ReadText(cursor, kConnector, &record->connector);
    } else if (Is(key, "ts_ms")) {
      if (!cursor->IsNull() && !ReadNumber(cursor->Token(), &record->commit_time_ms)) {
        return Fail("source.ts_ms is no number", cursor->Offset());
      }
      cursor->Advance();
    } else if (Is(key, "snapshot")) {
      if (cursor->Peek() == '"') {
        ok = ReadText(cursor, kSnapshot, &snapshot);
      } else {  // a boolean in old releases
        snapshot = cursor->Token();
        cursor->Advance();
      }
    } else if (Is(key, "gtid")) {
      ok = ReadText(cursor, kGtid, &record->transaction);
    } else if (Is(key, "txId")) {
      if (!cursor->IsNull()) record->transaction = cursor->Token();
      cursor->Advance();
    } else {
      ok = cursor->Skip() || Fail("the record is cut off");
    }
    if (!ok) return false;
  }
  if (walk.failed()) return Fail("the source part is malformed", cursor->Offset());
  record->snapshot = !snapshot.empty() && snapshot != "false" && snapshot != "null";
  return true;
}

bool RecordReader::ReadTransaction(JsonCursor* cursor, Record* record) {
  if (cursor->Peek() != '{') return cursor->Skip() || Fail("the record is cut off");
  JsonObjectWalk walk(cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    const bool ok = Is(key, "id") ? ReadText(cursor, kTransactionId, &record->transaction)
                                  : cursor->Skip() || Fail("the record is cut off");
    if (!ok) return false;
  }
  return !walk.failed() || Fail("the transaction part is malformed", cursor->Offset());
}

bool RecordReader::ReadPayload(std::string_view payload, Record* record) {
  if (payload.empty()) return Fail("the record is cut off");
  const bool is_indexed = lines_ != nullptr && index_.TakePart(*lines_, payload);
  if (!is_indexed && !index_.Build(payload)) return Fail(index_.error());
  // A cursor at its end says 0.
  const auto in_line = [&](size_t offset) {
    return static_cast<size_t>(std::max(index_.text().data() + offset, payload.data()) -
                               line_.data());
  };
  JsonCursor cursor(index_);
  record->payload = cursor;
  std::string_view op;
  int64_t ts_ms = 0;
  bool has_source = false, has_ddl = false, has_status = false, has_image = false;
  std::string_view transaction_id;
  JsonObjectWalk walk(&cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    if (Is(key, "before") || Is(key, "after")) {
      has_image = true;
      if (cursor.Peek() == '{') (Is(key, "before") ? record->before : record->after) = cursor;
    } else if (Is(key, "source")) {
      has_source = true;
      if (!ReadSource(&cursor, record)) return Fail(fault_, in_line(fault_offset_));
      continue;
    } else if (Is(key, "op")) {
      op = cursor.Token();
    } else if (Is(key, "transaction")) {
      const std::string_view gtid = record->transaction;
      record->transaction = {};
      if (!ReadTransaction(&cursor, record)) return Fail(fault_, in_line(fault_offset_));
      transaction_id = record->transaction;
      record->transaction = gtid;
      continue;
    } else if (Is(key, "ts_ms")) {
      if (!cursor.IsNull() && !ReadNumber(cursor.Token(), &ts_ms)) {
        return Fail("ts_ms is no number", in_line(cursor.Offset()));
      }
    } else if (Is(key, "ddl")) {
      has_ddl = true;
    } else if (Is(key, "status")) {
      has_status = true;
    }
    const size_t offset = cursor.Offset();
    if (!cursor.Skip()) return Fail("the record is cut off", in_line(offset));
  }
  if (walk.failed()) {
    return Fail(cursor.done() ? "the record is cut off" : "the record is no well-formed JSON",
                in_line(cursor.Offset()));
  }
  if (!cursor.done()) return Fail("something follows the record", in_line(cursor.Offset()));
  if (!transaction_id.empty()) record->transaction = transaction_id;
  if (record->commit_time_ms == 0) record->commit_time_ms = ts_ms;

  if (op.empty()) {
    if (has_ddl) {
      record->kind = RecordKind::kSchemaChange;
    } else if (has_status && !has_image) {
      record->kind = RecordKind::kTransaction;
    } else if (!has_image && !has_source) {
      record->kind = RecordKind::kHeartbeat;
    } else {
      return Fail("the record has row images but no op");
    }
    return true;
  }
  if (op.size() != 3 || op.front() != '"') return Fail("op is not one of c, u, d, r, t, m");
  record->kind = RecordKind::kChange;
  switch (op[1]) {
    case 'c': record->op = Op::kInsert; break;
    case 'u': record->op = Op::kUpdate; break;
    case 'd': record->op = Op::kDelete; break;
    case 'r': record->op = Op::kRead; break;
    case 't': record->kind = RecordKind::kTruncate; return true;
    case 'm': record->kind = RecordKind::kMessage; return true;
    default: return Fail("op is not one of c, u, d, r, t, m");
  }
  if (record->op == Op::kDelete) {
    if (!record->before.valid()) {
      return Fail(
          "a delete without its before image names no row; PostgreSQL tables need a "
          "replica identity");
    }
  } else if (!record->after.valid()) {
    return Fail("the record has no after image");
  }
  return true;
}

RowPlan::RowPlan(const TableSchema& schema, const ConnectField* wire, const Format& format) {
  fields_.reserve(schema.columns.size());
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    Field field;
    field.key = JsonKeyOf(column.name);
    field.column = static_cast<int>(i);
    field.is_key = schema.IsKey(column.id);
    field.value = PlanValue(column, wire == nullptr ? nullptr : wire->Find(column.name), format);
    by_key_.emplace(field.key, static_cast<int>(fields_.size()));
    if (column.name.find('`') != std::string::npos) {
      // Debezium keeps the quoting of names in statements: `a``b` arrives as a``b.
      by_key_.emplace(JsonKeyOf(QuotedInside(column.name)), static_cast<int>(fields_.size()));
    }
    fields_.push_back(std::move(field));
  }
}

RowPlan::RowPlan(const TableSchema& schema, const std::vector<std::string>& labels,
                 const Format& format)
    : RowPlan(schema, nullptr, format) {
  by_key_.clear();
  for (size_t i = 0; i < fields_.size() && i < labels.size(); ++i) {
    fields_[i].key = JsonKeyOf(labels[i]);
    by_key_.emplace(fields_[i].key, static_cast<int>(i));
  }
}

int RowPlan::FindSlow(std::string_view key) const {
  // Rare enough (a field in another place than the column) to pay for the copy of the key.
  auto found = by_key_.find(std::string(key));
  if (found == by_key_.end() && key.find('\\') != std::string_view::npos) {
    // Escaped in another way than ours: compare what it means.
    std::string name;
    if (!AppendJsonUnescaped(key, &name)) return -1;
    found = by_key_.find(JsonKeyOf(name));
  }
  return found == by_key_.end() ? -1 : found->second;
}

bool RowDecoder::Decode(const RowPlan& plan, JsonCursor cursor, Image image,
                        ChangeBatchBuilder* builder) {
  return DecodeFields(plan, cursor, image, Which::kAll, builder);
}

bool RowDecoder::DecodeKey(const RowPlan& plan, JsonCursor cursor, ChangeBatchBuilder* builder) {
  return DecodeFields(plan, cursor, Image::kBefore, Which::kKey, builder);
}

bool RowDecoder::DecodeUnchanged(const RowPlan& plan, JsonCursor after,
                                 ChangeBatchBuilder* builder) {
  return DecodeFields(plan, after, Image::kBefore, Which::kMissing, builder);
}

bool RowDecoder::DecodeFields(const RowPlan& plan, JsonCursor cursor, Image image, Which which,
                              ChangeBatchBuilder* builder) {
  const int64_t row = builder->size() - 1;
  const std::vector<RowPlan::Field>& fields = plan.fields();
  size_t expected = 0;
  int decoded = 0;
  bool reordered = false;
  JsonObjectWalk walk(&cursor);
  std::string_view key;
  const auto fail = [&](RowFault::Kind kind, const char* why, int column) {
    fault_ = {kind, why, key, {}, column};
    return false;
  };
  while (walk.Next(&key)) {
    const int index = plan.Find(key, expected);
    if (index < 0) return fail(RowFault::Kind::kUnknownField, "the table has no such column", -1);
    const RowPlan::Field& field = fields[static_cast<size_t>(index)];
    reordered |= static_cast<size_t>(index) < expected;
    expected = static_cast<size_t>(index) + 1;
    ++decoded;
    if (which == Which::kKey && !field.is_key) {
      if (!cursor.Skip()) return fail(RowFault::Kind::kMalformed, "the record is cut off", -1);
      continue;
    }
    ColumnBuilder& column =
        image == Image::kAfter ? builder->after(field.column) : builder->before(field.column);
    if (column.length() != row) {
      if (which == Which::kMissing) {
        if (!cursor.Skip()) return fail(RowFault::Kind::kMalformed, "the record is cut off", -1);
        continue;
      }
      return fail(RowFault::Kind::kTwice, "the field stands there twice", field.column);
    }
    JsonCursor at = cursor;
    if (!values_.Decode(field.value, &cursor, &column)) {
      fail(RowFault::Kind::kValue, values_.fault(), field.column);
      fault_.value = at.RawValue();
      return false;
    }
  }
  if (walk.failed()) return fail(RowFault::Kind::kMalformed, "the row image is malformed", -1);
  missing_ = static_cast<int>(fields.size()) - decoded;
  reordered_ = reordered;
  return true;
}

bool RowDecoder::HasOnlyKey(const RowPlan& plan, JsonCursor cursor) {
  bool any_key = false;
  size_t expected = 0;
  JsonObjectWalk walk(&cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    const int index = plan.Find(key, expected);
    if (index < 0) return false;
    expected = static_cast<size_t>(index) + 1;
    if (plan.fields()[static_cast<size_t>(index)].is_key) {
      any_key = true;
    } else if (!cursor.IsNull()) {
      return false;
    }
    if (!cursor.Skip()) return false;
  }
  return any_key && !walk.failed();
}

bool RowDecoder::ChangesKey(const RowPlan& plan, JsonCursor before, JsonCursor after) {
  JsonObjectWalk old_walk(&before);
  std::string_view old_name;
  size_t expected = 0;
  while (old_walk.Next(&old_name)) {
    const int index = plan.Find(old_name, expected);
    if (index < 0) return true;
    expected = static_cast<size_t>(index) + 1;
    if (!plan.fields()[static_cast<size_t>(index)].is_key) {
      if (!before.Skip()) return true;
      continue;
    }
    const std::string_view old_value = before.RawValue();
    JsonCursor look = after;
    JsonObjectWalk walk(&look);
    std::string_view name;
    std::string_view value;
    while (value.empty() && walk.Next(&name)) {
      if (name == old_name) {
        value = look.RawValue();
      } else if (!look.Skip()) {
        return true;
      }
    }
    if (value != old_value) return true;
  }
  return false;
}

bool RowDecoder::SameKey(const RowPlan& plan, JsonCursor before, JsonCursor after) {
  size_t left = 0;
  for (const RowPlan::Field& field : plan.fields()) left += field.is_key ? 1 : 0;
  // Both images list their fields in the same order, so that one walk goes through both.
  size_t expected = 0;
  JsonObjectWalk old_walk(&before);
  JsonObjectWalk new_walk(&after);
  std::string_view old_key;
  std::string_view new_key;
  while (left > 0 && old_walk.Next(&old_key)) {
    if (!new_walk.Next(&new_key) || new_key != old_key) return false;
    const int index = plan.Find(old_key, expected);
    if (index < 0) return false;
    expected = static_cast<size_t>(index) + 1;
    if (plan.fields()[static_cast<size_t>(index)].is_key) {
      if (before.RawValue() != after.RawValue()) return false;
      --left;
    } else if (!before.Skip() || !after.Skip()) {
      return false;
    }
  }
  return left == 0;
}

}  // namespace driftless::debezium
