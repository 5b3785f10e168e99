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

#include "schema/base/clock.h"
#include "sinks/clients/kafka/client.h"

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

// Debezium's topic of schema changes, read beside the data topics and kept whole in memory, in its
// order, each statement once (a connector that starts again repeats some). A thread of its own
// reads it. Thread-safe.
class SchemaTopic {
 public:
  struct Statement {
    std::optional<LogPlace> place;
    std::string key;
    std::string value;  // followed by kJsonPadding bytes
    size_t value_bytes = 0;
    int64_t offset = 0;
    int64_t seen_us = 0;  // on the clock
  };

  // Errors: kNotFound, kUnsupported (several partitions), those of the client.
  static Result<std::unique_ptr<SchemaTopic>> Start(const kafka::Properties& consumer,
                                                    const std::string& topic, const Clock* clock);
  ~SchemaTopic();
  SchemaTopic(const SchemaTopic&) = delete;

  const std::string& topic() const { return topic_; }
  // Returns when all that stands in the topic now is read. Errors: kUnavailable.
  Result<void> CatchUp(int timeout_ms);
  // The statement of this number, from 0; null where it has not come. It stays where it is.
  const Statement* Get(size_t number) const;

 private:
  SchemaTopic() = default;
  void Read();
  void Take(std::string_view key, std::string_view value, int64_t offset);

  std::string topic_;
  const Clock* clock_ = nullptr;
  std::unique_ptr<kafka::Client> client_;
  rd_kafka_topic_s* handle_ = nullptr;
  std::thread thread_;
  std::atomic<bool> stops_ = false;
  std::atomic<size_t> size_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::deque<Statement> statements_;
  std::set<std::string> seen_;  // the places and texts of statements
  int64_t next_offset_ = 0;
  std::optional<Error> failure_;
};

}  // namespace driftless
