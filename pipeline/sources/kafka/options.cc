#include "pipeline/sources/kafka/options.h"

#include <array>
#include <charconv>
#include <utility>

#include "pipeline/sources/captured_tables.h"
#include "pipeline/sources/debezium/format_options.h"
#include "pipeline/sources/online_options.h"
#include "pipeline/sources/registry.h"

namespace driftless {

std::span<const OptionSpec> KafkaSourceOptionSpecs() {
  static const auto* const kOptions = new std::vector<OptionSpec>(debezium::WithFormatOptions({
      {.key = "topic",
       .type = OptionType::kList,
       .doc = "The topic, or topics separated by semicolons.",
       .change = OnChange::kNewState},
      {.key = "topic-pattern",
       .doc = "A regular expression that topics must match as a whole.",
       .change = OnChange::kNewState},
      {.key = "properties.bootstrap.servers",
       .required = true,
       .doc = "Brokers as host:port, separated by commas."},
      {.key = "properties.group.id", .doc = "The consumer group.", .change = OnChange::kNewState},
      {.key = "properties.*", .type = OptionType::kMap, .doc = "Properties of the Kafka client."},
      {.key = "value.format",
       .type = OptionType::kEnum,
       .default_value = "debezium-json",
       .doc = "How values are written.",
       .values = {"debezium-json", "canal-json", "maxwell-json", "json"},
       .change = OnChange::kIncompatible},
      {.key = "key.format",
       .type = OptionType::kEnum,
       .doc = "How keys are written. Default: keys that are JSON objects name the key's columns; "
              "others "
              "say nothing, as csv keys do not either: the primary key comes from statements.",
       .values = {"json", "csv"},
       .change = OnChange::kIncompatible},
      {.key = "key.fields-prefix",
       .doc = "A prefix for the names of columns that come from the key.",
       .change = OnChange::kIncompatible},
      {.key = "value.fields-prefix",
       .doc = "A prefix for the names of columns that come from the value.",
       .change = OnChange::kIncompatible},
      {.key = "scan.startup.mode",
       .type = OptionType::kEnum,
       .default_value = "group-offsets",
       .doc = "Where reading starts when there is no state.",
       .values = {"group-offsets", "earliest-offset", "latest-offset", "timestamp",
                  "specific-offsets"},
       .change = OnChange::kNewState},
      {.key = "scan.startup.specific-offsets",
       .doc = "For specific-offsets: partition:0,offset:42;partition:1,offset:300.",
       .change = OnChange::kNewState},
      {.key = "scan.startup.timestamp-millis",
       .type = OptionType::kInt,
       .doc = "For timestamp: milliseconds since 1970.",
       .min = 0,
       .change = OnChange::kNewState},
      {.key = "scan.bounded.mode",
       .type = OptionType::kEnum,
       .default_value = "unbounded",
       .doc = "latest-offset ends each partition where it ended when reading began.",
       .values = {"unbounded", "latest-offset"}},
      {.key = "tables",
       .type = OptionType::kList,
       .doc = "Tables to capture, as database.table; each part is a regular expression and \\. its "
              "any-character dot. Default: every table in the topics.",
       .change = OnChange::kNewState},
      {.key = "on-unparsed-ddl",
       .type = OptionType::kEnum,
       .doc = "What happens to a statement on a captured table that is not understood for certain: "
              "park lets its tables wait until `driftless decide` while others go on; fail stops "
              "before it; ignore goes on with the columns that the record itself gives. Default: "
              "the pipeline's on-unparsed-ddl.",
       .values = {"park", "fail", "ignore"}},
      ShadowTablesOption(),
      LeftoverTablesOption(),
      {.key = "scan.topic-partition-discovery.interval",
       .type = OptionType::kDuration,
       .default_value = "5 min",
       .doc = "How often new partitions are looked for; 0: never."},
      {.key = "scan.check.duplicated.group.id",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "true refuses to start when the consumer group is in use."},
      {.key = "schema.inference.strategy",
       .type = OptionType::kEnum,
       .default_value = "continuous",
       .doc = "continuous follows the fields of the rows; static keeps the first schema.",
       .values = {"continuous", "static"},
       .change = OnChange::kNewState},
      {.key = "scan.value.initial-schemas.ddls",
       .doc = "CREATE TABLE statements of Flink SQL that give the first schemas.",
       .change = OnChange::kNewState},
      {.key = "schema-topic",
       .doc =
           "The topic of Debezium's schema changes (named like its topic.prefix), read beside the "
           "data from its beginning. Default: the topic among those read whose name and a dot "
           "begin the names of others.",
       .change = OnChange::kNewState},
      {.key = "schema-topic.max-wait",
       .type = OptionType::kDuration,
       .default_value = "60 s",
       .doc = "How long a row that fits no known schema waits for its schema change.",
       .min = 0},
      {.key = "metadata.list",
       .type = OptionType::kList,
       .doc = "Metadata columns for transforms: topic, partition, offset, timestamp, "
              "timestamp-type, headers, leader-epoch."},
      {.key = "on-bad-record",
       .type = OptionType::kEnum,
       .default_value = "fail",
       .doc = "What happens with a record that cannot be decoded.",
       .values = {"fail", "dead-letter"}},
      {.key = "ingestion.ignore-errors",
       .type = OptionType::kBool,
       .doc = "true is on-bad-record: dead-letter."},
      {.key = "ingestion.error-tolerance.max-count",
       .type = OptionType::kInt,
       .default_value = "-1",
       .doc =
           "How many records may go to the dead letters before the pipeline stops; -1: any number.",
       .min = -1},
      {.key = "debezium-json.schema-include",
       .type = OptionType::kBool,
       .doc = "Whether values carry their schema. Default: looked at in each value."},
      {.key = "debezium-json.distributed-tables",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether one table stands in several partitions.",
       .change = OnChange::kNewState},
      {.key = "canal-json.distributed-tables",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether one table stands in several partitions.",
       .change = OnChange::kNewState},
      {.key = "canal-json.infer-schema.strategy",
       .type = OptionType::kEnum,
       .default_value = "AUTO",
       .doc = "Where column types come from: mysqlType (AUTO and MYSQL_TYPE; where a row has none, "
              "AUTO takes the row's values) or sqlType.",
       .values = {"AUTO", "SQL_TYPE", "MYSQL_TYPE"},
       .change = OnChange::kIncompatible},
      {.key = "canal-json.mysql.treat-mysql-timestamp-as-datetime-enabled",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether MySQL's TIMESTAMP is TIMESTAMP (local time) instead of TIMESTAMP_LTZ.",
       .change = OnChange::kIncompatible},
      {.key = "canal-json.mysql.treat-tinyint1-as-boolean.enabled",
       .type = OptionType::kBool,
       .default_value = "true",
       .doc = "Whether TINYINT(1) is BOOLEAN.",
       .change = OnChange::kIncompatible},
      {.key = "json.infer-schema.flatten-nested-columns.enable",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "true makes a column a.b of a nested field.",
       .change = OnChange::kIncompatible},
  }));
  return *kOptions;
}

namespace {

Error InvalidAt(const OptionValues& values, std::string_view key, std::string message) {
  const Location at = values.At(key);
  return MakeError(ErrorKind::kInvalidConfig, std::move(message)).At(at.line, at.column);
}

// Options that this version takes for `plan` and `validate`, and whose effect it does not have:
// they must not be passed over in silence.
constexpr std::array kNotYet = {
    "key.fields-prefix",
    "value.fields-prefix",
    "scan.check.duplicated.group.id",
    "schema.inference.strategy",
    "scan.value.initial-schemas.ddls",
    "metadata.list",
    "ingestion.error-tolerance.max-count",
    "debezium-json.schema-include",
    "debezium-json.distributed-tables",
    "canal-json.distributed-tables",
    "json.infer-schema.flatten-nested-columns.enable",
};

Result<void> RefuseWithoutEffect(const OptionValues& values) {
  const auto refuse = [&](const std::string& key, std::string hint) {
    const Location at = values.At(key);
    return MakeError(ErrorKind::kUnsupported,
                     "`run` does not carry out " + key + " of a kafka source yet")
        .At(at.line, at.column)
        .Hint(std::move(hint));
  };
  for (const char* key : kNotYet) {
    if (!values.IsSet(key)) continue;
    return refuse(key,
                  "Leave it out; topics with statements between the rows (our sink's "
                  "schema.change.events: inline) and records with embedded schemas need none.");
  }
  if (values.Enum("key.format") == "csv" && values.Enum("value.format") == "json") {
    return refuse("key.format: csv with value.format: json",
                  "A csv key does not name its columns, and nothing else tells of a deleted row.");
  }
  if (values.Enum("canal-json.infer-schema.strategy") == "SQL_TYPE") {
    return refuse("canal-json.infer-schema.strategy", "Types come from mysqlType.");
  }
  constexpr std::string_view kDateTime =
      "canal-json.mysql.treat-mysql-timestamp-as-datetime-enabled";
  if (values.Bool(kDateTime).value_or(false)) {
    return refuse(std::string(kDateTime), "TIMESTAMP is TIMESTAMP_LTZ; see canal-json.time-zone.");
  }
  return {};
}

Result<std::map<int32_t, int64_t>> ParseOffsets(const OptionValues& values) {
  constexpr std::string_view kKey = "scan.startup.specific-offsets";
  std::map<int32_t, int64_t> offsets;
  const std::string text = values.String(kKey).value_or("");
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    const std::string entry = text.substr(at, end - at);
    at = end + 1;
    int32_t partition = -1;
    int64_t offset = -1;
    const size_t comma = entry.find(",offset:");
    if (entry.starts_with("partition:") && comma != std::string::npos) {
      std::from_chars(entry.data() + 10, entry.data() + comma, partition);
      std::from_chars(entry.data() + comma + 8, entry.data() + entry.size(), offset);
    }
    if (partition < 0 || offset < 0) {
      return InvalidAt(values, kKey, "\"" + entry + "\" is not partition:N,offset:N");
    }
    offsets[partition] = offset;
  }
  return offsets;
}

void ReadStart(const OptionValues& values, KafkaSourceOptions* options) {
  const std::string mode = values.Enum("scan.startup.mode").value_or("group-offsets");
  options->start = mode == "earliest-offset"    ? KafkaStart::kEarliest
                   : mode == "latest-offset"    ? KafkaStart::kLatest
                   : mode == "timestamp"        ? KafkaStart::kTimestamp
                   : mode == "specific-offsets" ? KafkaStart::kSpecific
                                                : KafkaStart::kGroupOffsets;
  options->start_time_ms = values.Int("scan.startup.timestamp-millis").value_or(0);
}

Result<void> ReadProperties(const OptionValues& values, KafkaSourceOptions* options) {
  std::map<std::string, std::string> given = values.Map("properties.*");
  given.erase("bootstrap.servers");
  given.erase("group.id");
  for (const std::string_view key : {"enable.auto.commit", "auto.offset.reset"}) {
    if (!given.contains(std::string(key))) continue;
    return InvalidAt(values, "properties.*",
                     "properties." + std::string(key) +
                         " contradicts scan.startup.mode and the state: they decide where reading "
                         "starts and what is committed");
  }
  auto translated = kafka::TranslateProperties(given);
  if (!translated) {
    const Location at = values.At("properties.*");
    return std::move(translated.error()).At(at.line, at.column);
  }
  kafka::Properties& properties = options->consumer = std::move(*translated);
  properties["bootstrap.servers"] = options->bootstrap_servers;
  if (!options->group.empty()) properties["group.id"] = options->group;
  properties["enable.auto.commit"] = "false";
  properties["enable.auto.offset.store"] = "false";
  // Records that are gone must never be skipped in silence.
  properties["auto.offset.reset"] = "error";
  properties["enable.partition.eof"] = "true";
  properties.emplace("client.id", "driftless");
  properties.emplace("isolation.level", "read_committed");
  properties.emplace("fetch.wait.max.ms", "50");
  properties.emplace("queued.max.messages.kbytes", "16384");
  properties.emplace("socket.nagle.disable", "true");
  properties.emplace("consume.callback.max.messages",
                     std::to_string(KafkaSourceOptions::kMessagesPerCall));
  return {};
}

}  // namespace

