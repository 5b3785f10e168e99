#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinks/api/sink.h"
#include "sinks/clients/kafka/client.h"

struct rd_kafka_topic_s;

namespace driftless::kafka {

// One message on its way. Views live until Send returns; a null value pointer is a tombstone.
struct Outgoing {
  int32_t partition = 0;
  std::string_view key;
  bool has_key = false;
  std::string_view value;
  bool is_tombstone = false;
  uint64_t ticket = 0;  // somebody waits for it: WaitFor
};
using Headers = std::vector<std::pair<std::string, std::string>>;

// A topic as a producer knows it. Goes before the producer does.
class ProducerTopic {
 public:
  ProducerTopic(Client* client, const std::string& name);
  ~ProducerTopic();
  ProducerTopic(const ProducerTopic&) = delete;

  // Hands a message to the client, which copies it; waits while the client's queue is full. Errors:
  // kRefused for a message that is too large, what became of earlier messages, kUnavailable where
  // nothing leaves the queue for a minute.
  Result<void> Send(const Outgoing& message, const Headers& headers);
  const std::string& name() const { return name_; }

 private:
  Client* const client_;
  const std::string name_;
  rd_kafka_topic_s* const topic_;
};

// The partition of a key: Java's murmur2, so that both kinds of writers agree.
int32_t PartitionOf(std::string_view key, int32_t partitions);

// Which partitions of a topic have acknowledged something of one client lately. A broker that knows
// nothing of an idempotent producer in a partition takes its requests in whatever order they reach
// it, and librdkafka takes all that stands before an acknowledged message for delivered: a first
// request that the broker refused for a moment (its partition is just being made, or has no
// replicas yet) would be lost once a second one passed. So the first message of each partition goes
// alone. Brokers forget idle producers too (producer.id.expiration.ms). Thread-safe.
class FirstMessages {
 public:
  explicit FirstMessages(int32_t partitions) : acknowledged_us_(static_cast<size_t>(partitions)) {}

  int32_t partitions() const { return static_cast<int32_t>(acknowledged_us_.size()); }
  // Held from sending a first message until it is acknowledged.
  std::mutex& mutex() { return mutex_; }
  bool IsKnown(int32_t partition, int64_t now_us) const;
  bool AreAllKnown(int64_t now_us) const;
  // A message was acknowledged.
  void Took(int32_t partition, int64_t now_us);

 private:
  std::mutex mutex_;
  std::vector<std::atomic<int64_t>> acknowledged_us_;  // steady; 0: never
};
int64_t SteadyMicros();

// Waits until so many messages with this ticket (client->events().NewTicket()) are acknowledged.
// Errors: as Flush.
Result<void> WaitFor(Client* client, uint64_t ticket, size_t messages);

// Waits until every message is acknowledged. Errors: the first message's that was not delivered.
Result<void> Flush(Client* client);

inline constexpr int kTransactionCallMs = 60'000;

// The transactions of one table: one per cut, which ends in the same transaction as the offset of
// its own group, so that the cut can be read back. Thread-safe: the writer's thread writes and
// prepares, the sink's pool commits.
class TableTransactions {
 public:
  // `properties` without transactional.id; `id` is it, and the group's name. `call_ms`: how long a
  // call to the brokers may take before it is a kTimedOut, after which Commit can be asked again.
  TableTransactions(Properties properties, std::string id, std::string topic,
                    int call_ms = kTransactionCallMs);
  ~TableTransactions();

  // Takes over the id: what an older process left open is aborted, what it was committing is
  // finished. Idempotent.
  Result<void> Open();
  const std::shared_ptr<Client>& client() const { return client_; }

  // Before a message: the cut before it is committed, and a transaction is open. Waits for that.
  Result<void> Begin();
  // All messages of the transaction are acknowledged; what follows waits for Commit. Returns the
  // token's text.
  Result<std::string> Prepare(CutId cut);
  Result<CommitState> LookUp(std::string_view token);
  Result<void> Commit(std::string_view token);
  Result<void> Abort(std::string_view token);

  // What `send` sends in a transaction of its own, while no other one is open. `name` tells it from
  // everything else that the table's transactions carry: where it is what they committed last,
  // nothing is sent. After an error these transactions are good for nothing more: make new ones.
  Result<void> Once(std::string_view name, const std::function<Result<void>()>& send);

 private:
  Result<std::string> ReadCommitted();
  Result<void> PutCut(std::string_view token);
  Result<void> AbortOpen();

  const Properties properties_;
  const std::string id_;
  const std::string topic_;
  const int call_ms_;
  std::shared_ptr<Client> client_;
  std::mutex mutex_;  // the state below; never held while the brokers are asked to commit
  std::condition_variable changed_;
  bool is_open_ = false;        // a transaction has begun
  bool has_cut_ = false;        // ... and carries its cut
  bool is_aborted_ = false;     // for good: this process must start again
  std::string pending_;         // token that waits for Commit
  std::string last_committed_;  // token
  bool has_prior_ = false;      // some cut was committed before this process began
  std::string nonce_;
};

}  // namespace driftless::kafka
