#include "sinks/olap/sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "schema/events/change_batch_builder.h"
#include "sinks/api/projection.h"
#include "sinks/api/registry.h"
#include "sinks/olap/load_answer.h"
#include "sinks/starrocks/starrocks.h"
#include "tests/doubles/evolved.h"
#include "tests/doubles/source_table.h"

namespace driftless::olap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What a server knows of labels. It outlives the sinks, as a server outlives a process that is
// killed: nothing is given up with a load.
struct Server {
  std::map<std::string, std::string> states;
  int asked = 0;

  std::vector<std::string> Open() const {
    std::vector<std::string> open;
    for (const auto& [label, state] : states) {
      if (IsOpen(state)) open.push_back(label);
    }
    return open;
  }
};

class FakeLoad : public TableLoad {
 public:
  FakeLoad(Server* server, std::string label) : server_(*server), label_(std::move(label)) {
    server_.states[label_] = "PREPARE";
  }
  Result<void> Send(const LoadRequest&) override { return {}; }
  Result<std::string> Finish() override {
    server_.states[label_] = "PREPARED";
    return label_;
  }

 private:
  Server& server_;
  const std::string label_;
};

class FakeLoader : public Loader {
 public:
  explicit FakeLoader(Server* server) : server_(*server) {}

  std::unique_ptr<TableLoad> Begin(const EvolvedSchema&, const Labels& labels, CutId cut,
                                   uint32_t attempt) override {
    return std::make_unique<FakeLoad>(&server_, labels.Of(cut, attempt, 0));
  }
  Result<CommitState> LookUp(const TablePath&, std::string_view) override {
    return CommitState::kUnknown;
  }
  Result<void> Commit(const TablePath&, std::string_view payload) override {
    server_.states[std::string(payload)] = "VISIBLE";
    return {};
  }
  Result<void> Abort(const TablePath&, std::string_view) override { return {}; }
  Result<Leftover> Abandon(const TablePath&, const std::string& label) override {
    ++server_.asked;
    const auto found = server_.states.find(label);
    if (found == server_.states.end()) return Leftover::kNone;
    if (IsOpen(found->second)) found->second = "ABORTED";
    return LeftoverOf(found->second);
  }
  bool takes_array() const override { return true; }

 private:
  Server& server_;
};

// Every table has the columns of ATable.
class FakeStatements : public Statements {
 public:
  Result<SqlRows> Query(std::string_view sql) override {
    SqlRows rows;
    if (sql.find("information_schema.COLUMNS") == std::string_view::npos) return rows;
    rows.names = {"COLUMN_NAME", "DATA_TYPE", "IS_NULLABLE", "COLUMN_KEY"};
    rows.rows = {{"id", "int", "NO", "PRI"}, {"v", "int", "YES", ""}};
    return rows;
  }
  Result<void> Execute(std::string_view) override { return {}; }
};

SourceTable ATable(const std::string& name) {
  return SourceTable("shop." + name, {"id INT NOT NULL", "v INT"}, {"id"});
}

// One process: a sink, and writers of its tables.
class Process {
 public:
  Process(Server* server, uint32_t attempt) : attempt_(attempt) {
    const OptionValues none(StarRocksOptions(), {});
    Product product;
    product.matrix = &kStarRocksMatrix;
    product.dialect = &starrocks::SqlDialect();
    product.operation = {"\"__op\":0", "\"__op\":1"};
    product.planner = *MakeStarRocksPlanner(none);
    product.loader = std::make_unique<FakeLoader>(server);
    product.statements = std::make_unique<FakeStatements>();
    sink_ = MakeSink(std::move(product), OlapOptions(), SinkEnvironment());
  }

