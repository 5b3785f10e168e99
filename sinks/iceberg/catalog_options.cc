#include <utility>

#include "sinks/iceberg/options.h"
#include "sinks/iceberg/partition.h"
#include "sinks/iceberg/sort_order.h"

namespace driftless::iceberg {
namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

// "db.t:a,b;db.u:c" by table; each expression must be one that `parse` knows.
template <typename Parse>
Result<std::map<std::string, std::vector<std::string>>> ByTable(const OptionValues& values,
                                                                const std::string& key,
                                                                const std::string& example,
                                                                const Parse& parse) {
  std::map<std::string, std::vector<std::string>> by_table;
  for (const std::string& entry : Split(values.String(key).value_or(""), ';')) {
    const size_t colon = entry.find(':');
    if (colon == std::string::npos) {
      return MakeError(ErrorKind::kInvalidConfig, "\"" + entry + "\" in " + key + " is no entry")
          .Hint("Write " + example + ".");
    }
    std::vector<std::string> expressions = Split(std::string_view(entry).substr(colon + 1), ',');
    for (const std::string& expression : expressions) {
      std::string source;
      const auto parsed = parse(expression, &source);
      if (!parsed) return Error(parsed.error()).Context(key);
    }
    by_table[entry.substr(0, colon)] = std::move(expressions);
  }
  return by_table;
}

}  // namespace

Result<IcebergOptions> ReadIcebergOptions(const OptionValues& values) {
  IcebergOptions options;
  options.catalog_properties = values.Map("catalog.properties.*");
  options.table_properties = values.Map("table.properties.*");
  options.compacts = values.Bool("sink.compaction.enabled").value_or(false);
  options.compaction_interval = values.Int("sink.compaction.commit.interval").value_or(10);
  DRIFTLESS_ASSIGN_OR_RETURN(
      options.partition_keys,
      ByTable(values, "partition.key", "db.table:day(ts),region;db.other:bucket[16](id)",
              &ParsePartitionExpression));
  DRIFTLESS_ASSIGN_OR_RETURN(
      options.sort_keys,
      ByTable(values, "sort.key", "db.table:day(ts) desc,id;db.other:name", &ParseSortExpression));
  return options;
}

Result<std::unique_ptr<Catalog>> OpenCatalog(const IcebergOptions& options, const Clock* clock) {
  const auto property = [&](const std::string& key) {
    const auto found = options.catalog_properties.find(key);
    return found == options.catalog_properties.end() ? std::string() : found->second;
  };
  std::string type = property("type");
  if (type.empty() && !property("uri").empty()) {
    type = property("uri").starts_with("jdbc:") ? "jdbc" : "rest";
  }
  if (type == "rest") {
    const std::string uri = property("uri");
    if (!uri.starts_with("http://") && !uri.starts_with("https://")) {
      return MakeError(ErrorKind::kInvalidConfig,
                       uri.empty() ? "catalog.properties.uri is missing"
                                   : "catalog.properties.uri = " + uri + " is no http address")
          .Hint("A catalog of type rest has an address: https://host/api/catalog.");
    }
    return MakeRestCatalog(options.catalog_properties, clock);
  }
  if (!type.empty() && type != "hadoop" && type != "jdbc") {
    return MakeError(ErrorKind::kUnsupported,
                     "catalog.properties.type = " + type + " is not in this version")
        .Hint("this version knows hadoop (tables in a folder or a bucket), rest and jdbc");
  }
  if (property("warehouse").empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "catalog.properties.warehouse is missing");
  }
  if (type == "jdbc") return MakeJdbcCatalog(options.catalog_properties, clock);
  DRIFTLESS_ASSIGN_OR_RETURN(std::shared_ptr<ObjectStore> store,
                             OpenObjectStore(property("warehouse"), options.catalog_properties));
  return MakeHadoopCatalog(std::move(store), clock);
}

}  // namespace driftless::iceberg
