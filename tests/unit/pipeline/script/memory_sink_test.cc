#include "pipeline/script/memory_sink.h"

#include <gtest/gtest.h>

#include <numeric>

#include "pipeline/script/script.h"
#include "pipeline/script/script_rows.h"
#include "sinks/api/projection.h"
#include "tests/doubles/source_table.h"

namespace driftless {
namespace {

// One sink table driven as the coordinator and a writer would.
class Driven {
 public:
  explicit Driven(std::string_view type) {
    for (const SinkComponent& component : AllSinks()) {
      if (component.type == type)
        sink_ = MakeMemorySink(component, OptionValues(component.options, {}), store_).value();
    }
  }

  Result<void> Apply(const std::shared_ptr<StatementChange>& statement) {
    PlanRequest request;
    request.statement = statement.get();
    request.parts = statement->parts;
    request.evolved = evolved_.columns.empty() ? nullptr : &evolved_;
    request.sink_table = statement->table;
    request.adapt_constraints = true;
    DRIFTLESS_ASSIGN_OR_RETURN(const SchemaPlan plan, sink_->planner().Plan(request));
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      DRIFTLESS_TRY(sink_->ExecuteStep(plan, static_cast<StepIndex>(i)));
      const std::optional<SinkTable> actual = store_->Read(statement->table);
      EXPECT_EQ(sink_->planner().Recognise(plan, i, actual ? &*actual : nullptr),
                plan.steps[i].repeatable ? StepState::kCannotTell : StepState::kDone)
          << plan.steps[i].action;
    }
    evolved_ = plan.evolved;
    return {};
  }

  CommitToken Write(const TableSchemaPtr& schema, const std::string& rows) {
    const Script script = ParseScript("rows shop.orders\n" + rows, "").value();
    const ChangeBatchPtr batch = ReadRows(script.directives[0], schema, 0).value();
    auto writer = sink_->OpenWriter(evolved_, 0, {}).value();
    const Projection projection = Projection::Make(*schema, evolved_, ProjectionPolicy{});
    std::vector<uint32_t> all(static_cast<size_t>(batch->size()));
    std::iota(all.begin(), all.end(), 0u);
    EXPECT_TRUE(writer->Write(batch, projection, all).has_value());
    CommitIdentity identity;
    identity.table = evolved_.path;
    identity.cut = ++cut_;
    const std::vector<PreparedPart> parts = {writer->Prepare(cut_).value()};
    return sink_->Seal(identity, evolved_, parts).value();
  }
  void WriteAndCommit(const TableSchemaPtr& schema, const std::string& rows) {
    const std::vector<CommitToken> tokens = {Write(schema, rows)};
    ASSERT_TRUE(sink_->Commit(tokens).has_value());
    ASSERT_TRUE(sink_->Commit(tokens).has_value());  // repeating it does nothing
  }

  std::optional<SinkTable> Table() const { return store_->Read(evolved_.path); }
  std::vector<std::string> Rows() const {
    std::vector<std::string> lines;
    for (const TextRow& row : store_->Rows(evolved_.path)) {
      std::string line;
      for (const auto& [name, value] : row) line += name + "=" + value.value_or("NULL") + " ";
      lines.push_back(line);
    }
    return lines;
  }
  MemoryStore& store() { return *store_; }
  Sink& sink() { return *sink_; }

