#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/definition/selector.h"
#include "config/options/option.h"
#include "schema/model/table.h"
#include "sinks/clients/kafka/client.h"
#include "sinks/formats/message_encoder.h"

namespace driftless::kafka {

enum class ValueFormat : uint8_t { kDebeziumJson, kCanalJson, kMaxwellJson, kJson };
enum class PartitionStrategy : uint8_t { kAllToZero, kHashByKey };
enum class DeliveryGuarantee : uint8_t { kNone, kAtLeastOnce, kExactlyOnce };
enum class SchemaEvents : uint8_t { kNone, kInline, kTopic };

// What the user configured for `type: kafka`, checked.
struct SinkOptions {
  Properties producer;  // of the client, ours included; without transactional.id
  std::string bootstrap_servers;
  ValueFormat value_format = ValueFormat::kDebeziumJson;
  PartitionStrategy partition_strategy = PartitionStrategy::kAllToZero;
  DeliveryGuarantee guarantee = DeliveryGuarantee::kAtLeastOnce;
  SchemaEvents schema_events = SchemaEvents::kInline;
  EncoderOptions encoder;
  std::string topic;  // empty: by mapping or table
  std::vector<std::pair<TableSelector, std::string>> mapping;
  std::string schema_topic;
  bool table_headers = false;
  std::vector<std::pair<std::string, std::string>> headers;
  bool dead_letters_large = false;  // a message that is too large is put aside; else it is an error
  bool create_topics = true;
  NewTopic new_topic;  // without a name

  // A row is a key and a value, a delete a tombstone: the topic is compacted.
  bool is_upsert() const { return value_format == ValueFormat::kJson; }
  std::string TopicOf(const TablePath& table) const;
};

// Errors: kInvalidConfig, with the place in the file; what contradicts itself is named twice.
Result<SinkOptions> ReadSinkOptions(const OptionValues& values);

std::unique_ptr<MessageEncoder> MakeEncoder(const SinkOptions& options, const EvolvedSchema& table);
// False: this format has no message for the statement.
bool EncodeStatement(const SinkOptions& options, const StatementChange& change, std::string* value);

}  // namespace driftless::kafka