Result<KafkaSourceOptions> ReadKafkaSourceOptions(const OptionValues& values) {
  KafkaSourceOptions options;
  DRIFTLESS_TRY(RefuseWithoutEffect(values));
  options.bootstrap_servers = values.String("properties.bootstrap.servers").value_or("");
  options.group = values.String("properties.group.id").value_or("");
  options.topics = values.List("topic");
  options.pattern = values.String("topic-pattern").value_or("");
  ReadStart(values, &options);
  DRIFTLESS_ASSIGN_OR_RETURN(options.start_offsets, ParseOffsets(values));
  options.bounded = values.Enum("scan.bounded.mode") == "latest-offset";
  options.discovery_interval_ms =
      values.DurationMs("scan.topic-partition-discovery.interval").value_or(300'000);
  debezium::StreamOptions& stream = options.stream;
  DRIFTLESS_TRY(
      debezium::ReadFormatOptions(values, KafkaSourceOptionSpecs(), "value.format", &stream));
  options.schema_topic = values.String("schema-topic").value_or("");
  options.schema_wait_ms = values.DurationMs("schema-topic.max-wait").value_or(60'000);
  if (!options.schema_topic.empty() && stream.records != debezium::RecordFormat::kDebeziumJson) {
    return InvalidAt(values, "schema-topic",
                     "schema-topic has no effect: only Debezium has such a topic");
  }
  stream.believes_indexes = true;
  stream.tinyint1_is_boolean =
      stream.records == debezium::RecordFormat::kCanalJson &&
      values.Bool("canal-json.mysql.treat-tinyint1-as-boolean.enabled").value_or(true);
  const bool ignores = values.Bool("ingestion.ignore-errors").value_or(false);
  if (ignores || values.Enum("on-bad-record") == "dead-letter") {
    stream.on_bad_record = debezium::OnBadRecord::kDeadLetter;
  }
  const auto on_unparsed = values.Enum("on-unparsed-ddl");
  if (on_unparsed == "park") stream.on_unparsed_ddl = OnUnparsedDdl::kPark;
  if (on_unparsed == "fail") stream.on_unparsed_ddl = OnUnparsedDdl::kFail;
  if (on_unparsed == "ignore") stream.on_unparsed_ddl = OnUnparsedDdl::kIgnore;
  DRIFTLESS_ASSIGN_OR_RETURN(stream.online, ReadOnlinePatterns(values));
  DRIFTLESS_ASSIGN_OR_RETURN(stream.tables, ReadCapturedTables(values));
  DRIFTLESS_TRY(ReadProperties(values, &options));
  return options;
}

void CheckKafkaSource(const OptionValues& values, Problems* problems) {
  if (values.IsSet("topic") == values.IsSet("topic-pattern")) {
    problems->AddError(values.At("topic"),
                       values.IsSet("topic") ? "a kafka source has both a topic and a topic-pattern"
                                             : "a kafka source needs a topic or a topic-pattern",
                       "Give one of the two.");
  }
  const std::string mode = values.Enum("scan.startup.mode").value_or("");
  const Location at = values.At("scan.startup.mode");
  if (mode == "timestamp" && !values.IsSet("scan.startup.timestamp-millis")) {
    problems->AddError(at, "scan.startup.mode timestamp needs scan.startup.timestamp-millis");
  }
  if (mode == "specific-offsets" && !values.IsSet("scan.startup.specific-offsets")) {
    problems->AddError(at,
                       "scan.startup.mode specific-offsets needs scan.startup.specific-offsets");
  }
}

}  // namespace driftless
