#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "pipeline/sources/debezium/debezium_stream.h"
#include "pipeline/sources/debezium/stream_table.h"
#include "schema/base/letter_case.h"
#include "schema/types/casts.h"

// Rows that describe themselves with MySQL's types, as Canal's do. Canal takes the names and types
// (mysqlType) from the table as the server has it when Canal asks, which may be later than the row;
// the codes (sqlType) and the order are the row's own, from the binary log. So where a row
// contradicts what the statements made of its table, the codes say who is right.
namespace driftless::debezium {
namespace {

// What a row says of its columns.
struct Description {
  std::vector<std::string> labels;  // names of the fields
  std::vector<int> codes;           // empty: it gives none
  TableSchemaPtr table;             // as they would make it
};

struct TypeCodes {
  std::string_view word;
  std::array<int, 4> codes;  // java.sql.Types that Canal gives such a column
};

constexpr int kNone = 9999;
constexpr TypeCodes kTypeCodes[] = {
    {"tinyint", {-6, 5, -7, kNone}},
    {"smallint", {5, 4, kNone, kNone}},
    {"mediumint", {4, kNone, kNone, kNone}},
    {"int", {4, -5, kNone, kNone}},
    {"bigint", {-5, 3, kNone, kNone}},
    {"decimal", {3, 2, kNone, kNone}},
    {"float", {7, 6, kNone, kNone}},
    {"double", {8, kNone, kNone, kNone}},
    {"date", {91, kNone, kNone, kNone}},
    {"time", {92, kNone, kNone, kNone}},
    {"datetime", {93, kNone, kNone, kNone}},
    {"timestamp", {93, kNone, kNone, kNone}},
    {"year", {12, 91, 4, 5}},
    {"enum", {4, 1, kNone, kNone}},
    {"set", {-7, 4, 1, kNone}},
    {"bit", {-7, kNone, kNone, kNone}},
    {"varchar", {12, kNone, kNone, kNone}},
    {"char", {1, kNone, kNone, kNone}},
};

// Whether the log's code can be that of a column of this type. Types that are not listed share
// their codes with many others.
bool MayBe(std::string_view type_text, int code) {
  const std::string word = LowerCase(type_text.substr(0, type_text.find_first_of("( ")));
  for (const TypeCodes& type : kTypeCodes) {
    if (type.word == word) {
      return std::find(type.codes.begin(), type.codes.end(), code) != type.codes.end();
    }
  }
  constexpr std::array kOwnCodes = {-6, 5, 4, -5, 3, 7, 8, 91, 92, 93};  // of numbers and times
  return std::find(kOwnCodes.begin(), kOwnCodes.end(), code) == kOwnCodes.end();
}

bool Fit(const TableSchema& table, const std::vector<int>& codes) {
  if (codes.empty()) return true;
  if (codes.size() != table.columns.size()) return false;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (!MayBe(table.columns[i].source.type_text, codes[i])) return false;
  }
  return true;
}

std::string Quoted(std::string_view name) {
  std::string text = "`";
  for (const char c : name) text.append(c == '`' ? 2 : 1, c);
  return text + "`";
}

Error Malformed() {
  return MakeError(ErrorKind::kInvalidInput, "the row's own description is malformed");
}

// The fields of a flat JSON object of strings or numbers, given as a piece of a checked text.
template <typename Take>
bool WalkFlat(std::string_view object, JsonIndex* index, std::string* padded, const Take& take) {
  padded->assign(object);
  padded->append(kJsonPadding, ' ');
  if (!index->Build(std::string_view(*padded).substr(0, object.size()))) return false;
  JsonCursor cursor(*index);
  JsonObjectWalk walk(&cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    if (!take(key, cursor.Token())) return false;
    if (!cursor.Skip()) return false;
  }
  return !walk.failed();
}

std::string KeyText(std::string_view names) {
  std::string text;
  std::string padded(names);
  padded.append(kJsonPadding, ' ');
  JsonIndex index;
  if (names.empty() || !index.Build(std::string_view(padded).substr(0, names.size()))) return text;
  JsonCursor cursor(index);
  JsonArrayWalk walk(&cursor);
  while (walk.Next()) {
    std::string scratch;
    std::string_view name;
    if (!ReadJsonString(cursor.Token(), &scratch, &name)) return "";
    text += (text.empty() ? "" : ", ") + Quoted(name);
    cursor.Advance();
  }
  return text;
}

Result<Description> Describe(const Record& record, const TablePath& path, DdlTracker* ddl) {
  Description description;
  std::string create;
  std::string padded;
  JsonIndex index;
  const bool types_read =
      WalkFlat(record.column_types, &index, &padded, [&](auto key, std::string_view value) {
        std::string name;
        std::string scratch;
        std::string_view type;
        if (!AppendJsonUnescaped(key, &name) || !ReadJsonString(value, &scratch, &type)) {
          return false;
        }
        description.labels.push_back(name);
        // Canal keeps the quoting inside of names.
        for (size_t at = name.find("``"); record.values_are_canals && at != std::string::npos;
             at = name.find("``", at + 1)) {
          name.erase(at, 1);
        }
        create += (create.empty() ? "" : ", ") + Quoted(name) + " " + std::string(type);
        return true;
      });
  if (!types_read || description.labels.empty()) return Malformed();
  // Codes of other programs are not the log's.
  const bool codes_read =
      record.column_codes.empty() || !record.values_are_canals ||
      WalkFlat(record.column_codes, &index, &padded, [&](auto, std::string_view value) {
        int code = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), code);
        description.codes.push_back(code);
        return error == std::errc() && end == value.data() + value.size();
      });
  if (!codes_read) return Malformed();
  const std::string key = KeyText(record.key_names);
  if (!key.empty()) create += ", PRIMARY KEY (" + key + ")";
  const TablePath named{"", path.database, path.table};
  DRIFTLESS_ASSIGN_OR_RETURN(description.table,
                             ddl->TableOf("CREATE TABLE " + Quoted(path.database) + "." +
                                              Quoted(path.table) + " (" + create + ")",
                                          named));
  return description;
}

