#include <fmt/format.h>

#include <vector>

#include "pipeline/sources/captured_tables.h"
#include "pipeline/sources/mysql/source_options.h"
#include "pipeline/sources/online_options.h"
#include "pipeline/sources/registry.h"

namespace driftless {
std::span<const OptionSpec> MySqlSourceOptions() {
  static const auto* const kOptions = new std::vector<OptionSpec>{
      {.key = "hostname",
       .required = true,
       .doc = "The server's name or address.",
       .aliases = {"host"},
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "port",
       .type = OptionType::kInt,
       .default_value = "3306",
       .doc = "The server's port.",
       .min = 1,
       .max = 65535,
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "username",
       .required = true,
       .doc = "The user, with SELECT, REPLICATION SLAVE and REPLICATION CLIENT.",
       .aliases = {"user"},
       .flink_cdc = FlinkCdc::kSame},
      {.key = "password",
       .required = true,
       .secret = true,
       .doc = "The user's password.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "tls.mode",
       .type = OptionType::kEnum,
       .default_value = "preferred",
       .doc =
           "How connections are protected: preferred takes TLS where the server has it, required "
           "refuses a server without, verify-identity also checks its certificate and name.",
       .values = {"disabled", "preferred", "required", "verify-identity"}},
      {.key = "tls.ca",
       .doc = "The file with the certificates of the authorities that are trusted."},
      {.key = "tls.certificate", .doc = "The file with the client's certificate."},
      {.key = "tls.key", .doc = "The file with the client's key."},
      {.key = "tables",
       .required = true,
       .doc = "Which tables: names or regular expressions, separated by commas; \\. is the dot of "
              "a regular expression. A change needs scan.newly-added-table.enabled, or a new "
              "state.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "tables.exclude",
       .doc = "Which of them are left out. A change is one of \"tables\".",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "server-id",
       .doc = "The id, or range of ids, that the replication connections use. Default: random.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "server-time-zone",
       .doc = "The server's time zone. Default: the one that it reports.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "scan.startup.mode",
       .type = OptionType::kEnum,
       .default_value = "initial",
       .doc = "Where reading starts when there is no state.",
       .values = {"initial", "snapshot", "latest-offset", "earliest-offset", "specific-offset",
                  "timestamp"},
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "scan.startup.specific-offset.file",
       .doc = "For specific-offset: the binary log file.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "scan.startup.specific-offset.pos",
       .type = OptionType::kInt,
       .doc = "For specific-offset: the position in that file.",
       .min = 0,
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "scan.startup.specific-offset.gtid-set",
       .doc = "For specific-offset: the GTID set that was already read.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "scan.startup.specific-offset.skip-events",
       .type = OptionType::kInt,
       .doc = "Only 0: other values are refused.",
       .min = 0,
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "scan.startup.specific-offset.skip-rows",
       .type = OptionType::kInt,
       .doc = "Only 0: other values are refused.",
       .min = 0,
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "scan.startup.timestamp-millis",
       .type = OptionType::kInt,
       .doc =
           "For timestamp: milliseconds since 1970; reading starts at the first transaction that "
           "was committed then or later.",
       .min = 0,
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "scan.incremental.snapshot.chunk.size",
       .type = OptionType::kInt,
       .default_value = "8096",
       .doc = "Rows per chunk of a snapshot.",
       .min = 2,
       .unit = "rows",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "scan.snapshot.fetch.size",
       .type = OptionType::kInt,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Rows of a chunk are streamed.",
       .change = OnChange::kHot},
      {.key = "scan.incremental.snapshot.chunk.key-column",
       .doc = "By which column a table is split into chunks: database.table:column, several "
              "separated by semicolons. Default: the primary key; a table without one is one "
              "chunk.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "scan.incremental.snapshot.backfill.skip",
       .type = OptionType::kBool,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "The log between chunks costs nothing more, and is always followed.",
       .change = OnChange::kHot},
      {.key = "scan.incremental.snapshot.unbounded-chunk-first.enabled",
       .type = OptionType::kBool,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Chunks are read in the order of the key.",
       .change = OnChange::kHot},
      {.key = "scan.incremental.close-idle-reader.enabled",
       .type = OptionType::kBool,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Readers of a finished snapshot always end.",
       .change = OnChange::kHot},
      {.key = "chunk-meta.group.size",
       .type = OptionType::kInt,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Chunks are not sent between processes.",
       .change = OnChange::kHot},
      {.key = "chunk-key.even-distribution.factor.upper-bound",
       .doc = "Ignored.",
       .aliases = {"split-key.even-distribution.factor.upper-bound"},
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Chunks follow the rows that are there; no bounds are computed.",
       .change = OnChange::kHot},
      {.key = "chunk-key.even-distribution.factor.lower-bound",
       .doc = "Ignored.",
       .aliases = {"split-key.even-distribution.factor.lower-bound"},
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Chunks follow the rows that are there; no bounds are computed.",
       .change = OnChange::kHot},
      {.key = "connection.pool.size",
       .type = OptionType::kInt,
       .default_value = "4",
       .doc = "How many connections read a snapshot at the same time.",
       .min = 1,
       .max = 64,
       .unit = "connections",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "connect.timeout",
       .type = OptionType::kDuration,
       .default_value = "30 s",
       .doc = "How long a connection may take.",
       .min = 250,
       .flink_cdc = FlinkCdc::kSame},
      {.key = "connect.max-retries",
       .type = OptionType::kInt,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "A server that is away is tried again, with longer and longer pauses, "
                         "until it is there.",
       .change = OnChange::kHot},
      {.key = "heartbeat.interval",
       .type = OptionType::kDuration,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "The server sends heartbeats every second; checkpoints keep the position.",
       .change = OnChange::kHot},
      {.key = "scan.newly-added-table.enabled",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc =
           "Whether a start takes a snapshot of tables that \"tables\" matches and that were not "
           "captured before, and goes on with their changes; tables that it does not match any "
           "more leave. With false, a start refuses such tables. Tables that are created while "
           "the pipeline runs are captured in either case.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "scan.binlog.newly-added-table.enabled",
       .type = OptionType::kBool,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "A table that is created while the pipeline runs is always captured.",
       .change = OnChange::kHot},
      {.key = "schema-change.enabled",
       .type = OptionType::kBool,
       .default_value = "true",
       .doc = "Only true: false is refused; schema.change.behavior says what becomes of schema "
              "changes.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "on-unparsed-ddl",
       .type = OptionType::kEnum,
       .doc = "What happens to a statement on a captured table that is not understood for certain, "
              "and to rows that do not fit the statements: park lets the tables wait until "
              "`driftless decide` while others go on; fail stops before it; ignore goes on with "
              "the table as the server has it, where the next row's description agrees. Default: "
              "the pipeline's on-unparsed-ddl.",
       .values = {"park", "fail", "ignore"}},
      {.key = "scan.parse.online.schema.changes.enabled",
       .type = OptionType::kBool,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Shadow tables of gh-ost and pt-online-schema-change are always followed.",
       .change = OnChange::kHot},
      {.key = "include-comments.enabled",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether comments of tables and columns are read.",
       .flink_cdc = FlinkCdc::kSame},
      ShadowTablesOption(),
      LeftoverTablesOption(),
      {.key = "treat-tinyint1-as-boolean.enabled",
       .type = OptionType::kBool,
       .default_value = "true",
       .doc = "Whether TINYINT(1) is BOOLEAN.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "use.legacy.json.format",
       .type = OptionType::kBool,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "JSON columns are always as the server prints them.",
       .change = OnChange::kHot},
      {.key = "metadata.list",
       .type = OptionType::kList,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Transforms may name metadata columns without it.",
       .change = OnChange::kHot},
      {.key = "scan.only.deserialize.captured.tables.changelog.enabled",
       .type = OptionType::kBool,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Rows of other tables are never decoded.",
       .change = OnChange::kHot},
      {.key = "scan.parallel-deserialize-changelog.enabled",
       .type = OptionType::kBool,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Decoding and writing always run side by side.",
       .change = OnChange::kHot},
      {.key = "scan.parallel-deserialize-changelog.handler.size",
       .type = OptionType::kInt,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "Decoding and writing always run side by side.",
       .change = OnChange::kHot},
      {.key = "jdbc.properties.*",
       .type = OptionType::kMap,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "There is no JDBC driver.",
       .change = OnChange::kHot},
      {.key = "debezium.*",
       .type = OptionType::kMap,
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "There is no Debezium engine.",
       .change = OnChange::kHot},
  };
  return *kOptions;
}

void CheckMySqlSource(const OptionValues& values, Problems* problems) {
  constexpr std::string_view kChunkColumn = "scan.incremental.snapshot.chunk.key-column";
  if (const auto text = values.String(kChunkColumn)) {
    if (const auto columns = mysql::ReadChunkColumns(*text); !columns) {
      problems->AddError(values.At(kChunkColumn),
                         fmt::format("\"{}\": {}", kChunkColumn, columns.error().message()),
                         columns.error().hint());
    }
  }
  CheckTableSelector("tables", values, problems);
  CheckTableSelector("tables.exclude", values, problems);
  const std::string mode = values.Enum("scan.startup.mode").value_or("initial");
  const Location at = values.At("scan.startup.mode");
  const bool has_file = values.IsSet("scan.startup.specific-offset.file") &&
                        values.IsSet("scan.startup.specific-offset.pos");
  if (mode == "specific-offset" && !has_file &&
      !values.IsSet("scan.startup.specific-offset.gtid-set")) {
    problems->AddError(at, "scan.startup.mode specific-offset needs a position",
                       "Give scan.startup.specific-offset.gtid-set, or .file and .pos.");
  }
  if (mode == "timestamp" && !values.IsSet("scan.startup.timestamp-millis")) {
    problems->AddError(at, "scan.startup.mode timestamp needs a time",
                       "Give scan.startup.timestamp-millis.");
  }
  for (const char* key :
       {"scan.startup.specific-offset.skip-events", "scan.startup.specific-offset.skip-rows"}) {
    if (values.Int(key).value_or(0) == 0) continue;
    problems->AddError(values.At(key), fmt::format("\"{}\" is not there for MySQL", key),
                       "Give a position between two transactions, and leave it out.");
  }
  if (values.Bool("schema-change.enabled") == false) {
    problems->AddError(values.At("schema-change.enabled"),
                       "\"schema-change.enabled: false\" is not there for MySQL",
                       "Say in pipeline.schema.change.behavior what becomes of schema changes: "
                       "ignore leaves the sink's tables as they are.");
  }
}

}  // namespace driftless
