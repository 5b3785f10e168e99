#include "sinks/paimon/commit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "sinks/clients/objectstore/memory_store.h"
#include "sinks/paimon/expire.h"

namespace driftless::paimon {
namespace {

using Fault = MemoryStore::Fault;
using Operation = MemoryStore::Operation;
using Options = std::map<std::string, std::string>;

class FixedClock : public Clock {
 public:
  int64_t NowMillis() const override { return now_ms; }
  int64_t MonotonicMicros() const override { return now_ms * 1000; }
  mutable int64_t now_ms = 1'000'000;
};

// A table in memory and what a sink would do with it.
class World {
 public:
  explicit World(Options options = {}) {
    PaimonSchema schema;
    schema.fields = {{0, "k", LogicalType::Int().NotNull(), {}, "", std::nullopt}};
    schema.highest_field_id = 0;
    schema.primary_keys = {"k"};
    schema.options = std::move(options);
    schema.options["bucket"] = "1";
    for (const TablePath& path : {table_path, other_path}) {
      EXPECT_TRUE(
          store->CreateExclusive(TableDirectory(path) + "/schema/schema-0", SchemaToJson(schema)));
    }
  }

  CommitSettings Settings() const {
    CommitSettings settings;
    settings.clock = &clock;
    settings.wait_ms = [this](int64_t ms) { clock.now_ms += ms; };
    settings.threads = 1;
    return settings;
  }
  PaimonCommitter Committer() const { return PaimonCommitter(store, Settings()); }
  PaimonTable Table() const { return PaimonTable(store, TableDirectory(table_path)); }

  CommitIdentity Identity(CutId cut, uint32_t attempt = 1, const std::string& sink = "lake") const {
    return {"pipe", sink, table_path, cut, attempt};
  }
  // Writes a data file, durably, and seals it.
  CommitToken Seal(const CommitIdentity& identity, int64_t rows = 5) const {
    FileNames names(FileOwner(identity.pipeline, identity.sink, identity.table), identity.cut,
                    identity.attempt);
    ManifestEntry entry;
    entry.total_buckets = 1;
    entry.file.file_name = names.Next("data", ".parquet");
    entry.file.row_count = rows;
    const std::string directory = TableDirectory(identity.table);
    EXPECT_TRUE(store->Put(directory + "/bucket-0/" + entry.file.file_name, "rows"));
    EXPECT_TRUE(store->SyncAll());
    const auto latest = PaimonTable(store, directory).LatestSnapshot();
    EXPECT_TRUE(latest);
    Committable committable;
    committable.new_files = {entry};
    return MakeToken(identity, committable, latest && *latest ? (*latest)->id : 0);
  }
  static std::string FileOf(const CommitToken& token) {
    return ReadToken(token)->committable.new_files.front().file.file_name;
  }
  std::multiset<std::string> LiveNames() const {
    std::multiset<std::string> names;
    const auto latest = *Table().LatestSnapshot();
    if (!latest) return names;
    const auto live = Table().LiveFiles(*latest);
    EXPECT_TRUE(live) << live.error().ToString();
    for (const ManifestEntry& entry : *live) names.insert(entry.file.file_name);
    return names;
  }
  // Every retained snapshot can be read to its last data file, and the counts add up.
  void CheckWhole() const {
    const std::map<std::string, std::string> contents = store->Contents();
    const auto ids = Table().SnapshotIds();
    ASSERT_TRUE(ids);
    int64_t expected = ids->empty() ? 0 : ids->front();
    for (const int64_t id : *ids) {
      EXPECT_EQ(id, expected++) << "a gap between snapshots";
      const Snapshot snapshot = *Table().SnapshotAt(id);
      const auto live = Table().LiveFiles(snapshot);
      ASSERT_TRUE(live) << live.error().ToString();
      int64_t rows = 0;
      std::set<std::string> names;
      for (const ManifestEntry& entry : *live) {
        rows += entry.file.row_count;
        EXPECT_TRUE(names.insert(entry.file.file_name).second) << "twice: " << entry.file.file_name;
        EXPECT_TRUE(contents.contains(Table().Path("bucket-0/" + entry.file.file_name)));
      }
      EXPECT_EQ(rows, snapshot.total_record_count);
    }
  }

  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  mutable FixedClock clock;
  const TablePath table_path{"", "db", "t"};
  const TablePath other_path{"", "db", "u"};
};

TEST(CommitTest, ACommitIsASnapshotWithItsIdentity) {
  const World world;
  const CommitToken token = world.Seal(world.Identity(7));
  EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kPrepared);
  ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kCommitted);
  const Snapshot snapshot = **world.Table().LatestSnapshot();
  EXPECT_EQ(snapshot.id, 1);
  EXPECT_EQ(snapshot.commit_user, "driftless-pipe-lake");
  EXPECT_EQ(snapshot.commit_identifier, 7);
  EXPECT_EQ(snapshot.commit_kind, CommitKind::kAppend);
  EXPECT_EQ(snapshot.total_record_count, 5);
  EXPECT_EQ(*world.store->Read("db.db/t/snapshot/LATEST"), "1");
  EXPECT_EQ(*world.store->Read("db.db/t/snapshot/EARLIEST"), "1");
  world.CheckWhole();
  // Repeating it changes nothing.
  ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  EXPECT_EQ((*world.Table().LatestSnapshot())->id, 1);
}

