#include "sinks/paimon/options.h"

#include <utility>

#include "sinks/clients/objectstore/object_store.h"

namespace driftless::paimon {
namespace {

// Table options under which a reader would not see, or would see wrongly, what Driftless writes.
struct Unsupported {
  std::string_view key;
  std::vector<std::string_view> allowed;  // empty: the option must not be set
  std::string_view hint;
};

const std::vector<Unsupported>& UnsupportedOptions() {
  static const auto* const kList = new std::vector<Unsupported>{
      {"merge-engine", {"deduplicate"}, "Only deduplicate keeps a table equal to its source."},
      {"changelog-producer", {"none", "input"}, "lookup and full-compaction need a compaction."},
      {"file.format", {"parquet"}, "Data files are written as Parquet."},
      {"deletion-vectors.enabled",
       {"false"},
       "Readers would not see new rows before somebody compacts the table."},
      {"row-tracking.enabled", {"false"}, "Row ids are not written."},
      {"data-evolution.enabled", {"false"}, "Row ids are not written."},
      {"bucket-function.type", {"default", "mod"}, "Hive's bucket function is not known here."},
      {"branch", {"main"}, "Driftless writes the main branch."},
      {"type", {"table"}, "Format, object and materialized tables are not written."},
      {"primary-key", {}, "The key comes from the source."},
      {"partition", {}, "Use the sink's option partition.key."},
      {"sequence.field", {}, "The order of the source decides which row is newest."},
      {"rowkind.field", {}, "The source decides what a row means."},
      {"data-file.external-paths", {}, "Data files lie in the table's folder."},
      {"data-file.path-directory", {}, "Data files lie in the table's folder."},
      {"index-file-in-data-file-dir", {"false"}, "Index files lie in the table's index folder."},
      {"primary-key.nullable", {"false"}, "Key columns are NOT NULL."},
  };
  return *kList;
}

std::string Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '`')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '`')) text.remove_suffix(1);
  return std::string(text);
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    if (std::string part = Trim(text.substr(0, end)); !part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

// "db.t:k1,k2;db.u:k".
Result<std::map<std::string, std::vector<std::string>>> ParsePartitionKeys(std::string_view text) {
  std::map<std::string, std::vector<std::string>> result;
  for (const std::string& entry : Split(text, ';')) {
    const size_t colon = entry.rfind(':');
    std::vector<std::string> keys;
    if (colon != std::string::npos) keys = Split(std::string_view(entry).substr(colon + 1), ',');
    if (keys.empty()) {
      return MakeError(ErrorKind::kInvalidConfig, "\"" + entry + "\" in partition.key is no entry")
          .Hint("Write db.table:column1,column2;db.other:column.");
    }
    const Result<TablePath> path = ParseTablePath(Trim(std::string_view(entry).substr(0, colon)));
    if (!path) return Error(path.error()).Context("partition.key");
    result[path->ToString()] = std::move(keys);
  }
  return result;
}

}  // namespace

std::span<const OptionSpec> PaimonOptionSpecs() {
  static const auto* const kOptions = new std::vector<OptionSpec>{
      {.key = "catalog.properties.metastore",
       .type = OptionType::kEnum,
       .default_value = "filesystem",
       .doc = "The kind of catalog. Driftless writes filesystem catalogs: a table is a folder of "
              "the warehouse, and every Paimon engine can open it.",
       .values = {"filesystem"},
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "catalog.properties.warehouse",
       .required = true,
       .doc = "Where the tables are: a path, file:///path, s3://bucket/prefix, or oss://.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "catalog.properties.s3.access-key",
       .secret = true,
       .doc = "The access key of an S3-compatible store.",
       .aliases = {"catalog.properties.s3.access.key"},
       .flink_cdc = FlinkCdc::kSame},
      {.key = "catalog.properties.s3.secret-key",
       .secret = true,
       .doc = "The secret key of an S3-compatible store.",
       .aliases = {"catalog.properties.s3.secret.key"},
       .flink_cdc = FlinkCdc::kSame},
      {.key = "catalog.properties.*",
       .type = OptionType::kMap,
       .secret = true,
       .doc = "Further catalog properties: s3.endpoint, s3.endpoint.region, s3.path.style.access, "
              "s3.session-token, and their Hadoop spellings (fs.s3a.*, fs.oss.*).",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "table.properties.*",
       .type = OptionType::kMap,
       .doc = "Options of tables that are created: bucket, changelog-producer, "
              "snapshot.time-retained, file.compression and so on, with Paimon's names.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "commit.user-prefix",
       .default_value = "driftless",
       .doc = "What the commit user in snapshots begins with; pipeline and sink follow.",
       .aliases = {"commit.user"},
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "partition.key",
       .doc = "Partition columns of tables that are created: db.t:k1,k2;db.u:k. They become part "
              "of the primary key where there is one.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
  };
  return *kOptions;
}

Result<void> CheckTableOptions(const std::map<std::string, std::string>& options) {
  for (const Unsupported& rule : UnsupportedOptions()) {
    const auto found = options.find(std::string(rule.key));
    if (found == options.end()) continue;
    bool allowed = false;
    for (const std::string_view value : rule.allowed) allowed = allowed || value == found->second;
    if (allowed) continue;
    return MakeError(ErrorKind::kUnsupported, "Paimon table option " + found->first + " = " +
                                                  found->second + " is not supported")
        .Hint(std::string(rule.hint));
  }
  const auto bucket = options.find("bucket");
  if (bucket != options.end() && bucket->second == "-2") {
    return MakeError(ErrorKind::kUnsupported, "postponed buckets (bucket = -2) are not supported")
        .Hint("Rows would stay invisible until a compaction job runs; set a number of buckets.");
  }
  return {};
}

Result<PaimonOptions> ReadPaimonOptions(const OptionValues& values) {
  PaimonOptions options;
  options.catalog_properties = values.Map("catalog.properties.*");
  for (const std::string_view key : {"metastore", "warehouse", "s3.access-key", "s3.secret-key"}) {
    const std::string name = "catalog.properties." + std::string(key);
    const std::optional<std::string> value =
        key == "metastore" ? values.Enum(name) : values.String(name);
    if (value) options.catalog_properties[std::string(key)] = *value;
  }
  options.warehouse = options.catalog_properties["warehouse"];
  options.commit_user_prefix = values.String("commit.user-prefix").value_or("driftless");
  options.table_properties = values.Map("table.properties.*");
  if (Result<void> checked = CheckTableOptions(options.table_properties); !checked) {
    const Error& error = checked.error();
    return MakeError(ErrorKind::kInvalidConfig, error.message()).Hint(error.hint());
  }
  DRIFTLESS_ASSIGN_OR_RETURN(options.partition_keys,
                             ParsePartitionKeys(values.String("partition.key").value_or("")));
  return options;
}

const std::vector<std::string>* PaimonOptions::PartitionKeysOf(const TablePath& table) const {
  const auto found = partition_keys.find(table.database + "." + table.table);
  return found == partition_keys.end() ? nullptr : &found->second;
}

Result<std::shared_ptr<ObjectStore>> OpenWarehouse(const PaimonOptions& options) {
  if (options.warehouse.empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "catalog.properties.warehouse is missing");
  }
  return OpenObjectStore(options.warehouse, options.catalog_properties);
}

}  // namespace driftless::paimon
