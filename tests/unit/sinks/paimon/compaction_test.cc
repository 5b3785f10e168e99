#include "sinks/paimon/compaction.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "sinks/api/memory_budget.h"
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

// Merges part after part, as a compaction does, until the pick fits.
std::vector<SortedRun> MergedInParts(std::vector<SortedRun> runs, size_t runs_max, int* merges) {
  const auto fits = [&](size_t, size_t count) { return count <= runs_max; };
  while (const auto pick = PickCompaction(runs, {})) {
    const CompactionPick part = FirstPart(runs, *pick, {}, fits);
    EXPECT_GE(part.runs, 2u);
    EXPECT_LE(part.runs, runs_max);
    EXPECT_LE(part.first + part.runs, pick->runs);
    EXPECT_GE(part.output_level, 1);
    EXPECT_EQ(part.drops_deletes, part.first + part.runs == runs.size());
    SortedRun merged = RunOf(part.output_level, 0);
    const auto first = runs.begin() + static_cast<ptrdiff_t>(part.first);
    const auto end = first + static_cast<ptrdiff_t>(part.runs);
    for (auto run = first; run != end; ++run) merged.bytes += run->bytes;
    runs.insert(runs.erase(first, end), merged);
    // Newer runs stand in lower levels, and a level above 0 holds one run.
    for (size_t i = 1; i < runs.size(); ++i) {
      EXPECT_TRUE(runs[i - 1].level < runs[i].level || runs[i].level == 0) << i;
    }
    ++*merges;
    if (part.runs == pick->runs) break;
  }
  return runs;
}

TEST(FirstPartTest, IsThePickWhereItFits) {
  const std::vector<SortedRun> runs(6, RunOf(0, 10));
  const auto pick = PickCompaction(runs, {});
  const auto part = FirstPart(runs, *pick, {}, [](size_t, size_t) { return true; });
  EXPECT_EQ(part.first, 0u);
  EXPECT_EQ(part.runs, 6u);
  EXPECT_EQ(part.output_level, 5);
  EXPECT_TRUE(part.drops_deletes);
}

TEST(FirstPartTest, OldRunsGoToTheHighestFreeLevel) {
  std::vector<SortedRun> runs(12, RunOf(0, 10));
  runs.push_back(RunOf(4, 100));
  const auto fits = [](size_t, size_t count) { return count <= 5; };
  const auto pick = PickCompaction(runs, {});
  ASSERT_TRUE(pick.has_value());
  const auto part = FirstPart(runs, *pick, {}, fits);
  EXPECT_EQ(part.first, 7u);
  EXPECT_EQ(part.runs, 5u);
  EXPECT_EQ(part.output_level, 3);
  EXPECT_FALSE(part.drops_deletes);
}

