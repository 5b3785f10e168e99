#include "pipeline/state/state_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/pipeline/state/temp_folder.h"

namespace driftless {
namespace {

const TablePath kOrders{"", "shop", "orders"};
const TablePath kUsers{"", "shop", "users"};

std::unique_ptr<StateStore> OpenOrDie(const std::string& folder) {
  auto store = StateStore::Open(folder, "test", *SystemClock());
  EXPECT_TRUE(store) << store.error().ToString();
  return std::move(*store);
}

CutPosition At(uint64_t offset) {
  CutPosition position;
  position.Extend(Point{1, 0, offset, 0, 0}, "r" + std::to_string(offset));
  return position;
}

PendingCut CheckpointAt(CutId cut, uint64_t offset) {
  PendingCut pending;
  pending.cut = cut;
  pending.move.base = At(offset);
  CommitToken token;
  token.identity = {"test", "lake", kOrders, cut, 3};
  token.payload = std::string("bin\0ary", 7);
  pending.tokens.push_back(token);
  return pending;
}

TEST(StateStoreTest, ASecondProcessIsRefusedAndToldWhoHoldsTheState) {
  TempFolder folder;
  auto first = OpenOrDie(folder.path());
  const auto second = StateStore::Open(folder.path(), "test", *SystemClock());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::kConflict);
  EXPECT_NE(second.error().message().find("pid " + std::to_string(getpid())), std::string::npos)
      << second.error().ToString();
  EXPECT_NE(StateLock::Holder(folder.path()), "");
  first.reset();
  EXPECT_EQ(StateLock::Holder(folder.path()), "");
  EXPECT_TRUE(StateStore::Open(folder.path(), "test", *SystemClock()));
}

TEST(StateStoreTest, NetworkFileSystemsAreRefused) {
  EXPECT_TRUE(IsNetworkFileSystem(0x6969));
  EXPECT_TRUE(IsNetworkFileSystem(static_cast<long>(0xff534d42)));
  EXPECT_FALSE(IsNetworkFileSystem(0xef53));      // ext4
  EXPECT_FALSE(IsNetworkFileSystem(0x58465342));  // XFS
}

TEST(StateStoreTest, AnotherPipelinesStateIsRefused) {
  TempFolder folder;
  OpenOrDie(folder.path());
  const auto other = StateStore::Open(folder.path(), "other", *SystemClock());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind(), ErrorKind::kConflict);
}

TEST(StateStoreTest, ANewerFormatIsRefusedUntouched) {
  TempFolder folder;
  OpenOrDie(folder.path());
  {
    auto database = SqliteDatabase::Open(folder.path() + "/state.db", SqliteDatabase::Create::kNo);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->Execute("UPDATE meta SET value = '99' WHERE key = 'format'"));
  }
  const auto newer = StateStore::Open(folder.path(), "test", *SystemClock());
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().kind(), ErrorKind::kUnsupported);
  EXPECT_FALSE(StateStore::OpenShared(folder.path()));
}

TEST(StateStoreTest, AFolderWithoutStateIsNotFound) {
  TempFolder folder;
  const auto store = StateStore::OpenShared(folder.path());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind(), ErrorKind::kNotFound);
}

TEST(StateStoreTest, AttemptsAndStreamsAreDurable) {
  TempFolder folder;
  {
    auto store = OpenOrDie(folder.path());
    EXPECT_EQ(*store->BeginAttempt(), 1U);
    EXPECT_EQ(*store->InternStream("binlog"), 1U);
    EXPECT_EQ(*store->InternStream("files"), 2U);
  }
  auto store = OpenOrDie(folder.path());
  EXPECT_EQ(*store->NextAttempt(), 2U);
  EXPECT_EQ(*store->NextAttempt(), 2U);
  EXPECT_EQ(*store->BeginAttempt(), 2U);
  EXPECT_EQ(*store->InternStream("files"), 2U);
  EXPECT_EQ(store->Streams()->at(1), "binlog");
}

