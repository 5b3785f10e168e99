#include <vector>

#include "sinks/api/registry.h"

namespace driftless {

std::span<const OptionSpec> IcebergOptions() {
  static const auto* const kOptions = new std::vector<OptionSpec>{
      {.key = "catalog.properties.*",
       .type = OptionType::kMap,
       .required = true,
       .secret = true,
       .doc =
           "Properties of the catalog, as Iceberg names them: type (hadoop, the default: tables in "
           "a "
           "folder or a bucket; rest; jdbc), warehouse, s3.endpoint and so on. Of a REST catalog: "
           "uri, "
           "credential or token, scope, oauth2-server-uri, prefix, base-namespace, header.*, "
           "rest.client.tls.ca-file. Of a jdbc catalog: uri (jdbc:sqlite:/path/catalog.db or "
           "jdbc:postgresql://host:5432/database), jdbc.user, jdbc.password, catalog-name.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "table.properties.*",
       .type = OptionType::kMap,
       .doc = "Properties of tables that are created.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "partition.key",
       .doc = "Partitions of tables that are created: db.t:dt;db.u:day(ts). Transforms are year, "
              "month, day, hour, bucket[n] and truncate[n].",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "sort.key",
       .doc = "Sort orders of tables that are created: db.t:day(ts) desc,id;db.u:name nulls last. "
              "Transforms as in partition.key. The rows of each file are sorted, also in tables "
              "that are there already and have a sort order.",
       .flink_cdc = FlinkCdc::kExtension},
      {.key = "sink.compaction.enabled",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether small data files, equality deletes and position deletes are merged in the "
              "background; in format version 3 deletion vectors, and rows keep their row ids.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "sink.compaction.commit.interval",
       .type = OptionType::kInt,
       .default_value = "10",
       .doc =
           "After how many commits of a table its files are looked at, and old snapshots expired.",
       .min = 1,
       .flink_cdc = FlinkCdc::kSame},
      {.key = "sink.compaction.commit.parallelism",
       .type = OptionType::kInt,
       .default_value = "-1",
       .doc = "Without effect: one thread of low priority merges the files of all tables.",
       .min = -1,
       .flink_cdc = FlinkCdc::kSame},
      {.key = "job.id.prefix",
       .default_value = "cdc",
       .doc = "Without effect in this version: commits are marked with the names of pipeline and "
              "sink.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "hadoop.conf.*",
       .type = OptionType::kMap,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note =
           "There is no Hadoop client; object stores are configured under catalog.properties.",
       .change = OnChange::kHot},
  };
  return *kOptions;
}

}  // namespace driftless
