#include "sinks/formats/row_json/key_encode.h"

#include <algorithm>

#include "schema/base/json_writer.h"
#include "schema/types/value_text.h"

namespace driftless {
namespace {

// RFC 4180: quotes where the value has a comma, a quote or a line break.
void AppendCsv(std::string_view value, std::string* out) {
  if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
    *out += value;
    return;
  }
  *out += '"';
  for (const char c : value) {
    *out += c;
    if (c == '"') *out += c;
  }
  *out += '"';
}

}  // namespace

std::string TableIdText(const TablePath& path) {
  std::string text;
  for (const std::string* part : {&path.catalog, &path.database, &path.table}) {
    if (part->empty()) continue;
    if (!text.empty()) text += '.';
    text += *part;
  }
  return text;
}

KeyEncoder::KeyEncoder(const EvolvedSchema& table, KeyFormat format, Style style)
    : format_(format), values_(table, {}) {
  for (const std::string& name : table.primary_key) {
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const EvolvedColumn& c) { return c.sink.name == name; });
    if (column == table.columns.end()) continue;
    columns_.push_back(static_cast<size_t>(column - table.columns.begin()));
    types_.push_back(column->sink.type);
    std::string key;
    AppendJsonString(style == Style::kMaxwell ? "pk." + name : name, &key);
    names_.push_back(key + ":");
  }
  if (format == KeyFormat::kCsv) {
    if (style != Style::kPlain) AppendCsv(TableIdText(table.path), &prefix_);
    has_key_ = !columns_.empty() || !prefix_.empty();
    return;
  }
  prefix_ = "{";
  JsonWriter json(&prefix_);
  if (style == Style::kFlinkCdc) {
    json.Key("TableId").String(TableIdText(table.path));
  } else if (style == Style::kMaxwell) {
    json.Key("database").String(table.path.database).Key("table").String(table.path.table);
  }
  has_key_ = style != Style::kPlain || !columns_.empty();
}

bool KeyEncoder::Append(std::span<const ColumnView> columns, int64_t row, std::string* out) const {
  if (!has_key_) return false;
  *out += prefix_;
  bool first = prefix_.size() <= 1 && format_ == KeyFormat::kJson;
  if (format_ == KeyFormat::kCsv) first = prefix_.empty();
  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!first) *out += ',';
    first = false;
    const ColumnView& view = columns[columns_[i]];
    if (format_ == KeyFormat::kJson) {
      *out += names_[i];
      values_.AppendValue(columns_[i], view, row, out);
    } else {
      text.clear();
      AppendText(types_[i], view, row, {}, &text);
      AppendCsv(text, out);
    }
  }
  if (format_ == KeyFormat::kJson) *out += '}';
  return true;
}

}  // namespace driftless
