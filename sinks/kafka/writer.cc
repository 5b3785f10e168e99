#include "sinks/kafka/writer.h"

#include <mutex>
#include <utility>

#include "schema/base/json_writer.h"
#include "sinks/api/projected_batch.h"
#include "sinks/api/statement_writer.h"
#include "sinks/kafka/planner.h"

namespace driftless::kafka {
namespace {

Headers TableHeaders(const SinkOptions& options, const TablePath& table) {
  Headers headers;
  if (options.table_headers) {
    headers.emplace_back("namespace", table.catalog);
    headers.emplace_back("schemaName", table.database);
    headers.emplace_back("tableName", table.table);
  }
  headers.insert(headers.end(), options.headers.begin(), options.headers.end());
  return headers;
}

class KafkaWriter : public StatementWriter {
 public:
  KafkaWriter(WriterTarget target, const EvolvedSchema& table, const WriterContext& context)
      : target_(std::move(target)),
        table_(table),
        reporter_(context.reporter),
        topic_(target_.client, target_.topic),
        encoder_(MakeEncoder(*target_.options, table)),
        headers_(TableHeaders(*target_.options, table.path)),
        partition_(target_.options->partition_strategy == PartitionStrategy::kAllToZero
                       ? 0
                       : kByPartitioner) {}

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::shared_ptr<const ProjectedBatch> projected,
                               ProjectedBatch::Make(batch, projection, rows, reporter_));
    if (target_.transactions != nullptr) DRIFTLESS_TRY(target_.transactions->Begin());
    messages_.Clear();
    encoder_->Encode(*projected, &messages_);
    for (const EncodedMessages::Message& message : messages_.messages) {
      Outgoing outgoing;
      outgoing.partition = partition_;
      outgoing.has_key = message.has_key;
      if (message.has_key) outgoing.key = messages_.key(message);
      outgoing.value = messages_.value(message);
      outgoing.is_tombstone = message.is_tombstone;
      Result<void> sent = topic_.Send(outgoing, headers_);
      if (sent) [[likely]]
        continue;
      const bool set_aside = sent.error().kind() == ErrorKind::kRefused && reporter_ != nullptr &&
                             target_.options->dead_letters_large;
      if (!set_aside) {
        return std::move(sent).error().Position(batch->point(message.row).ToString());
      }
      reporter_->DeadLetter(*batch, message.row, sent.error());
    }
    return {};
  }

  Result<void> Announce(const StatementChange& change) override {
    if (target_.options->schema_events == SchemaEvents::kNone) return {};
    const std::optional<StatementChange> named = UnderSinkName(change, table_.path);
    std::string message;
    if (!named || !EncodeStatement(*target_.options, *named, &message)) return {};
    if (target_.transactions != nullptr) DRIFTLESS_TRY(target_.transactions->Begin());
    return SendStatement(target_, table_.path, message);
  }

  // The client sends what it has without being told.
  Result<void> Roll() override { return {}; }

  Result<PreparedPart> Prepare(CutId cut) override {
    PreparedPart part;
    if (target_.transactions != nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(part.payload, target_.transactions->Prepare(cut));
    } else {
      DRIFTLESS_TRY(Flush(target_.client));
    }
    return part;
  }

  int64_t buffered_bytes() const override { return 0; }

 private:
  const WriterTarget target_;
  const EvolvedSchema table_;
  RowReporter* const reporter_;
  ProducerTopic topic_;
  const std::unique_ptr<MessageEncoder> encoder_;
  const Headers headers_;
  const int32_t partition_;
  EncodedMessages messages_;  // of one batch; keeps its capacity
};

}  // namespace

Result<void> SendStatement(const WriterTarget& target, const TablePath& table,
                           std::string_view message) {
  const SinkOptions& options = *target.options;
  std::string key;
  JsonWriter(&key).BeginObject().Key("databaseName").String(table.database).EndObject();
  Outgoing outgoing;
  outgoing.key = key;
  outgoing.has_key = true;
  outgoing.value = message;
  const Headers headers = TableHeaders(options, table);
  if (options.schema_events == SchemaEvents::kTopic) {
    return ProducerTopic(target.client, options.schema_topic).Send(outgoing, headers);
  }
  // Tables that share a topic are told of at the same time by several threads, and the statements
  // must stand in one order in all partitions: readers take the n-th of each for the same one.
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  ProducerTopic topic(target.client, target.topic);
  const int32_t partitions =
      options.partition_strategy == PartitionStrategy::kAllToZero ? 1 : target.partitions;
  for (outgoing.partition = 0; outgoing.partition < partitions; ++outgoing.partition) {
    DRIFTLESS_TRY(topic.Send(outgoing, headers));
  }
  return {};
}

Result<TableWriterPtr> MakeWriter(WriterTarget target, const EvolvedSchema& table,
                                  const WriterContext& context) {
  return std::make_unique<KafkaWriter>(std::move(target), table, context);
}

}  // namespace driftless::kafka
