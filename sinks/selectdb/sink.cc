#include "sinks/olap/sink.h"

#include "sinks/api/registry.h"
#include "sinks/olap/planner.h"
#include "sinks/selectdb/selectdb.h"

namespace driftless {
namespace selectdb {
namespace {

constexpr int kQueryPort = 9030;

// Without jdbc-url: the hosts of fenodes, on the port that front ends have for statements.
std::vector<SqlEndpoint> EndpointsOf(const std::vector<std::string>& addresses) {
  std::vector<SqlEndpoint> endpoints;
  for (const std::string& address : addresses) {
    const size_t begin = address.find("://") + 3;
    endpoints.push_back({address.substr(begin, address.rfind(':') - begin), kQueryPort});
  }
  return endpoints;
}

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
  } else {
    options.sql.endpoints = EndpointsOf(options.load_addresses);
  }
  if (!values.Map("table.create.auto-partition.properties.*").empty()) {
    const Location at = values.At("table.create.auto-partition.properties.*");
    return MakeError(ErrorKind::kUnsupported,
                     "table.create.auto-partition.properties: this version does not create "
                     "partitioned tables")
        .At(at.line, at.column)
        .Hint("Create the table with its partitions yourself; Driftless takes one that is there.");
  }
  options.sql.user = values.String("username").value_or("");
  options.sql.password = values.String("password").value_or("");
  options.label_prefix = values.String("sink.label-prefix").value_or("");
  options.max_retries = static_cast<int>(values.Int("sink.max-retries").value_or(3));
  options.two_phase = values.Bool("sink.enable-2pc").value_or(true);
  options.carries_deletes = values.Bool("sink.enable-delete").value_or(true);
  DRIFTLESS_ASSIGN_OR_RETURN(options.load_headers, olap::ReadLoadHeaders(values));
  options.create.properties = values.Map("table.create.properties.*");
  options.job_timeout_ms = values.DurationMs("schema.evolution.timeout").value_or(3 * 60'000);
  return options;
}

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
  return olap::MakeSink(std::move(product), std::move(options), environment);
}

void CheckSelectDbSink(const OptionValues& values, Problems* problems) {
  const auto options = selectdb::ReadOptions(values);
  if (!options) problems->AddError(values.At("fenodes"), options.error());
}

}  // namespace driftless
