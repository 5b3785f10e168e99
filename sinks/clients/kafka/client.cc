#include "sinks/clients/kafka/client.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace driftless::kafka {
namespace {

struct Destroy {
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
  void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
  void operator()(rd_kafka_AdminOptions_t* options) const {
    rd_kafka_AdminOptions_destroy(options);
  }
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

void OnError(rd_kafka_t* client, int code, const char* reason, void* opaque) {
  auto* events = static_cast<ClientEvents*>(opaque);
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    char text[512];
    const rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(client, text, sizeof text);
    events->Failed(MakeKafkaError(fatal, std::string("the producer can go on no more: ") + text));
    return;
  }
  events->Note(code, reason);
}

void OnDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  // Messages of a transaction that is aborted: whoever aborts it knows.
  if (message->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
      message->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) {
    return;
  }
  auto* events = static_cast<ClientEvents*>(opaque);
  std::string what = "a message for topic ";
  what += rd_kafka_topic_name(message->rkt);
  what += ", partition " + std::to_string(message->partition);
  if (message->key != nullptr) {
    constexpr size_t kMax = 200;
    what += ", key ";
    what.append(static_cast<const char*>(message->key), std::min(message->key_len, kMax));
  }
  what += " (" + std::to_string(message->len) + " bytes) was not delivered";
  events->Failed(MakeKafkaError(message->err, std::move(what)));
}

// Every message passes here, on a thread of the client. delivery.report.only.error keeps the
// reports of those that nobody waits for away.
rd_kafka_resp_err_t OnAcknowledged(rd_kafka_t*, rd_kafka_message_t* message, void* opaque) {
  const auto ticket = reinterpret_cast<uintptr_t>(message->_private);
  if (ticket != 0 && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    static_cast<ClientEvents*>(opaque)->Acknowledged(ticket);
  }
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t OnNew(rd_kafka_t* client, const rd_kafka_conf_t*, void* opaque, char*, size_t) {
  return rd_kafka_interceptor_add_on_acknowledgement(client, "tickets", OnAcknowledged, opaque);
}

// The client's log lines would go to standard error; what matters comes through OnError.
void OnLog(const rd_kafka_t*, int, const char*, const char*) {}

constexpr std::string_view kRightsHint =
    "Check the user's rights and properties.sasl.*, properties.security.protocol, "
    "properties.ssl.ca.location.";

// The brokers, or the client's certificates, do not let it in.
bool IsDenial(std::string_view problem) {
  for (const std::string_view word :
       {"uthentication", "SASL", "SSL handshake", "ssl handshake", "certificate"}) {
    if (problem.find(word) != std::string_view::npos) return true;
  }
  return false;
}

std::string_view JaasValue(std::string_view jaas, std::string_view name) {
  const size_t at = jaas.find(std::string(name) + "=\"");
  if (at == std::string_view::npos) return {};
  const size_t begin = at + name.size() + 2;
  return jaas.substr(begin, jaas.find('"', begin) - begin);
}

}  // namespace

void ClientEvents::Note(int, std::string text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_problem_ = std::move(text);
}

void ClientEvents::Failed(Error error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!failure_) failure_ = std::move(error);
}

uint64_t ClientEvents::NewTicket() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ++last_ticket_;
}

void ClientEvents::Acknowledged(uint64_t ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++acknowledged_[ticket];
  moved_.notify_all();
}

bool ClientEvents::WaitFor(uint64_t ticket, size_t messages) {
  constexpr std::chrono::milliseconds kMoment(20);
  std::unique_lock<std::mutex> lock(mutex_);
  const bool is_done =
      moved_.wait_for(lock, kMoment, [&] { return acknowledged_[ticket] >= messages; });
  if (is_done) acknowledged_.erase(ticket);
  return is_done;
}

std::string ClientEvents::last_problem() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_problem_;
}

std::optional<Error> ClientEvents::failure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

