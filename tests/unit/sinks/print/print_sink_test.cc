#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "schema/events/change_batch_builder.h"
#include "sinks/api/component.h"
#include "sinks/api/projection.h"
#include "tests/doubles/source_table.h"

namespace driftless {
namespace {

using Value = OptionValues::Value;

const SinkComponent& Component(std::string_view type) {
  for (const SinkComponent& component : AllSinks()) {
    if (component.type == type) return component;
  }
  ADD_FAILURE() << "no sink " << type;
  return AllSinks()[0];
}

// A print sink that writes to a file of its own.
class PrintSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("print_sink_test." + std::to_string(::getpid()) + ".txt");
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void Open(std::map<std::string, std::string> options) {
    options["file"] = path_.string();
    std::map<std::string, Value, std::less<>> values;
    for (auto& [key, text] : options) values[key].text = text;
    const SinkComponent& component = Component("print");
    auto sink = component.make_sink(OptionValues(component.options, std::move(values)), {});
    ASSERT_TRUE(sink.has_value()) << sink.error().ToString();
    sink_ = *std::move(sink);
  }

  // Plans and carries out a statement as the coordinator would.
  void Apply(const std::shared_ptr<StatementChange>& statement) {
    PlanRequest request;
    request.statement = statement.get();
    request.parts = statement->parts;
    request.evolved = evolved_.columns.empty() ? nullptr : &evolved_;
    request.sink_table = statement->table;
    const auto plan = sink_->planner().Plan(request);
    ASSERT_TRUE(plan.has_value()) << plan.error().ToString();
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      ASSERT_TRUE(sink_->ExecuteStep(*plan, static_cast<StepIndex>(i)).has_value());
    }
    evolved_ = plan->evolved;
  }

  void Write(const ChangeBatchPtr& batch) {
    auto writer = sink_->OpenWriter(evolved_, 0, {});
    ASSERT_TRUE(writer.has_value());
    ProjectionPolicy policy;
    policy.partial_update = sink_->traits().partial_update;
    const Projection projection = Projection::Make(*batch->schema(), evolved_, policy);
    std::vector<uint32_t> rows(static_cast<size_t>(batch->size()));
    std::iota(rows.begin(), rows.end(), 0u);
    const auto written = (*writer)->Write(batch, projection, rows);
    ASSERT_TRUE(written.has_value()) << written.error().ToString();
    ASSERT_TRUE((*writer)->Prepare(1).has_value());
  }

  std::string Printed() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path path_;
  std::unique_ptr<Sink> sink_;
  EvolvedSchema evolved_;
};

SourceTable Orders() {
  return SourceTable("shop.orders", {"id BIGINT NOT NULL", "note STRING", "price DECIMAL(6, 2)"},
                     {"id"});
}

void Insert(ChangeBatchBuilder* builder, int64_t id, std::string_view note) {
  builder->BeginRow(Op::kInsert, Point{0, 0, static_cast<uint64_t>(id), 0, 0}, 0);
  builder->after(0).AppendInt(id);
  builder->after(1).AppendBytes(note);
  builder->after(2).AppendInt128(1250);
  builder->EndRow();
}

ChangeBatchPtr Changes(const TableSchemaPtr& schema) {
  ChangeBatchBuilder builder(schema, 0);
  Insert(&builder, 1, "fir\"st");
  builder.BeginRow(Op::kUpdate, Point{0, 0, 2, 0, 0}, 0);
  builder.after(0).AppendInt(1);
  builder.after(1).AppendNull();
  builder.before(0).AppendInt(1);
  builder.before(1).AppendBytes("fir\"st");
  builder.EndRow();
  builder.BeginRow(Op::kDelete, Point{0, 0, 3, 0, 0}, 0);
  builder.before(0).AppendInt(1);
  builder.EndRow();
  return builder.Seal();
}

