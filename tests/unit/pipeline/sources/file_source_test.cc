#include "pipeline/sources/file/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/doubles/replayed_tables.h"

namespace driftless {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MemoryHistory;
using testing::ReplayedTables;

// A change of table t, as a program other than Debezium might write it too.
std::string Row(int id, const std::string& extra = "", const std::string& op = "c") {
  return R"({"before":null,"after":{"id":)" + std::to_string(id) + extra +
         R"(},"source":{"connector":"postgresql","db":"d","schema":"s","table":"t","ts_ms":5})" +
         R"(,"op":")" + op + R"("})" + "\n";
}

class FileSourceTest : public ::testing::Test {
 protected:
  FileSourceTest()
      : folder_(fs::temp_directory_path() /
                ("driftless_file_source_" + std::to_string(::getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(folder_);
  }
  ~FileSourceTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  void Append(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary | std::ios::app) << text;
  }

  Result<void> Run(FileSourceOptions options, ReplayedTables* out, const CutPosition& from = {}) {
    FileSource source(std::move(options));
    SourceContext context;
    context.history = &history_;
    context.max_wait_ms = 5;
    DRIFTLESS_TRY(source.Connect(context));
    return source.Run(0, 0, from, out);
  }
  FileSourceOptions Options(std::vector<std::string> names) const {
    FileSourceOptions options;
    for (const std::string& name : names) options.patterns.push_back(Path(name));
    options.poll_interval_ms = 1;
    return options;
  }
  static std::vector<std::string> Ids(const ReplayedTables& out) {
    std::vector<std::string> ids;
    const auto found = out.tables.find(TablePath{"", "s", "t"});
    if (found == out.tables.end()) return ids;
    for (const auto& [key, row] : found->second.rows) {
      ids.push_back(row.at(found->second.schema->columns[0].id).value_or("NULL"));
    }
    return ids;
  }

  const fs::path folder_;
  MemoryHistory history_;
};

// An output that another thread watches.
class Watched : public ReplayedTables {
 public:
  bool Progress(const Point& point, std::string resume, int64_t time) override {
    seen.store(ReplayedTables::changes);
    return ReplayedTables::Progress(point, std::move(resume), time) && !stop.load();
  }
  bool stopping() const override { return stop.load(); }
  // False when the changes do not come within a minute.
  bool WaitFor(int64_t changes_wanted) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (seen.load() < changes_wanted) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  std::atomic<int64_t> seen = 0;
  std::atomic<bool> stop = false;
};

TEST_F(FileSourceTest, ReadsPatternsInOrderPlainAndPacked) {
  Write("a-2.jsonl", Row(3));
  Write("a-1.jsonl", "\xEF\xBB\xBF" + Row(1) + "\r\n  \n" + Row(2));
  gzFile gz = gzopen(Path("b.jsonl.gz").c_str(), "wb");
  gzputs(gz, Row(4).c_str());
  gzclose(gz);
  gz = gzopen(Path("b.jsonl.gz").c_str(), "ab");  // a second member
  gzputs(gz, Row(5).c_str());
  gzclose(gz);
  const std::string text = Row(6) + Row(7).substr(0, Row(7).size() - 1);  // no line end at the end
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  Write("any.name", packed);
  ReplayedTables out;
  const auto result = Run(Options({"a-*.jsonl", "b.jsonl.gz", "any.name"}), &out);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(Ids(out), ElementsAre("1", "2", "3", "4", "5", "6", "7"));
  EXPECT_EQ(out.position.Last(0)->epoch, 4u);
  EXPECT_EQ(out.position.Last(0)->offset, 2u);
  EXPECT_THAT(out.faults, IsEmpty());
}

TEST_F(FileSourceTest, ErrorsBeforeReading) {
  ReplayedTables out;
  EXPECT_EQ(Run(Options({"none.jsonl"}), &out).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(Run(Options({"none-*.jsonl"}), &out).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(Run(Options({"."}), &out).error().kind(), ErrorKind::kInvalidConfig);
}

TEST_F(FileSourceTest, ADamagedPackedFileLosesNothingBeforeTheDamage) {
  gzFile gz = gzopen(Path("x.gz").c_str(), "wb");
  std::string text;
  for (int i = 1; i <= 20000; ++i) text += Row(i, ",\"v\":\"" + std::to_string(i * 7919LL) + "\"");
  gzwrite(gz, text.data(), static_cast<unsigned>(text.size()));
  gzclose(gz);
  fs::resize_file(Path("x.gz"), fs::file_size(Path("x.gz")) / 2);
  ReplayedTables out;
  const auto result = Run(Options({"x.gz"}), &out);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::kCorrupt);
  EXPECT_GT(out.changes, 1000);
  // Every line before the damage was sent, and the position says so.
  EXPECT_EQ(static_cast<uint64_t>(out.changes), out.position.Last(0)->offset);
}

TEST_F(FileSourceTest, ABadRecordStopsInFrontOfIt) {
  for (const std::string& bad :
       {std::string("{\"before\":null,\"after\":{\"id\":2\n"), std::string("\xff\xff\n"),
        std::string("{}x\n"), Row(2).substr(0, 40) + "\n",
        std::string(R"({"after":{"id":2},"source":{"table":"t"},"op":"z"})") + "\n"}) {
    Write("x.jsonl", Row(1) + bad + Row(3));
    history_ = MemoryHistory();
    ReplayedTables out;
    const auto result = Run(Options({"x.jsonl"}), &out);
    ASSERT_FALSE(result) << bad;
    EXPECT_THAT(result.error().ToString(), HasSubstr("x.jsonl:2")) << bad;
    EXPECT_THAT(Ids(out), ElementsAre("1"));
    EXPECT_EQ(out.position.Last(0)->offset, 1u);
    // Repaired, it goes on behind the last good line.
    Write("x.jsonl", Row(1) + Row(2) + Row(3));
    ReplayedTables rest;
    rest.tables = out.tables;
    const auto again = Run(Options({"x.jsonl"}), &rest, out.position);
    ASSERT_TRUE(again) << again.error().ToString();
    EXPECT_THAT(Ids(rest), ElementsAre("1", "2", "3"));
  }
}

TEST_F(FileSourceTest, BadRecordsArePutAside) {
  Write("x.jsonl", Row(1) + "{\"a\n" + Row(2) + "7\n" + Row(3));
  FileSourceOptions options = Options({"x.jsonl"});
  options.stream.on_bad_record = debezium::OnBadRecord::kDeadLetter;
  ReplayedTables out;
  ASSERT_TRUE(Run(options, &out));
  EXPECT_THAT(Ids(out), ElementsAre("1", "2", "3"));
  EXPECT_THAT(out.dead_letters, ElementsAre(HasSubstr("x.jsonl:2: "), HasSubstr("x.jsonl:4: ")));
}

TEST_F(FileSourceTest, LinesBeyondTheLimitAreRefused) {
  Write("x.jsonl", Row(1) + Row(2, ",\"v\":\"" + std::string(3 << 20, 'x') + "\""));
  FileSourceOptions options = Options({"x.jsonl"});
  options.line_bytes_max = 1 << 20;
  ReplayedTables out;
  const auto result = Run(options, &out);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().ToString(), HasSubstr("longer than"));
  options.line_bytes_max = 8 << 20;
  history_ = MemoryHistory();
  ReplayedTables all;
  ASSERT_TRUE(Run(options, &all));
  EXPECT_EQ(all.changes, 2);
}

// A MySQL statement as Debezium records it; tableChanges name the table and its columns.
std::string Ddl(const std::string& sql, const std::string& type, const std::string& table,
                const std::vector<std::string>& columns) {
  std::string described;
  for (const std::string& name : columns) {
    described += (described.empty() ? "" : ",") + (R"({"name":")" + name) +
                 R"(","typeName":"INT","optional":true})";
  }
  return R"({"source":{"connector":"mysql","db":"s","table":")" + table +
         R"("},"databaseName":"s","ddl":")" + sql + R"(","tableChanges":[{"type":")" + type +
         R"(","id":"\"s\".\")" + table +
         R"(\"","table":{"primaryKeyColumnNames":["id"],"columns":[)" + described + "]}}]}\n";
}
std::string MySqlRow(const std::string& table, const std::string& row) {
  return R"({"before":null,"after":{)" + row +
         R"(},"source":{"connector":"mysql","db":"s","table":")" + table + R"("},"op":"c"})" + "\n";
}

