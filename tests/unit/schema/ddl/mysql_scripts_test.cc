#include <gtest/gtest.h>
#include <simdjson.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/splitter.h"
#include "tests/doubles/source_dir.h"

// The DDL of recorded scenarios (tests/data/ddl/scripts, rows left out), applied from the first
// statement to the last, gives the schemas that the servers had at the end.
namespace driftless::mysql {
namespace {

struct Script {
  std::string folder;
  std::string name;
  Dialect dialect = Dialect::kMySql;
};

void PrintTo(const Script& script, std::ostream* out) {
  *out << script.folder << "/" << script.name;
}

std::string ReadText(const std::string& path) {
  std::ifstream in(SourceDir() + "/tests/data/ddl/scripts/" + path);
  EXPECT_TRUE(in) << path;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

class ScriptTest : public testing::TestWithParam<Script> {
 protected:
  // Applies the script. The line "-- @lenient" comes before statements that the server refused too.
  void Run() {
    const Script& script = GetParam();
    settings_.dialect = script.dialect;
    settings_.track_temporary_tables = true;
    catalog_ = std::make_unique<DdlCatalog>(settings_);
    StatementContext context;
    const std::string text = ReadText(script.folder + "/" + script.name + ".sql");
    for (const StatementText& statement : SplitStatements(text, settings_, {})) {
      const auto effect = catalog_->Apply(statement.text, context);
      const bool lenient = statement.text.find("-- @lenient") != std::string_view::npos;
      EXPECT_TRUE(effect || lenient) << statement.text << ": " << effect.error().ToString();
      if (effect && effect->kind == StatementEffect::Kind::kUse) {
        context.default_database = effect->database;
      }
    }
  }

  // What the server says of a table, and what is tracked, in one form.
  std::string Theirs(simdjson::dom::element table) const {
    std::ostringstream text;
    for (simdjson::dom::element column : simdjson::dom::array(table["columns"].get_array())) {
      std::string_view charset;
      const bool has_charset = column["charset"].get(charset) == simdjson::SUCCESS;
      text << std::string_view(column["name"]) << " " << std::string_view(column["type"])
           << (std::string_view(column["nullable"]) == "YES" ? "" : " NOT NULL") << " "
           << (has_charset ? charset : "") << " '" << std::string_view(column["comment"]) << "'\n";
    }
    for (simdjson::dom::element name : simdjson::dom::array(table["primary_key"].get_array())) {
      text << "key " << std::string_view(name) << "\n";
    }
    return text.str();
  }
  // The server's catalogue keeps type texts in utf8mb3: what takes four bytes is '?' there.
  static std::string InUtf8mb3(const std::string& text) {
    std::string narrow;
    for (size_t i = 0; i < text.size(); ++i) {
      const bool takes_four_bytes = (static_cast<unsigned char>(text[i]) & 0xF8) == 0xF0;
      narrow += takes_four_bytes ? '?' : text[i];
      if (takes_four_bytes) i += 3;
    }
    return narrow;
  }
  static std::string Ours(const TableSchema& table) {
    std::ostringstream text;
    for (const Column& column : table.columns) {
      text << column.name << " " << InUtf8mb3(column.source.type_text)
           << (column.type.nullable() ? "" : " NOT NULL") << " " << column.source.charset << " '"
           << column.comment << "'\n";
    }
    for (ColumnId id : table.primary_key) text << "key " << table.Find(id)->name << "\n";
    return text.str();
  }

  ServerSettings settings_;
  std::unique_ptr<DdlCatalog> catalog_;
};

TEST_P(ScriptTest, EndsWithTheServersSchemas) {
  Run();
  std::set<std::string> expected;
  std::istringstream lines(ReadText(GetParam().folder + "/" + GetParam().name + ".schema.jsonl"));
  simdjson::dom::parser parser;
  for (std::string line; std::getline(lines, line);) {
    const simdjson::dom::element table = parser.parse(line);
    const std::string name{std::string_view(table["table"])};
    // Made under sql_generate_invisible_primary_key: the column is in no text of the script, while
    // the binary log's statement has it.
    if (name == "shop.gipk") continue;
    expected.insert(name);
    const size_t dot = name.find('.');
    const auto tracked = catalog_->Find({"", name.substr(0, dot), name.substr(dot + 1)});
    ASSERT_NE(tracked, nullptr) << name;
    EXPECT_EQ(Ours(*tracked), Theirs(table)) << name;
  }
  for (const TableSchemaPtr& table : catalog_->Tables()) {
    if (table->path.table == "gipk") continue;
    EXPECT_TRUE(expected.contains(table->path.ToString())) << table->path.ToString();
  }
}

std::vector<Script> AllScripts() {
  std::vector<Script> scripts;
  for (const char* name : {"a_ddl", "a_shards", "a_types", "b_txn", "c_osc", "v_variants"}) {
    scripts.push_back({"mysql-9.7", name, Dialect::kMySql});
    scripts.push_back({"mariadb-10.11", name, Dialect::kMariaDb});
  }
  return scripts;
}

INSTANTIATE_TEST_SUITE_P(Recorded, ScriptTest, testing::ValuesIn(AllScripts()),
                         [](const auto& test) {
                           return test.param.name +
                                  (test.param.dialect == Dialect::kMySql ? "_mysql" : "_mariadb");
                         });

}  // namespace
}  // namespace driftless::mysql
