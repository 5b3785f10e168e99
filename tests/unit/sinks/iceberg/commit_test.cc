#include "sinks/iceberg/commit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "schema/events/change_batch_builder.h"
#include "sinks/api/projection.h"
#include "sinks/clients/objectstore/memory_store.h"
#include "sinks/iceberg/table_scan.h"
#include "sinks/iceberg/writer.h"

namespace driftless::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Fault = MemoryStore::Fault;
using Operation = MemoryStore::Operation;
using Rows = std::vector<std::string>;

// A row with the key `id`; without a note the row with that key leaves.
struct Change {
  int64_t id = 0;
  const char* note = nullptr;
  const char* old_note = nullptr;  // of a row that changes or leaves
};

// The hadoop catalog with another writer that comes first as often as `races` says.
class RacingCatalog : public Catalog {
 public:
  explicit RacingCatalog(std::unique_ptr<Catalog> inner) : inner_(std::move(inner)) {}
  int races = 0;
  std::function<void()> before_commit;  // runs once
  bool repeats = false;                 // every commit, whose first answer nobody sees

  Result<std::string> Connect() override { return inner_->Connect(); }
  std::string identity() const override { return inner_->identity(); }
  Result<std::optional<LoadedTable>> Load(const TablePath& table) override {
    return inner_->Load(table);
  }
  Result<void> Create(const TablePath& table, const NewTable& created) override {
    return inner_->Create(table, created);
  }
  std::vector<Result<void>> Commit(std::span<const CatalogCommit> commits) override {
    if (before_commit) std::exchange(before_commit, nullptr)();
    if (races > 0 && !commits.empty()) {
      MetadataChange theirs;
      theirs.set_properties["theirs"] = std::to_string(races--);
      const CatalogCommit commit{commits[0].table, commits[0].base, &theirs};
      EXPECT_TRUE(inner_->Commit({&commit, 1}).front());
    }
    if (repeats) {
      for (const Result<void>& first : inner_->Commit(commits)) EXPECT_TRUE(first);
    }
    return inner_->Commit(commits);
  }

 private:
  std::unique_ptr<Catalog> inner_;
};

// One table in memory, written as the sink writes it.
class World {
 public:
  explicit World(bool has_key = true, int format_version = 2) {
    NewTable created;
    created.schema.fields = {MakeField(1, "id", LogicalType::BigInt().NotNull(), "\"long\""),
                             MakeField(2, "note", LogicalType::String(), "\"string\"")};
    created.format_version = format_version;
    if (has_key) created.schema.identifier_ids = {1};
    EXPECT_TRUE(catalog.Create(path, created));
    evolved.path = path;
    source = std::make_shared<TableSchema>();
    for (const Field& field : created.schema.fields) {
      EvolvedColumn column;
      column.sink.name = field.name;
      column.sink.type = field.type;
      column.source = source->AddColumn(field.name, field.type).id;
      evolved.columns.push_back(column);
    }
    if (has_key) {
      evolved.primary_key = {"id"};
      source->primary_key = {evolved.columns[0].source};
    }
  }

  static Field MakeField(int32_t id, std::string name, LogicalType type, std::string json) {
    Field field;
    field.id = id;
    field.name = std::move(name);
    field.type = std::move(type);
    field.type_json = std::move(json);
    return field;
  }

  IcebergCommitter Committer() const {
    CommitSettings settings;
    settings.catalog = &catalog;
    settings.clock = SystemClock();
    settings.wait_ms = [](int64_t) {};
    settings.warn = [this](const Error& error) { warnings.push_back(error.message()); };
    settings.threads = 1;
    return IcebergCommitter(settings);
  }

  CommitIdentity Identity(CutId cut, const std::string& sink = "lake") const {
    return {"pipe", sink, path, cut, 1};
  }