TEST_F(FileSourceTest, RowsThatAPartitionStatementRemovedAreTold) {
  Write("1.jsonl",
        Ddl("CREATE TABLE t (id INT PRIMARY KEY, a INT) PARTITION BY RANGE (id) (PARTITION p0 "
            "VALUES LESS THAN (9), PARTITION p1 VALUES LESS THAN MAXVALUE)",
            "CREATE", "t", {"id", "a"}) +
            MySqlRow("t", R"("id":1,"a":10)") +
            Ddl("ALTER TABLE t TRUNCATE PARTITION p0", "ALTER", "t", {"id", "a"}) +
            MySqlRow("t", R"("id":2,"a":20)"));
  ReplayedTables out;
  const auto result = Run(Options({"*.jsonl"}), &out);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(out.unseen, ElementsAre("s.t: TRUNCATE PARTITION p0"));
  EXPECT_EQ(out.changes, 2);
}

// A cut-over is two records; a stop between them must not turn the swap into a drop and a create.
TEST_F(FileSourceTest, AStopInTheMiddleOfACutOverChangesNothing) {
  Write("1.jsonl", Ddl("CREATE TABLE t (id INT PRIMARY KEY, a INT)", "CREATE", "t", {"id", "a"}) +
                       MySqlRow("t", R"("id":1,"a":10)") +
                       Ddl("CREATE TABLE _t_gho LIKE t", "CREATE", "_t_gho", {"id", "a"}) +
                       Ddl("ALTER TABLE _t_gho CHANGE a b INT", "ALTER", "_t_gho", {"id", "b"}) +
                       MySqlRow("_t_gho", R"("id":1,"b":10)") +
                       Ddl("RENAME TABLE t TO _t_del", "ALTER", "_t_del", {"id", "a"}));
  ReplayedTables first;
  first.keep_durable = true;
  auto result = Run(Options({"*.jsonl"}), &first);
  ASSERT_TRUE(result) << result.error().ToString();
  const TablePath t{"", "s", "t"};
  ASSERT_EQ(first.tables.size(), 1u);
  const uint64_t incarnation = first.tables.at(t).schema->incarnation;
  Write("2.jsonl", Ddl("RENAME TABLE _t_gho TO t", "ALTER", "t", {"id", "b"}) +
                       MySqlRow("t", R"("id":2,"b":20)") +
                       Ddl("DROP TABLE _t_del", "DROP", "_t_del", {}));
  ReplayedTables second;
  second.tables = first.tables;
  result = Run(Options({"*.jsonl"}), &second, first.position);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(second.faults, IsEmpty());
  ASSERT_EQ(second.tables.size(), 1u);
  const auto& table = second.tables.at(t);
  EXPECT_EQ(table.schema->incarnation, incarnation);
  EXPECT_EQ(table.schema->columns[1].name, "b");
  EXPECT_EQ(table.rows.size(), 2u);
  for (const auto& [key, row] : table.rows) {
    EXPECT_NE(row.at(table.schema->columns[1].id).value_or("NULL"), "NULL");
  }
}

