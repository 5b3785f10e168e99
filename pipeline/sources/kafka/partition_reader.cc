#include "pipeline/sources/kafka/partition_reader.h"

#include <librdkafka/rdkafka.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "pipeline/sources/kafka/aligning_output.h"
#include "pipeline/sources/kafka/canal_statements.h"
#include "pipeline/sources/kafka/resume.h"
#include "sinks/clients/kafka/statement_header.h"

namespace driftless {
namespace {

constexpr int kCallMs = 15'000;

struct DestroyTopic {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};

// The columns of a key. Keys that our sink and Flink CDC write name the table in front of them; one
// that is no JSON object (csv) says nothing.
std::string_view ColumnsOfKey(std::string_view key, std::string* scratch) {
  constexpr std::string_view kStart = "{\"TableId\":\"";
  const size_t begin = key.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || key[begin] != '{') return {};
  if (!key.starts_with(kStart)) return key;
  size_t at = kStart.size();
  while (at < key.size() && key[at] != '"') at += key[at] == '\\' ? 2 : 1;
  if (at + 1 >= key.size()) return key;
  if (key[at + 1] != ',') return {};  // the table alone: it has no key
  scratch->assign("{");
  scratch->append(key.substr(at + 2));
  return *scratch;
}

// How long a partition must have nothing new, and a statement be known, before the statement is
// carried out there without a row behind it: rows from before it may still be on their way.
constexpr int64_t kIdleUs = 1'000'000;

}  // namespace

class KafkaPartitionReader::Reading {
 public:
  Reading(const KafkaSourceOptions& options, const SourceContext& context, kafka::Client* client,
          KafkaPartition partition, StreamId stream, SourceOutput* output)
      : options_(options),
        context_(context),
        client_(*client),
        partition_(std::move(partition)),
        output_(output, partition_),
        stream_(StreamOptionsOf(options), context, stream, &output_),
        origin_(partition_.topic + "/" + std::to_string(partition_.partition)),
        flush_interval_us_(std::clamp<int64_t>(context.max_wait_ms, 1, 1000) * 1000) {
    point_.stream = stream;
    topic_.reset(rd_kafka_topic_new(client_.handle(), partition_.topic.c_str(), nullptr));
    if (partition_.schemas == nullptr || !partition_.schemas->is_canals()) return;
    canal_ = std::make_unique<CanalStatements>(
        partition_, CanalStatements::Reader{
                        [this](const CanalStatements::IsDue& due) { return TakeStatements(due); },
                        [this] { return CatchUp(); }, &cursor_, &stream_, &output_, context.clock,
                        options.schema_wait_ms * 1000, options.bounded});
  }

  Result<void> Run(const CutPosition& from, const std::function<Result<void>()>& check_topics) {
    DRIFTLESS_ASSIGN_OR_RETURN(const int64_t offset, Begin(from));
    if (rd_kafka_consume_start(topic_.get(), partition_.partition, offset) != 0) {
      return kafka::MakeKafkaError(rd_kafka_last_error(), "reading " + origin_);
    }
    Result<void> result = Loop(check_topics);
    rd_kafka_consume_stop(topic_.get(), partition_.partition);
    if (!output_.stopping()) {
      if (result) DRIFTLESS_TRY(stream_.End());
      Flush();
    }
    if (partition_.alignment != nullptr) partition_.alignment->End(partition_.index);
    const auto& counters = stream_.counters();
    spdlog::info(
        "kafka source: {}: {} records, {} changes, {} schema changes, {} tombstones, {} "
        "dead letters",
        origin_, counters.records, counters.changes, counters.schema_changes, counters.tombstones,
        counters.dead_letters);
    return result;
  }

 private:
  debezium::StreamOptions StreamOptionsOf(const KafkaSourceOptions& options) {
    debezium::StreamOptions stream = options.stream;
    if (partition_.schemas != nullptr) {
      if (partition_.schemas->is_canals()) {
        stream.before_message = [this](const debezium::Record& record) {
          return canal_->BeforeMessage(record);
        };
        stream.more_statements = [this](debezium::Patience patience) {
          return canal_->WaitForMore(patience);
        };
      } else {
        stream.more_statements = [this](debezium::Patience) { return WaitForStatements(); };
      }
      // Each partition meets the statement: a table cannot wait in all of them at one place.
      const OnUnparsedDdl on_unparsed = stream.on_unparsed_ddl.value_or(context_.on_unparsed_ddl);
      if (on_unparsed == OnUnparsedDdl::kPark) stream.on_unparsed_ddl = OnUnparsedDdl::kFail;
    }
    return stream;
  }

