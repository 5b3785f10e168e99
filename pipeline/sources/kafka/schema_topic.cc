#include "pipeline/sources/kafka/schema_topic.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "sinks/clients/kafka/statement_header.h"
#include "sinks/formats/json/json_index.h"

namespace driftless {
namespace {

constexpr int kCallMs = 15'000;

// "binlog.000003" gives "binlog." and 3.
std::pair<std::string_view, uint64_t> NumberOf(std::string_view file) {
  size_t begin = file.size();
  while (begin > 0 && file[begin - 1] >= '0' && file[begin - 1] <= '9') --begin;
  uint64_t number = 0;
  std::from_chars(file.data() + begin, file.data() + file.size(), number);
  return {file.substr(0, begin), number};
}

// The value behind `"name":` in an object's text; empty where it is not there.
std::string_view MemberOf(std::string_view object, std::string_view name) {
  const size_t at = object.find(name);
  if (at == std::string_view::npos) return {};
  std::string_view rest = object.substr(at + name.size());
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':')) rest.remove_prefix(1);
  if (rest.empty() || rest.front() != '"') return rest.substr(0, rest.find_first_of(",} "));
  return rest.substr(1, rest.find('"', 1) - 1);
}

}  // namespace

bool LogPlace::Precedes(const LogPlace& other) const {
  const auto [base, number] = NumberOf(file);
  const auto [other_base, other_number] = NumberOf(other.file);
  if (base != other_base) return false;
  return number != other_number ? number < other_number : position < other.position;
}

std::optional<LogPlace> LogPlaceOf(std::string_view value) {
  // Inside of strings quotes are escaped, so this is a member of some object: of the record, or of
  // a column's value that happens to be named so, which then has no such members.
  constexpr std::string_view kSource = "\"source\":";
  for (size_t at = value.find(kSource); at != std::string_view::npos;
       at = value.find(kSource, at + 1)) {
    std::string_view object = value.substr(at + kSource.size());
    object = object.substr(0, object.find('}'));
    const std::string_view connector = MemberOf(object, "\"connector\"");
    if (connector != "mysql" && connector != "mariadb") continue;
    LogPlace place;
    place.file = MemberOf(object, "\"file\"");
    const std::string_view position = MemberOf(object, "\"pos\"");
    const auto [end, error] =
        std::from_chars(position.data(), position.data() + position.size(), place.position);
    if (place.file.empty() || place.file == "null" || error != std::errc()) return std::nullopt;
    return place;
  }
  return std::nullopt;
}

Result<std::unique_ptr<SchemaTopic>> SchemaTopic::Open(const kafka::Properties& consumer,
                                                       const std::string& topic,
                                                       const Clock* clock) {
  std::unique_ptr<SchemaTopic> schema_topic(new SchemaTopic());
  schema_topic->topic_ = topic;
  schema_topic->clock_ = clock;
  DRIFTLESS_ASSIGN_OR_RETURN(schema_topic->client_,
                             kafka::Client::Make(kafka::Role::kConsumer, consumer));
  return schema_topic;
}

Result<std::unique_ptr<SchemaTopic>> SchemaTopic::Start(const kafka::Properties& consumer,
                                                        const std::string& topic,
                                                        const Clock* clock) {
  DRIFTLESS_ASSIGN_OR_RETURN(auto schema_topic, Open(consumer, topic, clock));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto found, schema_topic->client_->Describe(&topic, kCallMs));
  if (found.topics.empty() || found.topics.front().partitions != 1) {
    return MakeError(
        ErrorKind::kUnsupported,
        "schema-topic " + topic + " must have one partition: statements have an order");
  }
  DRIFTLESS_TRY(schema_topic->StartAt(std::nullopt));
  return schema_topic;
}

Result<std::unique_ptr<SchemaTopic>> SchemaTopic::OfCanal(const kafka::Properties& consumer,
                                                          const std::string& topic,
                                                          size_t partitions, const Clock* clock) {
  DRIFTLESS_ASSIGN_OR_RETURN(auto schema_topic, Open(consumer, topic, clock));
  schema_topic->waits_for_ = partitions;
  return schema_topic;
}

void SchemaTopic::Begin(std::optional<uint64_t> cursor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cursor && (!begin_ || *cursor < *begin_)) begin_ = cursor;
  if (++begun_ < waits_for_) return;
  if (auto started = StartAt(static_cast<int64_t>(begin_.value_or(0))); !started) {
    failure_ = std::move(started.error());
  }
  moved_.notify_all();
}

