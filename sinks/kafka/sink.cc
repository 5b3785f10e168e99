#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "schema/base/clock.h"
#include "sinks/api/registry.h"
#include "sinks/kafka/options.h"
#include "sinks/kafka/planner.h"
#include "sinks/kafka/producer.h"
#include "sinks/kafka/writer.h"

namespace driftless::kafka {
namespace {

constexpr int kConnectMs = 15'000;
constexpr int kCallMs = 30'000;
constexpr int kSettleMs = 5'000;

class KafkaSink : public Sink {
 public:
  KafkaSink(SinkOptions options, const SinkEnvironment& environment)
      : options_(std::move(options)),
        environment_(environment),
        planner_(MakePlanner(options_)),
        id_("driftless-" + environment.pipeline_name + "-" + environment.sink_name) {}

  const CapabilityMatrix& matrix() const override { return kKafkaMatrix; }
  const SchemaPlanner& planner() const override { return *planner_; }

  SinkTraits traits() const override {
    SinkTraits traits;
    traits.transactional = is_exactly_once();
    traits.partial_update = true;  // what the source did not send is not in the message
    traits.keeps_schema = false;
    traits.wants_before_images = !options_.is_upsert();
    traits.max_wait_ms = 20;
    return traits;
  }

  Result<SinkInfo> Connect() override {
    if (client_ == nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(client_, Client::Make(Role::kProducer, options_.producer));
    }
    const std::string none;
    auto cluster = client_->Describe(&none, kConnectMs);
    if (!cluster) {
      return std::move(cluster).error().Context("connecting to " + options_.bootstrap_servers);
    }
    const std::string& name = cluster->id.empty() ? options_.bootstrap_servers : cluster->id;
    return SinkInfo{"Apache Kafka", "", "kafka " + name};
  }

  // A topic says nothing of columns: create.table creates it, or finds it there.
  Result<std::optional<SinkTable>> ReadTable(const TablePath&) override { return std::nullopt; }

  Result<void> ExecuteStep(const SchemaPlan& plan, StepIndex step) override {
    if (plan.steps[step].creates_table && options_.create_topics) {
      NewTopic topic = options_.new_topic;
      topic.name = options_.TopicOf(plan.sink_table);
      DRIFTLESS_TRY(CreateTopic(client_.get(), topic, kCallMs));
      if (options_.schema_events == SchemaEvents::kTopic) {
        DRIFTLESS_TRY(
            CreateTopic(client_.get(), NewTopic{options_.schema_topic, 1, -1, {}}, kCallMs));
      }
    }
    const auto message = StatementMessage::OfPayload(plan.steps[step].payload);
    if (message.text.empty()) return {};
    return is_exactly_once() ? SendOnce(plan.sink_table, message)
                             : SendAtLeastOnce(plan.sink_table, message);
  }

  WriterIndex WriterCount(const EvolvedSchema&) const override { return 1; }
  void Assign(const ChangeBatch& batch, const EvolvedSchema&, const Projection&,
              WriterRows* out) override {
    out->Reset(1);
    for (int64_t row = 0; row < batch.size(); ++row) out->Add(0, static_cast<uint32_t>(row));
  }

  Result<TableWriterPtr> OpenWriter(const EvolvedSchema& table, WriterIndex,
                                    const WriterContext& context) override {
    std::shared_ptr<Client> client = client_;
    std::shared_ptr<TableTransactions> transactions;
    if (is_exactly_once()) {
      transactions = TransactionsOf(table.path);
      DRIFTLESS_TRY(transactions->Open());
      client = transactions->client();
    }
    DRIFTLESS_ASSIGN_OR_RETURN(WriterTarget target,
                               TargetOf(table.path, std::move(client), std::move(transactions)));
    return MakeWriter(std::move(target), table, context);
  }

  Result<CommitToken> Seal(const CommitIdentity& identity, const EvolvedSchema&,
                           std::span<const PreparedPart> parts) override {
    return CommitToken{identity, parts.empty() ? "" : parts.front().payload};
  }
  Result<CommitState> LookUp(const CommitToken& token) override {
    if (!is_exactly_once()) return CommitState::kCommitted;
    return TransactionsOf(token.identity.table)->LookUp(token.payload);
  }
  Result<void> Commit(std::span<const CommitToken> tokens) override {
    if (!is_exactly_once()) return {};
    for (const CommitToken& token : tokens) {
      DRIFTLESS_TRY(TransactionsOf(token.identity.table)->Commit(token.payload));
    }
    return {};
  }
  Result<void> Abort(std::span<const CommitToken> tokens) override {
    if (!is_exactly_once()) return {};
    for (const CommitToken& token : tokens) {
      DRIFTLESS_TRY(TransactionsOf(token.identity.table)->Abort(token.payload));
    }
    return {};
  }
  // What an older attempt left open is aborted when its transactional id is taken over, by the
  // first writer of the table. Nothing else is left behind.
  Result<void> CleanUp(const CommitIdentity& next, std::span<const CommitToken>) override {
    if (!is_exactly_once()) return {};
    return TransactionsOf(next.table)->Open();
  }