  // Each inner list is flushed on its own.
  CommitToken Seal(const CommitIdentity& identity,
                   const std::vector<std::vector<Change>>& flushes) const {
    WriterSetup setup;
    setup.table = **catalog.Load(path);
    auto format = FileFormat::Make(setup.table.metadata, evolved);
    EXPECT_TRUE(format) << format.error().ToString();
    setup.format = *std::move(format);
    WriterContext context;
    context.identity = identity;
    auto writer = MakeIcebergWriter(std::move(setup), context);
    EXPECT_TRUE(writer) << writer.error().ToString();
    const Projection projection =
        Projection::Make(*source, evolved, OnCastFailure::kFail, OnNullViolation::kFail);
    for (const std::vector<Change>& changes : flushes) {
      std::vector<uint32_t> rows;
      const ChangeBatchPtr batch = BatchOf(changes, &rows);
      const auto written = (*writer)->Write(batch, projection, rows);
      EXPECT_TRUE(written) << written.error().ToString();
      EXPECT_TRUE((*writer)->Roll());
    }
    const auto part = (*writer)->Prepare(identity.cut);
    EXPECT_TRUE(part) << part.error().ToString();
    const auto token = Committer().Seal(identity, {&*part, 1});
    EXPECT_TRUE(token) << token.error().ToString();
    return *token;
  }

  LoadedTable Table() const { return **catalog.Load(path); }
  size_t Snapshots() const { return Table().metadata.snapshots.size(); }

  Rows Read(std::optional<int64_t> snapshot = std::nullopt) const {
    Rows rows;
    auto scan = TableScan::Open(Table(), snapshot);
    EXPECT_TRUE(scan) << scan.error().ToString();
    ScannedRow row;
    while (true) {
      const auto more = scan->Next(&row);
      EXPECT_TRUE(more) << more.error().ToString();
      if (!more || !*more) break;
      const auto columns = row.row.columns();
      rows.push_back(std::to_string(columns[0].Fixed<int64_t>(row.row.row)) + " " +
                     std::string(columns[1].Bytes(row.row.row)));
    }
    std::ranges::sort(rows);
    return rows;
  }

  std::set<std::string> Paths(std::string_view part) const {
    std::set<std::string> paths;
    for (const auto& [name, bytes] : store->Contents()) {
      if (name.find(part) != std::string::npos) paths.insert(name);
    }
    return paths;
  }
  static std::set<std::string> FilesOf(const CommitToken& token, bool deletes = true) {
    std::set<std::string> paths;
    const Committable files = *DecodeCommittable(token.payload);
    for (const auto& batch : files.batches) {
      for (const DataFile& file : batch) {
        if (!deletes && file.content != FileContent::kData) continue;
        paths.insert(file.path.substr(file.path.find("db/t/")));
      }
    }
    return paths;
  }
  LiveFiles Live() const {
    const LoadedTable table = Table();
    return *ReadLiveFiles(table, *table.metadata.current_snapshot());
  }

  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  mutable RacingCatalog catalog{MakeHadoopCatalog(store, SystemClock())};
  const TablePath path{"", "db", "t"};
  EvolvedSchema evolved;
  std::shared_ptr<TableSchema> source;
  mutable std::vector<std::string> warnings;

 private:
  ChangeBatchPtr BatchOf(const std::vector<Change>& changes, std::vector<uint32_t>* rows) const {
    ChangeBatchBuilder builder(source, 0);
    for (const Change& change : changes) {
      const Op op = change.note == nullptr       ? Op::kDelete
                    : change.old_note != nullptr ? Op::kUpdate
                                                 : Op::kInsert;
      builder.BeginRow(op, Point{0, 0, ++sequence_, 0, 0}, 0);
      if (op != Op::kDelete) {
        builder.after(0).AppendInt(change.id);
        builder.after(1).AppendBytes(change.note);
      }
      if (op != Op::kInsert) {
        builder.before(0).AppendInt(change.id);
        builder.before(1).AppendBytes(change.old_note != nullptr ? change.old_note : "");
      }
      builder.EndRow();
      rows->push_back(static_cast<uint32_t>(rows->size()));
    }
    return builder.Seal();
  }
  mutable uint64_t sequence_ = 0;
};

