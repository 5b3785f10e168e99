// Decodes the rows events of a recorded workload into batches that are thrown away: what the
// decoder alone costs. items_per_second counts row images (an update has two).
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/sources/file/byte_stream.h"
#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "pipeline/sources/mysql/binlog/event_bodies.h"
#include "pipeline/sources/mysql/binlog/row_decoder.h"
#include "schema/base/check.h"
#include "schema/ddl/mysql/catalog.h"
#include "tests/doubles/source_dir.h"

namespace driftless {
namespace {

std::string ReadUnpacked(const std::string& path) {
  auto stream = ByteStream::Open(path);
  DRIFTLESS_CHECK(stream.has_value());
  std::string text;
  std::vector<char> chunk(1 << 20);
  for (;;) {
    const Result<size_t> got = (*stream)->Read(chunk.data(), chunk.size());
    DRIFTLESS_CHECK(got.has_value());
    if (*got == 0) return text;
    text.append(chunk.data(), *got);
  }
}

// One table version of the workload with its open batch.
struct Table {
  std::string identity;
  std::unique_ptr<mysql::RowPlan> plan;
  std::unique_ptr<ChangeBatchBuilder> builder;
};

class Consumer {
 public:
  explicit Consumer(mysql::BeforeImages before) : decoder_(before) {}
  int64_t images = 0;

  void File(std::string_view bytes) {
    reader_ = {};
    for (size_t at = 4; at < bytes.size();) {
      const auto* header = reinterpret_cast<const uint8_t*>(bytes.data()) + at;
      const uint64_t length = mysql::LoadLittle(header + 9, 4);
      const auto event = reader_.Read(bytes.substr(at, length));
      DRIFTLESS_CHECK(event.has_value());
      Use(*event);
      at += length;
    }
  }

 private:
  void Use(const mysql::BinlogEvent& event) {
    if (mysql::IsRowsEvent(event.type)) return Rows(event);
    if (event.type == mysql::EventType::kTableMap) return Map(event);
    if (event.type != mysql::EventType::kQuery) return;
    const auto query = mysql::ParseQuery(event, &buffer_);
    if (!query || query->sql == "BEGIN") return;
    mysql::StatementContext context;
    context.default_database = query->database;
    (void)catalog_.Apply(query->sql, context);
    current_.clear();
  }
  void Map(const mysql::BinlogEvent& event) {
    const auto head = mysql::ParseTableMapHead(event);
    const auto found = current_.find(head->table_id);
    if (found != current_.end() && found->second.identity == head->identity) return;
    const auto map = mysql::ParseTableMap(event);
    const TableSchemaPtr schema = catalog_.Find(map->path());
    if (schema == nullptr) return;
    auto plan = mysql::RowPlan::Make(*map, schema);
    DRIFTLESS_CHECK(plan.has_value());
    current_[head->table_id] = {std::string(head->identity), *std::move(plan),
                                std::make_unique<ChangeBatchBuilder>(schema, 0)};
  }
  void Rows(const mysql::BinlogEvent& event) {
    const auto rows = mysql::ParseRows(event, &buffer_);
    Table& table = current_.at(rows->table_id);
    DRIFTLESS_CHECK(decoder_.Begin(table.plan.get(), *rows).has_value());
    for (bool more = true; more;) {
      const auto appended =
          decoder_.Append(Point{0, 1, event.end_position, 0, 0}, 0, "", table.builder.get());
      DRIFTLESS_CHECK(appended.has_value());
      more = *appended;
      if (table.builder->IsFull()) benchmark::DoNotOptimize(table.builder->Seal());
    }
    images += decoder_.next_row() * (rows->op == Op::kUpdate ? 2 : 1);
  }

  mysql::EventReader reader_;
  mysql::RowDecoder decoder_;
  mysql::DdlCatalog catalog_{mysql::ServerSettings{}};
  std::map<uint64_t, Table> current_;
  std::string buffer_;
};

void DecodeWorkload(benchmark::State& state, const char* scenario, mysql::BeforeImages before) {
  const std::string folder = SourceDir() + "/tests/data/binlog/mysql-9.7/full/" + scenario;
  const std::string setup = ReadUnpacked(folder + ".setup.binlog.gz");
  const std::string stream = ReadUnpacked(folder + ".stream.binlog.gz");
  int64_t images = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Consumer consumer(before);
    consumer.File(setup);
    consumer.images = 0;
    state.ResumeTiming();
    consumer.File(stream);
    images += consumer.images;
  }
  state.SetItemsProcessed(images);
  state.SetBytesProcessed(static_cast<int64_t>(stream.size()) * state.iterations());
}

BENCHMARK_CAPTURE(DecodeWorkload, shop50k, "w_shop50k", mysql::BeforeImages::kWhereKeyChanges);
BENCHMARK_CAPTURE(DecodeWorkload, shop50k_before_images, "w_shop50k", mysql::BeforeImages::kAll);
BENCHMARK_CAPTURE(DecodeWorkload, transactions, "b_txn", mysql::BeforeImages::kWhereKeyChanges);

}  // namespace
}  // namespace driftless

BENCHMARK_MAIN();
