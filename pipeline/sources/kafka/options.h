#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/options/option.h"
#include "pipeline/sources/debezium/debezium_stream.h"
#include "sinks/clients/kafka/client.h"

namespace driftless {

// Where reading starts when the state knows nothing of a partition.
enum class KafkaStart : uint8_t { kGroupOffsets, kEarliest, kLatest, kTimestamp, kSpecific };

// What the user configured for a source of `type: kafka`.
struct KafkaSourceOptions {
  static constexpr int kMessagesPerCall = 1000;  // between two looks at the clock

  kafka::Properties consumer;
  std::string bootstrap_servers;
  std::string group;                // empty: none
  std::vector<std::string> topics;  // or a pattern
  std::string pattern;
  KafkaStart start = KafkaStart::kGroupOffsets;
  int64_t start_time_ms = 0;
  std::map<int32_t, int64_t> start_offsets;  // by partition
  bool bounded = false;                      // ends at the end that it finds at the start
  int64_t discovery_interval_ms = 300'000;   // 0: never
  // Debezium's topic of schema changes; empty: looked for among the topics.
  std::string schema_topic;
  int64_t schema_wait_ms = 60'000;  // how long a row waits for its statement
  debezium::StreamOptions stream;
};

// Errors: kInvalidConfig, kUnsupported, with the place in the file.
Result<KafkaSourceOptions> ReadKafkaSourceOptions(const OptionValues& values);

}  // namespace driftless