TEST(IcebergCommit, UpsertsOverFlushesAndCuts) {
  const World world;
  const CommitToken first = world.Seal(
      world.Identity(1), {{{1, "a"}, {2, "b"}, {1, "c", "a"}}, {{2, "d", "b"}, {3, "e"}}});
  EXPECT_EQ(*world.Committer().LookUp(first), CommitState::kPrepared);
  EXPECT_THAT(world.Read(), IsEmpty()) << "visible before the commit";
  ASSERT_TRUE(world.Committer().Commit({&first, 1}));
  EXPECT_EQ(*world.Committer().LookUp(first), CommitState::kCommitted);
  // An equality delete holds for earlier snapshots only, so a flush is one.
  EXPECT_EQ(world.Snapshots(), 2U);
  EXPECT_THAT(world.Read(), ElementsAre("1 c", "2 d", "3 e"));
  const int64_t then = world.Table().metadata.current_snapshot_id;
  const CommitToken second = world.Seal(world.Identity(2), {{{1, nullptr, "c"}, {3, "f", "e"}}});
  ASSERT_TRUE(world.Committer().Commit({&second, 1}));
  EXPECT_THAT(world.Read(), ElementsAre("2 d", "3 f"));
  EXPECT_THAT(world.Read(then), ElementsAre("1 c", "2 d", "3 e"));
  // Repeating it changes nothing.
  ASSERT_TRUE(world.Committer().Commit({&second, 1}));
  EXPECT_EQ(world.Snapshots(), 3U);
}

// Deletes by key hold for rows of earlier snapshots: where there are none they say nothing.
TEST(IcebergCommit, DeletesThatHitNothingAreLeftOut) {
  const World world;
  const CommitToken first =
      world.Seal(world.Identity(1), {{{1, "a"}, {5, "b"}}, {{7, "c"}}, {{5, "d", "b"}}});
  ASSERT_TRUE(world.Committer().Commit({&first, 1}));
  EXPECT_THAT(world.Read(), ElementsAre("1 a", "5 d", "7 c"));
  const LiveFiles live = world.Live();
  EXPECT_EQ(live.data.size(), 3U);
  ASSERT_EQ(live.deletes.size(), 1U) << "only the third batch changes a row";
  std::set<std::string> kept = World::FilesOf(first, /*deletes=*/false);
  const std::string& path = live.deletes[0].file.path;
  kept.insert(path.substr(path.find("db/t/")));
  EXPECT_EQ(world.Paths("/data/"), kept) << "what is left out is deleted";
  EXPECT_EQ(world.Table().metadata.snapshots[0].summary.Find("operation"), "append");
  // A table with rows: whether they are hit is not known.
  const CommitToken second = world.Seal(world.Identity(2), {{{9, "e"}}});
  ASSERT_TRUE(world.Committer().Commit({&second, 1}));
  EXPECT_EQ(world.Live().deletes.size(), 2U);
}

// The table gets rows between the look at it and the commit, which is in conflict then.
TEST(IcebergCommit, DeletesOfATableThatGotRowsMeanwhileStay) {
  for (const bool is_race : {false, true}) {
    const World world;
    const CommitToken ours = world.Seal(world.Identity(1), {{{1, "ours"}}});
    const CommitToken theirs = world.Seal(world.Identity(1, "other"), {{{1, "theirs"}}});
    const auto commit_theirs = [&] { EXPECT_TRUE(world.Committer().Commit({&theirs, 1})); };
    if (is_race) {
      world.catalog.before_commit = commit_theirs;
    } else {
      commit_theirs();
    }
    ASSERT_TRUE(world.Committer().Commit({&ours, 1}));
    EXPECT_THAT(world.Read(), ElementsAre("1 ours"));
    EXPECT_EQ(world.Live().deletes.size(), 1U);
    for (const ManifestEntry& entry : world.Live().deletes) {
      EXPECT_EQ(world.Paths(entry.file.path.substr(entry.file.path.find("db/t/"))).size(), 1U);
    }
  }
}

// Format version 2 has position delete files, version 3 deletion vectors.
class IcebergCommitVersions : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Formats, IcebergCommitVersions, testing::Values(2, 3));

TEST_P(IcebergCommitVersions, RowsWithoutKeyLeaveOneByOne) {
  const World world(false, GetParam());
  const CommitToken first = world.Seal(world.Identity(1), {{{1, "a"}, {1, "a"}, {2, "b"}}});
  ASSERT_TRUE(world.Committer().Commit({&first, 1}));
  const CommitToken second = world.Seal(
      world.Identity(2), {{{1, nullptr, "a"}, {3, "c"}}, {{3, "d", "c"}, {2, "B", "b"}}});
  ASSERT_TRUE(world.Committer().Commit({&second, 1}));
  EXPECT_THAT(world.Read(), ElementsAre("1 a", "2 B", "3 d"));
  EXPECT_THAT(world.warnings, IsEmpty());
  EXPECT_THAT(world.Paths("/removed-"), IsEmpty()) << "what was looked for stays behind";
  const CommitToken third = world.Seal(world.Identity(3), {{{7, nullptr, "nobody"}}});
  ASSERT_TRUE(world.Committer().Commit({&third, 1}));
  EXPECT_EQ(world.warnings.size(), 1U);
  EXPECT_THAT(world.Read(), ElementsAre("1 a", "2 B", "3 d"));
}

