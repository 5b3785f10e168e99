#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <set>

#include "tests/doubles/iceberg_rig.h"

namespace driftless::iceberg {
namespace {

using testing::IcebergRig;
using Fault = MemoryStore::Fault;

IcebergRig::Shape ShapeOf(int number) {
  IcebergRig::Shape shape;
  shape.has_key = (number & 1) == 0;
  shape.partitioned = (number & 2) != 0;
  // Files of more than 1.5 KB are large ones, which stay where they are.
  shape.properties["write.target-file-size-bytes"] = (number & 4) != 0 ? "2000" : "200000";
  shape.format_version = (number & 8) != 0 ? 3 : 2;
  shape.seed = static_cast<uint64_t>(number) + 1;
  return shape;
}

class MaintenanceTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Shapes, MaintenanceTest,
                         ::testing::Values(0, 1, 2, 3, 4, 7, 8, 9, 10, 12, 15));

TEST_P(MaintenanceTest, CompactionKeepsTheRowsAndBoundsTheFiles) {
  IcebergRig rig(std::make_shared<MemoryStore>(), ShapeOf(GetParam()));
  int64_t compactions = 0;
  for (int commit = 1; commit <= 40; ++commit) {
    rig.CommitRandom(30, 400);
    if (commit % 4 != 0) continue;
    const int64_t before = rig.Table().metadata.current_snapshot_id;
    const std::vector<std::string> rows = rig.Read(before);
    const bool has_lineage = (GetParam() & 8) != 0;
    const auto lineage = has_lineage ? rig.Lineage() : decltype(rig.Lineage())();
    if (rig.Compact().files_removed > 0) {
      ++compactions;
      const Snapshot after = *rig.Table().metadata.current_snapshot();
      EXPECT_EQ(after.summary.Find("operation"), "replace");
      EXPECT_EQ(after.parent, before);
    }
    ASSERT_EQ(rig.Read(), rig.Expected()) << "commit " << commit;
    ASSERT_EQ(rig.Read(before), rows) << "the snapshot before, commit " << commit;
    if (has_lineage) {
      ASSERT_EQ(rig.Lineage(), lineage) << "rows keep their ids, commit " << commit;
      rig.CheckVectors();
    }
    if ((GetParam() & 4) != 0) continue;
    const LiveFiles live = rig.Live();
    const size_t partitions = (GetParam() & 2) != 0 ? 3 : 1;
    EXPECT_LE(live.data.size(), 10 * partitions) << "commit " << commit;
    EXPECT_LE(live.deletes.size(), 10 * partitions) << "commit " << commit;
  }
  EXPECT_GT(compactions, 3);
  EXPECT_EQ(rig.Compact().files_removed, 0) << "nothing is left to do";
}

// Rows of small tables are sent to others between reading and committing a compaction.
class Interrupting : public Catalog {
 public:
  explicit Interrupting(Catalog* inner) : inner_(inner) {}
  std::function<void()> before_second_load;

  Result<std::string> Connect() override { return inner_->Connect(); }
  std::string identity() const override { return inner_->identity(); }
  Result<std::optional<LoadedTable>> Load(const TablePath& table) override {
    if (++loads_ == 2) before_second_load();
    return inner_->Load(table);
  }
  Result<void> Create(const TablePath& table, const NewTable& created) override {
    return inner_->Create(table, created);
  }
  std::vector<Result<void>> Commit(std::span<const CatalogCommit> commits) override {
    return inner_->Commit(commits);
  }

