#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/doubles/source_dir.h"
#include "tests/unit/pipeline/sources/mysql/binlog_replay.h"
#include "tests/unit/pipeline/sources/truth.h"

// Whole recorded logs against the servers' own contents. README.md in tests/data/binlog says where
// they come from and what the files of expected differences are.
namespace driftless::testing {
namespace {

struct Recording {
  std::string server;
  std::string metadata;  // "full" or "minimal"
  std::string scenario;
  std::vector<std::string> parts = {"setup", "stream"};

  mysql::Dialect dialect() const {
    return server.starts_with("mysql") ? mysql::Dialect::kMySql : mysql::Dialect::kMariaDb;
  }
  std::string folder() const { return SourceDir() + "/tests/data/binlog/" + server + "/"; }
  std::string name() const { return server + "/" + metadata + "/" + scenario; }
};

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void Replay(const Recording& recording, int64_t stream_rows) {
  SCOPED_TRACE(recording.name());
  BinlogReplay replay(recording.dialect());
  int64_t before = 0;
  for (const std::string& part : recording.parts) {
    if (part == "setup") before = -1;
    const auto done = replay.ReadFile(recording.folder() + recording.metadata + "/" +
                                      recording.scenario + "." + part + ".binlog.gz");
    ASSERT_TRUE(done) << part << ": " << done.error().ToString();
    if (before == -1) before = replay.row_count;
  }
  if (stream_rows > 0) {
    EXPECT_EQ(replay.row_count - before, stream_rows);
  }
  const std::string differences =
      Lines(CompareWithTruth(recording.server, recording.scenario, replay.out.tables)) +
      Lines(replay.out.faults) + Lines(replay.out.dead_letters);
  const std::string expected = recording.folder() + "expected/" + recording.scenario + ".txt";
  if (std::getenv("DRIFTLESS_WRITE_DIFFERENCES") != nullptr) {
    std::ofstream(expected) << differences;
    return;
  }
  std::stringstream text;
  text << std::ifstream(expected).rdbuf();
  EXPECT_EQ(differences, text.str());
  for (const std::string& table : replay.untracked) EXPECT_EQ(table, "shop.sq");
}

TEST(BinlogReplayTest, AllTypes) {
  for (const std::string metadata : {"full", "minimal"}) {
    Replay({"mysql-9.7", metadata, "a_types"}, 187);
    Replay({"mariadb-10.11", metadata, "a_types"}, 112);
  }
}

TEST(BinlogReplayTest, SchemaChanges) {
  for (const std::string metadata : {"full", "minimal"}) {
    Replay({"mysql-9.7", metadata, "a_ddl"}, 1211);
    Replay({"mariadb-10.11", metadata, "a_ddl"}, 0);
  }
}

TEST(BinlogReplayTest, Shards) {
  for (const std::string server : {"mysql-9.7", "mariadb-10.11"}) {
    for (const std::string metadata : {"full", "minimal"})
      Replay({server, metadata, "a_shards"}, 207);
  }
}

TEST(BinlogReplayTest, Transactions) {
  for (const std::string metadata : {"full", "minimal"}) {
    Replay({"mysql-9.7", metadata, "b_txn"}, 29101);
    Replay({"mariadb-10.11", metadata, "b_txn"}, 29102);
  }
}

TEST(BinlogReplayTest, OnlineSchemaChanges) {
  for (const std::string server : {"mysql-9.7", "mariadb-10.11"}) {
    Replay({server, "full", "c_osc"}, 615);
  }
}

TEST(BinlogReplayTest, LogFormatVariants) {
  for (const std::string metadata : {"full", "minimal"}) {
    Replay({"mysql-9.7", metadata, "v_variants", {"setup", "stream-1", "stream-2", "stream-3"}},
           137);
    Replay({"mariadb-10.11", metadata, "v_variants", {"setup", "stream-1", "stream-2", "stream-3"}},
           91);
  }
}

TEST(BinlogReplayTest, Workload) { Replay({"mysql-9.7", "full", "w_shop50k"}, 50000); }

}  // namespace
}  // namespace driftless::testing