TEST(IcebergCommit, ALostAnswerIsLookedUp) {
  for (const bool has_key : {true, false}) {
    const World world(has_key);
    const CommitToken token = world.Seal(world.Identity(1), {{{1, "a"}}});
    int lost = 0;
    world.store->SetFaults([&](Operation operation, const std::string&) {
      return operation == Operation::kCreate && lost++ == 0 ? Fault::kLoseAnswer : Fault::kNone;
    });
    ASSERT_TRUE(world.Committer().Commit({&token, 1}));
    world.store->SetFaults({});
    EXPECT_EQ(lost, 1);
    EXPECT_EQ(world.Snapshots(), 1U);
    EXPECT_THAT(world.Read(), ElementsAre("1 a"));
  }
}

TEST(IcebergCommit, AnAnswerThatCannotBeLookedUpIsAnErrorAndDeletesNothing) {
  const World world;
  const CommitToken token = world.Seal(world.Identity(1), {{{1, "a"}}});
  bool created = false;
  int deletes = 0;
  world.store->SetFaults([&](Operation operation, const std::string&) {
    if (operation == Operation::kDelete) ++deletes;
    if (operation == Operation::kCreate && !created) {
      created = true;
      return Fault::kLoseAnswer;
    }
    return created ? Fault::kRefuse : Fault::kNone;
  });
  EXPECT_FALSE(world.Committer().Commit({&token, 1}));
  world.store->SetFaults({});
  EXPECT_EQ(deletes, 0);
  EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kCommitted);
  EXPECT_THAT(world.Read(), ElementsAre("1 a"));
}

TEST(IcebergCommit, TheLoserOfARaceBuildsOnTheWinner) {
  const World world;
  const CommitToken token = world.Seal(world.Identity(1), {{{1, "a"}}});
  world.catalog.races = 3;
  ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  EXPECT_EQ(world.Table().metadata.Property("theirs", ""), "1");
  EXPECT_EQ(world.Snapshots(), 1U);
  EXPECT_THAT(world.Read(), ElementsAre("1 a"));
  // The lost rounds left no lists behind.
  EXPECT_EQ(world.Paths("/metadata/snap-").size(), 1U);
}

TEST(IcebergCommit, EndlessRacesEndWithAConflict) {
  const World world;
  const CommitToken token = world.Seal(world.Identity(1), {{{1, "a"}}});
  world.catalog.races = 1000;
  const auto committed = world.Committer().Commit({&token, 1});
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().kind(), ErrorKind::kConflict);
  world.catalog.races = 0;
  EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kPrepared);
  EXPECT_THAT(world.Read(), IsEmpty());
}

// A proxy may send a request twice; the second time it is in conflict with itself.
TEST(IcebergCommit, AConflictWithItselfIsLookedUpAndDeletesNothing) {
  const World world;
  const CommitToken token = world.Seal(world.Identity(1), {{{1, "a"}}});
  world.catalog.repeats = true;
  ASSERT_TRUE(world.Committer().Commit({&token, 1}));
  EXPECT_EQ(world.Snapshots(), 1U);
  EXPECT_THAT(world.Read(), ElementsAre("1 a"));
}

// Others may expire our snapshots before we have recorded what we committed.
TEST(IcebergCommit, ACutIsRecognisedThoughItsSnapshotIsGone) {
  const World world;
  std::vector<CommitToken> tokens;
  for (CutId cut = 1; cut <= 3; ++cut) {
    tokens.push_back(world.Seal(world.Identity(cut), {{{static_cast<int64_t>(cut), "a"}}}));
    ASSERT_TRUE(world.Committer().Commit({&tokens.back(), 1}));
  }
  const LoadedTable table = world.Table();
  MetadataChange theirs;
  for (const Snapshot& snapshot : table.metadata.snapshots) {
    if (snapshot.id != table.metadata.current_snapshot_id) {
      theirs.removed_snapshots.push_back(snapshot.id);
    }
  }
  const CatalogCommit expired{world.path, &table, &theirs};
  ASSERT_TRUE(world.catalog.Commit({&expired, 1}).front());
  for (const CommitToken& token : tokens) {
    EXPECT_EQ(*world.Committer().LookUp(token), CommitState::kCommitted);
  }
  ASSERT_TRUE(world.Committer().Commit(tokens));
  EXPECT_EQ(world.Snapshots(), 1U);
  EXPECT_THAT(world.Read(), ElementsAre("1 a", "2 a", "3 a"));
}

