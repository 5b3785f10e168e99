#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "pipeline/sources/file/file_source.h"
#include "tests/doubles/source_dir.h"
#include "tests/unit/pipeline/sources/truth.h"

namespace driftless {
namespace {

using debezium::BinaryMode;
using debezium::DecimalMode;
using debezium::TimePrecisionMode;
using testing::CompareWithTruth;
using testing::MemoryHistory;
using testing::ReplayedTables;

struct Recording {
  std::string server;
  std::string scenario;
  std::string file;         // without .jsonl.gz
  std::string tables = "";  // selector; empty: all
  debezium::Format format = {};

  FileSourceOptions Options() const {
    FileSourceOptions options;
    options.patterns = {SourceDir() + "/tests/data/debezium-json/" + server + "/" + file +
                        ".jsonl.gz"};
    options.stream.format = format;
    if (!tables.empty()) options.stream.tables = TableSelector::Parse(tables).value();
    return options;
  }
};

Result<void> RunSource(const Recording& recording, MemoryHistory* history, const CutPosition& from,
                       ReplayedTables* out, int64_t max_wait_ms = 1000) {
  FileSource source(recording.Options());
  SourceContext context;
  context.history = history;
  context.wants_before_images = true;
  context.max_wait_ms = max_wait_ms;
  DRIFTLESS_TRY(source.Connect(context));
  return source.Run(0, 0, from, out);
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// What may differ stands in tests/data/debezium-json/expected/<server>.<file>.txt, one difference a
// line, each one that the recording itself has lost (DIFFERENCES.md beside it says why). Nothing
// else may differ, and nothing of it may be missing.
std::string Expected(const Recording& recording) {
  std::ifstream file(SourceDir() + "/tests/data/debezium-json/expected/" + recording.server + "." +
                     recording.file + ".txt");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void Replay(const Recording& recording) {
  SCOPED_TRACE(recording.server + "/" + recording.file);
  MemoryHistory history;
  ReplayedTables out;
  const auto result = RunSource(recording, &history, {}, &out);
  ASSERT_TRUE(result) << result.error().ToString();
  const std::string differences =
      Lines(CompareWithTruth(recording.server, recording.scenario, out.tables));
  if (const char* folder = std::getenv("DRIFTLESS_WRITE_DIFFERENCES"); folder != nullptr) {
    std::ofstream(std::string(folder) + "/" + recording.server + "." + recording.file + ".txt")
        << differences << Lines(out.faults);
    return;
  }
  EXPECT_EQ(differences + Lines(out.faults), Expected(recording));
}

TEST(ReplayTest, OnlineSchemaChanges) {
  for (const std::string server : {"mysql-9.7", "mariadb-10.11"}) {
    Replay({server, "c_osc", "c_osc.plain"});
    Replay({server, "c_osc", "c_osc.schema"});
  }
}

TEST(ReplayTest, Shards) {
  const std::string tables = "app_\\.*.\\.*";
  Replay({"mysql-9.7", "a_shards", "a_shards.truncates.plain", tables});
  Replay({"mysql-9.7", "a_shards", "a_shards.truncates.schema", tables});
  Replay({"mysql-9.7", "a_shards", "a_shards.plain", tables});
  Replay({"mysql-9.7", "a_shards", "a_shards.schema", tables});
  Replay({"mariadb-10.11", "a_shards", "a_shards.plain", tables});
  Replay({"mariadb-10.11", "a_shards", "a_shards.schema", tables});
}

TEST(ReplayTest, Ddl) {
  for (const std::string server : {"mysql-9.7", "mariadb-10.11"}) {
    Replay({server, "a_ddl", "a_ddl.plain", "shop.\\.*, Other-DB.\\.*"});
    Replay({server, "a_ddl", "a_ddl.schema", "shop.\\.*, Other-DB.\\.*"});
  }
}

TEST(ReplayTest, Transactions) {
  Replay({"mysql-9.7", "b_txn", "b_txn.plain", "txn.\\.*"});
  Replay({"mariadb-10.11", "b_txn", "b_txn.plain", "txn.\\.*"});
}

TEST(ReplayTest, Workload) { Replay({"mysql-9.7", "w_shop50k", "w_shop50k.plain", "wshop.\\.*"}); }

TEST(ReplayTest, Types) {
  const std::string tables = "typesdb.\\.*";
  const debezium::Format hex{.binary_mode = BinaryMode::kHex};
  const debezium::Format connect{.binary_mode = BinaryMode::kHex,
                                 .time_mode = TimePrecisionMode::kConnect};
  for (const std::string server : {"mysql-9.7", "mariadb-10.11"}) {
    Replay({server, "a_types", "a_types.plain", tables});
    Replay({server, "a_types", "a_types.schema", tables});
  }
  Replay({"mysql-9.7", "a_types", "a_types.strings.schema", tables});
  Replay({"mysql-9.7",
          "a_types",
          "a_types.strings.plain",
          tables,
          {.decimal_mode = DecimalMode::kString}});
  Replay({"mysql-9.7", "a_types", "a_types.connect.schema", tables, hex});
  Replay({"mysql-9.7", "a_types", "a_types.connect.plain", tables, connect});
}

TEST(ReplayTest, PostgresWithSchemas) {
  Replay({"postgres-15", "d_ddl", "d_ddl.schema"});
  Replay({"postgres-15", "d_types", "d_types.schema"});
  Replay({"postgres-15", "d_types", "d_types.strings.schema"});
  Replay(
      {"postgres-15", "d_types", "d_types.connect.schema", "", {.binary_mode = BinaryMode::kHex}});
}

TEST(ReplayTest, PostgresWithoutSchemas) {
  Replay({"postgres-15", "d_ddl", "d_ddl.plain"});
  Replay({"postgres-15", "d_types", "d_types.plain"});
  Replay({"postgres-15", "d_txn", "d_txn.plain"});
}

// Stops at random places, throws away what was not reported as progress, and goes on with the
// history: the tables must be those of a run without stops, under the same identities.
TEST(ReplayTest, RestartsChangeNothing) {
  std::mt19937 random(20260101);
  for (const Recording& recording : {
           Recording{"mysql-9.7", "a_ddl", "a_ddl.plain", "shop.\\.*, Other-DB.\\.*"},
           Recording{"mysql-9.7", "c_osc", "c_osc.schema"},
           Recording{"postgres-15", "d_ddl", "d_ddl.schema"},
           Recording{"postgres-15", "d_ddl", "d_ddl.plain"},
       }) {
    SCOPED_TRACE(recording.file);
    MemoryHistory whole_history;
    ReplayedTables whole;
    ASSERT_TRUE(RunSource(recording, &whole_history, {}, &whole));
    MemoryHistory history;
    ReplayedTables::Durable durable;
    int stops = 0;
    for (bool finished = false; !finished; ++stops) {
      ASSERT_LT(stops, 1000) << "no progress";
      ReplayedTables part;
      part.tables = durable.tables;
      part.durable = durable;
      part.keep_durable = true;
      // At least one progress beyond where it began, then some changes more.
      const int64_t limit = static_cast<int64_t>(
          random() % static_cast<uint64_t>(std::min<int64_t>(1500, whole.changes / 4)));
      bool moved = false;
      part.on_progress = [&] { moved = true; };
      part.stop_when = [&](int64_t changes) { return moved && changes > limit; };
      const auto result =
          RunSource(recording, &history, durable.position, &part, /*max_wait_ms=*/1);
      ASSERT_TRUE(result) << result.error().ToString();
      finished = !part.stopping();
      durable = part.durable;
    }
    EXPECT_GT(stops, 2);
    ASSERT_EQ(durable.tables.size(), whole.tables.size());
    for (const auto& [path, table] : whole.tables) {
      const auto found = durable.tables.find(path);
      ASSERT_NE(found, durable.tables.end()) << path.ToString();
      EXPECT_EQ(*found->second.schema, *table.schema) << path.ToString();
      const auto values = [](const auto& rows) {
        std::vector<testing::ReplayedRow> list;
        for (const auto& [key, row] : rows) list.push_back(row);
        std::sort(list.begin(), list.end());
        return list;
      };
      EXPECT_EQ(values(found->second.rows), values(table.rows)) << path.ToString();
    }
  }
}

}  // namespace
}  // namespace driftless
