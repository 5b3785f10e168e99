#include <librdkafka/rdkafka.h>
#include <re2/re2.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "config/definition/regex.h"
#include "pipeline/sources/kafka/options.h"
#include "pipeline/sources/kafka/partition_reader.h"
#include "pipeline/sources/registry.h"
#include "pipeline/sources/source.h"
#include "schema/base/check.h"

namespace driftless {
namespace {

constexpr int kConnectMs = 15'000;

// Topics of Debezium Kafka streams, one stream per partition.
class KafkaSource : public Source {
 public:
  explicit KafkaSource(KafkaSourceOptions options) : options_(std::move(options)) {}

  bool Captures(const TablePath& table) const override {
    return !options_.stream.tables || options_.stream.tables->Matches(table);
  }

  Result<void> Connect(const SourceContext& context) override {
    context_ = context;
    if (context_.clock == nullptr) context_.clock = SystemClock();
    DRIFTLESS_ASSIGN_OR_RETURN(client_,
                               kafka::Client::Make(kafka::Role::kConsumer, options_.consumer));
    auto topics = FindTopics();
    if (!topics) {
      return std::move(topics.error())
          .Context("connecting to " + options_.bootstrap_servers)
          .Context("kafka source");
    }
    topics_ = std::move(*topics);
    const std::string schema_topic = SchemaTopicOf(topics_);
    std::shared_ptr<SchemaTopic> of_all;
    std::shared_ptr<StatementAlignment> all;
    if (!schema_topic.empty()) {
      auto started = SchemaTopic::Start(options_.consumer, schema_topic, context_.clock);
      if (!started) return std::move(started.error()).Context("kafka source");
      of_all = std::move(*started);
      size_t count = 0;
      for (const auto& [topic, partitions] : topics_) {
        count += topic == schema_topic ? 0 : static_cast<size_t>(partitions);
      }
      // A statement may be about tables of any topic.
      if (count > 1) all = std::make_shared<StatementAlignment>(count, "all topics");
    }
    for (const auto& [topic, count] : topics_) {
      if (topic == schema_topic) continue;
      std::shared_ptr<StatementAlignment> alignment = all;
      std::shared_ptr<SchemaTopic> schemas = of_all;
      if (of_all == nullptr && count > 1) {
        const bool is_canals = options_.stream.records == debezium::RecordFormat::kCanalJson;
        const auto partitions = static_cast<size_t>(count);
        alignment = std::make_shared<StatementAlignment>(partitions, topic);
        if (is_canals) {
          auto of_topic =
              SchemaTopic::OfCanal(options_.consumer, topic, partitions, context_.clock);
          if (!of_topic) return std::move(of_topic.error()).Context("kafka source");
          schemas = std::move(*of_topic);
        }
      }
      for (int32_t i = 0; i < count; ++i) {
        const size_t index = all == nullptr ? static_cast<size_t>(i) : partitions_.size();
        partitions_.push_back({topic, i, index, alignment, schemas});
      }
    }
    if (partitions_.empty()) {
      return MakeError(ErrorKind::kNotFound, "kafka source: no topic matches " + options_.pattern)
          .Hint("Topics that the user may not describe are not seen: check the user's rights too.");
    }
    ids_.resize(partitions_.size());
    return {};
  }

  std::vector<std::string> streams() const override {
    std::vector<std::string> names;
    for (const KafkaPartition& one : partitions_) {
      names.push_back(one.topic + "/" + std::to_string(one.partition));
    }
    return names;
  }

  Result<void> Run(StreamId stream, size_t stream_index, const CutPosition& from,
                   SourceOutput* output) override {
    DRIFTLESS_CHECK(client_ != nullptr);  // Connect comes first
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ids_[stream_index] = stream;
    }
    KafkaPartitionReader reader(options_, context_, client_.get(), partitions_[stream_index],
                                stream, output);
    const auto check_topics = [&]() -> Result<void> {
      return stream_index == 0 && !options_.bounded ? CheckTopics() : Result<void>();
    };
    Result<void> result = reader.Run(from, check_topics);
    if (!result) return std::move(result).error().Context("kafka source");
    return {};
  }

  // The group's offsets are for people who watch the lag; positions live in our state.
  void Acknowledge(const CutPosition& position) override {
    if (options_.group.empty() || client_ == nullptr) return;
    Offsets offsets = OffsetsOf(position);
    if (offsets->cnt > 0) rd_kafka_commit(client_->handle(), offsets.get(), /*async=*/1);
    acknowledged_ = std::move(offsets);
  }