TEST(FirstPartTest, PartsComeToOneRunOrFewAndKeepTheOrderOfRuns) {
  for (const size_t level_0 : {5, 9, 17, 40, 120}) {
    for (const size_t runs_max : {2, 4, 7, 16}) {
      for (const bool levels_full : {false, true}) {
        SCOPED_TRACE(std::to_string(level_0) + " runs, " + std::to_string(runs_max) + " at a time" +
                     (levels_full ? ", all levels full" : ""));
        std::vector<SortedRun> runs(level_0, RunOf(0, 10));
        for (int32_t level = 1; levels_full && level <= 5; ++level) {
          runs.push_back(RunOf(level, 10));
        }
        const auto total = static_cast<int64_t>(runs.size()) * 10;
        int merges = 0;
        const std::vector<SortedRun> left = MergedInParts(std::move(runs), runs_max, &merges);
        EXPECT_LE(left.size(), 5u);
        int64_t bytes = 0;
        for (const SortedRun& run : left) bytes += run.bytes;
        EXPECT_EQ(bytes, total);
        EXPECT_LE(merges, static_cast<int>(level_0) + 5);
      }
    }
  }
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

// Many rolls of one commit, and a budget that lets few files be open: the rows stay, what is held
// is charged, and all of it is given back.
TEST(CompactTableTest, StaysWithinItsPartOfASmallBudget) {
  MemoryBudget budget(16 << 20);
  const lake::MergeMemory memory(&budget);
  PaimonSchema schema = Keyed({{"bucket", "1"}});
  schema.fields.resize(4);
  auto store = std::make_shared<MemoryStore>();
  PaimonRig rig(store, schema, 38);
  const size_t columns = DataFileFormat::Make(rig.schema(), rig.Evolved())->columns.size();
  const int rolls = static_cast<int>(memory.open_files_max(columns)) * 5;
  for (int roll = 0; roll < rolls; ++roll) {
    rig.WriteRandomChanges(12, 200);
    rig.Roll();
  }
  rig.Commit();
  const auto before = *rig.table().LiveFiles(**rig.table().LatestSnapshot());
  ASSERT_EQ(SortedRuns(before).size(), static_cast<size_t>(rolls));
  const std::atomic<bool> stop{false};
  const PaimonCommitter committer(store, {});
  int commits = 0;
  const auto done = CompactTable(
      rig.table(), rig.Identity(),
      [&](const CommitIdentity& by, const Committable& files, int64_t base) {
        ++commits;
        auto committed = committer.CommitCompaction(by, files, base);
        EXPECT_EQ(rig.Read(), rig.Expected()) << "after part " << commits;
        return committed;
      },
      TimeZone(), nullptr, stop, memory);
  ASSERT_TRUE(done.has_value()) << done.error().ToString();
  EXPECT_GT(commits, 4);
  EXPECT_LE(done->runs_left, 5);
  const auto after = *rig.table().LiveFiles(**rig.table().LatestSnapshot());
  EXPECT_EQ(SortedRuns(after).size(), static_cast<size_t>(done->runs_left));
  EXPECT_EQ(budget.used_bytes(), 0);
  EXPECT_GT(budget.most_bytes(), 1 << 20);
  EXPECT_LE(budget.most_bytes(), budget.limit_bytes() / 3);
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

PaimonSchema Keyless(std::map<std::string, std::string> options) {
  PaimonSchema schema = testing::EveryType({LogicalType::Int(), LogicalType::String()});
  schema.primary_keys.clear();
  schema.options = std::move(options);
  return schema;
}

ManifestEntry Appended(int64_t sequence, int64_t size) {
  ManifestEntry entry;
  entry.file.min_sequence_number = sequence;
  entry.file.file_size = size;
  return entry;
}

TEST(PickAppendsTest, JoinsTheNewestSmallFilesInTheirOrder) {
  const std::vector<ManifestEntry> files = {Appended(40, 10), Appended(0, 10),  Appended(10, 80),
                                            Appended(20, 10), Appended(30, 10), Appended(50, 10)};
  CompactionOptions options;
  EXPECT_TRUE(PickAppends(files, 100, options).empty()) << "four small ones behind a large one";
  options.min_file_num = 3;
  const auto picked = PickAppends(files, 100, options);
  ASSERT_EQ(picked.size(), 4u);
  for (size_t i = 0; i < picked.size(); ++i) {
    EXPECT_EQ(picked[i].file.min_sequence_number, 20 + 10 * static_cast<int64_t>(i));
  }
}

// Rows come and go while files are joined, in both kinds of tables without key.
TEST(CompactTableTest, TablesWithoutKeyKeepTheirRows) {
  for (const char* bucket : {"-1", "2"}) {
    std::map<std::string, std::string> options = {{"bucket", bucket},
                                                  {"compaction.min.file-num", "3"}};
    if (std::string(bucket) == "2") options["bucket-key"] = "k0";
    PaimonRig rig(std::make_shared<MemoryStore>(), Keyless(options), 35);
    int compactions = 0;
    for (int commit = 0; commit < 18; ++commit) {
      rig.WriteRandomChanges(12, 60);
      if (commit % 3 == 0) rig.Roll();
      if (commit % 4 == 1) rig.Compact();  // removals of this cut may wait
      rig.WriteRandomChanges(3, 60);
      rig.Commit();
      if (commit % 9 == 8) rig.Restart();
      rig.Compact();
      ASSERT_EQ(rig.Read(), rig.Expected()) << "commit " << commit;
      const auto latest = **rig.table().LatestSnapshot();
      compactions += latest.commit_kind == CommitKind::kCompact ? 1 : 0;
      const auto live = *rig.table().LiveFiles(latest);
      EXPECT_LE(live.size(), 12u);
      int64_t rows = 0;
      for (const ManifestEntry& entry : live) rows += entry.file.row_count;
      EXPECT_EQ(latest.total_record_count, rows);
    }
    EXPECT_GT(compactions, 2);
  }
}

TEST(CompactTableTest, NoFileLeavesWhileRowsAreTakenOutOfIt) {
  const auto state = std::make_shared<TableState>();
  Committable compaction;
  compaction.new_files.push_back(Appended(0, 1));
  compaction.new_files[0].kind = FileKind::kDelete;
  compaction.new_files[0].file.file_name = "data-1";
  int commits = 0;
  const auto commit = [&]() -> Result<void> {
    ++commits;
    return {};
  };
  state->BeginRemovals(4);
  state->Settle(3);
  EXPECT_EQ(state->CommitCompaction(compaction, commit).error().kind(), ErrorKind::kConflict);
  EXPECT_FALSE(state->WasCompacted("data-1"));
  state->Settle(5);
  EXPECT_TRUE(state->CommitCompaction(compaction, commit));
  EXPECT_TRUE(state->WasCompacted("data-1"));
  EXPECT_EQ(commits, 1);
}

// The process dies, and the power fails, at every operation of a compaction.
TEST(CompactTableTest, ACrashAtAnyStepLosesNothing) {
  for (const bool has_key : {true, false}) {
    std::map<std::string, std::string> options = {{"bucket", has_key ? "1" : "-1"},
                                                  {"compaction.min.file-num", "3"},
                                                  {"num-sorted-run.compaction-trigger", "3"}};
    PaimonSchema schema = has_key ? Keyed(options) : Keyless(options);
    schema.fields.resize(4);
    for (int64_t step = 0;; step += 1 + step / 8) {
      SCOPED_TRACE(step);
      auto store = std::make_shared<MemoryStore>();
      PaimonRig rig(store, schema, 36);
      for (int commit = 0; commit < 4; ++commit) {
        rig.WriteRandomChanges(6, 20);
        rig.Commit();
      }
      rig.Restart();
      int64_t at = 0;
      store->SetFaults([&](MemoryStore::Operation, const std::string&) {
        return at++ == step ? MemoryStore::Fault::kCrashAfter : MemoryStore::Fault::kNone;
      });
      const std::atomic<bool> stop{false};
      const PaimonCommitter committer(store, {});
      (void)CompactTable(
          rig.table(), rig.Identity(),
          [&](const CommitIdentity& by, const Committable& files, int64_t base) {
            return committer.CommitCompaction(by, files, base);
          },
          TimeZone(), nullptr, stop);
      const bool crashed = store->crashed();
      store->SetFaults({});
      bool coin = false;
      if (crashed) store->Restart(true, [&] { return coin = !coin; });
      ASSERT_EQ(rig.Read(), rig.Expected());
      ASSERT_TRUE(committer.CleanUp({"pipe", "lake", rig.Identity().table}, {}));
      rig.WriteRandomChanges(6, 20);
      rig.Commit();
      rig.Compact();
      ASSERT_EQ(rig.Read(), rig.Expected());
      if (!crashed) break;
      ASSERT_LT(step, 1000);
    }
  }
}

double ReadSeconds(const PaimonRig& rig) {
  const std::clock_t begin = std::clock();
  for (int i = 0; i < 5; ++i) rig.Read();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// An hour of one commit a second, a part of it here; the whole of it, over larger tables and beside
// the table with everything merged, with DRIFTLESS_LONG_TESTS.
TEST(CompactHourTest, FilesAndManifestsStayFew) {
  const bool is_long = std::getenv("DRIFTLESS_LONG_TESTS") != nullptr;
  const int commits = is_long ? 3600 : 180;
  for (const bool has_key : {true, false}) {
    std::map<std::string, std::string> options = {{"bucket", has_key ? "2" : "-1"},
                                                  {"snapshot.time-retained", "60 s"}};
    PaimonSchema schema = has_key ? Keyed(options) : Keyless(options);
    schema.fields.resize(4);
    auto store = std::make_shared<MemoryStore>();
    PaimonRig rig(store, schema, 37);
    size_t files = 0;
    for (int commit = 1; commit <= commits; ++commit) {
      rig.clock.now_ms += 1000;
      rig.WriteRandomChanges(has_key ? (is_long ? 60 : 20) : 4, is_long ? 50'000 : 1000);
      rig.Commit();
      if (commit % 5 != 0) continue;
      rig.Compact();
      const auto live = *rig.table().LiveFiles(**rig.table().LatestSnapshot());
      files = std::max(files, live.size());
    }
    EXPECT_EQ(rig.Read(), rig.Expected());
    EXPECT_LE(files, has_key ? 12u : 10u);
    std::map<std::string, size_t> stored;
    for (const auto& [path, bytes] : store->Contents()) {
      ++stored[path.find("/manifest/") != std::string::npos   ? "manifest"
               : path.find("/snapshot/") != std::string::npos ? "snapshot"
                                                              : "data"];
    }
    EXPECT_LE(stored["snapshot"], 100u);
    EXPECT_LE(stored["manifest"], 500u);
    EXPECT_LE(stored["data"], 400u);
    if (!is_long) continue;
    const double aged = ReadSeconds(rig);
    rig.Evolve([](PaimonSchema* all) {
      all->options["num-sorted-run.compaction-trigger"] = "2";
      all->options["compaction.max-size-amplification-percent"] = "0";
      all->options["compaction.min.file-num"] = "2";
    });
    rig.Compact();
    EXPECT_EQ(rig.Read(), rig.Expected());
    const double fresh = ReadSeconds(rig);
    std::printf("%s: %zu rows, at most %zu files; read in %.3f CPU-s, merged %.3f: %.2f\n",
                has_key ? "with key" : "without", rig.Expected().size(), files, aged, fresh,
                aged / fresh);
    EXPECT_LE(aged, 1.5 * fresh + 0.1);
  }
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
