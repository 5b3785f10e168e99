#include "sinks/olap/sink.h"

#include <array>

#include "sinks/api/registry.h"
#include "sinks/olap/planner.h"
#include "sinks/olap/table_reader.h"
#include "sinks/selectdb/auto_partition.h"
#include "sinks/selectdb/selectdb.h"

namespace driftless {
namespace selectdb {
namespace {

// How a sink without jdbc-url is named in the state, since its statements went to port 9030.
constexpr std::string_view kQueryPort = ":9030";

Result<std::vector<std::string>> Addresses(const OptionValues& values, std::string_view key) {
  auto addresses = olap::ParseHttpAddresses({values.String(key).value_or("")});
  if (addresses) return addresses;
  const Location at = values.At(key);
  return std::move(addresses).error().Context(std::string(key)).At(at.line, at.column);
}

}  // namespace

Result<olap::OlapOptions> ReadOptions(const OptionValues& values) {
  olap::OlapOptions options;
  DRIFTLESS_ASSIGN_OR_RETURN(options.load_addresses, Addresses(values, "fenodes"));
  if (values.String("benodes").has_value()) {
    DRIFTLESS_ASSIGN_OR_RETURN(options.back_ends, Addresses(values, "benodes"));
  }
  if (values.Bool("auto-redirect").value_or(false)) options.back_ends.clear();
  if (const auto url = values.String("jdbc-url")) {
    auto endpoints = olap::ParseSqlAddresses(*url, &options.sql.tls);
    if (!endpoints) {
      const Location at = values.At("jdbc-url");
      return std::move(endpoints).error().Context("jdbc-url").At(at.line, at.column);
    }
    options.sql.endpoints = *std::move(endpoints);
    const SqlEndpoint& first = options.sql.endpoints.front();
    options.identity = first.host + ":" + std::to_string(first.port);
  } else {
    const std::string& first = options.load_addresses.front();
    const size_t begin = first.find("://") + 3;
    options.identity = first.substr(begin, first.rfind(':') - begin) + std::string(kQueryPort);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(options.create.auto_partition, ReadAutoPartitions(values));
  DRIFTLESS_TRY(olap::ReadTls(values, &options));
  options.sql.user = values.String("username").value_or("");
  options.sql.password = values.String("password").value_or("");
  options.label_prefix = values.String("sink.label-prefix").value_or("");
  options.max_retries = static_cast<int>(values.Int("sink.max-retries").value_or(3));
  options.two_phase = values.Bool("sink.enable-2pc").value_or(true);
  options.carries_deletes = values.Bool("sink.enable-delete").value_or(true);
  static constexpr std::array<olap::PackingWord, 2> kPackings = {
      {{"gz", olap::Packing::kGzip}, {"lz4", olap::Packing::kLz4Frame}}};
  DRIFTLESS_TRY(olap::ReadLoadHeaders(values, {"compress_type", kPackings, true}, &options));
  options.create.properties = values.Map("table.create.properties.*");
  // Every load becomes visible by itself, so that a cut should be one wherever memory allows.
  options.load_bytes_max = 256 << 20;
  olap::ReadLoadBounds(values, &options);
  options.job_timeout_ms = values.DurationMs("schema.evolution.timeout").value_or(3 * 60'000);
  return options;
}

namespace {

std::unique_ptr<olap::Statements> MakeStatements(const olap::OlapOptions& options) {
  return options.sql.endpoints.empty() ? StatementsOverHttp(options)
                                       : olap::StatementsOverMySql(options.sql);
}

}  // namespace
}  // namespace selectdb

Result<std::unique_ptr<Sink>> MakeSelectDbSink(const OptionValues& values,
                                               const SinkEnvironment& environment) {
  DRIFTLESS_ASSIGN_OR_RETURN(olap::OlapOptions options, selectdb::ReadOptions(values));
  olap::Product product;
  product.matrix = &kSelectDbMatrix;
  product.dialect = &selectdb::SqlDialect();
  product.operation = {"\"__DORIS_DELETE_SIGN__\":\"0\"", "\"__DORIS_DELETE_SIGN__\":\"1\"",
                       options.carries_deletes};
  DRIFTLESS_ASSIGN_OR_RETURN(product.planner, MakeSelectDbPlanner(values));
  product.loader = selectdb::MakeLoader(options);
  product.statements = selectdb::MakeStatements(options);
  return olap::MakeSink(std::move(product), std::move(options), environment);
}

Result<std::unique_ptr<TableReader>> MakeSelectDbReader(const OptionValues& values,
                                                        const SinkEnvironment&) {
  DRIFTLESS_ASSIGN_OR_RETURN(const olap::OlapOptions options, selectdb::ReadOptions(values));
  DRIFTLESS_ASSIGN_OR_RETURN(auto planner, MakeSelectDbPlanner(values));
  return olap::MakeReader(&selectdb::SqlDialect(), std::move(planner), options,
                          selectdb::MakeStatements(options));
}

void CheckSelectDbSink(const OptionValues& values, Problems* problems) {
  const auto options = selectdb::ReadOptions(values);
  if (!options) problems->AddError(values.At("fenodes"), options.error());
}

}  // namespace driftless
