#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

// Of librdkafka; its header stays out of ours.
struct rd_kafka_s;
struct rd_kafka_conf_s;

namespace driftless::kafka {

// Properties of the client by their names in librdkafka's CONFIGURATION.md; names of the Java
// client that mean the same are translated.
using Properties = std::map<std::string, std::string>;

enum class Role : uint8_t { kProducer, kConsumer };

// What a client says beside its answers, on threads of its own.
class ClientEvents {
 public:
  void Note(int code, std::string text);
  void Failed(Error error);          // a message that could not be delivered; the first counts
  std::string last_problem() const;  // "SASL authentication failed"; empty: none
  std::optional<Error> failure() const;

  // Messages that somebody waits for carry a ticket (their opaque pointer, as a number).
  uint64_t NewTicket();
  void Acknowledged(uint64_t ticket);
  // Waits a moment; true when so many messages of the ticket are acknowledged, which forgets it.
  bool WaitFor(uint64_t ticket, size_t messages);

 private:
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::string last_problem_;
  std::optional<Error> failure_;
  uint64_t last_ticket_ = 0;
  std::map<uint64_t, size_t> acknowledged_;
};

// One client of a cluster. Messages that cannot be delivered are kept in events().failure().
class Client {
 public:
  // Connects in the background. Errors: kInvalidConfig that names the property, as `properties.X`.
  static Result<std::unique_ptr<Client>> Make(Role role, const Properties& properties);
  ~Client();
  Client(const Client&) = delete;

  rd_kafka_s* handle() const { return handle_; }
  ClientEvents& events() { return *events_; }

  struct Topic {
    std::string name;
    int32_t partitions = 0;
  };
  struct Cluster {
    std::string id;  // empty where the brokers do not say
    std::vector<Topic> topics;
  };
  // Asks for one topic, for all (nullptr), or (empty name) for none. Errors: kUnavailable with what
  // the client met, kPermission, kNotFound (that topic is not there).
  Result<Cluster> Describe(const std::string* topic, int timeout_ms);

 private:
  Client() = default;
  rd_kafka_s* handle_ = nullptr;
  std::unique_ptr<ClientEvents> events_;
};

struct NewTopic {
  std::string name;
  int32_t partitions = -1;   // -1: the broker's default
  int32_t replication = -1;  // -1: the broker's default
  std::map<std::string, std::string> configs;
};
enum class TopicCreation : uint8_t { kCreated, kWasThere };
// Errors: kRefused, kPermission, kInvalidConfig, kTimedOut, kUnavailable.
Result<TopicCreation> CreateTopic(Client* client, const NewTopic& topic, int timeout_ms);

// What an error code of librdkafka means for us. `what` names what was being done.
Error MakeKafkaError(int code, std::string what);

// Names of the Java client in librdkafka's words; serializers are dropped. Errors: kInvalidConfig
// for what cannot be translated, with what to write instead.
Result<Properties> TranslateProperties(const std::map<std::string, std::string>& java);

}  // namespace driftless::kafka