TEST(StateStoreTest, ACutLivesFromTransactionAToTransactionB) {
  TempFolder folder;
  auto store = OpenOrDie(folder.path());
  const SinkTableKey key{"lake", kOrders};
  ASSERT_TRUE(store->Transact([&](StateTransaction& t) -> Result<void> {
    DRIFTLESS_TRY(t.PutSink({"lake", "print", "here"}));
    DRIFTLESS_TRY(t.PutCut("lake", CheckpointAt(4, 100)));
    return t.PutCutState(key, "intent", 4, kUsers);
  }));
  store.reset();
  store = OpenOrDie(folder.path());
  EXPECT_EQ(*store->NextCut(), 5U);
  auto pending = *store->PendingCuts("lake", "test");
  ASSERT_EQ(pending.size(), 1U);
  EXPECT_EQ(pending[0].move.base, At(100));
  ASSERT_EQ(pending[0].tokens.size(), 1U);
  EXPECT_EQ(pending[0].tokens[0].payload, std::string("bin\0ary", 7));
  EXPECT_EQ(pending[0].tokens[0].identity.attempt, 3U);
  EXPECT_TRUE(store->Positions("lake")->base.empty());
  EXPECT_FALSE(store->TableStates()->at(0).cut_committed);
  EXPECT_EQ(store->TableStates()->at(0).source, kUsers);

  SinkPositions positions;
  Apply(pending[0].move, {}, &positions);
  positions.tables[kUsers].feeds[kUsers] = At(120);
  positions.tables[kUsers].base = At(90);
  ASSERT_TRUE(store->Transact([&](StateTransaction& t) -> Result<void> {
    DRIFTLESS_TRY(t.DropCut("lake", 4));
    DRIFTLESS_TRY(t.MarkCutCommitted(key, 4));
    return t.PutPositions("lake", positions);
  }));
  EXPECT_EQ(*store->Positions("lake"), positions);
  EXPECT_TRUE(store->PendingCuts("lake", "test")->empty());
  EXPECT_TRUE(store->TableStates()->at(0).cut_committed);
  EXPECT_EQ(*store->NextCut(), 5U);
}

TEST(StateStoreTest, AFailedTransactionLeavesNothing) {
  TempFolder folder;
  auto store = OpenOrDie(folder.path());
  const auto result = store->Transact([&](StateTransaction& t) -> Result<void> {
    DRIFTLESS_TRY(t.PutTableState({"lake", kOrders}, "x"));
    return MakeError(ErrorKind::kInternal, "stop");
  });
  ASSERT_FALSE(result);
  EXPECT_TRUE(store->TableStates()->empty());
  ASSERT_TRUE(store->Transact([&](StateTransaction& t) {
    return t.PutTableState({"lake", kOrders}, "y");
  })) << "the store goes on after an error";
}

// A crash between any two transactions: what a copy of the files made at that moment shows is what
// had been returned as durable, never a part of the next transaction.
TEST(StateStoreTest, ACopyOfTheFilesBetweenTransactionsHoldsExactlyTheEarlierOnes) {
  TempFolder folder;
  auto store = OpenOrDie(folder.path());
  for (int i = 1; i <= 12; ++i) {
    ASSERT_TRUE(store->Transact([&](StateTransaction& t) -> Result<void> {
      DRIFTLESS_TRY(t.PutSink({"lake", "print", std::to_string(i)}));
      DRIFTLESS_TRY(t.PutCut("lake", CheckpointAt(static_cast<CutId>(i), i)));
      return t.PutTableState({"lake", kOrders}, std::to_string(i));
    }));
    TempFolder copy;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      // SQLite rebuilds the shared-memory index from the log.
      if (entry.path().extension() == ".db-shm") continue;
      std::filesystem::copy(entry.path(), copy.path() + "/" + entry.path().filename().string());
    }
    auto crashed = OpenOrDie(copy.path());
    EXPECT_EQ(crashed->PendingCuts("lake", "test")->size(), static_cast<size_t>(i));
    EXPECT_EQ(crashed->TableStates()->at(0).state, std::to_string(i));
    EXPECT_EQ(crashed->Sinks()->at(0).identity, std::to_string(i));
  }
}