 private:
  Catalog* inner_;
  int loads_ = 0;
};

TEST_P(MaintenanceTest, CommitsInBetweenAreKept) {
  IcebergRig rig(std::make_shared<MemoryStore>(), ShapeOf(GetParam()));
  for (int round = 0; round < 6; ++round) {
    for (int commit = 0; commit < 5; ++commit) rig.CommitRandom(30, 200);
    Interrupting catalog(rig.catalog.get());
    catalog.before_second_load = [&] {
      rig.CommitRandom(30, 200);
      rig.CommitRandom(30, 200);
    };
    MaintenanceContext context = rig.Context();
    context.catalog = &catalog;
    const auto done = CompactTable(context);
    ASSERT_TRUE(done) << done.error().ToString();
    ASSERT_EQ(rig.Read(), rig.Expected()) << "round " << round;
    EXPECT_EQ(rig.Stored(), rig.Reachable()) << "a lost race leaves nothing behind";
  }
}

TEST_P(MaintenanceTest, TheSecondOfTwoCompactionsIsDropped) {
  IcebergRig rig(std::make_shared<MemoryStore>(), ShapeOf(GetParam()));
  for (int commit = 0; commit < 6; ++commit) rig.CommitRandom(30, 200);
  Interrupting catalog(rig.catalog.get());
  std::shared_mutex theirs;  // of another process
  catalog.before_second_load = [&] {
    MaintenanceContext other = rig.Context();
    other.commits = &theirs;
    const auto first = CompactTable(other);
    ASSERT_TRUE(first) << first.error().ToString();
    EXPECT_GT(first->files_removed, 0);
  };
  MaintenanceContext context = rig.Context();
  context.catalog = &catalog;
  const auto done = CompactTable(context);
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(done->files_removed, 0);
  EXPECT_EQ(rig.Read(), rig.Expected());
  EXPECT_EQ(rig.Stored(), rig.Reachable());
}

TEST_P(MaintenanceTest, AStoppedCompactionChangesNothing) {
  auto store = std::make_shared<MemoryStore>();
  IcebergRig rig(store, ShapeOf(GetParam()));
  for (int commit = 0; commit < 6; ++commit) rig.CommitRandom(30, 200);
  const auto before = store->Contents();
  const std::atomic<bool> stop{true};
  MaintenanceContext context = rig.Context();
  context.stop = &stop;
  EXPECT_TRUE(CompactTable(context));
  EXPECT_EQ(store->Contents(), before);
}

// The process dies, and the power fails, at every operation of a compaction and of an expiry.
class MaintenanceCrashTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Shapes, MaintenanceCrashTest, ::testing::Values(0, 3, 4, 9, 12));
TEST_P(MaintenanceCrashTest, ACrashAtAnyStepLosesNothingAndLeavesNothing) {
  IcebergRig::Shape shape = ShapeOf(GetParam());
  shape.properties["history.expire.max-snapshot-age-ms"] = "3000";
  for (int64_t step = 0;; step += 1 + step / 16) {
    SCOPED_TRACE(step);
    auto store = std::make_shared<MemoryStore>();
    IcebergRig rig(store, shape);
    for (int commit = 0; commit < 6; ++commit) rig.CommitRandom(12, 40);
    int64_t at = 0;
    store->SetFaults([&](MemoryStore::Operation, const std::string&) {
      return at++ == step ? Fault::kCrashAfter : Fault::kNone;
    });
    (void)CompactTable(rig.Context());
    (void)ExpireSnapshots(rig.Context());
    const bool crashed = store->crashed();
    store->SetFaults({});
    bool coin = false;
    if (crashed) store->Restart(true, [&] { return coin = !coin; });
    ASSERT_EQ(rig.Read(), rig.Expected());
    ASSERT_TRUE(rig.Committer().CleanUp({"pipe", "lake", rig.path}, {}));
    rig.CommitRandom(12, 40);
    rig.Compact();
    rig.Expire();
    ASSERT_EQ(rig.Read(), rig.Expected());
    const std::set<std::string> stored = rig.Stored();
    const std::set<std::string> reachable = rig.Reachable();
    EXPECT_TRUE(std::ranges::includes(stored, reachable));
    EXPECT_EQ(stored, reachable);
    if (!crashed) break;
    ASSERT_LT(step, 100000);
  }
}