  // The offset to start at. Takes up the schemas of the position.
  Result<int64_t> Begin(const CutPosition& from) {
    int64_t low = 0;
    const rd_kafka_resp_err_t err = rd_kafka_query_watermark_offsets(
        client_.handle(), partition_.topic.c_str(), partition_.partition, &low, &end_, kCallMs);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return kafka::MakeKafkaError(err, "asking for the ends of " + origin_);
    }
    const auto last = from.Last(point_.stream);
    if (!last) {
      if (partition_.alignment != nullptr) partition_.alignment->Begin(partition_.index, 0);
      DRIFTLESS_ASSIGN_OR_RETURN(const int64_t start, StartOffset(low));
      if (canal_ != nullptr && canal_->is_home()) {
        cursor_.next = static_cast<uint64_t>(start);
        partition_.schemas->Begin(cursor_.next);
      } else if (canal_ != nullptr) {
        partition_.schemas->Begin(std::nullopt);
      }
      return start;
    }
    const KafkaResume resume = KafkaResume::Parse(from.Resume(point_.stream));
    if (partition_.alignment != nullptr) {
      partition_.alignment->Begin(partition_.index, resume.statements, resume.last);
    }
    cursor_.next = resume.records;
    if (canal_ != nullptr) partition_.schemas->Begin(cursor_.next);
    next_offset_ = resume.NextOffset(*last);
    point_ = *last;
    has_point_ = true;
    resume_ = resume;
    DRIFTLESS_TRY(stream_.Restore(point_));
    if (next_offset_ < low) {
      return MakeError(ErrorKind::kNotFound, origin_ + " begins at offset " + std::to_string(low) +
                                                 " now; the position is " +
                                                 std::to_string(next_offset_))
          .Hint("The records between were deleted (retention). Start on a new state folder.");
    }
    return next_offset_;
  }

  Result<int64_t> StartOffset(int64_t low) {
    switch (options_.start) {
      case KafkaStart::kEarliest: break;
      case KafkaStart::kLatest: next_offset_ = end_; return end_;
      case KafkaStart::kSpecific: {
        const auto found = options_.start_offsets.find(partition_.partition);
        if (found == options_.start_offsets.end()) break;
        next_offset_ = found->second;
        return next_offset_;
      }
      case KafkaStart::kTimestamp: return Ask(options_.start_time_ms, low);
      case KafkaStart::kGroupOffsets:
        if (!options_.group.empty()) return Ask(std::nullopt, low);
        break;
    }
    next_offset_ = low;
    return low;
  }

  // The first offset at a time, or the group's own.
  Result<int64_t> Ask(std::optional<int64_t> time_ms, int64_t low) {
    rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t* one =
        rd_kafka_topic_partition_list_add(list, partition_.topic.c_str(), partition_.partition);
    if (time_ms) one->offset = *time_ms;
    const rd_kafka_resp_err_t err =
        time_ms ? rd_kafka_offsets_for_times(client_.handle(), list, kCallMs)
                : rd_kafka_committed(client_.handle(), list, kCallMs);
    const int64_t offset = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return kafka::MakeKafkaError(err, "asking where to start in " + origin_);
    }
    // Nothing at or after the time: the end. No committed offset: nothing is skipped.
    next_offset_ = offset >= 0 ? offset : time_ms ? end_ : low;
    return next_offset_;
  }

  bool IsHome() const { return canal_ != nullptr && canal_->is_home(); }
  bool AtEnd() const { return options_.bounded && next_offset_ >= end_; }

  Result<void> Loop(const std::function<Result<void>()>& check_topics) {
    last_flush_us_ = last_check_us_ = last_row_us_ = context_.clock->MonotonicMicros();
    while (!output_.stopping() && !AtEnd()) {
      // Returns as soon as anything is there, and takes all that is there under one lock.
      caught_up_ = false;
      const int got =
          rd_kafka_consume_callback(topic_.get(), partition_.partition, WaitMs(), OnMessage, this);
      if (got < 0) return kafka::MakeKafkaError(rd_kafka_last_error(), "reading " + origin_);
      if (got == 0) taken_ = TakeIdle();
      if (!taken_) return std::move(taken_.error());
      if (!*taken_) break;
      const int64_t now_us = context_.clock->MonotonicMicros();
      if (got > 0) last_row_us_ = now_us;
      // Where little comes at a time it need not wait for more.
      const bool is_calm = got < KafkaSourceOptions::kMessagesPerCall;
      const int64_t wait_us = is_calm ? flush_interval_us_ / 4 : flush_interval_us_;
      if (now_us - last_flush_us_ >= (stream_.idle() ? flush_interval_us_ : wait_us) && !Flush()) {
        break;
      }
      if (options_.discovery_interval_ms > 0 &&
          now_us - last_check_us_ >= options_.discovery_interval_ms * 1000) {
        last_check_us_ = now_us;
        DRIFTLESS_TRY(check_topics());
      }
    }
    if (auto failure = output_.TakeFailure()) return std::move(*failure);
    if (!AtEnd() || partition_.schemas == nullptr || IsHome() || output_.stopping()) return {};
    // The end of a bounded reading: statements without a row behind them.
    DRIFTLESS_TRY(partition_.schemas->CatchUp(kCallMs));
    DRIFTLESS_TRY(TakeStatements([](const SchemaTopic::Statement&) { return true; }));
    if (auto failure = output_.TakeFailure()) return std::move(*failure);
    return {};
  }

  // How long nothing may come: until the rows that wait have waited long enough.
  int WaitMs() const {
    if (stream_.idle()) return static_cast<int>(std::max<int64_t>(flush_interval_us_ / 1000, 1));
    const int64_t due_us = last_flush_us_ + flush_interval_us_ / 4;
    const int64_t left_us = due_us - context_.clock->MonotonicMicros();
    return static_cast<int>(std::clamp<int64_t>((left_us + 999) / 1000, 0, 1000));
  }

  static void OnMessage(rd_kafka_message_t* message, void* reading) {
    auto* self = static_cast<Reading*>(reading);
    // Behind the first one that stops the reading, or the end, the others of the call are let go.
    if (self->taken_ && *self->taken_ && !self->AtEnd()) self->taken_ = self->TakeOne(*message);
  }

  Result<bool> TakeOne(const rd_kafka_message_t& message) {
    if (canal_ == nullptr) DRIFTLESS_TRY(CatchUp());
    return Take(message);
  }

  // Every statement that was in its topic before the rows of this call were fetched.
  Result<void> CatchUp() {
    if (caught_up_ || partition_.schemas == nullptr) return {};
    caught_up_ = true;
    return partition_.schemas->CatchUp(kCallMs);
  }

  // The statements from elsewhere that come next and that `is_due`; in front of the next record.
  // False: the pipeline stops.
  template <typename IsDue>
  Result<bool> TakeStatements(const IsDue& is_due) {
    while (const SchemaTopic::Statement* statement = partition_.schemas->Get(cursor_.next)) {
      if (!is_due(*statement)) break;
      Point place = point_;
      place.offset = static_cast<uint64_t>(next_offset_);
      place.row = debezium::DebeziumStream::kChangeRow;
      const std::string origin = partition_.schemas->topic() +
                                 "/0:" + std::to_string(statement->offset) + ", before " + origin_;
      auto taken = canal_ != nullptr ? canal_->Take(*statement, place, origin)
                                     : TakeAligned(*statement, place, origin);
      if (!taken || !*taken) return taken;
      cursor_.next = statement->next;
      ++cursor_.taken;
    }
    return true;
  }

  Result<bool> TakeAligned(const SchemaTopic::Statement& statement, const Point& place,
                           const std::string& origin) {
    output_.SetAligned(true);
    auto taken = stream_.Statement(statement.key, statement.text(), place, origin);
    output_.SetAligned(false);
    return taken;
  }

  // Nothing new has come: statements that have been known for a while are carried out.
  Result<bool> TakeIdle() {
    if (partition_.schemas == nullptr || IsHome()) return true;
    const int64_t now_us = context_.clock->MonotonicMicros();
    if (now_us - last_row_us_ < kIdleUs) return true;
    const uint64_t before = cursor_.taken;
    auto taken = TakeStatements([&](const SchemaTopic::Statement& statement) {
      return now_us - statement.seen_us >= kIdleUs;
    });
    if (!taken || !*taken || cursor_.taken == before) return taken;
    const Point& last = stream_.last_statement();
    if (last.offset == static_cast<uint64_t>(next_offset_)) MoveTo(last);
    return true;
  }

  // A row that does not fit the schema at its place: its statement may be late.
  Result<bool> WaitForStatements() {
    const uint64_t before = cursor_.taken;
    const int64_t end_us = context_.clock->MonotonicMicros() + options_.schema_wait_ms * 1000;
    while (!output_.stopping()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, TakeStatementsBefore(row_place_));
      if (!go_on || cursor_.taken > before) return go_on;
      // The topic is beyond this row: what it does not fit will not come.
      const SchemaTopic::Statement* next = partition_.schemas->Get(cursor_.next);
      if (next != nullptr || context_.clock->MonotonicMicros() >= end_us) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  Result<bool> TakeStatementsBefore(const std::optional<LogPlace>& row) {
    if (!row) return true;
    return TakeStatements([&](const SchemaTopic::Statement& statement) {
      return !statement.place || !row->Precedes(*statement.place);
    });
  }

  // All up to `point` is consumed: the position that is reported from now on.
  void MoveTo(const Point& point) {
    point_ = point;
    has_point_ = true;
    resume_.records = cursor_.next;
    resume_.next_offset = next_offset_;
  }

  Result<bool> Take(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      // Offsets may end in control records, which nobody sees.
      next_offset_ = std::max(next_offset_, message.offset);
      return TakeIdle();
    }
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (message.err == RD_KAFKA_RESP_ERR__TRANSPORT ||
          message.err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        return true;  // the client connects again
      }
      return kafka::MakeKafkaError(
          message.err, "reading " + origin_ + " at offset " + std::to_string(next_offset_));
    }
    if (message.offset < next_offset_) return true;
    Point next = point_;
    next.offset = static_cast<uint64_t>(message.offset);
    next.row = debezium::DebeziumStream::kChangeRow;
    value_.assign(static_cast<const char*>(message.payload), message.len);
    value_.append(kJsonPadding, '\0');
    const std::string_view value = std::string_view(value_).substr(0, message.len);
    const std::string_view key =
        ColumnsOfKey({static_cast<const char*>(message.key), message.key_len}, &key_);
    next_offset_ = message.offset;
    if (canal_ == nullptr && partition_.schemas != nullptr) {
      if (auto place = LogPlaceOf(value)) row_place_ = std::move(place);
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, TakeStatementsBefore(row_place_));
      if (!go_on) return false;
    }
    const std::optional<MarkedStatement> marked = MarkOf(message, value);
    if (canal_ != nullptr) canal_->At(message.offset, marked.has_value());
    std::optional<StatementAlignment::Turn> turn;
    if (marked) {
      if (!Flush()) return false;  // its rows are in front of it, and the position too
      turn = TurnAt(*marked);
      if (*turn == StatementAlignment::Turn::kStop) return false;
    }
    if (turn != StatementAlignment::Turn::kSkip) {
      output_.SetTurn(turn);
      auto taken = stream_.Message(partition_.topic, key, value, next, origin_);
      output_.SetTurn(std::nullopt);
      if (canal_ != nullptr) canal_->Done();
      if (!taken || !*taken) return taken;
    }
    if (marked && turn != StatementAlignment::Turn::kSkip) Passed(*marked, *turn);
    if (turn != StatementAlignment::Turn::kSkip) next.row = stream_.last_row();
    next_offset_ = message.offset + 1;
    MoveTo(next);
    return true;
  }

  // A statement of our own sink (sinks/clients/kafka/statement_header.h).
  struct MarkedStatement {
    StatementMark mark;
    uint64_t identity = 0;
    int64_t offset = 0;
  };
  std::optional<MarkedStatement> MarkOf(const rd_kafka_message_t& message, std::string_view value) {
    if (partition_.schemas != nullptr && canal_ == nullptr) return std::nullopt;
    rd_kafka_headers_t* headers = nullptr;
    const void* text = nullptr;
    size_t size = 0;
    if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        rd_kafka_header_get_last(headers, kafka::kStatementHeader, &text, &size) !=
            RD_KAFKA_RESP_ERR_NO_ERROR) {
      return std::nullopt;
    }
    const std::string_view header(static_cast<const char*>(text), size);
    const auto mark = StatementMark::Parse(header);
    if (!mark || mark->run == 0) return std::nullopt;
    const std::string_view name = header.substr(std::min(header.find(' '), header.size()));
    return MarkedStatement{*mark, RecentStatements::IdentityOf(name, value), message.offset};
  }

  StatementAlignment::Turn TurnAt(const MarkedStatement& statement) {
    using Turn = StatementAlignment::Turn;
    const bool knows = resume_.recent.Contains(statement.identity);
    Turn turn = knows ? Turn::kSkip : Turn::kSend;
    if (partition_.alignment != nullptr) {
      turn = partition_.alignment->Arrive(partition_.index, statement.mark, knows, output_);
    }
    if (knows) {
      spdlog::info("{}:{}: a statement stands here again: its writer was started again", origin_,
                   statement.offset);
    } else if (turn == Turn::kSkip) {
      spdlog::warn(
          "{}:{}: a statement does not stand in every partition, and is passed over: its writer "
          "was stopped while it sent it, and sends it again",
          origin_, statement.offset);
    }
    return turn;
  }

  void Passed(const MarkedStatement& statement, StatementAlignment::Turn turn) {
    if (partition_.alignment != nullptr && turn == StatementAlignment::Turn::kSend) {
      partition_.alignment->Sent(partition_.index);
    }
    resume_.last = statement.mark;
    resume_.recent.Add(statement.identity);
  }

  // Sends all that waits and says how far the partition is. False: the pipeline stops.
  bool Flush() {
    last_flush_us_ = context_.clock->MonotonicMicros();
    if (!stream_.Flush()) return false;
    if (!has_point_) return true;  // nothing was read yet
    if (stream_.in_statement()) return true;
    if (partition_.alignment != nullptr) {
      resume_.statements = partition_.alignment->unmarked(partition_.index);
    }
    if (canal_ != nullptr) resume_.records = cursor_.next = canal_->Cursor();
    return output_.Progress(point_, resume_.ToText(), stream_.last_event_time_ms());
  }

  const KafkaSourceOptions& options_;
  const SourceContext& context_;
  kafka::Client& client_;
  const KafkaPartition partition_;
  AligningOutput output_;
  debezium::DebeziumStream stream_;
  const std::string origin_;  // "orders/3"
  const int64_t flush_interval_us_;
  std::unique_ptr<rd_kafka_topic_t, DestroyTopic> topic_;
  Point point_;  // the last record, or statement without a record behind it, that was consumed
  bool has_point_ = false;
  KafkaResume resume_;  // of point_
  int64_t next_offset_ = 0;
  StatementCursor cursor_;                  // of statements from elsewhere
  std::unique_ptr<CanalStatements> canal_;  // null: none of them are Canal's
  std::optional<LogPlace> row_place_;       // of the last row
  bool caught_up_ = false;                  // in this call
  Result<bool> taken_ = true;               // what became of the last message
  int64_t last_row_us_ = 0;
  int64_t end_ = 0;  // behind the last record there was at the start
  int64_t last_flush_us_ = 0;
  int64_t last_check_us_ = 0;
  std::string value_;
  std::string key_;
};

KafkaPartitionReader::KafkaPartitionReader(const KafkaSourceOptions& options,
                                           const SourceContext& context, kafka::Client* client,
                                           KafkaPartition partition, StreamId stream,
                                           SourceOutput* output)
    : reading_(std::make_unique<Reading>(options, context, client, std::move(partition), stream,
                                         output)) {}

KafkaPartitionReader::~KafkaPartitionReader() = default;

int64_t KafkaPartitionReader::NextOffset(const Point& last, std::string_view resume) {
  return KafkaResume::Parse(resume).NextOffset(last);
}

Result<void> KafkaPartitionReader::Run(const CutPosition& from,
                                       const std::function<Result<void>()>& check_topics) {
  return reading_->Run(from, check_topics);
}

}  // namespace driftless
