#include "tests/unit/pipeline/sources/truth.h"
#include "tests/doubles/source_dir.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "pipeline/sources/file/line_reader.h"
#include "schema/base/letter_case.h"
#include "sinks/formats/debezium_json/geometry.h"

namespace driftless::testing {
namespace {

using Value = std::optional<std::string>;

struct TruthColumn {
  std::string name;
  std::string type;  // the server's text, in lower case
};
struct TruthTable {
  std::vector<TruthColumn> columns;
  std::vector<std::string> key;
  std::vector<std::vector<Value>> rows;  // in the order of the columns
};

void EachLine(const std::string& path, const std::function<void(simdjson::dom::element)>& use) {
  auto stream = ByteStream::Open(path);
  DRIFTLESS_CHECK(stream.has_value());
  LineReader reader(std::move(*stream), 64 << 20);
  simdjson::dom::parser parser;
  std::string_view line;
  for (;;) {
    const auto got = reader.Next(&line);
    DRIFTLESS_CHECK(got.has_value());
    if (*got != LineReader::Got::kLine) return;
    use(parser.parse(line.data(), line.size()).value());
  }
}

std::map<std::string, TruthTable> ReadTruth(const std::string& server,
                                            const std::string& scenario) {
  const std::string base =
      SourceDir() + "/tests/data/truth/" + server + "/" + scenario + ".stream.final.";
  std::map<std::string, TruthTable> tables;
  EachLine(base + "schema.jsonl.gz", [&](simdjson::dom::element line) {
    TruthTable& table = tables[std::string(line["table"].get_string().value())];
    for (auto column : simdjson::dom::array(line["columns"].get_array())) {
      table.columns.push_back({std::string(column["name"].get_string().value()),
                               LowerCase(column["type"].get_string().value())});
    }
    for (auto name : simdjson::dom::array(line["primary_key"].get_array())) {
      table.key.emplace_back(name.get_string().value());
    }
  });
  EachLine(base + "rows.jsonl.gz", [&](simdjson::dom::element line) {
    TruthTable& table = tables[std::string(line["table"].get_string().value())];
    std::vector<Value> row;
    for (const TruthColumn& column : table.columns) {
      const auto value = line["row"][column.name];
      row.push_back(value.is_null() ? Value() : Value(std::string(value.get_string().value())));
    }
    table.rows.push_back(std::move(row));
  });
  return tables;
}

std::string Print(const char* format, double value) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string TrimFraction(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// "007", "7.00", "true" are 7, 7 and 1.
std::string Number(std::string text) {
  if (text == "true" || text == "t") return "1";
  if (text == "false" || text == "f") return "0";
  if (text.empty() || text.find_first_of("eEN") != std::string::npos) return text;
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  text = TrimFraction(std::move(text));
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  if (text.empty() || text[0] == '.') text = "0" + text;
  return negative && text != "0" ? "-" + text : text;
}

std::string Moment(std::string text) {
  std::replace(text.begin(), text.end(), 'T', ' ');
  if (text.ends_with('Z')) text.pop_back();
  if (text.ends_with("+00")) text.resize(text.size() - 3);
  return TrimFraction(std::move(text));
}

std::string Unhex(std::string_view hex) {
  if (hex.starts_with("0x") || hex.starts_with("\\x")) hex.remove_prefix(2);
  std::string digits(hex);
  if (digits.size() % 2 != 0) digits.insert(digits.begin(), '0');
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    int byte = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

std::string Document(simdjson::dom::element value) {
  switch (value.type()) {
    case simdjson::dom::element_type::OBJECT: {
      std::map<std::string, std::string> members;
      for (auto member : simdjson::dom::object(value.get_object())) {
        members[std::string(member.key)] = Document(member.value);
      }
      std::string text = "{";
      for (const auto& [name, member] : members) text += name + ":" + member + ",";
      return text + "}";
    }
    case simdjson::dom::element_type::ARRAY: {
      std::string text = "[";
      for (auto element : simdjson::dom::array(value.get_array())) text += Document(element) + ",";
      return text + "]";
    }
    case simdjson::dom::element_type::STRING:
      return "\"" + std::string(value.get_string().value()) + "\"";
    case simdjson::dom::element_type::BOOL: return value.get_bool().value() ? "true" : "false";
    case simdjson::dom::element_type::NULL_VALUE: return "null";
    default: return Print("%.17g", value.get_double().value());
  }
}

std::string Json(const std::string& text) {
  simdjson::dom::parser parser;
  auto parsed = parser.parse(text);
  return parsed.error() ? text : Document(parsed.value());
}

bool Starts(const std::string& type, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return type.starts_with(name); });
}

enum class Side { kTruth, kReplayed };

std::string Set(const std::string& text, Side side) {
  if (side == Side::kTruth) return text;
  simdjson::dom::parser parser;
  auto list = parser.parse(text);
  if (list.error() || !list.value().is_array()) return text;
  std::string joined;
  for (auto member : simdjson::dom::array(list.value().get_array())) {
    joined += (joined.empty() ? "" : ",") + std::string(member.get_string().value());
  }
  return joined;
}

std::string Bits(const std::string& text, Side side) {
  if (side == Side::kTruth && !text.starts_with("0x")) {  // PostgreSQL
    return std::to_string(std::strtoull(text.c_str(), nullptr, 2));
  }
  const bool is_bool = text == "true" || text == "false";
  const std::string bytes = is_bool ? std::string(1, text == "true" ? 1 : 0) : Unhex(text);
  uint64_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<uint8_t>(c);
  return std::to_string(number);
}

std::string Vector(const std::string& text, Side side) {
  if (side == Side::kReplayed) return Json(text);
  const std::string bytes = Unhex(text);
  std::string list = "[";
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    float number = 0;
    std::memcpy(&number, bytes.data() + i, 4);
    if (i > 0) list += ',';
    AppendFloat(number, &list);
  }
  return Json(list + "]");
}

std::string Double(const std::string& type, const std::string& text) {
  const double number = std::strtod(text.c_str(), nullptr);
  const size_t comma = type.find(',');
  if (comma == std::string::npos) return Print("%.17g", number);
  // DOUBLE(M,D): the server prints D digits.
  const std::string digits = type.substr(comma + 1, type.find(')') - comma - 1);
  return Print(("%." + digits + "f").c_str(), number);
}

// {1,NULL,"a,b"} as JSON; each element in its own normal form.
Value Normal(const std::string& type, const Value& value, Side side);
std::string Array(const std::string& element, const std::string& text, Side side) {
  std::vector<Value> values;
  if (side == Side::kReplayed) {
    simdjson::dom::parser parser;
    auto list = parser.parse(text);
    if (list.error() || !list.value().is_array()) return text;
    for (auto item : simdjson::dom::array(list.value().get_array())) {
      if (item.is_null()) {
        values.emplace_back();
      } else if (item.is_string()) {
        values.emplace_back(std::string(item.get_string().value()));
      } else {
        values.emplace_back(simdjson::minify(item));
      }
    }
  } else {
    if (text.size() < 2 || text.front() != '{') return text;
    for (size_t at = 1; at + 1 < text.size(); ++at) {
      std::string item;
      const bool quoted = text[at] == '"';
      if (quoted) ++at;
      for (; at < text.size(); ++at) {
        if (quoted ? text[at] == '"' : text[at] == ',' || text[at] == '}') break;
        if (text[at] == '\\') ++at;
        item += text[at];
      }
      if (quoted) ++at;
      values.push_back(!quoted && item == "NULL" ? Value() : Value(item));
    }
  }
  std::string joined;
  for (const Value& item : values) joined += Normal(element, item, side).value_or("NULL") + "\n";
  return joined;
}

// A value in the form in which both sides can be compared.
Value Normal(const std::string& type, const Value& value, Side side) {
  if (!value) return value;
  const std::string& text = *value;
  const bool truth = side == Side::kTruth;
  if (type.ends_with("[]")) return Array(type.substr(0, type.size() - 2), text, side);
  if (Starts(type, {"set("})) return Set(text, side);
  if (Starts(type, {"bit"})) return Bits(text, side);
  if (Starts(type, {"vector"})) return Vector(text, side);
  if (Starts(type, {"json"})) return Json(text);
  if (Starts(type, {"geom", "point", "line", "polygon", "multi"}) && truth &&
      text.starts_with("0x")) {
    const std::string bytes = Unhex(text);
    uint32_t srid = 0;
    std::memcpy(&srid, bytes.data(), 4);
    std::string json;
    debezium::AppendGeometryJson(std::string_view(bytes).substr(4), srid, &json);
    return json;
  }
  if (Starts(type, {"float", "real"})) return Print("%.9g", std::strtof(text.c_str(), nullptr));
  if (Starts(type, {"double"})) return Double(type, text);
  if (Starts(type, {"interval"})) return text;
  if (Starts(type, {"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "numeric",
                    "year", "bool", "money"})) {
    return Number(text);
  }
  if (Starts(type, {"date", "timestamp"})) {
    const bool zero = text.starts_with("0000") || text.find("-00") != std::string::npos;
    return truth && zero ? Value() : Value(Moment(text));
  }
  if (Starts(type, {"time"})) return Moment(text);
  if (Starts(type,
             {"binary", "varbinary", "blob", "tinyblob", "mediumblob", "longblob", "bytea"})) {
    const bool hex = truth && (text.starts_with("0x") || text.starts_with("\\x"));
    return hex ? LowerCase(text.substr(2)) : text;
  }
  if (Starts(type, {"char"})) return text.substr(0, text.find_last_not_of(' ') + 1);
  return text;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Comparison {
 public:
  Comparison(std::string name, const TruthTable& truth, const ReplayedTable& replayed)
      : name_(std::move(name)), truth_(truth), replayed_(replayed) {}

  std::vector<std::string> Run() {
    CompareColumns();
    std::multimap<std::string, std::vector<Value>> have;
    for (const auto& [unused, row] : replayed_.rows) {
      std::vector<Value> values = ReplayedValues(row);
      const std::string key = KeyOf(values);
      have.emplace(key, std::move(values));
    }
    int missing = 0;
    std::map<std::string, int> different;
    for (const std::vector<Value>& row : truth_.rows) {
      std::vector<Value> wanted;
      for (size_t i = 0; i < row.size(); ++i) {
        wanted.push_back(Normal(truth_.columns[i].type, row[i], Side::kTruth));
      }
      const auto found = have.find(KeyOf(wanted));
      if (found == have.end()) {
        ++missing;
        continue;
      }
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (columns_[i] != 0 && wanted[i] != found->second[i]) ++different[truth_.columns[i].name];
      }
      have.erase(found);
    }
    for (const auto& [column, count] : different) {
      lines_.push_back(name_ + "." + column + ": " + std::to_string(count) + " rows");
    }
    if (missing > 0) lines_.push_back(name_ + ": " + std::to_string(missing) + " missing");
    if (!have.empty()) lines_.push_back(name_ + ": " + std::to_string(have.size()) + " extra");
    return lines_;
  }

 private:
  void CompareColumns() {
    std::vector<std::string> want;
    std::vector<std::string> have;
    for (const TruthColumn& column : truth_.columns) {
      want.push_back(column.name);
      const Column* found = replayed_.schema->FindName(column.name);
      columns_.push_back(found == nullptr ? 0 : found->id);
    }
    for (const Column& column : replayed_.schema->columns) have.push_back(column.name);
    if (want != have) {
      lines_.push_back(name_ + ": columns " + Joined(have) + "; truth " + Joined(want));
    }
    std::vector<std::string> key;
    for (ColumnId id : replayed_.schema->primary_key) {
      key.push_back(replayed_.schema->Find(id)->name);
    }
    if (key != truth_.key) {
      lines_.push_back(name_ + ": key " + Joined(key) + "; truth " + Joined(truth_.key));
    }
  }

  std::vector<Value> ReplayedValues(const ReplayedRow& row) const {
    std::vector<Value> values;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const auto found = row.find(columns_[i]);
      values.push_back(found == row.end()
                           ? Value()
                           : Normal(truth_.columns[i].type, found->second, Side::kReplayed));
    }
    return values;
  }