TEST(CommitTest, SeveralTablesAndCutsInOneCall) {
  const World world;
  CommitIdentity other = world.Identity(1);
  other.table = world.other_path;
  const std::vector<CommitToken> tokens = {world.Seal(world.Identity(1)), world.Seal(other),
                                           world.Seal(world.Identity(2))};
  ASSERT_TRUE(world.Committer().Commit(tokens));
  const PaimonTable table = world.Table();
  EXPECT_EQ((*table.LatestSnapshot())->id, 2);
  EXPECT_EQ(table.SnapshotAt(1)->commit_identifier, 1);
  EXPECT_EQ(table.SnapshotAt(2)->commit_identifier, 2);
  EXPECT_EQ((*PaimonTable(world.store, "db.db/u").LatestSnapshot())->id, 1);
  world.CheckWhole();
}

TEST(CommitTest, ACutWithoutFilesMakesNoSnapshot) {
  const World world;
  const CommitToken token = MakeToken(world.Identity(1), Committable(), 0);
  ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kCommitted);
  EXPECT_FALSE(world.Table().LatestSnapshot()->has_value());
}

// A lost state folder begins to count cuts anew; the old commit of that number is not ours.
TEST(CommitTest, ACutNumberThatWasUsedBeforeIsAnotherCommit) {
  const World world;
  const CommitToken old_token = world.Seal(world.Identity(1));
  ASSERT_TRUE(world.Committer().Commit({&old_token, 1}));
  const CommitToken token = world.Seal(world.Identity(1));
  EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kPrepared);
  ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  EXPECT_EQ(world.LiveNames().size(), 2U);
}

// Somebody else's snapshot appears between reading the latest one and creating ours, many times.
TEST(CommitTest, TheLoserOfARaceBuildsOnTheWinner) {
  const World world;
  const CommitToken ours = world.Seal(world.Identity(1));
  std::vector<CommitToken> theirs;
  for (CutId cut = 1; cut <= 3; ++cut)
    theirs.push_back(world.Seal(world.Identity(cut, 1, "other")));
  class RacingStore : public MemoryStore {
   public:
    explicit RacingStore(std::shared_ptr<MemoryStore> inner) : inner_(std::move(inner)) {}
    std::function<void()> before_create;
    std::vector<Result<void>> CreateExclusive(std::span<const NewObject> objects) override {
      if (before_create) before_create();
      return inner_->CreateExclusive(objects);
    }
    Result<void> Put(const std::string& p, std::string_view b) override {
      return inner_->Put(p, b);
    }
    Result<std::string> Read(const std::string& p) override { return inner_->Read(p); }
    Result<std::optional<ObjectInfo>> Stat(const std::string& p) override {
      return inner_->Stat(p);
    }
    Result<std::vector<ListedObject>> List(const std::string& d, Depth depth) override {
      return inner_->List(d, depth);
    }
    Result<void> Delete(const std::string& p) override { return inner_->Delete(p); }

   private:
    std::shared_ptr<MemoryStore> inner_;
  };
  auto racing = std::make_shared<RacingStore>(world.store);
  size_t next = 0;
  racing->before_create = [&] {
    if (next == theirs.size()) return;
    ASSERT_TRUE(world.Committer().Commit({&theirs[next++], 1}));
  };
  const Result<void> committed = PaimonCommitter(racing, world.Settings()).Commit({&ours, 1});
  ASSERT_TRUE(committed) << committed.error().ToString();
  EXPECT_EQ((*world.Table().LatestSnapshot())->id, 4);
  EXPECT_EQ((*world.Table().LatestSnapshot())->commit_user, "driftless-pipe-lake");
  EXPECT_EQ(world.LiveNames().size(), 4U);
  world.CheckWhole();
  // The lost rounds left no metadata behind: every list belongs to a snapshot.
  std::set<std::string> used;
  for (int64_t id = 1; id <= 4; ++id) {
    used.insert(world.Table().SnapshotAt(id)->base_manifest_list);
    used.insert(world.Table().SnapshotAt(id)->delta_manifest_list);
  }
  size_t lists = 0;
  for (const auto& [path, bytes] : world.store->Contents()) {
    if (path.find("/manifest-list-") != std::string::npos) ++lists;
  }
  EXPECT_EQ(lists, used.size());
}

