#include "sinks/kafka/producer.h"

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <random>

namespace driftless::kafka {
namespace {

constexpr int kCallMs = 10'000;         // how long one call to the brokers may take
constexpr int kStuckMs = 60'000;        // how long the queue may be full without any progress
constexpr int kCommitWaitMs = 120'000;  // how long a writer waits for the commit before it
constexpr size_t kKeyShown = 200;
constexpr int64_t kForgottenUs = 3'600'000'000;  // brokers forget after a day by default

struct DestroyList {
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, DestroyList>;

PartitionList OnePartition(const std::string& topic) {
  PartitionList list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), 0);
  return list;
}

// Takes the error over.
Result<void> FromTransactionError(rd_kafka_error_t* error, const std::string& what) {
  if (error == nullptr) return {};
  const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
  const std::string text = what + " (" + rd_kafka_error_string(error) + ")";
  const bool retriable = rd_kafka_error_is_retriable(error) != 0;
  const bool requires_abort = rd_kafka_error_txn_requires_abort(error) != 0;
  rd_kafka_error_destroy(error);
  if (requires_abort) return MakeError(ErrorKind::kCommitUnknown, text);
  if (retriable) return MakeError(ErrorKind::kTimedOut, text);
  return MakeKafkaError(code, text);
}

std::string RandomText() {
  std::random_device device;
  const uint64_t number = (static_cast<uint64_t>(device()) << 32) | device();
  return std::to_string(number);
}

Result<void> FailureOf(Client* client) {
  if (auto failure = client->events().failure()) return std::move(*failure);
  return {};
}

Error SendError(rd_kafka_resp_err_t err, const std::string& topic, const Outgoing& message) {
  std::string what = "a message for topic " + topic + " of " +
                     std::to_string(message.key.size() + message.value.size()) + " bytes";
  if (message.has_key) what += ", key " + std::string(message.key.substr(0, kKeyShown));
  return MakeKafkaError(err, std::move(what));
}

}  // namespace

ProducerTopic::ProducerTopic(Client* client, const std::string& name)
    : client_(client),
      name_(name),
      topic_(rd_kafka_topic_new(client->handle(), name.c_str(), nullptr)) {}

ProducerTopic::~ProducerTopic() {
  if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
}

