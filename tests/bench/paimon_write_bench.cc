// How many rows one Paimon writer takes per CPU-second: batches in, Parquet files out (to memory).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <random>

#include "schema/events/change_batch_builder.h"
#include "sinks/api/projection.h"
#include "sinks/clients/objectstore/memory_store.h"
#include "sinks/paimon/writer.h"

namespace driftless::paimon {
namespace {

// A store that counts bytes and keeps nothing, so that only the writer is measured.
class CountingWriter : public ObjectWriter {
 public:
  Result<void> Append(std::string_view bytes) override {
    size_ += static_cast<int64_t>(bytes.size());
    return {};
  }
  Result<void> Finish() override { return {}; }
  int64_t size() const override { return size_; }

 private:
  int64_t size_ = 0;
};
class CountingStore : public MemoryStore {
 public:
  Result<std::unique_ptr<ObjectWriter>> OpenWriter(const std::string&) override {
    return std::unique_ptr<ObjectWriter>(std::make_unique<CountingWriter>());
  }
};

TableSchemaPtr OrdersSchema() {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "orders"};
  schema->AddColumn("id", LogicalType::BigInt().NotNull());
  schema->AddColumn("customer", LogicalType::String());
  schema->AddColumn("city", LogicalType::String());
  schema->AddColumn("amount", LogicalType::Decimal(18, 2));
  schema->AddColumn("created_at", LogicalType::Timestamp(6));
  schema->AddColumn("quantity", LogicalType::Int());
  schema->AddColumn("price", LogicalType::Double());
  schema->AddColumn("is_paid", LogicalType::Boolean());
  schema->AddColumn("note", LogicalType::String());
  schema->AddColumn("updated_on", LogicalType::Date());
  schema->primary_key = {1};
  return schema;
}

enum class Keys { kGrowing, kRandom };

std::vector<ChangeBatchPtr> MakeBatches(int64_t rows, Keys keys) {
  std::mt19937_64 random(42);
  ChangeBatchBuilder builder(OrdersSchema(), 1);
  std::vector<ChangeBatchPtr> batches;
  for (int64_t i = 0; i < rows; ++i) {
    builder.BeginRow(Op::kInsert, Point{1, 0, static_cast<uint64_t>(i + 1), 0, 0}, 0);
    const int64_t id = keys == Keys::kGrowing ? i : static_cast<int64_t>(random() % 100000000);
    builder.after(0).AppendInt(id);
    builder.after(1).AppendBytes("customer-" + std::to_string(random() % 90000000 + 10000000));
    builder.after(2).AppendBytes("city-" + std::to_string(random() % 5000 + 1000000));
    builder.after(3).AppendInt128(static_cast<__int128>(random() % 100000000));
    builder.after(4).AppendInt(1700000000000000 + i * 1000 + static_cast<int64_t>(random() % 1000));
    builder.after(5).AppendInt(static_cast<int64_t>(random() % 100));
    builder.after(6).AppendDouble(static_cast<double>(random() % 1000000) / 100.0);
    builder.after(7).AppendBit(random() % 2 == 0);
    if (random() % 4 == 0) {
      builder.after(8).AppendNull();
    } else {
      builder.after(8).AppendBytes("please ring twice, parcel " +
                                   std::to_string(random() % 1000000));
    }
    builder.after(9).AppendInt(19000 + static_cast<int64_t>(random() % 365));
    builder.EndRow();
    if (builder.IsFull()) batches.push_back(builder.Seal());
  }
  if (auto last = builder.Seal()) batches.push_back(std::move(last));
  return batches;
}

struct Table {
  PaimonSchema schema;
  EvolvedSchema evolved;
};

Table MakeTable(const TableSchema& source, int buckets) {
  Table table;
  table.evolved.path = source.path;
  for (const Column& column : source.columns) {
    PaimonField field;
    field.id = static_cast<int32_t>(column.id) - 1;
    field.name = column.name;
    field.type = column.type;
    table.schema.fields.push_back(field);
    EvolvedColumn evolved;
    evolved.sink.name = column.name;
    evolved.sink.type = column.type;
    evolved.source = column.id;
    table.evolved.columns.push_back(evolved);
  }
  if (buckets > 0) {
    table.schema.primary_keys = table.evolved.primary_key = {"id"};
    table.schema.options["bucket"] = std::to_string(buckets);
  }
  return table;
}

void Write(benchmark::State& state, Keys keys, int buckets) {
  constexpr int64_t kRows = 400000;
  const auto batches = MakeBatches(kRows, keys);
  const TableSchemaPtr source = OrdersSchema();
  const Table table = MakeTable(*source, buckets);
  const Projection projection =
      Projection::Make(*source, table.evolved, OnCastFailure::kFail, OnNullViolation::kFail);
  int64_t bytes = 0;
  for (auto _ : state) {
    auto store = std::make_shared<CountingStore>();
    WriterSetup setup{PaimonTable(store, "shop.db/orders"),
                      {},
                      std::make_shared<TableState>(),
                      nullptr,
                      0,
                      1,
                      256 << 20};
    auto format = DataFileFormat::Make(table.schema, table.evolved);
    if (!format) std::abort();
    setup.format = *format;
    WriterContext context;
    context.identity = {"bench", "lake", source->path, 1, 0};
    auto writer = MakePaimonWriter(std::move(setup), context);
    std::vector<uint32_t> rows;
    for (const ChangeBatchPtr& batch : batches) {
      rows.resize(static_cast<size_t>(batch->size()));
      for (uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
      if (!(*writer)->Write(batch, projection, rows)) std::abort();
    }
    auto part = (*writer)->Prepare(1);
    if (!part) std::abort();
    bytes = part->bytes;
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  state.counters["bytes_per_row"] = static_cast<double>(bytes) / kRows;
}

void PrimaryKeyGrowing(benchmark::State& state) { Write(state, Keys::kGrowing, 4); }
void PrimaryKeyRandom(benchmark::State& state) { Write(state, Keys::kRandom, 4); }
void Append(benchmark::State& state) { Write(state, Keys::kRandom, 0); }
BENCHMARK(PrimaryKeyGrowing)->Unit(benchmark::kMillisecond);
BENCHMARK(PrimaryKeyRandom)->Unit(benchmark::kMillisecond);
BENCHMARK(Append)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace driftless::paimon

int main(int argc, char** argv) {
  // The product's choice of memory pool (see pipeline/main.cc).
  setenv("ARROW_DEFAULT_MEMORY_POOL", "system", 0);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
