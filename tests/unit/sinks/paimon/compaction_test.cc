#include "sinks/paimon/compaction.h"

#include <gtest/gtest.h>

#include "sinks/clients/objectstore/memory_store.h"
#include "tests/doubles/paimon_rig.h"

namespace driftless::paimon {
namespace {

using testing::PaimonRig;

SortedRun RunOf(int32_t level, int64_t bytes) { return {level, bytes, {}}; }

TEST(PickCompactionTest, LeavesFewRunsAlone) {
  EXPECT_FALSE(PickCompaction({}, {}).has_value());
  EXPECT_FALSE(
      PickCompaction({RunOf(0, 1), RunOf(0, 1), RunOf(0, 1), RunOf(5, 1000)}, {}).has_value());
}

TEST(PickCompactionTest, TakesEverythingWhenNewRunsOutgrowTheOldest) {
  const auto pick =
      PickCompaction({RunOf(0, 10), RunOf(0, 10), RunOf(0, 10), RunOf(0, 10), RunOf(5, 15)}, {});
  ASSERT_TRUE(pick.has_value());
  EXPECT_EQ(pick->runs, 5u);
  EXPECT_EQ(pick->output_level, 5);
  EXPECT_TRUE(pick->drops_deletes);
}

TEST(PickCompactionTest, MergesNewRunsOfLikeSizeAndKeepsTheirDeletes) {
  const auto pick =
      PickCompaction({RunOf(0, 10), RunOf(0, 10), RunOf(0, 10), RunOf(0, 10), RunOf(5, 1000)}, {});
  ASSERT_TRUE(pick.has_value());
  EXPECT_EQ(pick->runs, 4u);
  EXPECT_EQ(pick->output_level, 4);
  EXPECT_FALSE(pick->drops_deletes);
}

TEST(PickCompactionTest, NeverPutsMergedFilesBesideOlderFilesOfLevel0) {
  // The first two are of like size, but an older file of level 0 and level 1 stand below.
  const auto pick = PickCompaction(
      {RunOf(0, 10), RunOf(0, 10), RunOf(0, 500), RunOf(1, 600), RunOf(4, 5000), RunOf(5, 90000)},
      {});
  ASSERT_TRUE(pick.has_value());
  EXPECT_EQ(pick->runs, 4u);
  EXPECT_EQ(pick->output_level, 3);
}

PaimonSchema Keyed(std::map<std::string, std::string> options) {
  PaimonSchema schema = testing::EveryType({LogicalType::Int(), LogicalType::String()});
  schema.options = std::move(options);
  return schema;
}

TEST(CompactTableTest, KeepsTheRowsAndTheirOrderOverChangesAndSchemas) {
  PaimonRig rig(std::make_shared<MemoryStore>(),
                Keyed({{"bucket", "2"}, {"num-sorted-run.compaction-trigger", "3"}}), 31);
  bool compacted = false;
  for (int commit = 0; commit < 14; ++commit) {
    rig.WriteRandomChanges(40, 60);
    rig.Commit();
    if (commit == 6) {
      rig.Evolve([](PaimonSchema* schema) {
        PaimonField added;
        added.id = ++schema->highest_field_id;
        added.name = "added";
        added.type = LogicalType::String();
        schema->fields.push_back(added);
        std::swap(schema->fields[5].name, schema->fields[6].name);
      });
    }
    rig.Compact();
    ASSERT_EQ(rig.Read(), rig.Expected()) << "commit " << commit;
    const auto latest = **rig.table().LatestSnapshot();
    compacted |= latest.commit_kind == CommitKind::kCompact;
    const auto live = *rig.table().LiveFiles(latest);
    int64_t rows = 0;
    for (const ManifestEntry& entry : live) rows += entry.file.row_count;
    EXPECT_EQ(latest.total_record_count, rows);
    std::map<int32_t, std::vector<ManifestEntry>> buckets;
    for (const ManifestEntry& entry : live) buckets[entry.bucket].push_back(entry);
    for (const auto& [bucket, files] : buckets) EXPECT_LE(SortedRuns(files).size(), 4u);
  }
  EXPECT_TRUE(compacted);
}

TEST(CompactTableTest, AStoppedOneChangesNothing) {
  auto store = std::make_shared<MemoryStore>();
  PaimonRig rig(store, Keyed({{"bucket", "1"}, {"num-sorted-run.compaction-trigger", "2"}}), 32);
  for (int commit = 0; commit < 3; ++commit) {
    rig.WriteRandomChanges(40, 60);
    rig.Commit();
  }
  const auto before = store->Contents();
  const std::atomic<bool> stop{true};
  ASSERT_TRUE(CompactTable(
                  rig.table(), rig.Identity(),
                  [](const CommitIdentity&, const Committable&, int64_t) -> Result<void> {
                    ADD_FAILURE() << "committed";
                    return {};
                  },
                  TimeZone(), nullptr, stop)
                  .has_value());
  EXPECT_EQ(store->Contents(), before);
}

TEST(CompactTableTest, ALostRaceThrowsItsFilesAway) {
  auto store = std::make_shared<MemoryStore>();
  PaimonRig rig(store, Keyed({{"bucket", "1"}, {"num-sorted-run.compaction-trigger", "2"}}), 33);
  for (int commit = 0; commit < 3; ++commit) {
    rig.WriteRandomChanges(40, 60);
    rig.Commit();
  }
  const std::atomic<bool> stop{false};
  const PaimonCommitter committer(store, {});
  // Somebody else compacts between reading and committing.
  ASSERT_TRUE(CompactTable(
                  rig.table(), rig.Identity(),
                  [&](const CommitIdentity& by, const Committable& files, int64_t base) {
                    rig.Compact();
                    auto lost = committer.CommitCompaction(by, files, base);
                    EXPECT_FALSE(lost.has_value());
                    return lost;
                  },
                  TimeZone(), nullptr, stop)
                  .has_value());
  EXPECT_EQ(rig.Read(), rig.Expected());
  const auto live = *rig.table().LiveFiles(**rig.table().LatestSnapshot());
  size_t files = 0;
  for (const auto& [path, bytes] : store->Contents()) files += path.ends_with(".parquet") ? 1 : 0;
  EXPECT_EQ(files, 3 + live.size()) << "the inputs, which old snapshots need, and one output";
}

TEST(CompactTableTest, WriteOnlyTablesAreLeftAlone) {
  PaimonRig rig(
      std::make_shared<MemoryStore>(),
      Keyed({{"bucket", "1"}, {"num-sorted-run.compaction-trigger", "2"}, {"write-only", "true"}}),
      34);
  for (int commit = 0; commit < 4; ++commit) {
    rig.WriteRandomChanges(10, 60);
    rig.Commit();
  }
  rig.Compact();
  EXPECT_EQ((**rig.table().LatestSnapshot()).id, 4);
}

}  // namespace
}  // namespace driftless::paimon
