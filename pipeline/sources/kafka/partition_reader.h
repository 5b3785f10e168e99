#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pipeline/sources/kafka/alignment.h"
#include "pipeline/sources/kafka/options.h"
#include "pipeline/sources/source.h"
#include "sinks/clients/kafka/client.h"

namespace driftless {

// One partition of one topic: a stream of the source.
struct KafkaPartition {
  std::string topic;
  int32_t partition = 0;
  size_t index = 0;                               // among the topic's partitions
  std::shared_ptr<StatementAlignment> alignment;  // of the topic; null: it has one partition
};

// Reads a partition until its end, or until the pipeline stops. One thread; the client is shared.
class KafkaPartitionReader {
 public:
  KafkaPartitionReader(const KafkaSourceOptions& options, const SourceContext& context,
                       kafka::Client* client, KafkaPartition partition, StreamId stream,
                       SourceOutput* output);
  ~KafkaPartitionReader();

  // `check_topics` is called every discovery interval; its error ends the reading.
  Result<void> Run(const CutPosition& from, const std::function<Result<void>()>& check_topics);

 private:
  class Reading;
  std::unique_ptr<Reading> reading_;
};

}  // namespace driftless
