#include <gtest/gtest.h>
#include <simdjson.h>

#include <fstream>
#include <random>

#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/lexer.h"
#include "tests/doubles/source_dir.h"

// Statements of the corpus with tokens taken out, doubled, swapped, or taken from other statements:
// understood or refused, never a crash, never half applied. An applied one's parts join up, and the
// last one's schema is the tracked one.
namespace driftless::mysql {
namespace {

struct Line {
  std::vector<std::string> setup;
  std::string sql;
};

std::vector<Line> ReadLines(const char* file) {
  std::ifstream in(SourceDir() + "/tests/data/ddl/" + file);
  std::vector<Line> lines;
  simdjson::dom::parser parser;
  for (std::string text; std::getline(in, text);) {
    const simdjson::dom::element json = parser.parse(text);
    Line& line = lines.emplace_back();
    line.sql = std::string(std::string_view(json["sql"]));
    for (simdjson::dom::element statement : simdjson::dom::array(json["setup"].get_array())) {
      line.setup.emplace_back(std::string_view(statement));
    }
  }
  return lines;
}

std::vector<std::string> Tokens(const std::string& sql, const ServerSettings& settings) {
  std::vector<std::string> tokens;
  Lexer lexer(sql, settings, {});
  for (Token token = lexer.Next(); token.kind != TokenKind::kEnd && token.kind != TokenKind::kBad;
       token = lexer.Next()) {
    tokens.push_back(sql.substr(token.begin, token.end - token.begin));
  }
  return tokens;
}

std::string Mutate(std::vector<std::string> tokens, const std::vector<std::string>& other,
                   std::mt19937_64* random) {
  const auto below = [&](size_t limit) { return limit == 0 ? 0 : (*random)() % limit; };
  for (size_t changes = 1 + below(3); changes > 0 && !tokens.empty(); --changes) {
    const size_t at = below(tokens.size());
    const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(4)) {
      case 0: tokens.erase(place); break;
      case 1: tokens.insert(place, std::string(*place)); break;
      case 2: std::swap(tokens[at], tokens[below(tokens.size())]); break;
      default:
        if (!other.empty()) tokens.insert(place, other[below(other.size())]);
    }
  }
  std::string sql;
  for (const std::string& token : tokens) sql += token + " ";
  return sql;
}

void CheckEffect(const StatementEffect& effect, const DdlCatalog& catalog) {
  for (const StatementChange& change : effect.changes) {
    ASSERT_FALSE(change.parts.empty());
    for (size_t i = 1; i < change.parts.size(); ++i) {
      EXPECT_EQ(change.parts[i].before, change.parts[i - 1].after);
    }
  }
  if (effect.changes.size() != 1) return;
  const TableSchemaPtr after = effect.changes[0].after();
  if (after != nullptr) {
    EXPECT_EQ(catalog.Find(after->path), after);
  }
}

void MutateAll(const char* file, Dialect dialect, uint64_t seed) {
  ServerSettings settings;
  settings.dialect = dialect;
  const std::vector<Line> lines = ReadLines(file);
  std::mt19937_64 random(seed);
  for (const Line& line : lines) {
    const std::vector<std::string> tokens = Tokens(line.sql, settings);
    for (int round = 0; round < 20; ++round) {
      const Line& other = lines[random() % lines.size()];
      const std::string sql = Mutate(tokens, Tokens(other.sql, settings), &random);
      SCOPED_TRACE(sql);
      DdlCatalog catalog(settings);
      const StatementContext context{"shop", {}};
      for (const std::string& statement : line.setup) (void)catalog.Apply(statement, context);
      const auto before = catalog.Tables();
      const auto effect = catalog.Apply(sql, context);
      if (effect) {
        CheckEffect(*effect, catalog);
      } else {
        EXPECT_EQ(catalog.Tables(), before);
        EXPECT_GE(effect.error().line(), 1);
        EXPECT_GE(effect.error().column(), 1);
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(MySqlMutationTest, NeverCrashesNeverHalfApplies) {
  MutateAll("mysql.jsonl", Dialect::kMySql, 20260101);
}
TEST(MySqlMutationTest, NeverCrashesNeverHalfAppliesInMariaDb) {
  MutateAll("mysql.jsonl", Dialect::kMariaDb, 20260102);
  MutateAll("mariadb.jsonl", Dialect::kMariaDb, 20260103);
}

}  // namespace
}  // namespace driftless::mysql
