#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <set>

#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/event_json.h"
#include "tests/doubles/source_dir.h"
#include "tests/unit/schema/ddl/event_replay.h"

// Every line of the corpus (tests/data/ddl), whose expectations real servers gave: the schema that
// the set-up makes, the events of the statement, the schema after it, and the place of errors.
namespace driftless::mysql {
namespace {

using simdjson::dom::element;

struct CorpusCase {
  std::string id;
  Dialect dialect = Dialect::kMySql;
  std::vector<std::string> setup;
  std::string sql;
  std::string sql_mode;
  std::string before, after, events;  // JSON
  std::string error_kind;
  int line = 0, column = 0;
  bool rows_change = false;
};

void PrintTo(const CorpusCase& test, std::ostream* out) { *out << test.id; }

void ReadCase(element line, Dialect dialect, CorpusCase* out) {
  const auto text = [&](const char* key) {
    std::string_view value;
    return line[key].get(value) == simdjson::SUCCESS ? std::string(value) : "";
  };
  const auto json = [&](const char* key, const char* otherwise) {
    element value;
    return line[key].get(value) == simdjson::SUCCESS ? simdjson::minify(value) : otherwise;
  };
  out->id = text("id");
  out->dialect = dialect;
  for (element statement : simdjson::dom::array(line["setup"].get_array())) {
    out->setup.emplace_back(std::string_view(statement));
  }
  out->sql = text("sql");
  out->sql_mode = text("sql_mode");
  out->before = json("before", "{}");
  out->after = json("after", "{}");
  out->events = json("events", "[]");
  out->error_kind = text("error_kind");
  int64_t number = 0;
  if (line["at"]["line"].get(number) == simdjson::SUCCESS) out->line = static_cast<int>(number);
  if (line["at"]["col"].get(number) == simdjson::SUCCESS) out->column = static_cast<int>(number);
  bool rows = false;
  out->rows_change = line["rows_change_without_row_events"].get(rows) == simdjson::SUCCESS && rows;
}

std::vector<CorpusCase> ReadCorpus(const std::string& file, Dialect own) {
  std::ifstream in(SourceDir() + "/tests/data/ddl/" + file);
  std::vector<CorpusCase> cases;
  std::string text;
  simdjson::dom::parser parser;
  while (std::getline(in, text)) {
    const element line = parser.parse(text);
    ReadCase(line, own, &cases.emplace_back());
    simdjson::dom::array also;
    if (line["also"].get(also) == simdjson::SUCCESS) {
      for (element other : also) {
        const Dialect dialect = *ParseDialect(std::string_view(other));
        ReadCase(line, dialect, &cases.emplace_back());
      }
    }
  }
  return cases;
}

std::string EventsOf(const std::string& effect_json) {
  simdjson::dom::parser parser;
  const simdjson::padded_string padded("{" + effect_json + "}");
  return simdjson::minify(parser.parse(padded)["events"].value());
}

std::set<std::string> KindsOf(const std::string& events) {
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(events);
  std::set<std::string> kinds;
  for (element event : simdjson::dom::array(parser.parse(padded).get_array())) {
    kinds.insert(std::string(std::string_view(event["kind"])) + " " +
                 std::string(std::string_view(event["table"])));
  }
  return kinds;
}

// The tracked schemas in the corpus's form; identities are column ids.
ReplayState TrackedState(const DdlCatalog& catalog, const ReplayState& only) {
  ReplayState state;
  for (const TableSchemaPtr& table : catalog.Tables()) {
    if (!only.contains(table->path.ToString())) continue;
    ReplayTable& out = state[table->path.ToString()];
    out.comment = table->comment;
    for (const Column& column : table->columns) {
      out.columns.push_back({column.name, NormalType(column.source.type_text, catalog.settings()),
                             column.type.nullable(), column.comment, ""});
    }
  }
  return state;
}

ReplayState WithoutIdentities(ReplayState state) {
  for (auto& [name, table] : state) {
    for (ReplayColumn& column : table.columns) column.identity.clear();
  }
  return state;
}

std::string Keys(std::string_view json) {
  simdjson::dom::parser parser;
  std::string text;
  const simdjson::padded_string padded(json);
  for (auto [name, table] : simdjson::dom::object(parser.parse(padded).get_object())) {
    text += std::string(name) + ":";
    for (element column : simdjson::dom::array(table["pk"].get_array())) {
      text += std::string(std::string_view(column)) + ",";
    }
    text += "\n";
  }
  return text;
}

std::string TrackedKeys(const DdlCatalog& catalog, const ReplayState& only) {
  std::string text;
  for (const auto& [name, unused] : only) {
    const size_t dot = name.find('.');
    const auto table = catalog.Find({"", name.substr(0, dot), name.substr(dot + 1)});
    if (table == nullptr) continue;
    text += name + ":";
    for (ColumnId id : table->primary_key) text += table->Find(id)->name + ",";
    text += "\n";
  }
  return text;
}

class CorpusTest : public testing::TestWithParam<CorpusCase> {};

TEST_P(CorpusTest, IsUnderstood) {
  const CorpusCase& test = GetParam();
  SCOPED_TRACE(test.sql);
  ServerSettings settings;
  settings.dialect = test.dialect;
  settings.track_temporary_tables = true;
  DdlCatalog catalog(settings);
  StatementContext context{"shop", {}};
  for (const std::string& statement : test.setup) {
    const auto effect = catalog.Apply(statement, context);
    ASSERT_TRUE(effect) << statement << ": " << effect.error().ToString();
  }
  const ReplayState before = ParseState(test.before, settings);
  EXPECT_EQ(ToString(TrackedState(catalog, before)), ToString(WithoutIdentities(before)));
  EXPECT_EQ(TrackedKeys(catalog, before), Keys(test.before));

  const std::vector<TableSchemaPtr> tables = catalog.Tables();
  context.sql_mode = ParseSqlMode(test.sql_mode);
  const auto effect = catalog.Apply(test.sql, context);
  if (!test.error_kind.empty()) {
    ASSERT_FALSE(effect) << "accepted";
    EXPECT_EQ(catalog.Tables(), tables) << "something was applied";
    if (test.error_kind == "syntax") {
      EXPECT_EQ(effect.error().kind(), ErrorKind::kParse);
      EXPECT_EQ(effect.error().line(), test.line);
      EXPECT_EQ(effect.error().column(), test.column) << effect.error().message();
    } else {
      EXPECT_NE(effect.error().kind(), ErrorKind::kParse) << effect.error().message();
    }
    return;
  }
  ASSERT_TRUE(effect) << effect.error().ToString();
  const std::string events = EventsOf(EffectJson(*effect, settings));
  const ReplayState after = ParseState(test.after, settings);
  EXPECT_EQ(ToString(TrackedState(catalog, after)), ToString(WithoutIdentities(after)));
  EXPECT_EQ(TrackedKeys(catalog, after), Keys(test.after));
  EXPECT_EQ(KindsOf(events), KindsOf(test.events));
  ReplayState ours = before;
  ReplayState theirs = before;
  ASSERT_NO_THROW(Replay(events, settings, &ours)) << events;
  Replay(test.events, settings, &theirs);
  EXPECT_EQ(ToString(ours), ToString(theirs)) << events;
  bool rows_change = false;
  for (const RowsWithoutEvents& rows : effect->rows_without_events) {
    rows_change = rows_change || !rows.is_conversion;
  }
  EXPECT_EQ(rows_change, test.rows_change);
}

std::string CaseName(const testing::TestParamInfo<CorpusCase>& info) {
  std::string name =
      info.param.id + (info.param.dialect == Dialect::kMariaDb ? "_mariadb" : "_mysql");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(MySql, CorpusTest,
                         testing::ValuesIn(ReadCorpus("mysql.jsonl", Dialect::kMySql)), CaseName);
INSTANTIATE_TEST_SUITE_P(MariaDb, CorpusTest,
                         testing::ValuesIn(ReadCorpus("mariadb.jsonl", Dialect::kMariaDb)),
                         CaseName);

TEST(CorpusFiles, AreWhole) {
  EXPECT_EQ(ReadCorpus("mysql.jsonl", Dialect::kMySql).size(), 278u);
  EXPECT_EQ(ReadCorpus("mariadb.jsonl", Dialect::kMariaDb).size(), 42u);
}

}  // namespace
}  // namespace driftless::mysql
