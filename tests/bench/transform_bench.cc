// What a transform costs per row: batches of 4,096 inserts through a projection with one CONCAT and
// one comparison, and the same with a filter. items_per_second counts rows.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "pipeline/transform/table_transform.h"
#include "schema/base/check.h"
#include "schema/events/change_batch_builder.h"

namespace driftless {
namespace {

ChangeBatchPtr People() {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "people"};
  schema->AddColumn("id", LogicalType::BigInt().NotNull());
  schema->AddColumn("first", LogicalType::VarChar(40));
  schema->AddColumn("last", LogicalType::VarChar(40));
  schema->AddColumn("age", LogicalType::Int());
  schema->primary_key = {1};
  ChangeBatchBuilder builder(schema, 0);
  for (int64_t row = 0; row < ChangeBatchBuilder::kMaxRows; ++row) {
    builder.BeginRow(Op::kInsert, Point{0, 0, static_cast<uint64_t>(row) + 1}, 0);
    builder.after(0).AppendInt(row);
    builder.after(1).AppendBytes("first " + std::to_string(row * 7919 % 4096));
    builder.after(2).AppendBytes("last " + std::to_string(row * 104729 % 4096));
    row % 16 == 0 ? builder.after(3).AppendNull() : builder.after(3).AppendInt(row % 90);
    builder.EndRow();
  }
  return builder.Seal();
}

void Run(benchmark::State& state, const char* rules_text) {
  const ChangeBatchPtr batch = People();
  Result<TableRules> rules = TableRules::Parse(rules_text);
  DRIFTLESS_CHECK(rules.has_value());
  Binding binding;
  auto transform = TableTransform::Bind(*rules, batch->schema(), 0, &binding, {});
  DRIFTLESS_CHECK(transform.has_value());
  for (auto _ : state) {
    auto output = (*transform)->Run(*batch, 0, batch->size(), 0);
    DRIFTLESS_CHECK(output.has_value() && output->batch != nullptr);
    benchmark::DoNotOptimize(output->batch);
  }
  state.SetItemsProcessed(state.iterations() * batch->size());
}

void ConcatAndComparison(benchmark::State& state) {
  Run(state,
      R"([{"projection": "id, CONCAT(first, ' ', last) AS full_name, age >= 18 AS is_adult"}])");
}
BENCHMARK(ConcatAndComparison);

void AllColumnsAndOneMore(benchmark::State& state) {
  Run(state, R"([{"projection": "*, CONCAT(first, ' ', last) AS full_name"}])");
}
BENCHMARK(AllColumnsAndOneMore);

void FilterThatHalfOfTheRowsPass(benchmark::State& state) {
  Run(state, R"([{"projection": "*, UPPER(last) AS last", "filter": "age >= 45"}])");
}
BENCHMARK(FilterThatHalfOfTheRowsPass);

}  // namespace
}  // namespace driftless

BENCHMARK_MAIN();