TEST(StateStoreTest, AuditRecordsAndDivergencesComeBackWhole) {
  TempFolder folder;
  auto store = OpenOrDie(folder.path());
  AuditRecord record;
  record.id = 17;
  record.time_ms = 1234;
  record.phase = AuditPhase::kOutcome;
  record.statement = "ALTER TABLE orders\nDROP a";
  record.source_table = kOrders;
  record.point = Point{2, 1, 99, 3, 1};
  record.position = "file.json:99";
  record.part = 1;
  record.event = EventKind::kDropColumn;
  record.detail = "drop column a";
  record.sink = {"lake", kUsers};
  record.sink_type = "paimon";
  record.behavior = Behavior::kTryEvolve;
  record.verdict.kind = VerdictKind::kRewrite;
  record.verdict.reason = "why";
  record.verdict.rule = "rule 2";
  record.verdict.cell = "paimon/drop.column = apply";
  record.verdict.rewrites = {"one", "two"};
  record.verdict.rows_may_stop = true;
  record.actions = {"ALTER 1", "ALTER 2"};
  record.result = AuditResult::kRefused;
  record.message = "no";
  Divergence divergence;
  divergence.sink = record.sink;
  divergence.column = 3;
  divergence.column_name = "a";
  divergence.event = EventKind::kDropColumn;
  divergence.text = "column a stays";
  divergence.cause = 17;
  divergence.since_ms = 1234;
  ASSERT_TRUE(store->Transact([&](StateTransaction& t) -> Result<void> {
    DRIFTLESS_TRY(t.PutAudit(record));
    DRIFTLESS_TRY(t.PutDivergence(divergence));
    return t.PutDivergence(divergence);
  }));
  const auto audit = *store->Audit({});
  ASSERT_EQ(audit.size(), 1U);
  const AuditRecord& back = audit[0];
  EXPECT_EQ(back.id, 17U);
  EXPECT_EQ(back.statement, record.statement);
  EXPECT_EQ(back.point, record.point);
  EXPECT_EQ(back.event, record.event);
  EXPECT_EQ(back.sink, record.sink);
  EXPECT_EQ(back.behavior, record.behavior);
  EXPECT_EQ(back.verdict, record.verdict);
  EXPECT_EQ(back.actions, record.actions);
  EXPECT_EQ(back.result, record.result);
  EXPECT_EQ(*store->NextDecision(), 18U);
  EXPECT_EQ(store->Divergences(false)->size(), 1U) << "a replayed decision adds no second";

  AuditQuery by_table;
  by_table.table = kUsers;
  EXPECT_EQ(store->Audit(by_table)->size(), 1U);
  by_table.table = TablePath{"", "x", "y"};
  EXPECT_TRUE(store->Audit(by_table)->empty());

  ASSERT_TRUE(store->TrimAudit(5000));
  EXPECT_EQ(store->Audit({})->size(), 1U) << "an open divergence keeps its cause";
  ASSERT_TRUE(store->Transact([&](StateTransaction& t) {
    return t.EndDivergences(record.sink, 3, EventKind::kAddColumn, "other kind", 2000);
  }));
  EXPECT_EQ(store->Divergences(false)->size(), 1U);
  ASSERT_TRUE(store->Transact([&](StateTransaction& t) {
    return t.EndDivergences(record.sink, 3, EventKind::kDropColumn, "test", 2000);
  }));
  EXPECT_TRUE(store->Divergences(false)->empty());
  EXPECT_EQ(store->Divergences(true)->at(0).ended_by, "test");
  ASSERT_TRUE(store->TrimAudit(5000));
  EXPECT_TRUE(store->Audit({})->empty());
  EXPECT_EQ(*store->NextDecision(), 18U) << "a number is never given again";
}