Result<void> ProducerTopic::Send(const Outgoing& message, const Headers& headers) {
  rd_kafka_t* handle = client_->handle();
  // librdkafka's signature has no const; with RD_KAFKA_MSG_F_COPY it only reads.
  void* value =
      message.is_tombstone ? nullptr : const_cast<char*>(message.value.data());  // NOLINT(banned)
  const size_t value_size = message.is_tombstone ? 0 : message.value.size();
  const void* key = message.has_key ? message.key.data() : nullptr;
  void* ticket = reinterpret_cast<void*>(message.ticket);  // NOLINT(banned): never looked behind
  int waited_ms = 0;
  int last_length = -1;
  while (true) {
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (headers.empty()) {
      const int sent = rd_kafka_produce(topic_, message.partition, RD_KAFKA_MSG_F_COPY, value,
                                        value_size, key, message.key.size(), ticket);
      if (sent != 0) err = rd_kafka_last_error();
    } else {
      rd_kafka_headers_t* list = rd_kafka_headers_new(headers.size());
      for (const auto& [name, text] : headers) {
        rd_kafka_header_add(list, name.data(), static_cast<ssize_t>(name.size()), text.data(),
                            static_cast<ssize_t>(text.size()));
      }
      err = rd_kafka_producev(
          handle, RD_KAFKA_V_RKT(topic_), RD_KAFKA_V_PARTITION(message.partition),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(value, value_size),
          RD_KAFKA_V_KEY(key, message.key.size()), RD_KAFKA_V_HEADERS(list),
          RD_KAFKA_V_OPAQUE(ticket), RD_KAFKA_V_END);
      if (err != RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_headers_destroy(list);
    }
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    if (err != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      DRIFTLESS_TRY(FailureOf(client_));
      return SendError(err, name_, message);
    }
    constexpr int kPollMs = 100;
    rd_kafka_poll(handle, kPollMs);
    DRIFTLESS_TRY(FailureOf(client_));
    const int length = rd_kafka_outq_len(handle);
    waited_ms = length == last_length ? waited_ms + kPollMs : 0;
    last_length = length;
    if (waited_ms >= kStuckMs) {
      return MakeError(ErrorKind::kUnavailable, "topic " + name_ +
                                                    ": the brokers take no messages (" +
                                                    client_->events().last_problem() + ")");
    }
  }
}

int32_t PartitionOf(std::string_view key, int32_t partitions) {
  return rd_kafka_msg_partitioner_murmur2(nullptr, key.data(), key.size(), partitions, nullptr,
                                          nullptr);
}

int64_t SteadyMicros() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

bool FirstMessages::IsKnown(int32_t partition, int64_t now_us) const {
  const int64_t last_us =
      acknowledged_us_[static_cast<size_t>(partition)].load(std::memory_order_relaxed);
  return last_us != 0 && now_us - last_us < kForgottenUs;
}

bool FirstMessages::AreAllKnown(int64_t now_us) const {
  for (int32_t i = 0; i < partitions(); ++i) {
    if (!IsKnown(i, now_us)) return false;
  }
  return true;
}

void FirstMessages::Took(int32_t partition, int64_t now_us) {
  acknowledged_us_[static_cast<size_t>(partition)].store(now_us, std::memory_order_relaxed);
}

Result<void> WaitFor(Client* client, uint64_t ticket, size_t messages) {
  while (!client->events().WaitFor(ticket, messages)) {
    rd_kafka_poll(client->handle(), 0);  // what could not be delivered
    DRIFTLESS_TRY(FailureOf(client));
  }
  return {};
}

Result<void> Flush(Client* client) {
  constexpr int kRoundMs = 1000;
  while (true) {
    const rd_kafka_resp_err_t err = rd_kafka_flush(client->handle(), kRoundMs);
    DRIFTLESS_TRY(FailureOf(client));
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    // Messages that nobody takes end with their own error: message.timeout.ms.
    if (err != RD_KAFKA_RESP_ERR__TIMED_OUT) return MakeKafkaError(err, "flushing messages");
  }
}

TableTransactions::TableTransactions(Properties properties, std::string id, std::string topic,
                                     int call_ms)
    : properties_(std::move(properties)),
      id_(std::move(id)),
      topic_(std::move(topic)),
      call_ms_(call_ms),
      nonce_(RandomText()) {}

TableTransactions::~TableTransactions() {
  if (is_open_ && client_ != nullptr) (void)AbortOpen();
}

Result<void> TableTransactions::Open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (client_ != nullptr) return {};
  Properties properties = properties_;
  properties["transactional.id"] = id_;
  properties.emplace("transaction.timeout.ms", "600000");
  DRIFTLESS_ASSIGN_OR_RETURN(auto client, Client::Make(Role::kProducer, properties));
  DRIFTLESS_TRY(FromTransactionError(rd_kafka_init_transactions(client->handle(), call_ms_),
                                     "taking over transactional id " + id_));
  client_ = std::move(client);
  DRIFTLESS_ASSIGN_OR_RETURN(last_committed_, ReadCommitted());
  has_prior_ = !last_committed_.empty();
  return {};
}

// The group's offset carries the last committed cut's token as its metadata.
Result<std::string> TableTransactions::ReadCommitted() {
  Properties properties;
  for (const auto& [key, value] : properties_) {
    // Only where the cluster is and how it lets us in.
    if (key == "bootstrap.servers" || key == "security.protocol" || key.starts_with("sasl.") ||
        key.starts_with("ssl.") || key.starts_with("enable.ssl")) {
      properties[key] = value;
    }
  }
  properties["group.id"] = id_;
  properties["isolation.level"] = "read_committed";
  properties["enable.auto.commit"] = "false";
  DRIFTLESS_ASSIGN_OR_RETURN(auto reader, Client::Make(Role::kConsumer, properties));
  const PartitionList list = OnePartition(topic_);
  const rd_kafka_resp_err_t err = rd_kafka_committed(reader->handle(), list.get(), kCallMs);
  if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return MakeKafkaError(err, "reading the committed cut of " + id_);
  }
  const rd_kafka_topic_partition_t& found = list->elems[0];
  if (found.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return std::string();
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return MakeKafkaError(found.err, "reading the committed cut of " + id_);
  }
  if (found.offset < 0 || found.metadata == nullptr) return std::string();
  return std::string(static_cast<const char*>(found.metadata), found.metadata_size);
}