TEST(CommitTest, EndlessRacesEndWithAnError) {
  World world(Options{{"commit.max-retries", "3"}});
  const CommitToken ours = world.Seal(world.Identity(1));
  int creates = 0;
  world.store->SetFaults([&](Operation operation, const std::string&) {
    if (operation != Operation::kCreate) return Fault::kNone;
    ++creates;
    return Fault::kRefuse;
  });
  const Result<void> committed = world.Committer().Commit({&ours, 1});
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(creates, 4);
  world.store->SetFaults({});
  EXPECT_EQ(*world.Committer().LookUp(ours), CommitState::kPrepared);
}

TEST(CommitTest, ALostAnswerIsLookedUp) {
  const World world;
  const CommitToken token = world.Seal(world.Identity(1));
  world.store->SetFaults([](Operation operation, const std::string&) {
    return operation == Operation::kCreate ? Fault::kLoseAnswer : Fault::kNone;
  });
  ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  EXPECT_EQ((*world.Table().LatestSnapshot())->id, 1);
  world.CheckWhole();
}

TEST(CommitTest, AnAnswerThatCannotBeLookedUpIsUnknown) {
  const World world;
  const CommitToken token = world.Seal(world.Identity(1));
  bool created = false;
  world.store->SetFaults([&](Operation operation, const std::string&) {
    if (operation == Operation::kCreate) created = true;
    if (!created) return Fault::kNone;
    return operation == Operation::kCreate ? Fault::kLoseAnswer : Fault::kRefuse;
  });
  const Result<void> committed = world.Committer().Commit({&token, 1});
  ASSERT_FALSE(committed);
  world.store->SetFaults({});
  EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kCommitted);
}

TEST(CommitTest, LookUpSaysGoneWhereTheTableOrTheFilesAreGone) {
  const World world;
  const CommitToken token = world.Seal(world.Identity(1));
  ASSERT_TRUE(world.store->Delete("db.db/t/bucket-0/" + World::FileOf(token)));
  EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kGone);
  const CommitToken second = world.Seal(world.Identity(2));
  ASSERT_TRUE(world.store->Delete("db.db/t/schema/schema-0"));
  EXPECT_EQ(*world.Committer().LookUp(second), CommitState::kGone);
}

TEST(CommitTest, AbortRemovesFilesUnlessTheyAreCommitted) {
  const World world;
  const std::vector<CommitToken> tokens = {world.Seal(world.Identity(1)),
                                           world.Seal(world.Identity(2))};
  ASSERT_TRUE(world.Committer().Commit({tokens.data(), 1}));
  ASSERT_TRUE(world.Committer().Abort(tokens));
  const auto contents = world.store->Contents();
  EXPECT_TRUE(contents.contains("db.db/t/bucket-0/" + World::FileOf(tokens[0])));
  EXPECT_FALSE(contents.contains("db.db/t/bucket-0/" + World::FileOf(tokens[1])));
  EXPECT_EQ(*world.Committer().LookUp(tokens[1]), CommitState::kGone);
}

TEST(CommitTest, CleanUpTakesOwnLeftoversOnly) {
  const World world;
  const CommitToken committed = world.Seal(world.Identity(5));
  ASSERT_TRUE(world.Committer().Commit({&committed, 1}));
  const CommitToken recorded = world.Seal(world.Identity(6));
  const CommitToken leftover = world.Seal(world.Identity(6));
  const CommitToken foreign = world.Seal(world.Identity(6, 1, "other"));
  ASSERT_TRUE(world.store->Put(
      "db.db/t/bucket-0/data-17c2f3e4-3431-4995-a821-344c36ab6989-0.parquet", "java's"));
  ASSERT_TRUE(world.Committer().CleanUp({"pipe", "lake", world.table_path}, {&recorded, 1}));
  const auto contents = world.store->Contents();
  for (const CommitToken* kept : {&committed, &recorded, &foreign}) {
    EXPECT_TRUE(contents.contains("db.db/t/bucket-0/" + World::FileOf(*kept)));
  }
  EXPECT_FALSE(contents.contains("db.db/t/bucket-0/" + World::FileOf(leftover)));
  EXPECT_TRUE(
      contents.contains("db.db/t/bucket-0/data-17c2f3e4-3431-4995-a821-344c36ab6989-0.parquet"));
  world.CheckWhole();
}

