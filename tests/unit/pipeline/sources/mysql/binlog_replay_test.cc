#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "tests/doubles/source_dir.h"
#include "tests/unit/pipeline/sources/mysql/binlog_bytes.h"
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

// What differs from the server's contents, and what went wrong on the way.
std::string Differences(const Recording& recording, const BinlogReplay& replay) {
  return Lines(CompareWithTruth(recording.server, recording.scenario, replay.out.tables)) +
         Lines(replay.out.faults) + Lines(replay.out.dead_letters);
}

std::string ExpectedFile(const Recording& recording) {
  return recording.folder() + "expected/" + recording.scenario + ".txt";
}

std::string Expected(const Recording& recording) {
  std::stringstream text;
  text << std::ifstream(ExpectedFile(recording)).rdbuf();
  return text.str();
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
  const std::string differences = Differences(recording, replay);
  if (std::getenv("DRIFTLESS_WRITE_DIFFERENCES") != nullptr) {
    std::ofstream(ExpectedFile(recording)) << differences;
    return;
  }
  EXPECT_EQ(differences, Expected(recording));
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

// A replica's whole session as it went over the wire: packets of four bytes and a payload, which is
// an event behind a zero byte once the dump was asked for.
void ReplaySession(const std::string& name, BinlogReplay* replay) {
  const std::string text =
      ReadUnpacked(SourceDir() + "/tests/data/binlog/mysql-9.7/" + name + ".jsonl.gz");
  std::istringstream lines(text);
  std::string line;
  std::string stream;
  bool dumping = false;
  while (std::getline(lines, line)) {
    const size_t hex = line.find("\"hex\": \"") + 8;
    const std::string bytes = Unhex(line.substr(hex, line.find('"', hex) - hex));
    if (line.find("\"c2s\"") != std::string::npos) {
      dumping = dumping || (bytes.size() > 4 && (bytes[4] == 0x12 || bytes[4] == 0x1e));
    } else if (dumping) {
      stream += bytes;
    }
  }
  for (size_t at = 0; at + 4 <= stream.size();) {
    const size_t size = mysql::LoadLittle(reinterpret_cast<const uint8_t*>(&stream[at]), 3);
    ASSERT_LE(size, stream.size() - at - 4);
    const std::string_view payload = std::string_view(stream).substr(at + 4, size);
    at += 4 + size;
    if (payload[0] != 0) break;  // end of file
    const auto done = replay->ReadEvent(payload.substr(1));
    ASSERT_TRUE(done) << done.error().ToString();
  }
}

// Whether a difference, "db.table.column: 3 rows" or "db.table: 3 missing", is in what a statement
// changed.
bool IsOfStatement(const BinlogReplay& replay, const std::string& difference) {
  const std::string what = difference.substr(0, difference.find(": "));
  const size_t dot = what.find('.');
  const size_t second = what.find('.', dot + 1);
  const TablePath path{"", what.substr(0, dot), what.substr(dot + 1, second - dot - 1)};
  const auto found = replay.out.tables.find(path);
  if (found == replay.out.tables.end()) return false;
  const TableSchema& schema = *found->second.schema;
  if (replay.changed_by_statement.contains({schema.incarnation, 0})) return true;
  if (second == std::string::npos) return false;
  const Column* column = schema.FindName(what.substr(second + 1));
  return column != nullptr &&
         replay.changed_by_statement.contains({schema.incarnation, column->id});
}

// The tables after each step of a scenario, but for what statements changed without row events.
void ReplayCheckpoints(const Recording& recording) {
  SCOPED_TRACE(recording.name());
  BinlogReplay replay(recording.dialect());
  const std::string base = recording.folder() + "full/" + recording.scenario;
  ASSERT_TRUE(replay.ReadFile(base + ".setup.binlog.gz"));
  replay.changed_by_statement.clear();
  const std::vector<Checkpoint> checkpoints = ReadCheckpoints(recording.server, recording.scenario);
  const std::string expected = Expected(recording);
  size_t next = 0;
  int compared = 0;
  replay.on_event = [&](uint64_t end) {
    for (; next < checkpoints.size() && checkpoints[next].position <= end; ++next) {
      for (const std::string& line : checkpoints[next].lines) {
        ++compared;
        for (const std::string& difference : CompareWithCheckpoint(line, replay.out.tables)) {
          if (IsOfStatement(replay, difference)) continue;
          // What stays until the end stands in the file of expected differences.
          if (expected.find(difference.substr(0, difference.find(": "))) != std::string::npos) {
            continue;
          }
          ADD_FAILURE() << checkpoints[next].name << ": " << difference;
        }
      }
    }
  };
  ASSERT_TRUE(replay.ReadFile(base + ".stream.binlog.gz"));
  EXPECT_EQ(next, checkpoints.size());
  EXPECT_GT(compared, 0);
}

TEST(BinlogReplayTest, Checkpoints) {
  for (const std::string server : {"mysql-9.7", "mariadb-10.11"}) {
    for (const std::string scenario : {"a_types", "a_shards", "a_ddl", "c_osc", "b_txn"}) {
      ReplayCheckpoints({server, "full", scenario});
    }
  }
}

TEST(BinlogReplayTest, WireSessions) {
  const Recording recording = {"mysql-9.7", "full", "a_types"};
  for (const std::string name : {"wire-position", "wire-gtid"}) {
    SCOPED_TRACE(name);
    BinlogReplay replay(recording.dialect());
    ASSERT_TRUE(replay.ReadFile(recording.folder() + "full/a_types.setup.binlog.gz"));
    const int64_t before = replay.row_count;
    replay.StartStream();
    ReplaySession(name, &replay);
    EXPECT_EQ(replay.row_count - before, 187);
    EXPECT_GE(replay.events[mysql::EventType::kRotate], 1);
    EXPECT_EQ(Differences(recording, replay), Expected(recording));
  }
}

TEST(BinlogReplayTest, Workload) { Replay({"mysql-9.7", "full", "w_shop50k"}, 50000); }

}  // namespace
}  // namespace driftless::testing