  Sink& sink() { return *sink_; }
  CommitIdentity Identity(const std::string& table, CutId cut) const {
    return {"pipe", "olap", *ParseTablePath("shop." + table), cut, attempt_};
  }
  void Write(const std::string& name) {
    const SourceTable table = ATable(name);
    ChangeBatchBuilder builder(table.schema(), 0);
    builder.BeginRow(Op::kInsert, {0, ++offset_, 0, 0}, 0);
    builder.after(0).AppendInt(1);
    builder.after(1).AppendInt(2);
    builder.EndRow();
    const ChangeBatchPtr batch = builder.Seal();
    const EvolvedSchema evolved = Evolved(*table.schema());
    auto& projection = projections_.emplace_back(
        std::make_unique<Projection>(Projection::Make(*batch->schema(), evolved, {})));
    const std::vector<uint32_t> rows = {0};
    ASSERT_TRUE(Writer(name).Write(batch, *projection, rows));
  }
  TableWriter& Writer(const std::string& name) {
    TableWriterPtr& writer = writers_[name];
    if (writer == nullptr) {
      WriterContext context;
      context.identity = Identity(name, 1);
      writer = *sink_->OpenWriter(Evolved(*ATable(name).schema()), 0, context);
    }
    return *writer;
  }
  CommitToken Prepare(const std::string& name, CutId cut) {
    const PreparedPart part = *Writer(name).Prepare(cut);
    return *sink_->Seal(Identity(name, cut), Evolved(*ATable(name).schema()), {&part, 1});
  }

 private:
  const uint32_t attempt_;
  uint64_t offset_ = 0;
  std::unique_ptr<Sink> sink_;
  std::vector<std::unique_ptr<Projection>> projections_;
  std::map<std::string, TableWriterPtr> writers_;
};

TEST(OlapSinkTest, ALoadIsFoundThatWasBegunWhileOtherTablesHadCuts) {
  Server server;
  Process killed(&server, 1);
  killed.Writer("big");
  for (CutId cut = 1; cut <= 30; ++cut) {
    killed.Write("busy");
    const CommitToken token = killed.Prepare("busy", cut);
    ASSERT_TRUE(killed.sink().Commit({&token, 1}));
  }
  killed.Write("big");
  ASSERT_TRUE(killed.Writer("big").Roll());
  for (CutId cut = 31; cut <= 60; ++cut) {
    killed.Write("busy");
    const CommitToken token = killed.Prepare("busy", cut);
    ASSERT_TRUE(killed.sink().Commit({&token, 1}));
  }
  ASSERT_EQ(server.Open().size(), 1U);
  Process next(&server, 2);
  ASSERT_TRUE(next.sink().CleanUp(next.Identity("big", 61), {}));
  EXPECT_THAT(server.Open(), IsEmpty());
  // What a table has committed last settles everything before.
  server.asked = 0;
  ASSERT_TRUE(next.sink().CleanUp(next.Identity("busy", 61), {}));
  EXPECT_LT(server.asked, 20);
}

// Its label may carry an older number than the cut that it was recorded for.
TEST(OlapSinkTest, ALoadIsSparedThatTheStateHasRecorded) {
  Server server;
  Process killed(&server, 1);
  killed.Write("t");
  ASSERT_TRUE(killed.Writer("t").Roll());
  const CommitToken recorded = killed.Prepare("t", 4);
  killed.Write("t");
  ASSERT_TRUE(killed.Writer("t").Roll());
  ASSERT_EQ(server.Open().size(), 2U);
  Process next(&server, 2);
  ASSERT_TRUE(next.sink().CleanUp(next.Identity("t", 5), {&recorded, 1}));
  EXPECT_THAT(server.Open(), ElementsAre(recorded.payload));
  ASSERT_TRUE(next.sink().CleanUp(next.Identity("t", 5), {}));
  EXPECT_THAT(server.Open(), IsEmpty());
}

LoadAnswer Answer(const std::string& status) {
  LoadAnswer answer;
  answer.status = status;
  return answer;
}

TEST(EndLoadTest, BelievesWhatTheServerSaysOfTheLabel) {
  int states = 0;
  const auto refused = [] { return Result<LoadAnswer>(Answer("FAILED")); };
  const auto lost = [] {
    return Result<LoadAnswer>(MakeError(ErrorKind::kCommitUnknown, "no answer"));
  };
  const auto over_at_last = [&states] {
    return Result<std::string>(++states < 2 ? "PREPARE" : "ABORTED");
  };
  EXPECT_TRUE(EndLoad("l", 0, [] { return Result<LoadAnswer>(Answer("OK")); }, over_at_last));
  EXPECT_EQ(states, 0);
  EXPECT_TRUE(EndLoad("l", 1, refused, over_at_last));
  states = 0;
  EXPECT_TRUE(EndLoad("l", 1, lost, over_at_last));
  const Result<void> open =
      EndLoad("l", 0, refused, [] { return Result<std::string>("PRECOMMITTED"); });
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(open.error().message(), "label l cannot be given up: it is in state PRECOMMITTED");
}

}  // namespace
}  // namespace driftless::olap
