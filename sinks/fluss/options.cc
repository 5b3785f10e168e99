#include <vector>

#include "sinks/api/registry.h"

namespace driftless {

std::span<const OptionSpec> FlussOptions() {
  static const auto* const kOptions = new std::vector<OptionSpec>{
      {.key = "bootstrap.servers",
       .required = true,
       .doc = "Coordinators and tablet servers as host:port, separated by commas.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "bucket.key",
       .doc = "The bucket key of tables that are created: db.t1:k1,k2;db.t2:k3. Default: the "
              "primary key without partition columns.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "bucket.num",
       .doc = "How many buckets tables get that are created: db.t1:4;db.t2:8. Default: what the "
              "server says.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "properties.table.*",
       .type = OptionType::kMap,
       .doc = "Options of tables that are created.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "properties.client.*",
       .type = OptionType::kMap,
       .secret = true,
       .doc = "Client options: security.protocol, security.sasl.mechanism, security.sasl.username, "
              "security.sasl.password.",
       .flink_cdc = FlinkCdc::kSame},
  };
  return *kOptions;
}

}  // namespace driftless