Error MakeKafkaError(int code, std::string what) {
  const auto err = static_cast<rd_kafka_resp_err_t>(code);
  const std::string text = what + ": " + rd_kafka_err2str(err);
  switch (err) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return MakeError(ErrorKind::kPermission, text).Hint(std::string(kRightsHint));
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return MakeError(ErrorKind::kRefused, text)
          .Hint("Raise properties.message.max.bytes here and max.message.bytes of the topic.");
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return MakeError(ErrorKind::kNotFound, text)
          .Hint("Create the topic, or leave topic.create at true.");
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
      return MakeError(ErrorKind::kConflict, text)
          .Hint("Another process writes with the same transactional id: stop one of the two.");
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
      return MakeError(ErrorKind::kInvalidConfig, text);
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_INVALID_REQUEST:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE: return MakeError(ErrorKind::kRefused, text);
    default: return MakeError(ErrorKind::kUnavailable, text);
  }
}

Result<Properties> TranslateProperties(const std::map<std::string, std::string>& java) {
  Properties result;
  for (const auto& [key, value] : java) {
    if (key.ends_with(".serializer") || key.ends_with(".deserializer")) continue;
    if (key == "max.request.size") {
      result["message.max.bytes"] = value;
    } else if (key == "buffer.memory") {
      int64_t bytes = 0;
      std::from_chars(value.data(), value.data() + value.size(), bytes);
      result["queue.buffering.max.kbytes"] = std::to_string(std::max<int64_t>(bytes / 1024, 1));
    } else if (key == "sasl.jaas.config") {
      const std::string_view user = JaasValue(value, "username");
      if (user.empty()) {
        return MakeError(ErrorKind::kInvalidConfig,
                         "properties.sasl.jaas.config holds no username=\"...\"")
            .Hint("Set properties.sasl.username and properties.sasl.password.");
      }
      result.emplace("sasl.username", user);
      result.emplace("sasl.password", JaasValue(value, "password"));
    } else if (key == "max.poll.records" || key == "client.dns.lookup") {
      continue;  // how the Java client works inside
    } else if (key.starts_with("ssl.truststore.") || key == "ssl.keystore.type") {
      return MakeError(ErrorKind::kInvalidConfig, "properties." + key + " is of the Java client")
          .Hint(
              "Export the certificates as PEM and set properties.ssl.ca.location, and "
              "properties.ssl.certificate.location and properties.ssl.key.location.");
    } else {
      result[key] = value;
    }
  }
  return result;
}

Result<std::unique_ptr<Client>> Client::Make(Role role, const Properties& properties) {
  Owned<rd_kafka_conf_t> conf(rd_kafka_conf_new());
  char text[512];
  for (const auto& [key, value] : properties) {
    const auto set = rd_kafka_conf_set(conf.get(), key.c_str(), value.c_str(), text, sizeof text);
    if (set != RD_KAFKA_CONF_OK) {
      return MakeError(ErrorKind::kInvalidConfig, "properties." + key + ": " + text)
          .Hint("Properties are those of librdkafka's CONFIGURATION.md.");
    }
  }
  std::unique_ptr<Client> client(new Client());
  client->events_ = std::make_unique<ClientEvents>();
  rd_kafka_conf_set_opaque(conf.get(), client->events_.get());
  rd_kafka_conf_set_error_cb(conf.get(), OnError);
  rd_kafka_conf_set_log_cb(conf.get(), OnLog);
  if (role == Role::kProducer) {
    rd_kafka_conf_set_dr_msg_cb(conf.get(), OnDelivery);
    rd_kafka_conf_interceptor_add_on_new(conf.get(), "tickets", OnNew, client->events_.get());
  }
  client->handle_ = rd_kafka_new(role == Role::kProducer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER,
                                 conf.get(), text, sizeof text);
  if (client->handle_ == nullptr) {
    return MakeError(ErrorKind::kInvalidConfig, std::string("the Kafka client says: ") + text)
        .Hint("Look at the properties.* that it names.");
  }
  (void)conf.release();  // the client's own now
  return client;
}

Client::~Client() {
  if (handle_ != nullptr) rd_kafka_destroy(handle_);
}