// Where no snapshot of ours is retained any more, the files that are in use are told by reference.
TEST(CommitTest, CleanUpNeverTakesFilesInUse) {
  const World world;
  const CommitToken token = world.Seal(world.Identity(5));
  ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  // The same snapshot under another user's name.
  Snapshot snapshot = **world.Table().LatestSnapshot();
  snapshot.commit_user = "somebody";
  snapshot.properties.clear();
  ASSERT_TRUE(world.store->Put("db.db/t/snapshot/snapshot-1", SnapshotToJson(snapshot)));
  ASSERT_TRUE(world.Committer().CleanUp({"pipe", "lake", world.table_path}, {}));
  world.CheckWhole();
  EXPECT_EQ(world.LiveNames().size(), 1U);
}

TEST(CommitTest, ManifestsAreMergedAndNothingIsLost) {
  World world(Options{{"manifest.merge-min-count", "4"}});
  std::multiset<std::string> expected;
  size_t most = 0;
  for (CutId cut = 1; cut <= 40; ++cut) {
    const CommitToken token = world.Seal(world.Identity(cut));
    expected.insert(World::FileOf(token));
    ASSERT_TRUE(world.Committer().Commit({&token, 1}));
    const Snapshot snapshot = **world.Table().LatestSnapshot();
    most = std::max(most, world.Table().ReadManifestList(snapshot.base_manifest_list)->size());
  }
  EXPECT_EQ(world.LiveNames(), expected);
  EXPECT_LE(most, 4U);
  world.CheckWhole();
}

// A compaction by somebody else: DELETE of our files, ADD of one bigger file.
TEST(CommitTest, ForeignCompactionsAreKeptAndExpireWithTheirFiles) {
  World world(Options{{"snapshot.num-retained.min", "1"},
                      {"snapshot.num-retained.max", "2"},
                      {"manifest.merge-min-count", "3"},
                      {"manifest.full-compaction-threshold-size", "1 b"}});
  std::vector<CommitToken> tokens;
  for (CutId cut = 1; cut <= 2; ++cut) {
    tokens.push_back(world.Seal(world.Identity(cut)));
    ASSERT_TRUE(world.Committer().Commit({&tokens.back(), 1}));
  }
  Snapshot compact = **world.Table().LatestSnapshot();
  std::vector<ManifestEntry> entries;
  entries = *world.Table().LiveFiles(compact);
  for (ManifestEntry& entry : entries) entry.kind = FileKind::kDelete;
  ManifestEntry big = entries.front();
  big.kind = FileKind::kAdd;
  big.file.file_name = "data-compacted-0.parquet";
  big.file.level = 5;
  big.file.row_count = 10;
  entries.push_back(big);
  ASSERT_TRUE(world.store->Put("db.db/t/bucket-0/data-compacted-0.parquet", "rows"));
  ManifestFileMeta meta;
  meta.file_name = "manifest-x-0";
  meta.file_size = 100;
  meta.num_added_files = 1;
  meta.num_deleted_files = 2;
  std::vector<ManifestFileMeta> base = *world.Table().ReadManifestList(compact.base_manifest_list);
  base.push_back(world.Table().ReadManifestList(compact.delta_manifest_list)->front());
  ASSERT_TRUE(world.store->Put("db.db/t/manifest/manifest-x-0", *EncodeManifest(entries, "zstd")));
  ASSERT_TRUE(
      world.store->Put("db.db/t/manifest/manifest-list-x-0", *EncodeManifestList(base, "zstd")));
  ASSERT_TRUE(
      world.store->Put("db.db/t/manifest/manifest-list-x-1", *EncodeManifestList({meta}, "zstd")));
  compact.id += 1;
  compact.base_manifest_list = "manifest-list-x-0";
  compact.delta_manifest_list = "manifest-list-x-1";
  compact.commit_kind = CommitKind::kCompact;
  compact.commit_user = "compactor";
  compact.properties.clear();
  ASSERT_TRUE(world.store->CreateExclusive(
      "db.db/t/snapshot/snapshot-" + std::to_string(compact.id), SnapshotToJson(compact)));
  EXPECT_THAT(world.LiveNames(), testing::ElementsAre("data-compacted-0.parquet"));
  for (CutId cut = 3; cut <= 6; ++cut) {
    tokens.push_back(world.Seal(world.Identity(cut)));
    const Result<void> committed = world.Committer().Commit({&tokens.back(), 1});
    ASSERT_TRUE(committed) << committed.error().ToString();
    world.CheckWhole();
  }
  EXPECT_EQ(world.LiveNames().size(), 5U);
  EXPECT_THAT(*world.Table().SnapshotIds(), testing::ElementsAre(6, 7));
  const auto contents = world.store->Contents();
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(contents.contains("db.db/t/bucket-0/" + World::FileOf(tokens[i])), i >= 2) << i;
  }
  // Metadata: two snapshots' worth and no more.
  std::unordered_set<std::string> needed = *EverythingNeeded(world.Table());
  for (const auto& [path, bytes] : contents) {
    if (!path.starts_with("db.db/t/manifest/")) continue;
    EXPECT_TRUE(needed.contains(path.substr(8))) << path;
  }
}