// The answer to every single write is lost once; what came through is found, and counted.
TEST(MaintenanceFaultTest, LostAnswersAreLookedUp) {
  IcebergRig::Shape shape = ShapeOf(0);
  shape.properties["history.expire.max-snapshot-age-ms"] = "3000";
  auto store = std::make_shared<MemoryStore>();
  IcebergRig rig(store, shape);
  for (int round = 0; round < 4; ++round) {
    for (int commit = 0; commit < 6; ++commit) rig.CommitRandom(12, 40);
    for (const bool expires : {false, true}) {
      int lost = 0;
      store->SetFaults([&](MemoryStore::Operation operation, const std::string&) {
        const bool is_create = operation == MemoryStore::Operation::kCreate;
        return is_create && lost++ == 0 ? Fault::kLoseAnswer : Fault::kNone;
      });
      if (expires) {
        EXPECT_GT(rig.Expire(), 0);
      } else {
        EXPECT_GT(rig.Compact().files_removed, 0);
      }
      store->SetFaults({});
      EXPECT_GE(lost, 1);
      EXPECT_EQ(rig.Read(), rig.Expected());
      EXPECT_EQ(rig.Stored(), rig.Reachable());
    }
  }
}

TEST(SnapshotExpiryTest, KeepsWhatAgeNumbersAndRefsHold) {
  TableMetadata metadata;
  for (int64_t id = 1; id <= 8; ++id) {
    Snapshot snapshot;
    snapshot.id = id;
    if (id > 1) snapshot.parent = id - 1;
    snapshot.timestamp_ms = id * 1000;
    metadata.snapshots.push_back(snapshot);
  }
  metadata.snapshots[6].parent = 5;  // 7 is on a branch, 6 and 8 are main's
  metadata.snapshots[7].parent = 6;
  metadata.current_snapshot_id = 8;
  EXPECT_TRUE(ExpiredSnapshots(metadata, 100'000).empty()) << "nobody asked";
  metadata.properties["history.expire.max-snapshot-age-ms"] = "2000";
  using ::testing::ElementsAre;
  EXPECT_THAT(ExpiredSnapshots(metadata, 8000), ElementsAre(1, 2, 3, 4, 5)) << "7 is young";
  EXPECT_THAT(ExpiredSnapshots(metadata, 100'000), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  metadata.refs["audit"] = 3;
  metadata.refs_json["audit"] = R"({"snapshot-id":3,"type":"tag"})";
  EXPECT_THAT(ExpiredSnapshots(metadata, 8000), ElementsAre(1, 2, 4, 5));
  metadata.refs["side"] = 7;
  metadata.refs_json["side"] = R"({"snapshot-id":7,"type":"branch"})";
  EXPECT_TRUE(ExpiredSnapshots(metadata, 8000).empty()) << "a branch holds its history";
  EXPECT_THAT(ExpiredSnapshots(metadata, 100'000), ElementsAre(6));
  metadata.properties["history.expire.min-snapshots-to-keep"] = "2";
  EXPECT_TRUE(ExpiredSnapshots(metadata, 100'000).empty());
  metadata.properties["history.expire.min-snapshots-to-keep"] = "1";
  metadata.main_ref_json = R"(,"min-snapshots-to-keep":2,"max-snapshot-age-ms":1)";
  EXPECT_TRUE(ExpiredSnapshots(metadata, 100'000).empty()) << "main's own limit";
  metadata.main_ref_json.clear();
  metadata.properties["gc.enabled"] = "false";
  EXPECT_TRUE(ExpiredSnapshots(metadata, 100'000).empty());
}

// A tag in the midst keeps its files alone, and every snapshot that stays can be read.
TEST(SnapshotExpiryTest, DeletesWhatOnlyExpiredSnapshotsReach) {
  IcebergRig::Shape shape = ShapeOf(0);
  shape.properties["history.expire.max-snapshot-age-ms"] = "4000";
  shape.properties["commit.manifest.min-count-to-merge"] = "4";
  IcebergRig rig(std::make_shared<MemoryStore>(), shape);
  std::map<int64_t, std::vector<std::string>> contents;
  int64_t expired = 0;
  for (int commit = 0; commit < 40; ++commit) {
    rig.CommitRandom(20, 60);
    contents[rig.Table().metadata.current_snapshot_id] = rig.Expected();
    if (commit % 3 == 0) {
      rig.Compact();
      contents[rig.Table().metadata.current_snapshot_id] = rig.Expected();
    }
    if (commit % 4 == 0) expired += rig.Expire();
    EXPECT_EQ(rig.Stored(), rig.Reachable());
    const LoadedTable table = rig.Table();
    for (const Snapshot& snapshot : table.metadata.snapshots) {
      ASSERT_EQ(rig.Read(snapshot.id), contents.at(snapshot.id));
    }
  }
  EXPECT_GT(expired, 20);
  EXPECT_LE(rig.Table().metadata.snapshots.size(), 12u);
}

TEST(ManifestMergeTest, ManifestsStayFewAndKeepTheirNumbers) {
  IcebergRig::Shape shape = ShapeOf(2);
  shape.properties["commit.manifest.min-count-to-merge"] = "10";
  IcebergRig rig(std::make_shared<MemoryStore>(), shape);
  std::map<std::string, int64_t> sequences;
  for (int commit = 0; commit < 35; ++commit) {
    rig.CommitRandom(10, 50);
    ASSERT_EQ(rig.Read(), rig.Expected());
    const LiveFiles live = rig.Live();
    for (const auto* list : {&live.data, &live.deletes}) {
      for (const ManifestEntry& entry : *list) {
        const auto [known, is_new] = sequences.emplace(entry.file.path, *entry.sequence_number);
        EXPECT_EQ(known->second, *entry.sequence_number);
      }
    }
    const LoadedTable table = rig.Table();
    const std::string list = *table.files.Read(table.metadata.current_snapshot()->manifest_list);
    EXPECT_LE(DecodeManifestList(list)->size(), 22u);
  }
}

double ReadSeconds(const IcebergRig& rig) {
  const std::clock_t begin = std::clock();
  for (int i = 0; i < 5; ++i) rig.Read();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// An hour of one commit a second, a tenth of it here; the whole of it, over larger tables and
// beside a table that has the rows in one file, with DRIFTLESS_LONG_TESTS.
TEST(MaintenanceHourTest, FilesStayFewAndReadsFast) {
  const bool is_long = std::getenv("DRIFTLESS_LONG_TESTS") != nullptr;
  const int commits = is_long ? 3600 : 240;
  for (const int number : {0, 1, 8, 9}) {
    if (number > 1 && !is_long) break;
    IcebergRig::Shape shape = ShapeOf(number);
    shape.properties["history.expire.max-snapshot-age-ms"] = "60000";
    IcebergRig rig(std::make_shared<MemoryStore>(), shape);
    size_t files = 0;
    for (int commit = 1; commit <= commits; ++commit) {
      const bool has_key = (number & 1) == 0;
      rig.CommitRandom(has_key ? (is_long ? 100 : 40) : 10, has_key && is_long ? 100'000 : 2000);
      if (commit % 10 != 0) continue;
      rig.Compact();
      rig.Expire();
      const LiveFiles live = rig.Live();
      files = std::max(files, live.data.size() + live.deletes.size());
    }
    EXPECT_EQ(rig.Read(), rig.Expected());
    EXPECT_LE(files, 24u);
    EXPECT_LE(rig.Table().metadata.snapshots.size(), 100u);
    EXPECT_LE(rig.Stored().size(), 1200u);
    EXPECT_EQ(rig.Stored(), rig.Reachable());
    if (!is_long) continue;
    IcebergRig copy(std::make_shared<MemoryStore>(), shape);
    copy.CommitRowsOf(rig);
    EXPECT_EQ(copy.Read(), rig.Read());
    const double fresh = ReadSeconds(copy);
    const double aged = ReadSeconds(rig);
    std::printf(
        "shape %d: %zu rows, at most %zu files; read in %.3f CPU-s, a fresh copy %.3f: %.2f\n",
        number, rig.Expected().size(), files, aged, fresh, aged / fresh);
    EXPECT_LE(aged, 1.5 * fresh + 0.1);
  }
}

}  // namespace
}  // namespace driftless::iceberg