Result<void> TableTransactions::Begin() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (is_open_ && pending_.empty()) return {};
  const bool in_time = changed_.wait_for(lock, std::chrono::milliseconds(kCommitWaitMs),
                                         [&] { return pending_.empty() || is_aborted_; });
  if (!in_time || is_aborted_) {
    return MakeError(ErrorKind::kUnavailable,
                     "the transaction before it was not committed (" + id_ + ")");
  }
  if (is_open_) return {};
  DRIFTLESS_TRY(FromTransactionError(rd_kafka_begin_transaction(client_->handle()),
                                     "beginning a transaction of " + id_));
  is_open_ = true;
  return {};
}

Result<std::string> TableTransactions::Prepare(CutId cut) {
  DRIFTLESS_TRY(Flush(client_.get()));
  const std::lock_guard<std::mutex> lock(mutex_);
  pending_ = std::to_string(cut) + " " + nonce_ + " " + (has_prior_ ? "1" : "0");
  return pending_;
}

Result<CommitState> TableTransactions::LookUp(std::string_view token) {
  DRIFTLESS_TRY(Open());
  const std::lock_guard<std::mutex> lock(mutex_);
  if (last_committed_ == token) return CommitState::kCommitted;
  if (pending_ == token && is_open_) return CommitState::kPrepared;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string committed, ReadCommitted());
  if (committed == token) return CommitState::kCommitted;
  if (committed.empty() && token.ends_with(" 1")) {
    return MakeError(ErrorKind::kCorrupt,
                     "the brokers no longer know which cut was committed by " + id_)
        .Hint(
            "Offsets of idle groups expire (offsets.retention.minutes of the brokers). Compare "
            "the end of topic " +
            topic_ + " with the source and start on a new state folder.");
  }
  return CommitState::kGone;
}

Result<void> TableTransactions::Commit(std::string_view token) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (last_committed_ == token) return {};
    if (pending_ != token || !is_open_) {
      return MakeError(ErrorKind::kCommitUnknown, "the transaction of " + id_ + " is gone");
    }
  }
  // Asked again, the client goes on with the call that timed out, and with no other one.
  Result<void> result = has_cut_ ? Result<void>() : PutCut(token);
  has_cut_ = result.has_value();
  if (result) {
    result = FromTransactionError(rd_kafka_commit_transaction(client_->handle(), call_ms_),
                                  "committing a transaction of " + id_);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!result) {
    if (result.error().kind() == ErrorKind::kCommitUnknown) {
      is_aborted_ = true;
      (void)AbortOpen();
      pending_.clear();
      changed_.notify_all();
    }
    return result;
  }
  is_open_ = false;
  has_cut_ = false;
  has_prior_ = true;
  last_committed_ = token;
  pending_.clear();
  changed_.notify_all();
  return {};
}

// The token as metadata of the group's offset, which is the cut.
Result<void> TableTransactions::PutCut(std::string_view token) {
  const PartitionList offsets = OnePartition(topic_);
  offsets->elems[0].offset = std::stoll(std::string(token));
  char* text = static_cast<char*>(rd_kafka_mem_malloc(nullptr, token.size()));
  token.copy(text, token.size());
  offsets->elems[0].metadata = text;
  offsets->elems[0].metadata_size = token.size();
  rd_kafka_consumer_group_metadata_t* group = rd_kafka_consumer_group_metadata_new(id_.c_str());
  rd_kafka_error_t* error =
      rd_kafka_send_offsets_to_transaction(client_->handle(), offsets.get(), group, call_ms_);
  rd_kafka_consumer_group_metadata_destroy(group);
  return FromTransactionError(error, "writing the cut of " + id_);
}

Result<void> TableTransactions::Once(std::string_view name,
                                     const std::function<Result<void>()>& send) {
  DRIFTLESS_TRY(Open());
  const std::string end = " once " + std::string(name);
  std::string cut = "0";  // of the rows before it
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (last_committed_.ends_with(end)) return {};
    if (!last_committed_.empty()) cut = last_committed_.substr(0, last_committed_.find(' '));
  }
  DRIFTLESS_TRY(Begin());
  DRIFTLESS_TRY(send());
  const std::string token = cut + end;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    pending_ = token;
  }
  return Commit(token);
}

Result<void> TableTransactions::AbortOpen() {
  is_open_ = false;
  return FromTransactionError(rd_kafka_abort_transaction(client_->handle(), kCallMs),
                              "aborting a transaction of " + id_);
}

Result<void> TableTransactions::Abort(std::string_view token) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pending_ != token || !is_open_) return {};
  is_aborted_ = true;
  pending_.clear();
  changed_.notify_all();
  return AbortOpen();
}

}  // namespace driftless::kafka