TEST(CommitTest, ExpiryKeepsWhatTimeTagsAndConsumersHold) {
  World world(Options{{"snapshot.num-retained.min", "1"}, {"snapshot.time-retained", "10 s"}});
  const auto commit = [&](CutId cut) {
    world.clock.now_ms += 1000;
    const CommitToken token = world.Seal(world.Identity(cut));
    ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  };
  for (CutId cut = 1; cut <= 5; ++cut) commit(cut);
  EXPECT_EQ(world.Table().SnapshotIds()->size(), 5U);  // all younger than 10 s
  ASSERT_TRUE(world.store->Put("db.db/t/tag/tag-x", SnapshotToJson(*world.Table().SnapshotAt(2))));
  ASSERT_TRUE(world.store->Put("db.db/t/consumer/consumer-c", R"({"nextSnapshot":4})"));
  world.clock.now_ms += 60'000;
  commit(6);
  EXPECT_EQ(world.Table().SnapshotIds()->front(), 4);
  EXPECT_EQ(*world.store->Read("db.db/t/snapshot/EARLIEST"), "4");
  const auto tagged = world.Table().LiveFiles(*world.Table().ReadSnapshot("db.db/t/tag/tag-x"));
  ASSERT_TRUE(tagged) << tagged.error().ToString();
  EXPECT_EQ(tagged->size(), 2U);
  ASSERT_TRUE(world.store->Delete("db.db/t/consumer/consumer-c"));
  commit(7);
  EXPECT_EQ(world.Table().SnapshotIds()->front(), 5);  // the state of 60 s ago ended 1 s ago
  world.CheckWhole();
}

TEST(CommitTest, WriteOnlyTablesAreNotExpired) {
  World world(Options{{"snapshot.num-retained.min", "1"},
                      {"snapshot.num-retained.max", "1"},
                      {"write-only", "true"}});
  for (CutId cut = 1; cut <= 4; ++cut) {
    const CommitToken token = world.Seal(world.Identity(cut));
    ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  }
  EXPECT_EQ(world.Table().SnapshotIds()->size(), 4U);
}

TEST(CommitTest, IndexFilesReplaceThoseOfTheirBucket) {
  const World world;
  const auto commit = [&](CutId cut, int32_t bucket, const std::string& name,
                          const std::string& sink) {
    const auto latest = *world.Table().LatestSnapshot();
    IndexManifestEntry index;
    index.bucket = bucket;
    index.index_type = "HASH";
    index.file_name = name;
    Committable committable;
    committable.index_files = {index};
    const CommitToken token =
        MakeToken(world.Identity(cut, 1, sink), committable, latest ? latest->id : 0);
    return std::pair(world.Committer().Commit({&token, 1}), token);
  };
  ASSERT_TRUE(commit(1, 0, "index-a", "lake").first);
  ASSERT_TRUE(commit(2, 1, "index-b", "lake").first);
  ASSERT_TRUE(commit(3, 0, "index-c", "lake").first);
  std::set<std::string> names;
  const std::vector<IndexManifestEntry> entries =
      *world.Table().IndexFiles(**world.Table().LatestSnapshot());
  for (const IndexManifestEntry& entry : entries) names.insert(entry.file_name);
  EXPECT_THAT(names, testing::ElementsAre("index-b", "index-c"));
  // Another writer that assigns keys in between would make two buckets own one key.
  IndexManifestEntry index = entries.front();
  index.file_name = "index-d";
  Committable committable;
  committable.index_files = {index};
  const CommitToken late = MakeToken(world.Identity(4), committable, 3);
  ASSERT_TRUE(commit(1, 0, "index-e", "other").first);
  const Result<void> committed = world.Committer().Commit({&late, 1});
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().kind(), ErrorKind::kConflict);
}

