#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "pipeline/sources/mysql/dump_client.h"
#include "pipeline/sources/mysql/log_start.h"
#include "pipeline/sources/mysql/log_stream.h"
#include "pipeline/sources/mysql/mysql_source.h"
#include "pipeline/sources/mysql/tables.h"

namespace driftless::mysql {
namespace {

// The one of a range, or of Flink CDC's default range, for this process.
uint32_t ChooseServerId(const std::string& text) {
  uint32_t low = 5400;
  uint32_t high = 6400;
  if (!text.empty()) {
    low = high = static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
    if (const size_t dash = text.find('-'); dash != std::string::npos) {
      high = static_cast<uint32_t>(std::strtoul(text.c_str() + dash + 1, nullptr, 10));
    }
  }
  std::random_device seed;
  return std::uniform_int_distribution<uint32_t>(low, std::max(low, high))(seed);
}

// Whether a place in the log is at or before another one.
bool IsCoveredBy(const LogPosition& place, const LogPosition& end) {
  return std::pair(place.Epoch(), place.offset) <= std::pair(end.Epoch(), end.offset);
}

class LogRun {
 public:
  LogRun(const SourceOptions& options, const ServerFacts& facts, const SourceContext& context,
         StreamId stream, SourceOutput* output, Handover* handover)
      : options_(options),
        facts_(facts),
        context_(context),
        stream_(stream),
        output_(*output),
        handover_(*handover),
        log_(options, SettingsOf(facts, options), context, stream, output,
             {.wants_rows = [this](const auto& t, const auto& at) { return WantsRows(t, at); },
              .restarted = [this](const auto& t, const auto& at) { Restarted(t, at); },
              .fetch = [this](const auto& t, uint64_t i) { return Fetch(t, i); }}) {}

  Result<void> Run(const CutPosition& from) {
    if (from.Last(stream_)) {
      DRIFTLESS_TRY(Restore(from));
    } else {
      DRIFTLESS_TRY(Plan());
    }
    PublishTables();
    handover_.Update([&](Handover::State& state) {
      state.progress = progress_;
      state.planned = true;
    });
    if (!WaitFor([](const Handover::State& state) { return state.announced; })) return {};
    TakeProgress();
    for (uint32_t i = 0; i < announce_.size(); ++i) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, log_.Announce(announce_[i], i));
      if (!go_on) return {};
    }
    PublishTables();
    if (!log_.Flush()) return {};
    handover_.Update([](Handover::State& state) { state.released = true; });
    if (!options_.WantsLog()) return WaitForSnapshot();
    return Follow();
  }

 private:
  // ---- the beginning -------------------------------------------------------------------------