TEST(StateStoreTest, RequestsReachARunningPipelineFromAnotherConnection) {
  TempFolder folder;
  auto store = OpenOrDie(folder.path());
  const int64_t version = *store->DataVersion();
  auto shared = StateStore::OpenShared(folder.path());
  ASSERT_TRUE(shared) << shared.error().ToString();
  StoredRequest request;
  request.decision = 17;
  request.choice = "approve";
  request.by = "cli";
  const int64_t number = *(*shared)->AddRequest(request);
  EXPECT_NE(*store->DataVersion(), version);
  const auto open = *store->OpenRequests();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].decision, 17U);
  ASSERT_TRUE(
      store->Transact([&](StateTransaction& t) { return t.AnswerRequest(number, "approved", 5); }));
  EXPECT_TRUE(store->OpenRequests()->empty());
  EXPECT_EQ((*(*shared)->Request(number))->answer, "approved");
}

TEST(StateStoreTest, ParkedTablesComeBackInOrder) {
  TempFolder folder;
  auto store = OpenOrDie(folder.path());
  ParkedTable parked;
  parked.table = {"lake", kOrders};
  parked.through = At(50);
  parked.feeds[kOrders] = At(55);
  parked.segments = {{2, 100, 5}, {7, 50, 2}};
  ASSERT_TRUE(store->Transact([&](StateTransaction& t) { return t.PutParked(parked); }));
  const auto back = *store->Parked();
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].through, parked.through);
  EXPECT_EQ(back[0].feeds, parked.feeds);
  EXPECT_EQ(back[0].segments, parked.segments);
  EXPECT_EQ(*store->NextSegment(), 8U);
  ASSERT_TRUE(store->Transact([&](StateTransaction& t) { return t.DropParked(parked.table); }));
  EXPECT_TRUE(store->Parked()->empty());
  EXPECT_EQ(*store->NextSegment(), 8U);
}

}  // namespace
}  // namespace driftless

namespace driftless {
namespace {

TEST(StateStoreTest, HistoryIsAskedByPointAndReplayedWithoutTrace) {
  TempFolder folder;
  auto store = OpenOrDie(folder.path());
  const auto version = [](uint64_t offset, uint32_t number) {
    TableSchema schema;
    schema.path = kOrders;
    schema.version = number;
    schema.AddColumn("id", LogicalType::BigInt());
    SchemaVersion entry;
    entry.table = kOrders;
    entry.point = Point{1, 0, offset, 0, 0};
    entry.position = "line " + std::to_string(offset);
    entry.schema = std::make_shared<const TableSchema>(schema);
    entry.statement = "ALTER";
    return entry;
  };
  ASSERT_TRUE(store->Put(version(9, 0)));
  ASSERT_TRUE(store->Put(version(10, 1)));
  ASSERT_TRUE(store->Put(version(300, 2)));
  ASSERT_TRUE(store->Put(version(10, 7))) << "a replay changes nothing";
  const auto at = [&](uint64_t offset) { return *store->At(Point{1, 0, offset, 0, 0}); };
  EXPECT_TRUE(at(8).empty());
  EXPECT_EQ(at(9).at(0).schema->version, 0U);
  EXPECT_EQ(at(299).at(0).schema->version, 1U);
  EXPECT_EQ(at(300).at(0).schema->version, 2U);
  EXPECT_TRUE(store->At(Point{2, 0, 300, 0, 0})->empty()) << "another stream";
  EXPECT_TRUE(store->Find(kOrders, Point{1, 0, 10, 0, 0})->has_value());
  EXPECT_FALSE(store->Find(kOrders, Point{1, 0, 11, 0, 0})->has_value());
  SchemaVersion dropped = version(400, 0);
  dropped.schema = nullptr;
  ASSERT_TRUE(store->Put(dropped));
  EXPECT_EQ(at(400).at(0).schema, nullptr);
  EXPECT_EQ(store->All(kOrders)->size(), 4U);
  EXPECT_EQ(store->All(kUsers)->size(), 0U);
  EXPECT_EQ(store->All(std::nullopt)->size(), 4U);
}

}  // namespace
}  // namespace driftless
