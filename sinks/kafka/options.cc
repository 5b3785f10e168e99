#include "sinks/kafka/options.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sinks/api/registry.h"

namespace driftless {

std::span<const OptionSpec> KafkaOptions() {
  static const auto* const kOptions = new std::vector<OptionSpec>{
      {.key = "properties.bootstrap.servers",
       .required = true,
       .doc = "Brokers as host:port, separated by commas.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "properties.*",
       .type = OptionType::kMap,
       .secret = true,
       .doc = "Properties of the Kafka client.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "topic",
       .doc = "One topic for all tables. Default: a topic per table, named as the table.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "sink.tableId-to-topic.mapping",
       .doc = "Topics by table: db.t1,db.t2:topicA;db.t3:topicB, with regular expressions.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "partition.strategy",
       .type = OptionType::kEnum,
       .default_value = "all-to-zero",
       .doc = "all-to-zero keeps the order of everything; hash-by-key keeps the order of each key.",
       .values = {"all-to-zero", "hash-by-key"},
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "key.format",
       .type = OptionType::kEnum,
       .default_value = "json",
       .doc = "How keys are written.",
       .values = {"json", "csv"},
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "value.format",
       .type = OptionType::kEnum,
       .default_value = "debezium-json",
       .doc = "How values are written. json is upsert mode: the key is the primary key, the value "
              "the row, a delete a tombstone, and new topics are compacted.",
       .values = {"debezium-json", "canal-json", "maxwell-json", "json"},
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "sink.delivery-guarantee",
       .type = OptionType::kEnum,
       .default_value = "at-least-once",
       .doc = "How often a message may arrive; exactly-once uses transactions.",
       .values = {"none", "at-least-once", "exactly-once"},
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "schema.change.events",
       .type = OptionType::kEnum,
       .doc = "inline writes schema changes between the rows, into every partition; topic writes "
              "them to schema.change.topic. Default: inline for debezium-json and canal-json, else "
              "none.",
       .values = {"inline", "topic", "none"}},
      {.key = "schema.change.topic",
       .doc = "The topic of schema.change.events: topic.",
       .change = OnChange::kNewState},
      {.key = "on-message-too-large",
       .type = OptionType::kEnum,
       .default_value = "fail",
       .doc =
           "What happens to a message that is longer than properties.message.max.bytes: fail "
           "stops the pipeline in front of it and names its key; dead-letter puts its row into "
           "the dead-letter file and goes on. What only the brokers find too large always fails.",
       .values = {"fail", "dead-letter"}},
      {.key = "topic.create",
       .type = OptionType::kBool,
       .default_value = "true",
       .doc = "Whether a new table's topic is created. false: it must be there, or the brokers "
              "create topics themselves."},
      {.key = "topic.partitions",
       .type = OptionType::kInt,
       .default_value = "-1",
       .doc = "Partitions of a new topic; -1: the brokers' default.",
       .min = -1,
       .max = 100000},
      {.key = "topic.replication-factor",
       .type = OptionType::kInt,
       .default_value = "-1",
       .doc = "Copies of each partition of a new topic; -1: the brokers' default.",
       .min = -1,
       .max = 1000},
      {.key = "topic.config.*",
       .type = OptionType::kMap,
       .doc = "Configuration of new topics, as in topic.config.retention.ms."},
      {.key = "sink.add-tableId-to-header-enabled",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether the table is written into the headers namespace, schemaName, tableName.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "sink.custom-header",
       .type = OptionType::kMap,
       .doc = "Headers for every message: key:value, separated by semicolons or commas.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "debezium-json.include-schema.enabled",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether values carry their schema.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "debezium-json.emit.full-table-id.enabled",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "Whether source holds db, schema and table instead of db and table.",
       .change = OnChange::kIncompatible},
      {.key = "timestamp-format.standard",
       .type = OptionType::kEnum,
       .default_value = "SQL",
       .doc = "How values write dates with a time: SQL (2026-01-02 03:04:05) or ISO-8601.",
       .aliases = {"debezium-json.timestamp-format.standard",
                   "canal-json.timestamp-format.standard", "json.timestamp-format.standard"},
       .values = {"SQL", "ISO-8601"},
       .change = OnChange::kIncompatible},
      {.key = "encode.ignore-null-fields",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "true leaves fields that are NULL out of the values.",
       .aliases = {"debezium-json.encode.ignore-null-fields",
                   "canal-json.encode.ignore-null-fields", "json.encode.ignore-null-fields"},
       .change = OnChange::kIncompatible},
  };
  return *kOptions;
}

namespace kafka {
namespace {

Error InvalidAt(const OptionValues& values, std::string_view key, std::string message) {
  const Location at = values.At(key);
  return MakeError(ErrorKind::kInvalidConfig, std::move(message)).At(at.line, at.column);
}

// "a:b;c:d" at the first colon of each entry; entries end at semicolons.
Result<std::vector<std::pair<TableSelector, std::string>>> ParseMapping(const OptionValues& values,
                                                                        std::string_view key) {
  std::vector<std::pair<TableSelector, std::string>> mapping;
  const std::string text = values.String(key).value_or("");
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    const std::string entry = text.substr(at, end - at);
    at = end + 1;
    if (entry.find_first_not_of(" \t") == std::string::npos) continue;
    const size_t colon = entry.rfind(':');
    if (colon == std::string::npos || colon + 1 == entry.size()) {
      return InvalidAt(values, key, "\"" + entry + "\" is not tables:topic");
    }
    auto selector = TableSelector::Parse(entry.substr(0, colon));
    if (!selector) {
      const Location where = values.At(key);
      return std::move(selector.error()).At(where.line, where.column);
    }
    std::string topic = entry.substr(colon + 1);
    topic.erase(0, topic.find_first_not_of(' '));
    topic.erase(topic.find_last_not_of(' ') + 1);
    mapping.emplace_back(std::move(*selector), std::move(topic));
  }
  return mapping;
}

// A property that the user passed through says something else than a first-class option.
struct Contradiction {
  std::string_view property;
  bool (*is_one)(const std::string& value, const SinkOptions& options);
  std::string_view option;
  std::string_view why;
};

bool IsFalse(const std::string& value) { return value == "false"; }

const std::array kContradictions = {
    Contradiction{"enable.idempotence",
                  [](const std::string& value, const SinkOptions& o) {
                    return IsFalse(value) && o.guarantee != DeliveryGuarantee::kNone;
                  },
                  "sink.delivery-guarantee",
                  "at-least-once and exactly-once keep the order of retried messages by it"},
    Contradiction{"acks",
                  [](const std::string& value, const SinkOptions& o) {
                    return value != "all" && value != "-1" &&
                           o.guarantee != DeliveryGuarantee::kNone;
                  },
                  "sink.delivery-guarantee", "at-least-once and exactly-once need acks=all"},
    Contradiction{"request.required.acks",
                  [](const std::string& value, const SinkOptions& o) {
                    return value != "all" && value != "-1" &&
                           o.guarantee != DeliveryGuarantee::kNone;
                  },
                  "sink.delivery-guarantee", "at-least-once and exactly-once need all acks"},
    Contradiction{"transactional.id", [](const std::string&, const SinkOptions&) { return true; },
                  "sink.delivery-guarantee",
                  "exactly-once makes an id of its own for every table, others have none"},
    Contradiction{"partitioner", [](const std::string&, const SinkOptions&) { return true; },
                  "partition.strategy",
                  "it decides the partition (hash-by-key is the Java client's murmur2)"},
    Contradiction{
        "metadata.broker.list",
        [](const std::string& value, const SinkOptions& o) { return value != o.bootstrap_servers; },
        "properties.bootstrap.servers", "both name the brokers"},
};

Result<void> FindContradictions(const OptionValues& values,
                                const std::map<std::string, std::string>& given,
                                const SinkOptions& options) {
  for (const Contradiction& one : kContradictions) {
    const auto found = given.find(std::string(one.property));
    if (found == given.end() || !one.is_one(found->second, options)) continue;
    return InvalidAt(values, "properties.*",
                     "properties." + found->first + ": " + found->second + " contradicts " +
                         std::string(one.option) + ": " + std::string(one.why));
  }
  return {};
}

void SetProducerDefaults(const SinkOptions& options, Properties* properties) {
  properties->insert_or_assign("bootstrap.servers", options.bootstrap_servers);
  properties->emplace("client.id", "driftless");
  const bool is_safe = options.guarantee != DeliveryGuarantee::kNone;
  properties->emplace("enable.idempotence", is_safe ? "true" : "false");
  properties->emplace("delivery.report.only.error", "true");
  // Java's choice of partitions, so that both kinds of writers agree.
  properties->emplace("partitioner", "murmur2_random");
  properties->emplace("socket.nagle.disable", "true");
  properties->emplace("linger.ms", "10");
  properties->emplace("batch.num.messages", "50000");
  properties->emplace("queue.buffering.max.messages", "500000");
  properties->emplace("compression.type", "lz4");
}

}  // namespace

// A topic's name has letters, digits, dots, underscores and hyphens only (Kafka's Topic class):
// every other byte becomes -xHH.
static std::string TopicName(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string name;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (is_plain) {
      name += c;
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    name += "-x";
    name += kHex[byte >> 4];
    name += kHex[byte & 15];
  }
  return name;
}

std::string SinkOptions::TopicOf(const TablePath& table) const {
  if (!topic.empty()) return topic;
  for (const auto& [selector, name] : mapping) {
    if (selector.Matches(table)) return name;
  }
  std::string text;
  for (const std::string* part : {&table.catalog, &table.database, &table.table}) {
    if (part->empty()) continue;
    if (!text.empty()) text += '.';
    text += *part;
  }
  return TopicName(text);
}

Result<SinkOptions> ReadSinkOptions(const OptionValues& values) {
  SinkOptions options;
  options.bootstrap_servers = values.String("properties.bootstrap.servers").value_or("");
  const std::string format = values.Enum("value.format").value_or("debezium-json");
  options.value_format = format == "canal-json"     ? ValueFormat::kCanalJson
                         : format == "maxwell-json" ? ValueFormat::kMaxwellJson
                         : format == "json"         ? ValueFormat::kJson
                                                    : ValueFormat::kDebeziumJson;
  if (values.Enum("partition.strategy") == "hash-by-key") {
    options.partition_strategy = PartitionStrategy::kHashByKey;
  }
  const auto guarantee = values.Enum("sink.delivery-guarantee");
  options.guarantee = guarantee == "none"           ? DeliveryGuarantee::kNone
                      : guarantee == "exactly-once" ? DeliveryGuarantee::kExactlyOnce
                                                    : DeliveryGuarantee::kAtLeastOnce;
  const bool carries_ddl = format == "debezium-json" || format == "canal-json";
  const std::string events =
      values.Enum("schema.change.events").value_or(carries_ddl ? "inline" : "none");
  options.schema_events = events == "inline"  ? SchemaEvents::kInline
                          : events == "topic" ? SchemaEvents::kTopic
                                              : SchemaEvents::kNone;
  if (options.is_upsert() && options.schema_events != SchemaEvents::kNone) {
    return InvalidAt(values, "schema.change.events",
                     "schema.change.events: " + events +
                         " contradicts value.format: json, which has no message for them");
  }
  options.schema_topic = values.String("schema.change.topic").value_or("");
  if ((options.schema_events == SchemaEvents::kTopic) == options.schema_topic.empty()) {
    return InvalidAt(values, "schema.change.topic",
                     "schema.change.events: topic and schema.change.topic need each other");
  }
  if (values.Enum("key.format") == "csv") options.encoder.key_format = KeyFormat::kCsv;
  options.encoder.include_schema =
      values.Bool("debezium-json.include-schema.enabled").value_or(false);
  options.encoder.full_table_id =
      values.Bool("debezium-json.emit.full-table-id.enabled").value_or(false);
  options.encoder.ignore_null_fields = values.Bool("encode.ignore-null-fields").value_or(false);
  if (values.Enum("timestamp-format.standard") == "ISO-8601") {
    options.encoder.date_time_separator = 'T';
  }
  options.topic = values.String("topic").value_or("");
  DRIFTLESS_ASSIGN_OR_RETURN(options.mapping,
                             ParseMapping(values, "sink.tableId-to-topic.mapping"));
  // One topic of several tables: their keys must not meet.
  options.encoder.key_has_table = !options.topic.empty() || !options.mapping.empty();
  options.table_headers = values.Bool("sink.add-tableId-to-header-enabled").value_or(false);
  for (const auto& [name, value] : values.Map("sink.custom-header")) {
    options.headers.emplace_back(name, value);
  }
  options.dead_letters_large = values.Enum("on-message-too-large") == "dead-letter";
  options.create_topics = values.Bool("topic.create").value_or(true);
  options.new_topic.partitions = static_cast<int32_t>(values.Int("topic.partitions").value_or(-1));
  options.new_topic.replication =
      static_cast<int32_t>(values.Int("topic.replication-factor").value_or(-1));
  options.new_topic.configs = values.Map("topic.config.*");
  if (options.is_upsert()) options.new_topic.configs.emplace("cleanup.policy", "compact");
  std::map<std::string, std::string> given = values.Map("properties.*");
  given.erase("bootstrap.servers");
  DRIFTLESS_TRY(FindContradictions(values, given, options));
  auto translated = TranslateProperties(given);
  if (!translated) {
    const Location at = values.At("properties.*");
    return std::move(translated.error()).At(at.line, at.column);
  }
  options.producer = std::move(*translated);
  SetProducerDefaults(options, &options.producer);
  return options;
}

std::unique_ptr<MessageEncoder> MakeEncoder(const SinkOptions& options,
                                            const EvolvedSchema& table) {
  switch (options.value_format) {
    case ValueFormat::kDebeziumJson: return MakeDebeziumJsonEncoder(table, options.encoder);
    case ValueFormat::kCanalJson: return MakeCanalJsonEncoder(table, options.encoder);
    case ValueFormat::kMaxwellJson: return MakeMaxwellJsonEncoder(table, options.encoder);
    case ValueFormat::kJson: return MakeJsonEncoder(table, options.encoder);
  }
  return nullptr;
}

bool EncodeStatement(const SinkOptions& options, const StatementChange& change,
                     std::string* value) {
  switch (options.value_format) {
    case ValueFormat::kDebeziumJson: return EncodeDebeziumStatement(change, options.encoder, value);
    case ValueFormat::kCanalJson: return EncodeCanalStatement(change, value);
    case ValueFormat::kMaxwellJson: return EncodeMaxwellStatement(change, value);
    case ValueFormat::kJson: return false;
  }
  return false;
}

}  // namespace kafka

void CheckKafkaSink(const OptionValues& values, Problems* problems) {
  if (const auto options = kafka::ReadSinkOptions(values); !options) {
    problems->AddError(values.At("properties.bootstrap.servers"), options.error());
  }
}

}  // namespace driftless