  // The key's values; all values where there is no key.
  std::string KeyOf(const std::vector<Value>& row) const {
    std::string text;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool in_key = std::find(truth_.key.begin(), truth_.key.end(), truth_.columns[i].name) !=
                          truth_.key.end();
      if ((in_key || truth_.key.empty()) && columns_[i] != 0) {
        text += row[i] ? *row[i] : "\x01";
        text += '\0';
      }
    }
    return text;
  }

  const std::string name_;
  const TruthTable& truth_;
  const ReplayedTable& replayed_;
  std::vector<ColumnId> columns_;  // of the truth's columns; 0: not there
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> CompareWithTruth(const std::string& server, const std::string& scenario,
                                          const std::map<TablePath, ReplayedTable>& tables) {
  std::vector<std::string> lines;
  const std::map<std::string, TruthTable> truth = ReadTruth(server, scenario);
  for (const auto& [path, table] : tables) {
    if (!truth.contains(path.ToString())) lines.push_back(path.ToString() + ": not in the truth");
  }
  for (const auto& [name, table] : truth) {
    const size_t dot = name.find('.');
    const auto found = tables.find(TablePath{"", name.substr(0, dot), name.substr(dot + 1)});
    if (found == tables.end()) {
      lines.push_back(name + ": not there");
      continue;
    }
    for (std::string& line : Comparison(name, table, found->second).Run()) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::vector<Checkpoint> ReadCheckpoints(const std::string& server, const std::string& scenario) {
  std::vector<Checkpoint> checkpoints;
  const std::string path =
      SourceDir() + "/tests/data/truth/" + server + "/" + scenario + ".stream.checkpoints.jsonl.gz";
  EachLine(path, [&](simdjson::dom::element line) {
    const std::string name(line["checkpoint"].get_string().value());
    if (checkpoints.empty() || checkpoints.back().name != name) {
      checkpoints.push_back({name,
                             std::string(line["pos"]["file"].get_string().value()),
                             line["pos"]["pos"].get_uint64().value(),
                             {}});
    }
    if (line["table"].error() == simdjson::SUCCESS) {
      checkpoints.back().lines.push_back(simdjson::minify(line));
    }
  });
  return checkpoints;
}

std::vector<std::string> CompareWithCheckpoint(const std::string& line,
                                               const std::map<TablePath, ReplayedTable>& tables) {
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(line).value();
  const std::string name(json["table"].get_string().value());
  TruthTable truth;
  for (auto column : simdjson::dom::array(json["columns"].get_array())) {
    truth.columns.push_back({std::string(column["name"].get_string().value()),
                             LowerCase(column["type"].get_string().value())});
  }
  for (auto column : simdjson::dom::array(json["primary_key"].get_array())) {
    truth.key.emplace_back(column.get_string().value());
  }
  const size_t dot = name.find('.');
  const auto found = tables.find(TablePath{"", name.substr(0, dot), name.substr(dot + 1)});
  if (found == tables.end()) return {name + ": not there"};
  if (json["rows"].error() != simdjson::SUCCESS) {  // too many to be in the recording
    const uint64_t count = json["count"].get_uint64().value();
    if (count == found->second.rows.size()) return {};
    return {name + ": " + std::to_string(found->second.rows.size()) + " rows; truth " +
            std::to_string(count)};
  }
  for (auto row : simdjson::dom::array(json["rows"].get_array())) {
    std::vector<Value> values;
    for (const TruthColumn& column : truth.columns) {
      const auto value = row[column.name];
      values.push_back(value.is_null() ? Value() : Value(std::string(value.get_string().value())));
    }
    truth.rows.push_back(std::move(values));
  }
  return Comparison(name, truth, found->second).Run();
}

}  // namespace driftless::testing
