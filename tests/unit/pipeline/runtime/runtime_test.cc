#include "pipeline/runtime/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/pipeline/runtime/fakes.h"
#include "tests/unit/pipeline/state/temp_folder.h"

namespace driftless {
namespace {

using Kind = RunOutcome::Kind;

const TablePath kOrders = ShopTable("orders");
const TablePath kUsers = ShopTable("users");

class QuietLogs : public ::testing::Environment {
  void SetUp() override { spdlog::set_level(spdlog::level::off); }
};
const ::testing::Environment* const kQuietLogs =
    ::testing::AddGlobalTestEnvironment(new QuietLogs);

// Waits for something that another thread brings about; the bound only ends a test that has failed.
bool Eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// One pipeline whose state and warehouse stay while its runtimes come and go.
class Harness {
 public:
  explicit Harness(std::vector<ScriptEvent> script) : script_(std::move(script)) {
    options_.until_end = true;
    options_.checkpoint_interval_ms = 3'600'000;  // only when a test asks for one
    options_.writer_threads = 2;
    traits_.transactional = true;
    traits_.io_threads = 2;
  }
  ~Harness() { Stop(); }

  void Start() {
    auto state = StateStore::Open(folder_.path(), "test", *SystemClock());
    ASSERT_TRUE(state) << state.error().ToString();
    state_ = std::move(*state);
    metrics_ = std::make_unique<Metrics>();
    RuntimeParts parts;
    parts.pipeline = "test";
    parts.state = state_.get();
    parts.clock = SystemClock();
    parts.metrics = metrics_.get();
    parts.sources.push_back(std::make_unique<ScriptedSource>(script_, gates_, nullptr));
    for (const auto& [name, warehouse] : warehouses_) {
      RuntimeSink sink;
      sink.name = name;
      sink.type = "fake";
      sink.sink = std::make_unique<FakeSink>(warehouse, fault_, traits_);
      sink.route = route_;
      parts.sinks.push_back(std::move(sink));
    }
    parts.make_coordinator = [this](std::vector<CoordinatorSink>, DecisionId next) {
      return std::make_unique<FakeCoordinator>(policy_, next);
    };
    runtime_ = std::make_unique<Runtime>(std::move(parts), options_);
    live_ = runtime_.get();
    thread_ = std::thread([this] {
      outcome_ = runtime_->Run();
      done_ = true;
    });
  }

  RunOutcome Wait() {
    if (thread_.joinable()) thread_.join();
    live_ = nullptr;
    runtime_.reset();
    state_.reset();
    done_ = false;
    return outcome_;
  }

  RunOutcome RunToEnd() {
    Start();
    return Wait();
  }

  // Everything that is not committed is lost, as with kill -9.
  void Crash() {
    runtime_->Abort();
    Wait();
  }
  void Stop() {
    if (runtime_ != nullptr) Crash();
  }
  void Checkpoint(int commits_after) {
    runtime_->RequestCheckpoint();
    EXPECT_TRUE(Eventually([&] {
      const std::lock_guard<std::mutex> lock(warehouse().mutex);
      return warehouse().commits >= commits_after;
    }));
  }

  FakeWarehouse& warehouse() { return *warehouses_.at("lake"); }