TEST(IcebergCommit, AbortRemovesItsOwnFilesUnlessTheyAreCommitted) {
  const World world;
  const std::vector<CommitToken> tokens = {world.Seal(world.Identity(1), {{{1, "a"}}}),
                                           world.Seal(world.Identity(2), {{{2, "b"}}})};
  ASSERT_TRUE(world.Committer().Commit({tokens.data(), 1}));
  ASSERT_TRUE(world.Committer().Abort(tokens));
  EXPECT_EQ(world.Paths("/data/"), World::FilesOf(tokens[0], /*deletes=*/false));
  EXPECT_THAT(world.Read(), ElementsAre("1 a"));
  EXPECT_EQ(*world.Committer().LookUp(tokens[1]), CommitState::kGone);
}

TEST(IcebergCommit, CleanUpTakesOwnLeftoversOnly) {
  const World world;
  const CommitToken committed = world.Seal(world.Identity(5), {{{1, "a"}}});
  ASSERT_TRUE(world.Committer().Commit({&committed, 1}));
  std::set<std::string> kept = World::FilesOf(committed, /*deletes=*/false);
  const CommitToken recorded = world.Seal(world.Identity(6), {{{2, "b"}}});
  kept.merge(World::FilesOf(recorded));
  const CommitToken leftover = world.Seal(world.Identity(6), {{{3, "c"}}});
  kept.merge(World::FilesOf(world.Seal(world.Identity(6, "other"), {{{4, "d"}}})));
  kept.insert("db/t/data/00000-0-17c2f3e4-0-00001.parquet");
  ASSERT_TRUE(world.store->Put("db/t/data/00000-0-17c2f3e4-0-00001.parquet", "java's"));
  ASSERT_TRUE(world.Committer().CleanUp({"pipe", "lake", world.path}, {&recorded, 1}));
  EXPECT_EQ(world.Paths("/data/"), kept);
  ASSERT_TRUE(world.Committer().Commit({&recorded, 1}));
  EXPECT_THAT(world.Read(), ElementsAre("1 a", "2 b"));
}

// The process dies, and the power fails, at every single operation of a commit.
TEST(IcebergCommit, ACrashAtAnyStepIsAllOrNothing) {
  for (const bool has_key : {true, false}) {
    int committed_before = 0;
    for (int64_t step = 0;; ++step) {
      SCOPED_TRACE(step);
      const World world(has_key);
      const CommitToken first = world.Seal(world.Identity(1), {{{1, "a"}, {2, "b"}}});
      ASSERT_TRUE(world.Committer().Commit({&first, 1}));
      const CommitToken token =
          world.Seal(world.Identity(2), {{{1, "A", "a"}, {2, nullptr, "b"}, {3, "c"}}});
      int64_t at = 0;
      world.store->SetFaults([&](Operation, const std::string&) {
        return at++ == step ? Fault::kCrashAfter : Fault::kNone;
      });
      (void)world.Committer().Commit({&token, 1});
      const bool crashed = world.store->crashed();
      world.store->SetFaults({});
      bool coin = false;
      if (crashed) world.store->Restart(true, [&] { return coin = !coin; });
      const auto state = world.Committer().LookUp(token);
      ASSERT_TRUE(state) << state.error().ToString();
      ASSERT_NE(*state, CommitState::kGone);
      if (*state == CommitState::kCommitted) {
        ++committed_before;
      } else {
        EXPECT_THAT(world.Read(), ElementsAre("1 a", "2 b"));
      }
      ASSERT_TRUE(world.Committer().CleanUp({"pipe", "lake", world.path}, {&token, 1}));
      ASSERT_TRUE(world.Committer().Commit({&token, 1}));
      EXPECT_THAT(world.Read(), ElementsAre("1 A", "3 c"));
      EXPECT_EQ(world.Snapshots(), 2U);
      if (!crashed) break;
      ASSERT_LT(step, 1000);
    }
    EXPECT_GT(committed_before, 1);
  }
}

}  // namespace
}  // namespace driftless::iceberg