Result<Client::Cluster> Client::Describe(const std::string* topic, int timeout_ms) {
  Owned<rd_kafka_topic_t> one;
  if (topic != nullptr && !topic->empty()) {
    one.reset(rd_kafka_topic_new(handle_, topic->c_str(), nullptr));
  }
  const rd_kafka_metadata_t* metadata = nullptr;
  // In short rounds: a password does not become right by waiting.
  constexpr int kRoundMs = 1000;
  for (int waited_ms = 0;; waited_ms += kRoundMs) {
    const rd_kafka_resp_err_t err =
        rd_kafka_metadata(handle_, topic == nullptr ? 1 : 0, one.get(), &metadata,
                          std::min(kRoundMs, timeout_ms - waited_ms));
    rd_kafka_poll(handle_, 0);  // brings what the client met
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) break;
    const std::string problem = events_->last_problem();
    const bool is_denied = IsDenial(problem);
    const bool may_come =
        err == RD_KAFKA_RESP_ERR__TIMED_OUT || err == RD_KAFKA_RESP_ERR__TRANSPORT;
    if (may_come && !is_denied && waited_ms + kRoundMs < timeout_ms) continue;
    Error error = MakeKafkaError(err, "asking the brokers");
    if (problem.empty()) return error;
    const std::string text = error.message() + " (" + problem + ")";
    if (!is_denied) return MakeError(error.kind(), text);
    return MakeError(ErrorKind::kPermission, text).Hint(std::string(kRightsHint));
  }
  Cluster cluster;
  std::optional<Error> failed;
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& found = metadata->topics[i];
    if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (topic != nullptr) failed = MakeKafkaError(found.err, std::string("topic ") + found.topic);
      continue;
    }
    cluster.topics.push_back({found.topic, found.partition_cnt});
  }
  rd_kafka_metadata_destroy(metadata);
  if (failed) return std::move(*failed);
  if (char* id = rd_kafka_clusterid(handle_, timeout_ms)) {
    cluster.id = id;
    rd_kafka_mem_free(handle_, id);
  }
  return cluster;
}

Result<TopicCreation> CreateTopic(Client* client, const NewTopic& topic, int timeout_ms) {
  char text[512];
  Owned<rd_kafka_NewTopic_t> wanted(rd_kafka_NewTopic_new(topic.name.c_str(), topic.partitions,
                                                          topic.replication, text, sizeof text));
  const std::string what = "creating topic " + topic.name;
  if (wanted == nullptr) return MakeError(ErrorKind::kInvalidConfig, what + ": " + text);
  for (const auto& [key, value] : topic.configs) {
    const auto err = rd_kafka_NewTopic_set_config(wanted.get(), key.c_str(), value.c_str());
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeKafkaError(err, what + " with " + key);
  }
  rd_kafka_t* handle = client->handle();
  Owned<rd_kafka_AdminOptions_t> options(
      rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS));
  rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms, text, sizeof text);
  rd_kafka_AdminOptions_set_operation_timeout(options.get(), timeout_ms, text, sizeof text);
  Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(handle));
  rd_kafka_NewTopic_t* topics[] = {wanted.get()};
  rd_kafka_CreateTopics(handle, topics, 1, options.get(), queue.get());
  Owned<rd_kafka_event_t> event(rd_kafka_queue_poll(queue.get(), timeout_ms + 5000));
  if (event == nullptr) return MakeError(ErrorKind::kTimedOut, what + ": no answer");
  if (const auto err = rd_kafka_event_error(event.get()); err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return MakeKafkaError(err, what + " (" + rd_kafka_event_error_string(event.get()) + ")");
  }
  size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_resp_err_t err = rd_kafka_topic_result_error(results[i]);
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    if (err == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) return TopicCreation::kWasThere;
    const char* why = rd_kafka_topic_result_error_string(results[i]);
    return MakeKafkaError(err, what + (why == nullptr ? "" : std::string(" (") + why + ")"));
  }
  return TopicCreation::kCreated;
}

}  // namespace driftless::kafka
