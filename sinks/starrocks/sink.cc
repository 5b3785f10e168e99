#include "sinks/olap/sink.h"

#include <array>

#include "sinks/api/registry.h"
#include "sinks/olap/planner.h"
#include "sinks/olap/table_reader.h"
#include "sinks/starrocks/starrocks.h"

namespace driftless {
namespace starrocks {

Result<olap::OlapOptions> ReadOptions(const OptionValues& values) {
  olap::OlapOptions options;
  auto endpoints =
      olap::ParseSqlAddresses(values.String("jdbc-url").value_or(""), &options.sql.tls);
  if (!endpoints) {
    const Location at = values.At("jdbc-url");
    return std::move(endpoints).error().Context("jdbc-url").At(at.line, at.column);
  }
  options.sql.endpoints = *std::move(endpoints);
  const SqlEndpoint& first = options.sql.endpoints.front();
  options.identity = first.host + ":" + std::to_string(first.port);
  auto addresses = olap::ParseHttpAddresses(values.List("load-url"));
  if (!addresses) {
    const Location at = values.At("load-url");
    return std::move(addresses).error().Context("load-url").At(at.line, at.column);
  }
  options.load_addresses = *std::move(addresses);
  DRIFTLESS_TRY(olap::ReadTls(values, &options));
  olap::ReadLoadBounds(values, &options);
  options.sql.user = values.String("username").value_or("");
  options.sql.password = values.String("password").value_or("");
  options.connect_timeout_ms = values.Int("sink.connect.timeout-ms").value_or(30'000);
  options.sql.connect_timeout_ms = options.connect_timeout_ms;
  options.continue_timeout_ms = values.Int("sink.wait-for-continue.timeout-ms").value_or(30'000);
  options.answer_timeout_ms =
      std::max<int64_t>(values.Int("sink.socket.timeout-ms").value_or(-1), 0);
  options.sql.answer_timeout_ms = options.answer_timeout_ms;
  options.label_prefix = values.String("sink.label-prefix").value_or("");
  options.io_threads = static_cast<int>(values.Int("sink.io.thread-count").value_or(2));
  static constexpr std::array<olap::PackingWord, 2> kPackings = {
      {{"lz4_frame", olap::Packing::kLz4Frame}, {"gzip", olap::Packing::kGzip}}};
  DRIFTLESS_TRY(olap::ReadLoadHeaders(values, {"compression", kPackings}, &options));
  options.create.buckets = values.Int("table.create.num-buckets").value_or(0);
  options.create.properties = values.Map("table.create.properties.*");
  options.job_timeout_ms = values.DurationMs("table.schema-change.timeout").value_or(30 * 60'000);
  return options;
}

}  // namespace starrocks

Result<std::unique_ptr<Sink>> MakeStarRocksSink(const OptionValues& values,
                                                const SinkEnvironment& environment) {
  DRIFTLESS_ASSIGN_OR_RETURN(olap::OlapOptions options, starrocks::ReadOptions(values));
  olap::Product product;
  product.matrix = &kStarRocksMatrix;
  product.dialect = &starrocks::SqlDialect();
  product.operation = {"\"__op\":0", "\"__op\":1"};
  DRIFTLESS_ASSIGN_OR_RETURN(product.planner, MakeStarRocksPlanner(values));
  product.loader = starrocks::MakeLoader(options);
  product.statements = olap::StatementsOverMySql(options.sql);
  return olap::MakeSink(std::move(product), std::move(options), environment);
}

Result<std::unique_ptr<TableReader>> MakeStarRocksReader(const OptionValues& values,
                                                         const SinkEnvironment&) {
  DRIFTLESS_ASSIGN_OR_RETURN(const olap::OlapOptions options, starrocks::ReadOptions(values));
  DRIFTLESS_ASSIGN_OR_RETURN(auto planner, MakeStarRocksPlanner(values));
  return olap::MakeReader(&starrocks::SqlDialect(), std::move(planner), options,
                          olap::StatementsOverMySql(options.sql));
}

void CheckStarRocksSink(const OptionValues& values, Problems* problems) {
  const auto options = starrocks::ReadOptions(values);
  if (!options) problems->AddError(values.At("jdbc-url"), options.error());
}

}  // namespace driftless