 private:
  bool is_exactly_once() const { return options_.guarantee == DeliveryGuarantee::kExactlyOnce; }

  std::shared_ptr<TableTransactions> TransactionsOf(const TablePath& table) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& transactions = transactions_[table];
    if (transactions == nullptr) {
      transactions = std::make_shared<TableTransactions>(
          options_.producer, id_ + "-" + table.ToString(), options_.TopicOf(table));
    }
    return transactions;
  }

  // No writer of the table is open while its step is carried out.
  Result<void> SendOnce(const TablePath& table, const StatementMessage& message) {
    const auto transactions = TransactionsOf(table);
    Result<void> sent = transactions->Once(message.name, [&]() -> Result<void> {
      DRIFTLESS_ASSIGN_OR_RETURN(const WriterTarget target,
                                 TargetOf(table, transactions->client(), transactions));
      return SendStatement(target, table, message);
    });
    if (sent) return sent;
    Forget(transactions->client().get());
    const std::lock_guard<std::mutex> lock(mutex_);
    transactions_.erase(table);
    return sent;
  }

  // By a client of its own: one that could not deliver a message is good for nothing more, and rows
  // shall not end with it.
  Result<void> SendAtLeastOnce(const TablePath& table, const StatementMessage& message) {
    const std::lock_guard<std::mutex> alone(statements_mutex_);
    if (statements_ == nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(statements_, Client::Make(Role::kProducer, options_.producer));
    }
    Result<void> sent = [&]() -> Result<void> {
      DRIFTLESS_ASSIGN_OR_RETURN(const WriterTarget target, TargetOf(table, statements_, nullptr));
      return SendStatement(target, table, message);
    }();
    if (sent) return sent;
    Forget(statements_.get());
    statements_.reset();
    return sent;
  }

  // Another client may have the same address.
  void Forget(const Client* client) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(first_, [&](const auto& entry) { return entry.first.first == client; });
  }

  Result<WriterTarget> TargetOf(const TablePath& table, std::shared_ptr<Client> client,
                                std::shared_ptr<TableTransactions> transactions) {
    WriterTarget target;
    target.options = &options_;
    target.topic = options_.TopicOf(table);
    target.client = std::move(client);
    target.transactions = std::move(transactions);
    target.order = order_;
    DRIFTLESS_ASSIGN_OR_RETURN(const int32_t partitions, PartitionsOf(target.topic));
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& first = first_[{target.client.get(), target.topic}];
    if (first == nullptr || first->partitions() < partitions) {
      first = std::make_shared<FirstMessages>(partitions);
    }
    target.first = first;
    return target;
  }

  // The number of partitions may be known a little after the topic was created.
  Result<int32_t> PartitionsOf(const std::string& topic) {
    constexpr int kPauseMs = 100;
    for (int waited_ms = 0;; waited_ms += kPauseMs) {
      auto cluster = client_->Describe(&topic, kCallMs);
      if (cluster && !cluster->topics.empty() && cluster->topics.front().partitions > 0) {
        const int32_t partitions = cluster->topics.front().partitions;
        // A new topic shows its partitions one by one, and a statement must come into each. One
        // that somebody else made may have fewer.
        const bool is_whole = !options_.create_topics ||
                              partitions >= options_.new_topic.partitions || waited_ms >= kSettleMs;
        if (is_whole) return partitions;
      }
      const bool may_come = cluster || cluster.error().kind() == ErrorKind::kNotFound ||
                            cluster.error().kind() == ErrorKind::kUnavailable;
      if (!may_come || waited_ms >= kConnectMs) {
        if (!cluster) return std::move(cluster).error();
        return MakeError(ErrorKind::kNotFound, "topic " + topic + " is not there")
            .Hint("Create it, or leave topic.create at true.");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
    }
  }

  const SinkOptions options_;
  const SinkEnvironment environment_;
  const std::unique_ptr<SchemaPlanner> planner_;
  const std::string id_;
  std::shared_ptr<Client> client_;  // of the writers without transactions
  std::mutex mutex_;
  std::map<TablePath, std::shared_ptr<TableTransactions>> transactions_;
  std::map<std::pair<const Client*, std::string>, std::shared_ptr<FirstMessages>> first_;
  const std::shared_ptr<StatementOrder> order_ =
      std::make_shared<StatementOrder>(SystemClock()->NowMillis());
  std::mutex statements_mutex_;
  std::shared_ptr<Client> statements_;  // sends statements outside of transactions
};

}  // namespace
}  // namespace driftless::kafka

namespace driftless {

Result<std::unique_ptr<Sink>> MakeKafkaSink(const OptionValues& options,
                                            const SinkEnvironment& environment) {
  DRIFTLESS_ASSIGN_OR_RETURN(kafka::SinkOptions read, kafka::ReadSinkOptions(options));
  read.encoder.name = environment.pipeline_name;
  return std::make_unique<kafka::KafkaSink>(std::move(read), environment);
}

}  // namespace driftless
