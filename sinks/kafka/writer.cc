#include "sinks/kafka/writer.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "schema/base/json_writer.h"
#include "sinks/api/projected_batch.h"
#include "sinks/clients/kafka/statement_header.h"

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

class KafkaWriter : public TableWriter {
 public:
  KafkaWriter(WriterTarget target, const EvolvedSchema& table, const WriterContext& context)
      : target_(std::move(target)),
        table_(table),
        reporter_(context.reporter),
        topic_(target_.client.get(), target_.topic),
        encoder_(MakeEncoder(*target_.options, table)),
        headers_(TableHeaders(*target_.options, table.path)),
        all_to_zero_(target_.options->partition_strategy == PartitionStrategy::kAllToZero) {}

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::shared_ptr<const ProjectedBatch> projected,
                               ProjectedBatch::Make(batch, projection, rows, reporter_));
    if (target_.transactions != nullptr) DRIFTLESS_TRY(target_.transactions->Begin());
    messages_.Clear();
    encoder_->Encode(*projected, &messages_);
    outgoing_.clear();
    for (const EncodedMessages::Message& message : messages_.messages) {
      Outgoing& outgoing = outgoing_.emplace_back();
      outgoing.has_key = message.has_key;
      if (message.has_key) outgoing.key = messages_.key(message);
      outgoing.value = messages_.value(message);
      outgoing.is_tombstone = message.is_tombstone;
      outgoing.partition = all_to_zero_ ? 0 : PartitionOf(outgoing.key, target_.partitions());
    }
    DRIFTLESS_TRY(SendFirst(*batch));
    for (size_t i = 0; i < outgoing_.size(); ++i) {
      if (!is_sent_.empty() && is_sent_[i]) continue;
      DRIFTLESS_TRY(Send(i, *batch));
    }
    return {};
  }

  // The client sends what it has without being told.
  Result<void> Roll() override { return {}; }

  Result<PreparedPart> Prepare(CutId cut) override {
    PreparedPart part;
    if (target_.transactions != nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(part.payload, target_.transactions->Prepare(cut));
    } else {
      DRIFTLESS_TRY(Flush(target_.client.get()));
    }
    return part;
  }

  int64_t buffered_bytes() const override { return 0; }

 private:
  // One message of the batch; false: it is too large, and is put aside, as the user wants.
  Result<bool> Send(size_t index, const ChangeBatch& batch) {
    Result<void> sent = topic_.Send(outgoing_[index], headers_);
    if (sent) [[likely]]
      return true;
    const uint32_t row = messages_.messages[index].row;
    const bool set_aside = sent.error().kind() == ErrorKind::kRefused && reporter_ != nullptr &&
                           target_.options->dead_letters_large;
    if (!set_aside) return std::move(sent).error().Position(batch.point(row).ToString());
    reporter_->DeadLetter(batch, row, sent.error());
    return false;
  }

  // The batch's first message of every partition that knows nothing of this client: alone, and
  // acknowledged when this returns. Nearly always there is none.
  Result<void> SendFirst(const ChangeBatch& batch) {
    is_sent_.clear();
    FirstMessages& first = *target_.first;
    const int64_t now_us = SteadyMicros();
    const auto is_known = [&](const Outgoing& o) { return first.IsKnown(o.partition, now_us); };
    if (all_to_zero_ ? first.IsKnown(0, now_us) : first.AreAllKnown(now_us)) return {};
    if (std::all_of(outgoing_.begin(), outgoing_.end(), is_known)) return {};
    const std::lock_guard<std::mutex> lock(first.mutex());
    is_sent_.assign(outgoing_.size(), false);
    const uint64_t ticket = target_.client->events().NewTicket();
    std::set<int32_t> partitions;
    for (size_t i = 0; i < outgoing_.size(); ++i) {
      const int32_t partition = outgoing_[i].partition;
      if (is_known(outgoing_[i]) || partitions.contains(partition)) continue;
      is_sent_[i] = true;
      outgoing_[i].ticket = ticket;
      DRIFTLESS_ASSIGN_OR_RETURN(const bool sent, Send(i, batch));
      if (sent) partitions.insert(partition);
    }
    DRIFTLESS_TRY(WaitFor(target_.client.get(), ticket, partitions.size()));
    for (const int32_t partition : partitions) first.Took(partition, now_us);
    return {};
  }

  const WriterTarget target_;
  const EvolvedSchema table_;
  RowReporter* const reporter_;
  ProducerTopic topic_;
  const std::unique_ptr<MessageEncoder> encoder_;
  const Headers headers_;
  const bool all_to_zero_;
  // Of one batch; they keep their capacity.
  EncodedMessages messages_;
  std::vector<Outgoing> outgoing_;
  std::vector<bool> is_sent_;  // empty: none is yet
};

}  // namespace

std::string StatementMessage::NameOf(const StatementChange& change) {
  return change.table.ToString() + "@" + std::to_string(change.point.stream) + ":" +
         change.point.ToString();
}

StatementMessage StatementMessage::OfPayload(std::string_view payload) {
  const size_t end = payload.find('\n');
  if (end == std::string_view::npos) return {"", std::string(payload)};
  return {std::string(payload.substr(0, end)), std::string(payload.substr(end + 1))};
}

Result<void> SendStatement(const WriterTarget& target, const TablePath& table,
                           const StatementMessage& message) {
  const SinkOptions& options = *target.options;
  Client* const client = target.client.get();
  std::string key;
  JsonWriter(&key).BeginObject().Key("databaseName").String(table.database).EndObject();
  Outgoing outgoing;
  outgoing.key = key;
  outgoing.has_key = true;
  outgoing.value = message.text;
  Headers headers = TableHeaders(options, table);
  // Tables that share a topic are told of at the same time by several threads, and by several
  // clients where each has its transactions. A statement is acknowledged by all partitions before
  // the next one is sent, so that they stand in one order in all of them.
  const std::lock_guard<std::mutex> lock(target.order->mutex);
  outgoing.ticket = target.client->events().NewTicket();
  if (options.schema_events == SchemaEvents::kTopic) {
    DRIFTLESS_TRY(ProducerTopic(client, options.schema_topic).Send(outgoing, headers));
    return WaitFor(client, outgoing.ticket, 1);
  }
  headers.emplace_back(kStatementHeader, std::to_string(target.order->run) + "." +
                                             std::to_string(++target.order->number) + " " +
                                             message.name);
  FirstMessages& first = *target.first;
  const std::lock_guard<std::mutex> alone(first.mutex());
  ProducerTopic topic(client, target.topic);
  const int32_t partitions =
      options.partition_strategy == PartitionStrategy::kAllToZero ? 1 : target.partitions();
  for (outgoing.partition = 0; outgoing.partition < partitions; ++outgoing.partition) {
    DRIFTLESS_TRY(topic.Send(outgoing, headers));
  }
  DRIFTLESS_TRY(WaitFor(client, outgoing.ticket, static_cast<size_t>(partitions)));
  for (int32_t i = 0; i < partitions; ++i) first.Took(i, SteadyMicros());
  return {};
}

Result<TableWriterPtr> MakeWriter(WriterTarget target, const EvolvedSchema& table,
                                  const WriterContext& context) {
  return std::make_unique<KafkaWriter>(std::move(target), table, context);
}

}  // namespace driftless::kafka