bool SameNames(const TableSchema& table, const Description& row) {
  if (table.columns.size() != row.labels.size()) return false;
  for (size_t i = 0; i < row.labels.size(); ++i) {
    if (!DdlTracker::IsNamed(table.columns[i].name, row.labels[i])) return false;
  }
  return true;
}

bool SameTypes(const TableSchema& a, const TableSchema& b) {
  for (size_t i = 0; i < a.columns.size(); ++i) {
    if (!a.columns[i].type.EqualsIgnoringNullability(b.columns[i].type) ||
        a.columns[i].source.enum_values != b.columns[i].source.enum_values) {
      return false;
    }
  }
  return true;
}

// What the row shows beside what is known: a field that it lacks is not gone, and whether a column
// can be NULL it does not say. Columns stay where they are; a new one stands behind its left
// neighbour in the row.
RowShape ShapeOf(const Description& row, const TableSchema* known) {
  RowShape whole = ShapeOfTable(*row.table);
  if (known == nullptr) return whole;
  RowShape shape;
  shape.key = whole.key;
  const auto find = [](std::vector<RowShape::Field>& fields, std::string_view name) {
    return std::find_if(fields.begin(), fields.end(),
                        [&](const RowShape::Field& field) { return field.name == name; });
  };
  for (const Column& column : known->columns) {
    const auto found = find(whole.fields, column.name);
    if (found == whole.fields.end()) continue;
    RowShape::Field field = *found;
    field.type = field.type.WithNullability(column.type.nullable());
    // Types only widen: a row of a narrower one may have been late.
    const bool holds_it = VerdictOfCast(field.type, column.type) <= CastVerdict::kWidens;
    field.type = LeastCommonType(column.type, field.type, LatticeStyle::kMatrix);
    field.type_is_known = !holds_it || column.source.enum_values != field.source.enum_values;
    shape.fields.push_back(std::move(field));
  }
  std::string left;
  for (const RowShape::Field& field : whole.fields) {
    if (known->FindName(field.name) == nullptr) {
      const auto at = find(shape.fields, left);
      shape.fields.insert(at == shape.fields.end() ? shape.fields.begin() : at + 1, field);
    }
    left = field.name;
  }
  return shape;
}

}  // namespace