// Shadows are hidden where the stream has no statements, too.
TEST_F(FileSourceTest, ShadowTablesWithoutStatementsAreHidden) {
  Write("1.jsonl", MySqlRow("t", R"("id":1,"a":10)") + MySqlRow("_t_gho", R"("id":1,"b":10)") +
                       MySqlRow("_u_gho", R"("id":1)"));
  ReplayedTables out;
  ASSERT_TRUE(Run(Options({"1.jsonl"}), &out));
  ASSERT_EQ(out.tables.size(), 2u);
  EXPECT_TRUE(out.tables.contains(TablePath{"", "s", "t"}));
  EXPECT_TRUE(out.tables.contains(TablePath{"", "s", "_u_gho"}));
}

TEST_F(FileSourceTest, FollowsGrowthTruncationReplacementAndNewFiles) {
  Write("log-1", Row(1));
  FileSourceOptions options = Options({"log-*"});
  options.follow = true;
  Watched out;
  Result<void> result;
  std::thread reader([&] { result = Run(options, &out); });
  const auto expect = [&](int64_t changes) { EXPECT_TRUE(out.WaitFor(changes)) << changes; };
  expect(1);
  // Half a line is no line.
  Append("log-1", Row(2).substr(0, 30));
  Append("log-1", Row(2).substr(30) + Row(3));
  expect(3);
  // Truncated in place: shorter than what was read.
  Write("log-1", Row(4));
  expect(4);
  // Replaced by another file of the same name.
  Write("next", Row(5) + Row(6) + Row(7));
  fs::rename(Path("next"), Path("log-1"));
  expect(7);
  Write("log-2", Row(8));
  expect(8);
  out.stop = true;
  reader.join();
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(Ids(out), ElementsAre("1", "2", "3", "4", "5", "6", "7", "8"));
}

TEST_F(FileSourceTest, AFileIsFoundAgainWhereItWasRenamed) {
  Write("log", Row(1) + Row(2));
  ReplayedTables first;
  first.stop_when = [](int64_t) { return false; };
  ASSERT_TRUE(Run(Options({"log*"}), &first));
  // Rotated while nothing was reading; the old file got one more line.
  Append("log", Row(3));
  fs::rename(Path("log"), Path("log.1"));
  Write("log", Row(4));
  ReplayedTables rest;
  rest.tables = first.tables;
  const auto result = Run(Options({"log*"}), &rest, first.position);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(Ids(rest), ElementsAre("1", "2", "3", "4"));
  // Gone altogether: an error, not a silent gap.
  fs::remove(Path("log.1"));
  ReplayedTables lost;
  const auto gone = Run(Options({"log*"}), &lost, first.position);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind(), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace driftless
