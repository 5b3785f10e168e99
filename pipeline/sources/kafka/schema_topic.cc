#include "pipeline/sources/kafka/schema_topic.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <charconv>
#include <chrono>

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

Result<std::unique_ptr<SchemaTopic>> SchemaTopic::Start(const kafka::Properties& consumer,
                                                        const std::string& topic,
                                                        const Clock* clock) {
  std::unique_ptr<SchemaTopic> schema_topic(new SchemaTopic());
  schema_topic->topic_ = topic;
  schema_topic->clock_ = clock;
  DRIFTLESS_ASSIGN_OR_RETURN(schema_topic->client_,
                             kafka::Client::Make(kafka::Role::kConsumer, consumer));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto found, schema_topic->client_->Describe(&topic, kCallMs));
  if (found.topics.empty() || found.topics.front().partitions != 1) {
    return MakeError(
        ErrorKind::kUnsupported,
        "schema-topic " + topic + " must have one partition: statements have an order");
  }
  rd_kafka_t* handle = schema_topic->client_->handle();
  schema_topic->handle_ = rd_kafka_topic_new(handle, topic.c_str(), nullptr);
  int64_t low = 0;
  int64_t high = 0;
  const auto err = rd_kafka_query_watermark_offsets(handle, topic.c_str(), 0, &low, &high, kCallMs);
  if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::MakeKafkaError(err, "asking for the ends of schema-topic " + topic);
  }
  if (rd_kafka_consume_start(schema_topic->handle_, 0, low) != 0) {
    return kafka::MakeKafkaError(rd_kafka_last_error(), "reading schema-topic " + topic);
  }
  schema_topic->next_offset_ = low;
  schema_topic->thread_ = std::thread([raw = schema_topic.get()] { raw->Read(); });
  return schema_topic;
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
        Take({static_cast<const char*>(message->key), message->key_len},
             {static_cast<const char*>(message->payload), message->len}, message->offset);
        next_offset_ = message->offset + 1;
      } else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        next_offset_ = std::max(next_offset_, message->offset);
      } else if (message->err != RD_KAFKA_RESP_ERR__TRANSPORT &&
                 message->err != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        failure_ = kafka::MakeKafkaError(message->err, "reading schema-topic " + topic_);
      }
    }
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
  statement.value.reserve(value.size() + kJsonPadding);
  statement.value.assign(value);
  statement.value.append(kJsonPadding, '\0');
  statement.value_bytes = value.size();
  statement.offset = offset;
  statement.seen_us = clock_->MonotonicMicros();
  statements_.push_back(std::move(statement));
  size_ = statements_.size();
}

Result<void> SchemaTopic::CatchUp(int timeout_ms) {
  int64_t low = 0;
  int64_t high = 0;
  const auto err =
      rd_kafka_query_watermark_offsets(client_->handle(), topic_.c_str(), 0, &low, &high, kCallMs);
  if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::MakeKafkaError(err, "asking for the end of schema-topic " + topic_);
  }
  std::unique_lock<std::mutex> lock(mutex_);
  moved_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                  [&] { return next_offset_ >= high || failure_ || stops_; });
  if (failure_) return *failure_;
  if (next_offset_ >= high) return {};
  return MakeError(ErrorKind::kUnavailable, "schema-topic " + topic_ +
                                                " was not read up to its end at offset " +
                                                std::to_string(high) + " in time");
}

const SchemaTopic::Statement* SchemaTopic::Get(size_t number) const {
  if (number >= size_.load()) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  return &statements_[number];
}

}  // namespace driftless
