#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/sources/kafka/alignment.h"
#include "pipeline/sources/kafka/options.h"
#include "pipeline/sources/kafka/schema_topic.h"
#include "pipeline/sources/source.h"
#include "sinks/clients/kafka/client.h"

namespace driftless {

// One partition of one topic: a stream of the source.
struct KafkaPartition {
  std::string topic;
  int32_t partition = 0;
  // Among the partitions that wait for each other at statements: the topic's, or, with a topic of
  // statements, all of the source.
  size_t index = 0;
  std::shared_ptr<StatementAlignment> alignment;  // null: it is alone
  std::shared_ptr<SchemaTopic> schemas;           // null: statements stand between the rows
};

// Reads a partition until its end, or until the pipeline stops. One thread; the client is shared.
class KafkaPartitionReader {
 public:
  KafkaPartitionReader(const KafkaSourceOptions& options, const SourceContext& context,
                       kafka::Client* client, KafkaPartition partition, StreamId stream,
                       SourceOutput* output);
  ~KafkaPartitionReader();

  // The record that is read next behind a position that a reader reported.
  static int64_t NextOffset(const Point& last, std::string_view resume);

  // `check_topics` is called every discovery interval; its error ends the reading.
  Result<void> Run(const CutPosition& from, const std::function<Result<void>()>& check_topics);

 private:
  class Reading;
  std::unique_ptr<Reading> reading_;
};

}  // namespace driftless