  // What was acknowledged last may not have been sent yet.
  ~KafkaSource() override {
    if (acknowledged_ == nullptr || acknowledged_->cnt == 0) return;
    constexpr int kWaitMs = 5000;
    rd_kafka_queue_t* queue = rd_kafka_queue_new(client_->handle());
    rd_kafka_commit_queue(client_->handle(), acknowledged_.get(), queue, nullptr, nullptr);
    if (rd_kafka_event_t* event = rd_kafka_queue_poll(queue, kWaitMs)) {
      rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
  }

 private:
  struct DestroyList {
    void operator()(rd_kafka_topic_partition_list_t* list) const {
      rd_kafka_topic_partition_list_destroy(list);
    }
  };
  using Offsets = std::unique_ptr<rd_kafka_topic_partition_list_t, DestroyList>;

  Offsets OffsetsOf(const CutPosition& position) {
    Offsets offsets(rd_kafka_topic_partition_list_new(1));
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < partitions_.size(); ++i) {
      if (!ids_[i]) continue;
      const auto last = position.Last(*ids_[i]);
      if (!last) continue;
      const int64_t next = KafkaPartitionReader::NextOffset(*last, position.Resume(*ids_[i]));
      rd_kafka_topic_partition_list_add(offsets.get(), partitions_[i].topic.c_str(),
                                        partitions_[i].partition)
          ->offset = next;
    }
    return offsets;
  }

  Result<std::map<std::string, int32_t>> FindTopics() {
    std::map<std::string, int32_t> found;
    if (options_.pattern.empty()) {
      for (const std::string& topic : options_.topics) {
        DRIFTLESS_ASSIGN_OR_RETURN(const auto cluster, client_->Describe(&topic, kConnectMs));
        for (const auto& one : cluster.topics) found[one.name] = one.partitions;
      }
      return found;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const auto pattern,
                               CompileRegex(options_.pattern, LetterCase::kSensitive));
    DRIFTLESS_ASSIGN_OR_RETURN(const auto cluster, client_->Describe(nullptr, kConnectMs));
    for (const auto& one : cluster.topics) {
      if (re2::RE2::FullMatch(one.name, *pattern)) found[one.name] = one.partitions;
    }
    return found;
  }

  // The option's, else the one topic whose name and a dot begin others of the form
  // prefix.database.table, as Debezium names them.
  std::string SchemaTopicOf(const std::map<std::string, int32_t>& topics) const {
    if (!options_.schema_topic.empty()) return options_.schema_topic;
    if (options_.stream.records != debezium::RecordFormat::kDebeziumJson) return "";
    std::string found;
    for (const auto& [topic, partitions] : topics) {
      const std::string prefix = topic + ".";
      const bool begins = std::any_of(topics.begin(), topics.end(), [&](const auto& other) {
        return other.first.starts_with(prefix) &&
               other.first.find('.', prefix.size()) != std::string::npos;
      });
      if (!begins || partitions != 1) continue;
      if (!found.empty()) return "";
      found = topic;
    }
    if (!found.empty()) spdlog::info("kafka source: topic {} is read for schema changes", found);
    return found;
  }

  // A new partition is a new stream, which a new start brings.
  Result<void> CheckTopics() {
    auto topics = FindTopics();
    if (!topics) return {};  // the next time
    for (const auto& [topic, count] : *topics) {
      const auto known = topics_.find(topic);
      if (known != topics_.end() && known->second == count) continue;
      return MakeError(ErrorKind::kUnavailable, "topic " + topic +
                                                    " has new partitions: the "
                                                    "pipeline starts again to read them");
    }
    return {};
  }

  const KafkaSourceOptions options_;
  SourceContext context_;
  std::unique_ptr<kafka::Client> client_;
  std::map<std::string, int32_t> topics_;
  std::vector<KafkaPartition> partitions_;
  std::mutex mutex_;
  std::vector<std::optional<StreamId>> ids_;
  Offsets acknowledged_;
};

}  // namespace

Result<std::unique_ptr<Source>> MakeKafkaSource(const OptionValues& values) {
  DRIFTLESS_ASSIGN_OR_RETURN(KafkaSourceOptions options, ReadKafkaSourceOptions(values));
  return std::unique_ptr<Source>(new KafkaSource(std::move(options)));
}

}  // namespace driftless