Result<DebeziumStream::Step> DebeziumStream::FollowDescription(Table* table, const Record& record,
                                                               const Place& place) {
  if (table->plan_is_current && table->schema_text == record.column_types &&
      table->codes_text == record.column_codes && table->key_schema_text == record.key_names)
      [[likely]] {
    counters_.relabelled += table->relabels ? 1 : 0;
    return Step::kGoOn;
  }
  auto row = Describe(record, table->path, &ddl_);
  if (!row) return PutAside(place, row.error());
  const TableSchemaPtr known = table->schema();
  const bool row_agrees = Fit(*row->table, row->codes);
  const bool same_names = known != nullptr && SameNames(*known, *row);
  const bool is_certain = table->by_statement && !table->row_tells;
  if (options_.more_statements && (!same_names || !SameTypes(*known, *row->table))) {
    // The statement that tells of it may stand in another partition.
    const Patience patience = is_certain ? Patience::kFull : Patience::kBrief;
    DRIFTLESS_ASSIGN_OR_RETURN(const bool came, options_.more_statements(patience));
    if (output_->stopping()) return Step::kStop;
    if (came && (table->waits || !IsCapturedNow(table))) return Step::kGoOn;  // of no use any more
    if (came) return FollowDescription(table, record, place);
  }
  // Only the log's own codes and order tell that names are of another time.
  const bool known_agrees = known != nullptr && !row->codes.empty() && Fit(*known, row->codes);
  bool follows = known == nullptr || !same_names || !SameTypes(*known, *row->table);
  // Where both may be right, statements are; where none told of the table, the row is.
  if (known_agrees && (is_certain || (!row_agrees && !table->row_tells))) follows = false;
  if (follows && !row_agrees) {
    return PutAside(
        place, MakeError(ErrorKind::kInvalidInput,
                         "the row of table " + table->path.ToString() +
                             " describes itself with columns of another time: mysqlType and "
                             "sqlType contradict each other")
                   .Hint("Canal asked the server for the table's columns too late. Give Canal a "
                         "store for table metadata (canal.instance.tsdb.enable=true)."));
  }
  if (follows) {
    RowShape shape = ShapeOf(*row, known.get());
    shape.key_is_known = known == nullptr || !table->by_statement;
    bool changed = false;
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on,
                               SendInferred(table, shape, Missing::kKept, record, place, &changed));
    if (!go_on) return Step::kStop;
    if (changed && table->by_statement) {
      spdlog::warn(
          "{}: the rows of {} have other columns than the statements say; the table "
          "follows the rows' own description",
          place.Text(), table->path.ToString());
    }
  }
  table->row_tells = false;
  table->relabels = !follows && !same_names;
  if (table->relabels) {
    spdlog::warn(
        "{}: Canal gave the fields of a row of {} the names of another time; they are read "
        "by their places",
        place.Text(), table->path.ToString());
    ++counters_.relabelled;
  }
  table->schema_text = record.column_types;
  table->codes_text = record.column_codes;
  table->key_schema_text = record.key_names;
  Format format = FormatOf(record);
  table->plan = follows ? RowPlan(*table->schema(), nullptr, format)
                        : RowPlan(*table->schema(), row->labels, format);
  table->plan_is_current = true;
  table->RememberKey();
  return Step::kGoOn;
}

}  // namespace driftless::debezium