// The machine loses power before or after every single operation of a commit that also merges
// manifests and expires snapshots. After the restart LookUp and Commit bring the cut in exactly
// once.
// The process dies between making the snapshot and syncing it; the next one finds it and records
// it.
TEST(CommitTest, WhatIsFoundCommittedSurvivesAPowerCut) {
  for (const bool repeats : {false, true}) {
    World world;
    const CommitToken token = world.Seal(world.Identity(1));
    world.store->SetFaults([](Operation operation, const std::string& path) {
      const bool is_snapshot = path.ends_with("snapshot/snapshot-1");
      return operation == Operation::kCreate && is_snapshot ? Fault::kCrashAfter : Fault::kNone;
    });
    EXPECT_FALSE(world.Committer().Commit({&token, 1}));
    world.store->SetFaults(nullptr);
    world.store->Restart(/*power_cut=*/false, [] { return false; });
    if (repeats) {
      EXPECT_TRUE(world.Committer().Commit({&token, 1}));
    } else {
      EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kCommitted);
    }
    world.store->Restart(/*power_cut=*/true, [] { return false; });
    EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kCommitted) << repeats;
  }
}

TEST(CommitTest, ACrashAtEveryStepIsRecovered) {
  std::mt19937 random(3);
  for (const Fault fault : {Fault::kCrash, Fault::kCrashAfter}) {
    for (const bool power_cut : {false, true}) {
      for (int64_t at = 0;; ++at) {
        World world(Options{{"snapshot.num-retained.min", "1"},
                            {"snapshot.num-retained.max", "2"},
                            {"manifest.merge-min-count", "2"},
                            {"commit.max-retries", "2"}});
        std::multiset<std::string> expected;
        for (CutId cut = 3; cut <= 5; ++cut) {
          const CommitToken token = world.Seal(world.Identity(cut));
          expected.insert(World::FileOf(token));
          ASSERT_TRUE(world.Committer().Commit({&token, 1}));
        }
        const CommitToken token = world.Seal(world.Identity(6));
        expected.insert(World::FileOf(token));
        int64_t operation = 0;
        world.store->SetFaults([&](Operation, const std::string&) {
          return operation++ == at ? fault : Fault::kNone;
        });
        const Result<void> first = world.Committer().Commit({&token, 1});
        const bool crashed = world.store->crashed();
        world.store->SetFaults({});
        world.store->Restart(power_cut, [&] { return random() % 2 == 0; });
        if (!crashed) {
          ASSERT_TRUE(first);
          break;  // every operation has had its crash
        }
        ASSERT_TRUE(world.Committer().CleanUp({"pipe", "lake", world.table_path}, {&token, 1}));
        const Result<CommitState> state = world.Committer().LookUp(token);
        ASSERT_TRUE(state) << state.error().ToString();
        ASSERT_THAT(*state, testing::AnyOf(CommitState::kPrepared, CommitState::kCommitted));
        if (first) {
          ASSERT_EQ(*state, CommitState::kCommitted) << at;
        }
        const Result<void> again = world.Committer().Commit({&token, 1});
        ASSERT_TRUE(again) << at << ": " << again.error().ToString();
        ASSERT_EQ(*world.Committer().LookUp(token), CommitState::kCommitted);
        ASSERT_EQ(world.LiveNames(), expected) << "crash at operation " << at;
        ASSERT_EQ((*world.Table().LatestSnapshot())->id, 4);
        const CommitToken next = world.Seal(world.Identity(7, 2));
        ASSERT_TRUE(world.Committer().Commit({&next, 1}));
        const Snapshot latest = **world.Table().LatestSnapshot();
        ASSERT_EQ(latest.total_record_count, 25);
      }
    }
  }
}

}  // namespace
}  // namespace driftless::paimon
