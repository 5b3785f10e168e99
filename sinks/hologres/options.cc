#include <vector>

#include "schema/policy/policy.h"
#include "sinks/api/registry.h"

namespace driftless {

std::span<const OptionSpec> HologresOptions() {
  static const auto* const kOptions = new std::vector<OptionSpec>{
      {.key = "endpoint",
       .required = true,
       .doc = "host:port of the instance.",
       .change = OnChange::kNewState},
      {.key = "dbname", .required = true, .doc = "The database.", .change = OnChange::kNewState},
      {.key = "username", .required = true, .doc = "The AccessKey id or user."},
      {.key = "password",
       .required = true,
       .secret = true,
       .doc = "The AccessKey secret or password."},
      {.key = "sink.type-normalize-strategy",
       .type = OptionType::kEnum,
       .default_value = "STANDARD",
       .doc = "How source types become Hologres types. Wider ones survive type changes that "
              "Hologres itself cannot make. Fixed when the tables are created.",
       .values = {"STANDARD", "BROADEN", "ONLY_BIGINT_OR_TEXT"},
       .change = OnChange::kIncompatible},
      {.key = "sink.delete-strategy",
       .type = OptionType::kEnum,
       .default_value = "DELETE_ROW_ON_PK",
       .doc = "Whether deletes are carried out.",
       .values = {"DELETE_ROW_ON_PK", "IGNORE_DELETE"}},
      {.key = "mutateType",
       .type = OptionType::kEnum,
       .default_value = "insertOrUpdate",
       .doc = "What happens with a row whose key is there.",
       .values = {"insertOrIgnore", "insertOrReplace", "insertOrUpdate"}},
      {.key = "ignoreNullWhenUpdate",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "With insertOrUpdate: NULLs are not written."},
      {.key = "createPartTable",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether missing partitions are created."},
      {.key = "deduplication.enabled",
       .type = OptionType::kBool,
       .default_value = "true",
       .doc = "Whether only the last row of a key in a batch is written."},
      {.key = "remove-u0000-in-text.enabled",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether NUL characters are taken out of texts."},
      {.key = "jdbcEnableDefaultForNotNullColumn",
       .type = OptionType::kBool,
       .default_value = "true",
       .doc = "Whether a NULL for a NOT NULL column without default becomes a default value. Given "
              "explicitly, it overrides on-null-violation.",
       .aliases = {"jdbcenabledefaultfornotnullcolumn"}},
      {.key = "connection.ssl.mode",
       .type = OptionType::kEnum,
       .default_value = "disable",
       .doc = "How the connection is encrypted.",
       .values = {"disable", "require", "verify-ca", "verify-full"}},
      {.key = "connection.ssl.root-cert.location", .doc = "The file with the root certificate."},
      {.key = "useFixedFe",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether the connection goes to a fixed front end."},
      {.key = "jdbcRetryCount",
       .type = OptionType::kInt,
       .default_value = "10",
       .doc = "How often a statement is tried again.",
       .min = 0},
      {.key = "jdbcRetrySleepInitMs",
       .type = OptionType::kInt,
       .default_value = "1000",
       .doc = "How long the first wait between tries is.",
       .min = 0,
       .unit = "ms"},
      {.key = "jdbcRetrySleepStepMs",
       .type = OptionType::kInt,
       .default_value = "5000",
       .doc = "How much longer each further wait is.",
       .min = 0,
       .unit = "ms"},
      {.key = "jdbcWriteBatchSize",
       .type = OptionType::kInt,
       .default_value = "256",
       .doc = "How many rows a batch holds at most.",
       .min = 1,
       .unit = "rows"},
      {.key = "jdbcWriteBatchByteSize",
       .type = OptionType::kBytes,
       .default_value = "2097152",
       .doc = "How many bytes a batch of one table holds at most.",
       .min = 1024},
      {.key = "jdbcWriteBatchTotalByteSize",
       .type = OptionType::kBytes,
       .default_value = "20971520",
       .doc = "How many bytes the batches of all tables hold at most.",
       .min = 1024},
      {.key = "jdbcWriteFlushInterval",
       .type = OptionType::kInt,
       .default_value = "10000",
       .doc = "How long a row waits at most.",
       .min = 1,
       .unit = "ms"},
      {.key = "table_property.*",
       .type = OptionType::kMap,
       .doc = "Properties of tables that are created."},
  };
  return *kOptions;
}

void AdaptHologresPolicy(const OptionValues& options, SinkPolicy* policy) {
  // Given explicitly it overrides `on-null-violation` (policy, section 4); its default does not.
  constexpr std::string_view kKey = "jdbcEnableDefaultForNotNullColumn";
  if (!options.IsSet(kKey)) return;
  policy->on_null_violation =
      options.Bool(kKey) == true ? OnNullViolation::kDefaultValue : OnNullViolation::kFail;
}

}  // namespace driftless
