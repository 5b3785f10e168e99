#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "pipeline/sources/kafka/canal_order.h"
#include "schema/base/clock.h"
#include "sinks/clients/kafka/client.h"

struct rd_kafka_message_s;
struct rd_kafka_topic_s;

namespace driftless {

// Where a Debezium record of MySQL or MariaDB stands in the server's binary log.
struct LogPlace {
  std::string file;  // "binlog.000003"
  uint64_t position = 0;

  // Files of one server are numbered; a record of another server's log precedes nothing.
  bool Precedes(const LogPlace& other) const;
};
// Of a record's `source`; none where it has no such place. Reads no more of the record.
std::optional<LogPlace> LogPlaceOf(std::string_view value);

// Statements that do not stand between the rows of every partition, read beside them by a thread of
// its own and kept in memory, in their order. Thread-safe. Either Debezium's topic of schema
// changes, whole, each statement once (a connector that starts again repeats some); or the
// statements that Canal wrote into the first partition of a topic.
class SchemaTopic {
 public:
  struct Statement {
    std::optional<LogPlace> place;  // Debezium's
    CanalStatement canal;
    std::string key;
    std::string value;  // followed by kJsonPadding bytes
    size_t value_bytes = 0;
    int64_t offset = 0;
    uint64_t next = 0;    // the cursor behind it
    int64_t seen_us = 0;  // on the clock

    std::string_view text() const { return std::string_view(value).substr(0, value_bytes); }
  };

  // Errors: kNotFound, kUnsupported (several partitions), those of the client.
  static Result<std::unique_ptr<SchemaTopic>> Start(const kafka::Properties& consumer,
                                                    const std::string& topic, const Clock* clock);
  // Reads nothing until all partitions of the topic have said where they begin.
  static Result<std::unique_ptr<SchemaTopic>> OfCanal(const kafka::Properties& consumer,
                                                      const std::string& topic, size_t partitions,
                                                      const Clock* clock);
  ~SchemaTopic();
  SchemaTopic(const SchemaTopic&) = delete;

  const std::string& topic() const { return topic_; }
  bool is_canals() const { return waits_for_ > 0; }
  // Of Canal's: a partition begins behind this cursor; none: where the others do.
  void Begin(std::optional<uint64_t> cursor);
  // Returns when all that stands in the topic now is read. Errors: kUnavailable; kNotFound where
  // the statements at the beginning are gone.
  Result<void> CatchUp(int timeout_ms);
  // The next statement at a cursor: how many there are in front of it, from 0; of Canal's, the
  // offset from which on they count. Null where none has come. It stays where it is.
  const Statement* Get(uint64_t cursor) const;
  // Of Canal's: whether something was read that was built later, so that whatever stands in front
  // of a row of that time is known; and the offset that is read next.
  bool IsBeyond(int64_t built_ms) const { return built_ms_.load() > built_ms; }
  uint64_t next_offset() const { return read_.load(); }

 private:
  SchemaTopic() = default;
  static Result<std::unique_ptr<SchemaTopic>> Open(const kafka::Properties& consumer,
                                                   const std::string& topic, const Clock* clock);
  Result<void> StartAt(std::optional<int64_t> offset);
  void Read();
  void TakeCanal(std::string_view value, const rd_kafka_message_s& message);
  void Keep(Statement statement, std::string_view value);
  std::string name() const { return is_canals() ? topic_ + "/0" : "schema-topic " + topic_; }
  void Take(std::string_view key, std::string_view value, int64_t offset);

  std::string topic_;
  const Clock* clock_ = nullptr;
  std::unique_ptr<kafka::Client> client_;
  rd_kafka_topic_s* handle_ = nullptr;
  std::thread thread_;
  std::atomic<bool> stops_ = false;
  std::atomic<uint64_t> end_ = 0;  // the cursor behind all statements
  std::atomic<uint64_t> read_ = 0;
  std::atomic<int64_t> built_ms_ = 0;
  size_t waits_for_ = 0;  // Canal's: the number of partitions
  size_t begun_ = 0;
  std::optional<uint64_t> begin_;
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::deque<Statement> statements_;
  std::set<std::string> seen_;  // the places and texts of statements
  int64_t next_offset_ = 0;
  std::optional<Error> failure_;
};

}  // namespace driftless