Result<void> SchemaTopic::StartAt(std::optional<int64_t> offset) {
  rd_kafka_t* handle = client_->handle();
  handle_ = rd_kafka_topic_new(handle, topic_.c_str(), nullptr);
  int64_t low = 0;
  int64_t high = 0;
  const auto err =
      rd_kafka_query_watermark_offsets(handle, topic_.c_str(), 0, &low, &high, kCallMs);
  if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::MakeKafkaError(err, "asking for the ends of " + name());
  }
  next_offset_ = offset.value_or(low);
  if (next_offset_ < low) {
    return MakeError(ErrorKind::kNotFound, topic_ + "/0 begins at offset " + std::to_string(low) +
                                               " now; its statements are needed from " +
                                               std::to_string(next_offset_))
        .Hint("The records between were deleted (retention). Start on a new state folder.");
  }
  read_ = static_cast<uint64_t>(next_offset_);
  if (rd_kafka_consume_start(handle_, 0, next_offset_) != 0) {
    return kafka::MakeKafkaError(rd_kafka_last_error(), "reading " + name());
  }
  thread_ = std::thread([this] { Read(); });
  return {};
}

SchemaTopic::~SchemaTopic() {
  stops_ = true;
  if (thread_.joinable()) {
    thread_.join();
    rd_kafka_consume_stop(handle_, 0);
  }
  if (handle_ != nullptr) rd_kafka_topic_destroy(handle_);
}

void SchemaTopic::Read() {
  while (!stops_) {
    rd_kafka_message_t* message = rd_kafka_consume(handle_, 0, 50);
    if (message == nullptr) continue;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const std::string_view value(static_cast<const char*>(message->payload), message->len);
        if (is_canals()) {
          TakeCanal(value, *message);
        } else {
          Take({static_cast<const char*>(message->key), message->key_len}, value, message->offset);
        }
        next_offset_ = message->offset + 1;
      } else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        next_offset_ = std::max(next_offset_, message->offset);
      } else if (message->err != RD_KAFKA_RESP_ERR__TRANSPORT &&
                 message->err != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        failure_ = kafka::MakeKafkaError(message->err, "reading " + name());
      }
    }
    read_ = static_cast<uint64_t>(next_offset_);
    moved_.notify_all();
    rd_kafka_message_destroy(message);
  }
}

void SchemaTopic::Take(std::string_view key, std::string_view value, int64_t offset) {
  if (value.empty()) return;
  Statement statement;
  statement.place = LogPlaceOf(value);
  if (statement.place) {
    std::string mark = statement.place->file + ":" + std::to_string(statement.place->position) +
                       " " + std::string(MemberOf(value, "\"table\""));
    const size_t ddl = value.find("\"ddl\":");
    if (ddl != std::string_view::npos) mark += value.substr(ddl);
    if (!seen_.insert(std::move(mark)).second) return;
  }
  statement.key = key;
  statement.offset = offset;
  statement.next = statements_.size() + 1;
  Keep(std::move(statement), value);
}

// What our sink wrote stands in every partition.
void SchemaTopic::TakeCanal(std::string_view value, const rd_kafka_message_s& message) {
  built_ms_ = std::max(built_ms_.load(), CanalBuiltAt(value));
  auto canal = CanalStatementOf(value);
  if (!canal) return;
  rd_kafka_headers_t* headers = nullptr;
  const void* text = nullptr;
  size_t size = 0;
  if (rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR &&
      rd_kafka_header_get_last(headers, kafka::kStatementHeader, &text, &size) ==
          RD_KAFKA_RESP_ERR_NO_ERROR) {
    return;
  }
  Statement statement;
  statement.canal = std::move(*canal);
  statement.offset = message.offset;
  statement.next = static_cast<uint64_t>(message.offset) + 1;
  Keep(std::move(statement), value);
}

void SchemaTopic::Keep(Statement statement, std::string_view value) {
  statement.value.reserve(value.size() + kJsonPadding);
  statement.value.assign(value);
  statement.value.append(kJsonPadding, '\0');
  statement.value_bytes = value.size();
  statement.seen_us = clock_->MonotonicMicros();
  statements_.push_back(std::move(statement));
  end_ = statements_.back().next;
}

Result<void> SchemaTopic::CatchUp(int timeout_ms) {
  int64_t low = 0;
  int64_t high = 0;
  const auto err =
      rd_kafka_query_watermark_offsets(client_->handle(), topic_.c_str(), 0, &low, &high, kCallMs);
  if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::MakeKafkaError(err, "asking for the end of " + name());
  }
  std::unique_lock<std::mutex> lock(mutex_);
  moved_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                  [&] { return next_offset_ >= high || failure_ || stops_; });
  if (failure_) return *failure_;
  if (next_offset_ >= high) return {};
  return MakeError(ErrorKind::kUnavailable, name() + " was not read up to its end at offset " +
                                                std::to_string(high) + " in time");
}

const SchemaTopic::Statement* SchemaTopic::Get(uint64_t cursor) const {
  if (cursor >= end_.load()) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::partition_point(statements_.begin(), statements_.end(),
                           [&](const Statement& statement) { return statement.next <= cursor; });
  return found == statements_.end() ? nullptr : &*found;
}

}  // namespace driftless