TEST_F(PrintSinkTest, PrintsALinePerImageAndSchemaChange) {
  Open({{"print.identifier", "me"}});
  SourceTable table = Orders();
  Apply(table.Create());
  Write(Changes(table.schema()));
  Apply(table.Begin().Drop("price").Add("qty INT NOT NULL").End());
  EXPECT_EQ(Printed(),
            "me> DDL shop.orders: create table shop.orders (id BIGINT NOT NULL, note STRING, price "
            "DECIMAL(6, 2), primary key (id))\n"
            "me> +I shop.orders [id: 1, note: \"fir\\\"st\", price: 12.50]\n"
            "me> -U shop.orders [id: 1, note: \"fir\\\"st\"]\n"
            "me> +U shop.orders [id: 1, note: null]\n"
            "me> -D shop.orders [id: 1]\n"
            "me> DDL shop.orders: drop column `price`, add column `qty` INT NOT NULL\n");
}

TEST_F(PrintSinkTest, PrintsJson) {
  Open({{"format", "json"}});
  SourceTable table = Orders();
  Apply(table.Create());
  Write(Changes(table.schema()));
  const std::string expected =
      R"({"table":"shop.orders","op":"schema","change":"create table shop.orders (id BIGINT NOT )"
      R"x(NULL, note STRING, price DECIMAL(6, 2), primary key (id))"})x"
      "\n"
      R"({"table":"shop.orders","op":"insert","position":"0:1:0.0",)"
      R"("after":{"id":1,"note":"fir\"st","price":12.50}})"
      "\n"
      R"({"table":"shop.orders","op":"update","position":"0:2:0.0",)"
      R"("before":{"id":1,"note":"fir\"st"},"after":{"id":1,"note":null}})"
      "\n"
      R"({"table":"shop.orders","op":"delete","position":"0:3:0.0","before":{"id":1}})"
      "\n";
  EXPECT_EQ(Printed(), expected);
}

TEST_F(PrintSinkTest, StopsAtItsLimitAndSaysSo) {
  Open({{"limit", "2"}});
  SourceTable table = Orders();
  Apply(table.Create());
  Write(Changes(table.schema()));
  Write(Changes(table.schema()));
  Apply(table.Begin().Truncate().End());
  const std::string text = Printed();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
  EXPECT_NE(text.find("(limit of 2 changes reached"), std::string::npos);
  EXPECT_NE(text.find("DDL shop.orders: truncate table shop.orders"), std::string::npos);
}

TEST_F(PrintSinkTest, PrintsNothingWhenSwitchedOff) {
  Open({{"print.enabled", "false"}});
  SourceTable table = Orders();
  Apply(table.Create());
  Write(Changes(table.schema()));
  EXPECT_EQ(Printed(), "");
}

TEST_F(PrintSinkTest, AFolderThatIsMissingIsAnError) {
  const SinkComponent& component = Component("print");
  std::map<std::string, Value, std::less<>> values;
  values["file"].text = (path_ / "no" / "such").string();
  const auto sink = component.make_sink(OptionValues(component.options, std::move(values)), {});
  ASSERT_FALSE(sink.has_value());
  EXPECT_EQ(sink.error().kind(), ErrorKind::kNotFound);
}

TEST(BlackholeSinkTest, CountsRowsPerCut) {
  const SinkComponent& component = Component("blackhole");
  auto sink = component.make_sink({}, {});
  ASSERT_TRUE(sink.has_value());
  auto writer = (*sink)->OpenWriter({}, 0, {});
  ASSERT_TRUE(writer.has_value());
  const SourceTable table = Orders();
  const Projection projection = Projection::Make(*table.schema(), {}, ProjectionPolicy{});
  const std::vector<uint32_t> rows = {0, 2};
  ASSERT_TRUE((*writer)->Write(Changes(table.schema()), projection, rows).has_value());
  EXPECT_EQ((*writer)->Prepare(1)->rows, 2);
  EXPECT_EQ((*writer)->Prepare(2)->rows, 0);
}

}  // namespace
}  // namespace driftless