 private:
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  std::unique_ptr<Sink> sink_;
  EvolvedSchema evolved_;
  CutId cut_ = 0;
};

using Lines = std::vector<std::string>;

SourceTable Orders() {
  return SourceTable("shop.orders", {"id BIGINT NOT NULL", "a INT", "b INT"}, {"id"});
}

TEST(MemorySinkTest, RowsAreUpsertedOnceACommitIsMade) {
  Driven sink("paimon");
  SourceTable table = Orders();
  ASSERT_TRUE(sink.Apply(table.Create()).has_value());
  const CommitToken token = sink.Write(table.schema(), "  +I {\"id\": 1, \"a\": 2}\n");
  EXPECT_TRUE(sink.Rows().empty());
  EXPECT_EQ(*sink.sink().LookUp(token), CommitState::kPrepared);
  ASSERT_TRUE(sink.sink().Commit({&token, 1}).has_value());
  EXPECT_EQ(*sink.sink().LookUp(token), CommitState::kCommitted);
  EXPECT_EQ(sink.Rows(), (Lines{"a=2 b=NULL id=1 "}));
  sink.WriteAndCommit(table.schema(),
                      "  -U {\"id\": 1, \"a\": 2, \"b\": null}\n"
                      "  +U {\"id\": 1, \"a\": 3}\n  +I {\"id\": 2}\n  -D {\"id\": 2}\n");
  EXPECT_EQ(sink.Rows(), (Lines{"a=3 b=NULL id=1 "}));
}

TEST(MemorySinkTest, StoredRowsFollowTheSchema) {
  for (const char* type : {"paimon", "iceberg", "maxcompute"}) {
    Driven sink(type);
    SourceTable table = Orders();
    ASSERT_TRUE(sink.Apply(table.Create()).has_value());
    sink.WriteAndCommit(table.schema(), "  +I {\"id\": 1, \"a\": 2, \"b\": 3}\n");
    ASSERT_TRUE(sink.Apply(table.Begin().Rename({{"a", "b"}, {"b", "a"}}).End()).has_value());
    EXPECT_EQ(sink.Rows(), (Lines{"a=3 b=2 id=1 "})) << type;
    ASSERT_TRUE(sink.Apply(table.Begin().Drop("a").Add("a BIGINT").End()).has_value());
    EXPECT_EQ(sink.Rows(), (Lines{"a=NULL b=2 id=1 "})) << type;
    ASSERT_TRUE(sink.Apply(table.Begin().Type("b", "BIGINT").Rename("b", "c").End()).has_value());
    EXPECT_EQ(sink.Rows(), (Lines{"a=NULL c=2 id=1 "})) << type;
  }
}

TEST(MemorySinkTest, TruncateAndDropTakeTheRows) {
  Driven sink("starrocks");
  SourceTable table = Orders();
  ASSERT_TRUE(sink.Apply(table.Create()).has_value());
  sink.WriteAndCommit(table.schema(), "  +I {\"id\": 1}\n");
  ASSERT_TRUE(sink.Apply(table.Begin().Truncate().End()).has_value());
  EXPECT_TRUE(sink.Rows().empty());
  ASSERT_TRUE(sink.Apply(table.DropTable()).has_value());
  EXPECT_FALSE(sink.Table().has_value());
}

TEST(MemorySinkTest, FaultsComeOnceEach) {
  Driven sink("paimon");
  SourceTable table = Orders();
  sink.store().Arm({.kind = MemoryStore::Fault::Kind::kRefuse, .message = "not today", .times = 2});
  EXPECT_EQ(sink.Apply(table.Create()).error().message(), "not today");
  EXPECT_EQ(sink.Apply(table.Create()).error().kind(), ErrorKind::kRefused);
  ASSERT_TRUE(sink.Apply(table.Create()).has_value());
  int crashes = 0;
  sink.store().OnCrash([&] { ++crashes; });
  using Fault = MemoryStore::Fault;
  sink.store().Arm({.kind = Fault::Kind::kCrashBefore, .at = Fault::At::kCommit});
  const CommitToken token = sink.Write(table.schema(), "  +I {\"id\": 1}\n");
  EXPECT_EQ(sink.sink().Commit({&token, 1}).error().kind(), ErrorKind::kCancelled);
  EXPECT_TRUE(sink.Rows().empty());
  sink.store().Arm({.kind = Fault::Kind::kCrashAfter, .at = Fault::At::kCommit});
  EXPECT_EQ(sink.sink().Commit({&token, 1}).error().kind(), ErrorKind::kCommitUnknown);
  EXPECT_EQ(sink.Rows().size(), 1u);
  EXPECT_EQ(crashes, 2);
  EXPECT_FALSE(sink.store().HasFault());
}

}  // namespace
}  // namespace driftless
