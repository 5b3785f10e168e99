// What a change of a Flink SQL job does to its state: one line for each pair of jobs.

#include "config/sql/compat/compat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace driftless::flink {
namespace {

using ::testing::HasSubstr;

struct Pair {
  int number;
  std::vector<std::string> before;
  std::vector<std::string> after;
  char verdict;        // F full, P partial, X incompatible, U unknown
  std::string reason;  // in some finding
  bool warns = false;
  CompatOptions options = {};
};

std::string T(const std::string& columns = "a INT, b BIGINT, c STRING",
              const std::string& more = "'connector'='datagen'", const std::string& name = "T") {
  return "CREATE TABLE " + name + " (" + columns + ") WITH (" + more + ");";
}
const char* const kQ0 = "SELECT a, SUM(b), MAX(c) FROM T GROUP BY a;";
std::string J1(const std::string& columns = "a INT, b BIGINT") {
  return T(columns, "'connector'='datagen'", "T1");
}
std::string J2(const std::string& columns = "c INT, d BIGINT") {
  return T(columns, "'connector'='datagen'", "T2");
}
const char* const kStar = "SELECT * FROM T1 JOIN T2 ON c = d;";
const char* const kEqui = "SELECT T1.a, T2.d FROM T1 JOIN T2 ON T1.a = T2.c;";
std::string Sink(const std::string& name = "s") {
  return "CREATE TABLE " + name + " (a INT, b BIGINT) WITH ('connector'='print');";
}
std::string Timed(const std::string& delay, const std::string& ts = "ts TIMESTAMP(3)") {
  return T("a INT, b BIGINT, c STRING, " + ts + ", WATERMARK FOR ts AS ts - INTERVAL '" + delay +
           "' SECOND");
}
const char* const kTumble =
    "SELECT window_start, SUM(b) FROM TABLE(TUMBLE(TABLE T, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
    "GROUP BY window_start, window_end;";
const char* const kFiltered = "SELECT a, SUM(b) FROM T WHERE d > 3 GROUP BY a;";
std::string First(const std::string& columns, const std::string& order) {
  return "SELECT " + columns + " FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY " +
         order + ") AS rn FROM T) WHERE rn = 1;";
}
const char* const kProctime = "a INT, b BIGINT, c STRING, pt AS PROCTIME()";

std::vector<Pair> Pairs() {
  const CompatOptions ignore_filter{.ignore_filter = true};
  const CompatOptions versions{.old_version = "1.17", .new_version = "2.0"};
  return {
      {1, {T(), kQ0}, {T("a INT, b BIGINT, c STRING, d INT"), kQ0}, 'F', "nothing that its state"},
      {2, {T(), kQ0}, {T("d INT, a INT, b BIGINT, c STRING"), kQ0}, 'F', "nothing"},
      {3, {T("a INT, b BIGINT, c STRING, d INT"), kQ0}, {T(), kQ0}, 'F', "nothing"},
      {4,
       {T("a INT, b BIGINT, c STRING, d INT"), kQ0},
       {T("a INT, b BIGINT, c STRING, d BIGINT"), kQ0},
       'F',
       "nothing"},
      {5, {T(), kQ0}, {T("a INT, d BIGINT, c STRING, b AS d + 1"), kQ0}, 'P', "start anew"},
      {6, {T(), kQ0}, {T("a INT, b BIGINT, x STRING, c AS UPPER(x)"), kQ0}, 'P', "UPPER"},
      {7, {T(), kQ0}, {T("a INT, d BIGINT, x STRING, b AS d + 1, c AS UPPER(x)"), kQ0}, 'P', "SUM"},
      {8, {T(), kQ0}, {T("d INT, b BIGINT, c STRING, a AS d % 10"), kQ0}, 'X', "keys"},
      {9, {T(), kQ0}, {T("a BIGINT, b BIGINT, c STRING"), kQ0}, 'X', "keys"},
      {10, {T(), kQ0}, {T("a INT, b INT, c STRING"), kQ0}, 'P', "T.b: INT"},
      {11, {T(), kQ0}, {T("a INT, b BIGINT, c VARCHAR(10)"), kQ0}, 'P', "VARCHAR(10)"},
      {12, {T(), kQ0}, {T("a INT, b BIGINT NOT NULL, c STRING"), kQ0}, 'P', "NOT NULL"},
      {13,
       {T(), kQ0},
       {T("a INT, b BIGINT, c STRING", "'connector'='kafka'"), kQ0},
       'X',
       "connector"},
      {14,
       {T(), kQ0},
       {T("a INT, b BIGINT, c STRING", "'connector'='datagen', 'rows-per-second'='50'"), kQ0},
       'F',
       "nothing"},
      {15,
       {T(), kQ0},
       {T("a INT, b BIGINT, c STRING", "'connector'='datagen'", "T2"),
        "SELECT a, SUM(b), MAX(c) FROM T2 GROUP BY a;"},
       'X',
       "in its place"},
      {16,
       {T(), kQ0},
       {T("a INT, b BIGINT, c STRING", "'connector'='datagen'", "t"),
        "SELECT a, SUM(b), MAX(c) FROM t GROUP BY a;"},
       'X',
       "in its place"},
      {17,
       {T(), kQ0},
       {T(), "SELECT a, SUM(b), MAX(c) FROM default_database.T GROUP BY a;"},
       'F',
       "nothing"},
      {18,
       {T(), kQ0},
       {T(), "SELECT s.a, SUM(s.b), MAX(s.c) FROM T AS s GROUP BY s.a;"},
       'F',
       "nothing"},
      {19,
       {T(), kQ0},
       {T(), "SELECT u, SUM(b), MAX(c) FROM (SELECT a AS u, b, c FROM T) GROUP BY u;"},
       'F',
       "nothing"},
      {20,
       {T(), kQ0},
       {T("a INT, b2 BIGINT, c STRING"), "SELECT a, SUM(b2), MAX(c) FROM T GROUP BY a;"},
       'P',
       "T.b2"},
      {21,
       {J1(), J2(), kStar},
       {J1(), J2("c INT, d BIGINT, e STRING"), kStar},
       'X',
       "row that it keeps"},
      {22,
       {J1(), J2("c INT, d BIGINT, e STRING"), kStar},
       {J1(), J2(), kStar},
       'X',
       "row that it keeps"},
      {23, {J1(), J2(), kStar}, {J1("a INT, b INT"), J2(), kStar}, 'X', "row that it keeps"},
      {24, {J1(), J2(), kStar}, {J1(), J2("d BIGINT, c INT"), kStar}, 'X', "row that it keeps"},
      {25, {J1(), J2(), kEqui}, {J1(), J2("c INT, d BIGINT, e STRING"), kEqui}, 'F', "nothing"},
      {26,
       {J1(), J2(), kEqui},
       {J1(), J2("c INT, x BIGINT, d AS x * 2"), kEqui},
       'X',
       "row that it keeps"},
      {27, {J1(), J2(), kEqui}, {J1(), J2("c BIGINT, d BIGINT"), kEqui}, 'X', "keys"},
      {28, {Timed("5"), kTumble}, {Timed("10"), kTumble}, 'F', "nothing"},
      {29, {Timed("5"), kTumble}, {Timed("5", "ts AS TO_TIMESTAMP(c)"), kTumble}, 'X', "keys"},
      {30,
       {T(), kQ0},
       {T("a INT, b BIGINT, c STRING, PRIMARY KEY (a) NOT ENFORCED"), kQ0},
       'F',
       "primary key",
       true},
      {31,
       {T("a INT, b BIGINT, c STRING",
          "'connector'='mysql', 'scan.incremental.snapshot.chunk.key-column'='id'"),
        kQ0},
       {T("a INT, b BIGINT, c STRING",
          "'connector'='mysql', 'scan.incremental.snapshot.chunk.key-column'='k'"),
        kQ0},
       'F',
       "chunk key",
       true},
      {32,
       {T("a INT, b BIGINT, c STRING", "'connector'='hologres', 'cdcMode'='true'"), kQ0},
       {T("a INT, b BIGINT, c STRING", "'connector'='hologres', 'cdcMode'='false'"), kQ0},
       'F',
       "changelog mode",
       true},
      {33, {T(), kQ0}, {T("a INT, b BIGINT COMMENT 'x', c STRING"), kQ0}, 'F', "nothing"},
      {34,
       {T(), kQ0},
       {"CREATE TABLE T (a INT, b BIGINT, c STRING) PARTITIONED BY (a) WITH "
        "('connector'='datagen');",
        kQ0},
       'F',
       "nothing"},
      {35,
       {T(), kQ0},
       {T("a INT, b BIGINT, c STRING, off BIGINT METADATA VIRTUAL"), kQ0},
       'F',
       "nothing"},
      {36,
       {T("a INT, b BIGINT, c STRING, d INT"), kFiltered},
       {T("a INT, b BIGINT, c STRING, d INT"), "SELECT a, SUM(b) FROM T WHERE d > 5 GROUP BY a;"},
       'X',
       "lets through"},
      {37,
       {T("a INT, b BIGINT, c STRING, d INT"), kFiltered},
       {T("a INT, b BIGINT, c STRING, d INT"), "SELECT a, SUM(b) FROM T WHERE d > 5 GROUP BY a;"},
       'F',
       "lets through",
       false,
       ignore_filter},
      {38,
       {T("a INT, b BIGINT, c STRING, d INT, c_len INT"), kFiltered},
       {T("a INT, b BIGINT, c STRING, c_len INT, d AS c_len + 1"), kFiltered},
       'X',
       "c_len"},
      {39,
       {T(), Sink(), "INSERT INTO s SELECT a, b FROM T;"},
       {T("a INT, b INT, c STRING"), Sink(), "INSERT INTO s SELECT a, b FROM T;"},
       'F',
       "it has no state"},
      {40,
       {T(), Sink(), "INSERT INTO s SELECT a, b FROM T;"},
       {T("a INT, b BIGINT, c STRING", "'connector'='kafka'"), Sink(),
        "INSERT INTO s SELECT a, b FROM T;"},
       'X',
       "connector"},
      {41,
       {T(), "SELECT a, COUNT(DISTINCT c) FROM T GROUP BY a;"},
       {T("a INT, b BIGINT, x STRING, c AS UPPER(x)"),
        "SELECT a, COUNT(DISTINCT c) FROM T GROUP BY a;"},
       'X',
       "DISTINCT"},
      {42,
       {T(), kQ0},
       {T(), "SELECT a, SUM(b), MAX(c), COUNT(c) FROM T GROUP BY a;"},
       'P',
       "were added"},
      {43, {T(), kQ0}, {T(), "SELECT a, SUM(b) FROM T GROUP BY a;"}, 'F', "are gone"},
      {44,
       {T(), kQ0},
       {T("a INT, d BIGINT, c STRING, b AS d + 1"),
        "SELECT a, SUM(b), MAX(c), COUNT(c) FROM T GROUP BY a;"},
       'P',
       "start anew"},
      {45,
       {T("a INT, b BIGINT, c STRING, d INT"), kFiltered},
       {T("a INT, b BIGINT, c STRING, d INT"),
        "SELECT a, SUM(b), MAX(b) FROM T WHERE d > 5 GROUP BY a;"},
       'U',
       "more than one kind",
       false,
       ignore_filter},
      {46,
       {T(), Sink(), "INSERT INTO s SELECT a, SUM(b) FROM T GROUP BY a;"},
       {T("a INT, d BIGINT, c STRING, b AS d + 1"), Sink("s2"),
        "INSERT INTO s2 SELECT a, SUM(b) FROM T GROUP BY a;"},
       'U',
       "more than one kind"},
      {47,
       {T(), Sink(), Sink("s2"), "INSERT INTO s SELECT a, SUM(b) FROM T GROUP BY a;",
        "INSERT INTO s2 SELECT a, MAX(b) FROM T GROUP BY a;"},
       {T(), Sink(), Sink("s2"), "INSERT INTO s SELECT a, SUM(b) FROM T GROUP BY a;"},
       'F',
       "the statement is gone"},
      {48,
       {T(), Sink(), "INSERT INTO s SELECT a, b FROM T;"},
       {T(), Sink(), "INSERT INTO s SELECT a, b FROM T;", kQ0},
       'X',
       "new statement with state"},
      {49, {T(), kQ0}, {T(), kQ0}, 'U', "version 1.17", false, versions},
      {50,
       {T(kProctime), First("a, b", "pt ASC")},
       {T(kProctime), First("a, b, c", "pt ASC")},
       'F',
       "nothing"},
      {51,
       {Timed("5"), First("a, b", "ts ASC")},
       {Timed("5"), First("a, b, c", "ts ASC")},
       'X',
       "row that it keeps"},
      {52,
       {Timed("5"), "SELECT a, SUM(b) OVER (PARTITION BY a ORDER BY ts) FROM T;"},
       {T("a INT, b BIGINT, c STRING, e INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"),
        "SELECT a, SUM(b) OVER (PARTITION BY a ORDER BY ts) FROM T;"},
       'F',
       "nothing"},
      {53,
       {Timed("5"), "SELECT a, b, SUM(b) OVER w FROM T WINDOW w AS (PARTITION BY a ORDER BY ts);"},
       {Timed("5"),
        "SELECT a, b, c, SUM(b) OVER w FROM T WINDOW w AS (PARTITION BY a ORDER BY ts);"},
       'X',
       "row that it keeps"},
      {54,
       {T(), T("a INT, b BIGINT", "'connector'='datagen'", "U"),
        "SELECT a, SUM(b) FROM (SELECT a, b FROM T UNION ALL SELECT a, b FROM U) GROUP BY a;"},
       {T(), T("a INT, b BIGINT", "'connector'='datagen'", "U"),
        "SELECT a, SUM(b) FROM (SELECT a, b FROM U UNION ALL SELECT a, b FROM T) GROUP BY a;"},
       'F',
       "nothing"},
      {55,
       {T(), T("a INT, b BIGINT", "'connector'='datagen'", "U"),
        "SELECT a, SUM(b) FROM (SELECT a, b FROM T UNION ALL SELECT a, b FROM U) GROUP BY a;"},
       {T(), T("a INT, b BIGINT", "'connector'='datagen'", "U"),
        "SELECT a, SUM(b) FROM (SELECT a, b FROM U UNION ALL SELECT a, b FROM T UNION ALL SELECT "
        "a, b FROM U) GROUP BY a;"},
       'X',
       "inputs"},
      {56,
       {J1("a INT, t TIMESTAMP(3)"), J2("c INT, u TIMESTAMP(3)"),
        "SELECT a, c FROM T1 JOIN T2 ON a = c AND t BETWEEN u - INTERVAL '60' SECOND AND u;"},
       {J1("a INT, t TIMESTAMP(3)"), J2("c INT, u TIMESTAMP(3)"),
        "SELECT a, c FROM T1 JOIN T2 ON a = c AND t BETWEEN u - INTERVAL '1' MINUTE AND u;"},
       'F',
       "nothing"},
      {57,
       {T(), kQ0},
       {"CREATE TABLE base (a INT, b BIGINT, c STRING) WITH ('connector'='datagen');",
        "CREATE TABLE T LIKE base;", kQ0},
       'F',
       "nothing"},
      // Beyond the sheet.
      {58,
       {T(), "CREATE VIEW v AS SELECT a, b FROM T;", "SELECT a, SUM(b) FROM v GROUP BY a;"},
       {T(), "SELECT a, SUM(b) FROM T GROUP BY a;"},
       'F',
       "nothing"},
      {59,
       {T(), "CREATE VIEW v AS SELECT a, b FROM T;", "SELECT a, SUM(b) FROM v GROUP BY a;"},
       {T(), "CREATE VIEW v AS SELECT a, b + 1 AS b FROM T;",
        "SELECT a, SUM(b) FROM v GROUP BY a;"},
       'P',
       "+ 1"},
      {60, {T(), "SELECT DISTINCT a FROM T;"}, {T(), "SELECT DISTINCT a, b FROM T;"}, 'X', "keys"},
      {61,
       {T(), "SELECT a, b FROM T LIMIT 5;"},
       {T(), "SELECT a, b, c FROM T LIMIT 5;"},
       'X',
       "row that it keeps"},
      {62,
       {T(), "SELECT a, b FROM T ORDER BY b LIMIT 5;"},
       {T(), "SELECT a, b FROM T ORDER BY a LIMIT 5;"},
       'X',
       "keys"},
      {63,
       {T(), kQ0},
       {T(), "SELECT a, SUM(b), MAX(c) FROM T WHERE b > 1 GROUP BY a;"},
       'X',
       "lets through"},
      {64,
       {T(), kQ0},
       {T(), "SELECT a, SUM(b), MAX(c) FROM T GROUP BY a HAVING SUM(b) > 1;"},
       'F',
       "nothing"},
      {65,
       {T(), "SELECT a, b FROM T WHERE b > 1;"},
       {T(), "SELECT a, b FROM T WHERE b > 2;"},
       'F',
       "it has no state"},
      {66, {T(), kQ0}, {T(), "SELECT c, SUM(b), MAX(a) FROM T GROUP BY c;"}, 'X', "keys"},
      {67,
       {Timed("5"), kTumble},
       {Timed("5"),
        "SELECT window_start, SUM(b) FROM TABLE(TUMBLE(TABLE T, DESCRIPTOR(ts), INTERVAL '2' "
        "MINUTE)) GROUP BY window_start, window_end;"},
       'X',
       "keys"},
      {68,
       {Timed("5"), kTumble},
       {Timed("5"),
        "SELECT window_start, SUM(b) FROM TABLE(TUMBLE(TABLE T, DESCRIPTOR(ts), INTERVAL '60' "
        "SECOND)) GROUP BY window_start, window_end;"},
       'F',
       "nothing"},
      {69,
       {T(), Sink(), "INSERT INTO s SELECT a, SUM(b) FROM T GROUP BY a;"},
       {T(), Sink("s2"), "INSERT INTO s2 SELECT a, SUM(b) FROM T GROUP BY a;"},
       'F',
       "the sink was"},
      {70,
       {T(), kQ0},
       {T(), "SELECT a, SUM(b), MAX(c) FROM T GROUP BY a ORDER BY a LIMIT 3;"},
       'X',
       "operators with state"},
      {71,
       {T(), Sink(),
        "EXECUTE STATEMENT SET BEGIN INSERT INTO s SELECT a, SUM(b) FROM T GROUP BY a; END;"},
       {T(), Sink(), "INSERT INTO s SELECT a, SUM(b) FROM T GROUP BY a;"},
       'F',
       "nothing"},
      {72,
       {T(), kQ0},
       {T(), "SELECT a, SUM(b), MAX(c) FROM T, LATERAL TABLE(f(c)) GROUP BY a;"},
       'U',
       "cannot be judged"},
      {73,
       {T(), "WITH x AS (SELECT a, b FROM T) SELECT a, SUM(b) FROM x GROUP BY a;"},
       {T(), "SELECT a, SUM(b) FROM T GROUP BY a;"},
       'F',
       "nothing"},
      {74,
       {J1(), J2(), kEqui},
       {J1(), J2(), "SELECT T1.a, T2.d FROM T1 LEFT JOIN T2 ON T1.a = T2.c;"},
       'X',
       "keys"},
      {75,
       {T(), First("a, b", "b DESC")},
       {T(), First("a, b, c", "b DESC")},
       'X',
       "row that it keeps"},
      {76,
       {T(kProctime), First("a, b", "pt ASC")},
       {T(kProctime), First("a, b", "pt DESC")},
       'X',
       "operators with state"},
  };
}

char Letter(CompatVerdict verdict) {
  switch (verdict) {
    case CompatVerdict::kFull: return 'F';
    case CompatVerdict::kPartial: return 'P';
    case CompatVerdict::kIncompatible: return 'X';
    case CompatVerdict::kUnknown: break;
  }
  return 'U';
}

Result<CompatReport> Check(const Pair& pair) {
  const auto script = [](const std::vector<std::string>& texts) {
    std::vector<CompatStatement> statements;
    for (const std::string& text : texts) {
      statements.push_back({text, static_cast<int>(statements.size()) + 1});
    }
    return statements;
  };
  return CheckCompatibility(script(pair.before), script(pair.after), pair.options);
}

std::string TextOf(const CompatReport& report) {
  std::string text;
  for (const CompatFinding& finding : report.findings) {
    text += finding.rule + " " + finding.statement + " " + finding.subject + ": " + finding.reason +
            "\n";
  }
  return text;
}

TEST(Compat, PairsOfJobs) {
  const std::vector<Pair> pairs = Pairs();
  EXPECT_GE(pairs.size(), 60u);
  for (const Pair& pair : pairs) {
    const auto report = Check(pair);
    ASSERT_TRUE(report) << pair.number << ": " << report.error().ToString();
    EXPECT_EQ(Letter(report->verdict), pair.verdict) << pair.number << ":\n" << TextOf(*report);
    EXPECT_THAT(TextOf(*report), HasSubstr(pair.reason)) << pair.number;
    const bool warns = std::any_of(report->findings.begin(), report->findings.end(),
                                   [](const CompatFinding& f) { return f.is_warning; });
    EXPECT_EQ(warns, pair.warns) << pair.number << ":\n" << TextOf(*report);
  }
}

TEST(Compat, SaysWhichStatesStartAnew) {
  const auto report =
      Check({0, {T(), kQ0}, {T("a INT, d BIGINT, c STRING, b AS d + 1"), kQ0}, 'P', ""});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_THAT(report->findings[0].dropped, testing::ElementsAre("SUM(`b`)"));
  EXPECT_THAT(report->findings[0].kept, testing::ElementsAre("MAX(`c`)"));
}

TEST(Compat, ListsOptionsThatItPassesOver) {
  const auto report =
      Check({0,
             {T(), kQ0},
             {T("a INT, b BIGINT, c STRING", "'connector'='datagen', 'x'='1'"), kQ0},
             'F',
             ""});
  ASSERT_TRUE(report);
  EXPECT_THAT(
      report->not_checked,
      testing::ElementsAre("default_catalog.default_database.T: 'x' was not set and is '1'"));
}

TEST(Compat, ErrorsSayWhichScriptAndLine) {
  const auto report = Check({0, {T(), kQ0}, {T(), "SELECT a FROM nothing;"}, 'F', ""});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().ToString(),
              HasSubstr("the new script: there is no table nothing (line 2"));
}

}  // namespace
}  // namespace driftless::flink