  Result<void> Restore(const CutPosition& from) {
    DRIFTLESS_ASSIGN_OR_RETURN(LogPosition position, LogPosition::Parse(from.Resume(stream_)));
    DRIFTLESS_ASSIGN_OR_RETURN(position, AtServer(std::move(position), facts_));
    const Point at{stream_, position.Epoch(), position.offset, UINT32_MAX, 0};
    std::vector<TableSchemaPtr> tables;
    uint64_t next = 1;
    if (context_.history != nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto versions, context_.history->At(at));
      for (const SchemaVersion& version : versions) {
        if (version.schema != nullptr) tables.push_back(version.schema);
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const auto all, context_.history->All(std::nullopt));
      for (const SchemaVersion& version : all) {
        // Statements behind the place come again and get their numbers again.
        if (version.schema != nullptr && version.point.stream == stream_ &&
            !at.Precedes(version.point)) {
          next = std::max(next, version.schema->incarnation + 1);
        }
      }
    }
    log_.Begin(position, tables, next);
    return {};
  }

  // Where the log begins, and the tables as they are there.
  Result<void> Plan() {
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
    LogPosition start;
    start.server = facts_.identity;
    std::map<TablePath, std::string> texts;
    DRIFTLESS_TRY(ReadTexts(connection.get(), &texts));
    for (;;) {
      if (options_.WantsLog()) {
        DRIFTLESS_ASSIGN_OR_RETURN(start, StartPosition(connection.get()));
      }
      std::map<TablePath, std::string> again;
      DRIFTLESS_TRY(ReadTexts(connection.get(), &again));
      // No statement came between the two readings, so they are the place's.
      const bool same = SameTexts(texts, again);
      texts = std::move(again);
      if (same) break;
    }
    if (texts.empty()) {
      return MakeError(ErrorKind::kInvalidConfig,
                       "no table of the server matches \"tables\": " + options_.tables->text())
          .Hint("Each entry is database.table; the user must have SELECT on the tables.");
    }
    log_.Begin(start, {}, texts.size() + 1);
    uint64_t incarnation = 1;
    for (const auto& [table, text] : texts) {
      DRIFTLESS_ASSIGN_OR_RETURN(TableSchemaPtr schema,
                                 SchemaOfStatement(text, table, SettingsOf(facts_, options_),
                                                   options_.include_comments, incarnation++));
      planned_[table] = schema;
      announce_.push_back(std::move(schema));
      if (options_.WantsSnapshot()) progress_.left.push_back(table);
    }
    spdlog::info("mysql source: {} {}, {} tables, from {}",
                 facts_.IsMariaDb() ? "MariaDB" : "MySQL", facts_.version_text, texts.size(),
                 start.ToString());
    return {};
  }

  // AUTO_INCREMENT counts up with every row; it says nothing of the table's form.
  static bool SameTexts(const std::map<TablePath, std::string>& a,
                        const std::map<TablePath, std::string>& b) {
    const auto without = [](std::string text) {
      const size_t at = text.rfind(" AUTO_INCREMENT=");
      if (at == std::string::npos) return text;
      size_t end = at + 16;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      return text.erase(at, end - at);
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
      return x.first == y.first && without(x.second) == without(y.second);
    });
  }

  Result<void> ReadTexts(Connection* connection, std::map<TablePath, std::string>* texts) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto tables, ListTables(connection, options_));
    for (const TablePath& table : tables) {
      auto text = ShowCreateTable(connection, table);
      if (!text && text.error().kind() == ErrorKind::kNotFound) continue;
      if (!text) return std::move(text).error();
      (*texts)[table] = std::move(*text);
    }
    return {};
  }

  // Every transaction before it is seen by views that begin later.
  Result<LogPosition> StartPosition(Connection* connection) {
    switch (options_.start) {
      case StartMode::kSpecific: {
        LogPosition start;
        start.server = facts_.identity;
        start.file = options_.start_file;
        start.offset = options_.start_offset;
        start.gtids = options_.start_gtids;
        return WithGtids(options_, facts_, std::move(start));
      }
      case StartMode::kEarliest: {
        DRIFTLESS_ASSIGN_OR_RETURN(const auto files, ListLogFiles(connection));
        LogPosition start;
        start.server = facts_.identity;
        start.file = files.empty() ? "" : files.front().name;
        start.offset = 4;
        return WithGtids(options_, facts_, std::move(start));
      }
      case StartMode::kTimestamp:
        return PositionAtTime(options_, facts_, options_.start_timestamp_ms);
      default: break;
    }
    if (facts_.IsMariaDb() || facts_.gtid) {
      DRIFTLESS_ASSIGN_OR_RETURN(LogPosition start, CurrentLogPosition(connection, facts_));
      if (facts_.IsMariaDb()) return MariaStart(connection);
      // The set has what is committed; the offset may be ahead of it, and transactions that the set
      // lacks may stand before it. Points count from the file's beginning.
      start.offset = 4;
      return start;
    }
    // Without GTIDs only a moment without commits tells where the log and the tables agree.
    DRIFTLESS_TRY(connection->Execute("SET lock_wait_timeout = 30"));
    auto locked = connection->Execute("FLUSH TABLES WITH READ LOCK");
    if (!locked) {
      return std::move(locked).error().Hint(
          "Without GTIDs a start needs a moment's global read lock: grant RELOAD, or turn "
          "gtid_mode on.");
    }
    auto start = CurrentLogPosition(connection, facts_);
    DRIFTLESS_TRY(connection->Execute("UNLOCK TABLES"));
    return start;
  }

  Result<LogPosition> MariaStart(Connection* connection) {
    DRIFTLESS_TRY(connection->Execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
    DRIFTLESS_TRY(connection->Execute("START TRANSACTION WITH CONSISTENT SNAPSHOT"));
    DRIFTLESS_ASSIGN_OR_RETURN(const auto rows,
                               connection->Query("SHOW STATUS LIKE 'binlog_snapshot_%'"));
    LogPosition start;
    start.server = facts_.identity;
    for (const TextRow& row : rows) {
      if (*row[0] == "Binlog_snapshot_file") start.file = row[1].value_or("");
      if (*row[0] == "Binlog_snapshot_position") {
        start.offset = std::strtoull(row[1].value_or("0").c_str(), nullptr, 10);
      }
    }
    DRIFTLESS_TRY(connection->Execute("COMMIT"));
    DRIFTLESS_ASSIGN_OR_RETURN(const auto gtids, connection->QueryValue(fmt::format(
                                                     "SELECT BINLOG_GTID_POS({}, {})",
                                                     connection->Quote(start.file), start.offset)));
    start.gtids = gtids.value_or("");
    return start;
  }

  // ---- the other stream ----------------------------------------------------------------------

  template <typename Ready>
  bool WaitFor(Ready ready) {
    while (!output_.stopping()) {
      bool ended = false;
      const bool is_ready = handover_.WaitShortly([&](const Handover::State& state) {
        ended = state.ended;
        return ready(state) || state.ended;
      });
      if (ended) return false;
      if (is_ready) return true;
    }
    return false;
  }

  void PublishTables() {
    auto tables = log_.CapturedTables();
    if (tables.empty()) tables = planned_;
    handover_.Update([&](Handover::State& state) { state.tables = std::move(tables); });
  }

  void TakeProgress() {
    progress_ = handover_.Look([](const Handover::State& state) { return state.progress; });
    end_.reset();
    if (!progress_.end.empty()) {
      if (auto end = LogPosition::Parse(progress_.end)) end_ = std::move(*end);
    }
  }

  Result<void> WaitForSnapshot() {
    WaitFor([](const Handover::State& state) { return state.progress.left.empty(); });
    return {};
  }

  // Rows of tables whose snapshot comes are in it; so are those before a view whose place is known.
  bool WantsRows(const TablePath& table, const LogPosition& at) const {
    const auto seen = progress_.seen.find(table);
    if (seen != progress_.seen.end()) {
      const auto view = LogPosition::Parse(seen->second);
      if (view && IsCoveredBy(at, *view)) return false;
    }
    const auto left = std::find(progress_.left.begin(), progress_.left.end(), table);
    if (left == progress_.left.end()) return true;
    // Of the table that is being read some chunks are through already.
    const TableSchemaPtr schema = log_.Find(table);
    return left == progress_.left.begin() && reading_ && schema != nullptr &&
           !schema->primary_key.empty();
  }

  // Chunks that were read behind this place have been sent before the statement: it takes away rows
  // that are still there at the server.
  void Restarted(const TablePath& table, const LogPosition& at) {
    const bool is_read = end_ && IsCoveredBy(at, *end_);
    const bool is_left =
        std::find(progress_.left.begin(), progress_.left.end(), table) != progress_.left.end();
    if (!options_.WantsSnapshot()) return;
    if (is_left || is_read) again_.push_back(table);
  }

  // Tables to read again go to the end of what is left; called between two transactions.
  void ReadAgain() {
    if (again_.empty()) return;
    for (const TablePath& table : again_) {
      if (!progress_.left.empty() && progress_.left.front() == table) progress_.after.clear();
      std::erase(progress_.left, table);
      progress_.left.push_back(table);
      progress_.seen.erase(table);
    }
    again_.clear();
  }

  Result<TableSchemaPtr> Fetch(const TablePath& table, uint64_t incarnation) {
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, ShowCreateTable(connection.get(), table));
    return SchemaOfStatement(text, table, SettingsOf(facts_, options_), options_.include_comments,
                             incarnation);
  }

  // ---- following -----------------------------------------------------------------------------

  Result<void> Follow() {
    while (!output_.stopping()) {
      // The snapshot first: the log stands still meanwhile.
      TakeProgress();
      if (!progress_.left.empty()) {
        uint64_t wanted = 0;
        const bool go_on = WaitFor([&](const Handover::State& state) {
          wanted = state.advance_wanted > state.advance_done ? state.advance_wanted : 0;
          return state.progress.left.empty() || wanted > 0;
        });
        if (!go_on) return {};
        reading_ = handover_.Look([](const Handover::State& s) { return s.reading.has_value(); });
        TakeProgress();
        if (wanted == 0) continue;
        DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
        DRIFTLESS_ASSIGN_OR_RETURN(LogPosition end, CurrentLogPosition(connection.get(), facts_));
        end.generation = log_.position().generation;
        DRIFTLESS_TRY(StreamTo(end));
        PublishTables();
        handover_.Update([&](Handover::State& state) { state.advance_done = wanted; });
        continue;
      }
      DRIFTLESS_TRY(StreamTo(std::nullopt));
      if (again_.empty()) continue;
      if (!log_.Flush()) return {};
      ReadAgain();
      PublishTables();
      handover_.Update([&](Handover::State& state) { state.progress = progress_; });
    }
    return {};
  }

  // Reads to `end`, or until a table must be read again or the pipeline stops; connects anew where
  // the connection breaks.
  Result<void> StreamTo(const std::optional<LogPosition>& end) {
    int64_t wait_ms = 100;
    while (!output_.stopping()) {
      const LogPosition before = log_.position();
      Result<bool> result = StreamOnce(end);
      if (result && *result) return {};
      if (!result && !IsWorthRetry(result.error())) return std::move(result).error();
      if (!(before.offset == log_.position().offset && before.file == log_.position().file)) {
        wait_ms = 100;
      }
      spdlog::warn("mysql source: {}; connecting again in {} ms",
                   result ? "the server ended the log's stream" : result.error().ToString(),
                   wait_ms);
      for (int64_t left = wait_ms; left > 0 && !output_.stopping(); left -= 100) {
        std::this_thread::sleep_for(std::chrono::milliseconds(std::min<int64_t>(left, 100)));
      }
      wait_ms = std::min<int64_t>(wait_ms * 2, 30000);
      client_.reset();
    }
    return {};
  }

  // Whether a new connection may do better: the server went away, or our server id is taken.
  static bool IsWorthRetry(const Error& error) {
    return error.kind() == ErrorKind::kUnavailable || error.kind() == ErrorKind::kConflict ||
           error.kind() == ErrorKind::kTimedOut;
  }

  // Another server may have taken the place of the one before.
  Result<void> MeetServer() {
    log_.Reconnected();
    if (!has_met_) {
      has_met_ = true;
      return {};
    }
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
    DRIFTLESS_ASSIGN_OR_RETURN(now_, ReadServerFacts(connection.get()));
    if (now_.identity == log_.position().server) return {};
    spdlog::warn("mysql source: {} {} has taken the place of another server; it is read by GTID",
                 now_.IsMariaDb() ? "MariaDB" : "MySQL", now_.version_text);
    DRIFTLESS_ASSIGN_OR_RETURN(const LogPosition position, AtServer(log_.ResumePosition(), now_));
    log_.MoveTo(position);
    return {};
  }

  // True: the end is reached. False: the server ended the stream.
  Result<bool> StreamOnce(const std::optional<LogPosition>& end) {
    if (client_ == nullptr) {
      DRIFTLESS_TRY(MeetServer());
      DRIFTLESS_ASSIGN_OR_RETURN(client_, DumpClient::Open(options_, now_, log_.ResumePosition(),
                                                           ChooseServerId(options_.server_id)));
    }
    const int64_t flush_us = std::clamp<int64_t>(context_.max_wait_ms, 1, 1000) * 1000;
    int64_t last_flush_us = context_.clock->MonotonicMicros();
    for (;;) {
      if (!log_.in_transaction()) {
        const bool reached = end && IsCoveredBy(*end, log_.position());
        if (reached || output_.stopping() || (!end && !again_.empty())) {
          log_.Flush();
          return true;
        }
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view event, client_->Next());
      if (event.empty()) return false;
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, log_.Event(event));
      if (!go_on) return true;
      const int64_t now = context_.clock->MonotonicMicros();
      if (now - last_flush_us < flush_us) continue;
      last_flush_us = now;
      if (!log_.Flush()) return true;
    }
  }

  const SourceOptions& options_;
  const ServerFacts& facts_;
  const SourceContext& context_;
  const StreamId stream_;
  SourceOutput& output_;
  Handover& handover_;
  LogStream log_;
  std::unique_ptr<DumpClient> client_;
  ServerFacts now_ = facts_;  // of the server at the last connect
  bool has_met_ = false;
  std::map<TablePath, TableSchemaPtr> planned_;
  std::vector<TableSchemaPtr> announce_;
  SnapshotProgress progress_;
  std::optional<LogPosition> end_;  // of the log when the snapshot was done
  std::vector<TablePath> again_;
  bool reading_ = false;
};

}  // namespace

Result<void> RunLog(const SourceOptions& options, const ServerFacts& facts,
                    const SourceContext& context, StreamId stream, const CutPosition& from,
                    SourceOutput* output, Handover* handover) {
  return LogRun(options, facts, context, stream, output, handover).Run(from);
}

}  // namespace driftless::mysql