  TempFolder folder_;
  std::vector<ScriptEvent> script_;
  std::map<std::string, std::shared_ptr<FakeWarehouse>> warehouses_ = {
      {"lake", std::make_shared<FakeWarehouse>()}};
  std::shared_ptr<Gates> gates_ = std::make_shared<Gates>();
  FaultHook fault_;
  FakePolicy policy_;
  SinkTraits traits_;
  RuntimeOptions options_;
  RouteFunction route_ = [](const TablePath& source) -> Result<std::vector<TablePath>> {
    return std::vector<TablePath>{source};
  };
  std::unique_ptr<StateStore> state_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Runtime> runtime_;
  std::atomic<Runtime*> live_{nullptr};
  std::thread thread_;
  std::atomic<bool> done_{false};
  RunOutcome outcome_;
};

void ExpectFinished(const RunOutcome& outcome) {
  EXPECT_EQ(static_cast<int>(outcome.kind), static_cast<int>(Kind::kFinished))
      << (outcome.error.has_value() ? outcome.error->ToString() : "");
}

ScriptBuilder Story() {
  ScriptBuilder script;
  script.Create("orders").Rows("orders", 3).Create("users").Rows("users", 2);
  script.Rows("orders", 2).AddColumn("orders", "b").Rows("orders", 2).Rows("users", 1);
  script.AddColumn("orders", "c").AddColumn("orders", "d").Rows("orders", 2);
  script.AddColumn("users", "z").Rows("users", 2).Rows("orders", 1);
  return script;
}

void ExpectStory(ScriptBuilder& story, FakeWarehouse& warehouse) {
  EXPECT_EQ(warehouse.Rows(kOrders), story.Expected("orders"));
  EXPECT_EQ(warehouse.Rows(kUsers), story.Expected("users"));
  EXPECT_EQ(warehouse.Columns(kOrders), story.Columns("orders"));
  EXPECT_EQ(warehouse.Columns(kUsers), story.Columns("users"));
}

TEST(RuntimeTest, RowsAndSchemaChangesArriveOnceAndInOrder) {
  ScriptBuilder story = Story();
  Harness harness(story.Script());
  ExpectFinished(harness.RunToEnd());
  ExpectStory(story, harness.warehouse());
  EXPECT_TRUE(harness.warehouse().prepared.empty());
}

TEST(RuntimeTest, ASecondRunHasNothingLeftToDo) {
  ScriptBuilder story = Story();
  Harness harness(story.Script());
  ExpectFinished(harness.RunToEnd());
  const int commits = harness.warehouse().commits;
  ExpectFinished(harness.RunToEnd());
  ExpectStory(story, harness.warehouse());
  EXPECT_EQ(harness.warehouse().commits, commits);
}

TEST(RuntimeTest, SinksWithoutTransactionsGetTheSameProtocol) {
  ScriptBuilder story = Story();
  Harness harness(story.Script());
  harness.traits_.transactional = false;
  ExpectFinished(harness.RunToEnd());
  ExpectStory(story, harness.warehouse());
}

TEST(RuntimeTest, SeveralSinksEachGetEverything) {
  ScriptBuilder story = Story();
  Harness harness(story.Script());
  harness.warehouses_["second"] = std::make_shared<FakeWarehouse>();
  ExpectFinished(harness.RunToEnd());
  for (auto& [name, warehouse] : harness.warehouses_) ExpectStory(story, *warehouse);
}

TEST(RuntimeTest, MergedShardsDoNotHideEachOthersRows) {
  ScriptBuilder script;
  script.Create("s1").Rows("s1", 2).Rows("s1", 2);
  Harness harness(script.Script());
  harness.route_ = [](const TablePath&) -> Result<std::vector<TablePath>> {
    return std::vector<TablePath>{ShopTable("all")};
  };
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(ShopTable("all")), script.Expected("s1"));
}

// Kills the pipeline at the k-th call of any kind to the sink, before or after its effect, for
// every k, and starts it again until it is done. This walks every row of the recovery table.
class CrashAtEveryCallTest : public ::testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(CrashAtEveryCallTest, NothingIsLostNothingComesTwice) {
  const auto [after, transactional] = GetParam();
  int k = 0;
  bool struck = true;
  while (struck) {
    ++k;
    struck = false;
    ScriptBuilder story = Story();
    Harness harness(story.Script());
    harness.traits_.transactional = transactional;
    std::atomic<int> calls{0};
    std::atomic<bool> hit{false};
    harness.fault_ = [&, strike_after = after](const std::string& call) -> std::optional<Fault> {
      if (call == "connect" || ++calls != k || hit.exchange(true)) return std::nullopt;
      if (Runtime* runtime = harness.live_) runtime->Abort();
      return Fault{strike_after, MakeError(ErrorKind::kCancelled, "crash at " + call)};
    };
    RunOutcome outcome;
    for (int run = 0; run < 4; ++run) {
      harness.Start();
      // Half of the strikes need a checkpoint in the middle to have something to lose.
      harness.runtime_->RequestCheckpoint();
      outcome = harness.Wait();
      if (outcome.kind == Kind::kFinished) break;
    }
    struck = hit;
    ExpectFinished(outcome);
    if (transactional) {
      ExpectStory(story, harness.warehouse());
    } else {
      // What was flushed and not recorded comes again: such a sink makes it good by upserts.
      EXPECT_EQ(harness.warehouse().Columns(kOrders), story.Columns("orders"));
      for (const std::string& row : story.Expected("orders")) {
        EXPECT_THAT(harness.warehouse().Rows(kOrders), ::testing::Contains(row));
      }
    }
    if (HasFailure()) {
      ADD_FAILURE() << "at call " << k;
      break;
    }
  }
  EXPECT_GT(k, 20);
}

INSTANTIATE_TEST_SUITE_P(Runtime, CrashAtEveryCallTest,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool()));

}  // namespace
}  // namespace driftless
