#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "pipeline/sources/mysql/mysql_source.h"
#include "pipeline/sources/mysql/sink_readings.h"
#include "pipeline/sources/mysql/snapshot_round.h"
#include "pipeline/sources/mysql/snapshot_view.h"
#include "pipeline/sources/mysql/tables.h"

// The stream "snapshot": does what the log's thread asks for.
namespace driftless::mysql {
namespace {

class SnapshotRun {
 public:
  SnapshotRun(const SourceOptions& options, const ServerFacts& facts, const SourceContext& context,
              StreamId stream, const CutPosition& from, SourceOutput* output, Handover* handover)
      : options_(options),
        facts_(facts),
        context_(context),
        stream_(stream),
        from_(from),
        output_(*output),
        handover_(*handover) {}

  Result<void> Run() {
    while (std::optional<SnapshotRequest> request = handover_.Next(output_)) {
      progress_ = std::move(request->progress);
      progress_.attempt = attempt_;
      progress_.number = number_;
      SnapshotAnswer answer;
      switch (request->step) {
        case SnapshotRequest::Step::kResume: {
          DRIFTLESS_TRY(Resume(*request));
          answer.stream = stream_;
          break;
        }
        case SnapshotRequest::Step::kReport: {
          DRIFTLESS_TRY(BeginAttempt(request->tables));
          ++progress_.number;
          if (!Report()) return {};
          break;
        }
        case SnapshotRequest::Step::kOpen: {
          DRIFTLESS_ASSIGN_OR_RETURN(answer.first_view, Open(*request));
          break;
        }
        case SnapshotRequest::Step::kRead: {
          DRIFTLESS_ASSIGN_OR_RETURN(answer.advanced, Read(*request));
          break;
        }
        case SnapshotRequest::Step::kDone: {
          TellEnd();
          break;
        }
        case SnapshotRequest::Step::kEnd: {
          TellEnd();
          handover_.Answer({});
          return {};
        }
      }
      attempt_ = progress_.attempt;
      number_ = progress_.number;
      answer.progress = progress_;
      handover_.Answer(std::move(answer));
    }
    return {};
  }

 private:
  // What is left is a matter of each sink: some may have a table that others still read.
  Result<void> Resume(const SnapshotRequest& request) {
    progress_ = {};
    if (!request.from.Last(stream_)) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(progress_, SnapshotProgress::Parse(request.from.Resume(stream_)));
    progress_.attempt = attempt_;
    progress_.number = number_;
    if (context_.places == nullptr) return {};
    std::vector<TablePath> tables;
    for (const auto& [path, schema] : request.tables) tables.push_back(path);
    SinkReadings readings(stream_, request.log_stream, context_.places);
    DRIFTLESS_ASSIGN_OR_RETURN(progress_.tables, readings.Left(tables));
    return {};
  }

  // Every start of reading has a number of its own, recorded before its first row. One without rows
  // is in positions alone.
  Result<void> BeginAttempt(const std::map<TablePath, TableSchemaPtr>& tables) {
    if (attempt_ == 0) {
      std::vector<SchemaVersion> history;
      if (context_.history != nullptr) {
        DRIFTLESS_ASSIGN_OR_RETURN(history, context_.history->All(std::nullopt));
      }
      std::vector<CutPosition> positions = {from_};
      for (const auto& [table, schema] : tables) {
        if (context_.furthest) positions.push_back(context_.furthest(table));
      }
      progress_.attempt = NextAttempt(stream_, history, positions);
    }
    has_tables_ |= !progress_.tables.empty();
    const bool has_more = std::any_of(progress_.tables.begin(), progress_.tables.end(),
                                      [](const auto& t) { return !t.second.is_estimated; });
    if (has_more) DRIFTLESS_TRY(Estimate());
    if (is_recorded_ || context_.history == nullptr || progress_.tables.empty()) return {};
    is_recorded_ = true;
    SchemaVersion version;
    version.table = progress_.tables.begin()->first;
    version.point = Point{stream_, progress_.attempt, 0, 0, 0};
    version.position = fmt::format("snapshot {}", progress_.attempt);
    const auto schema = tables.find(version.table);
    if (schema != tables.end()) version.schema = schema->second;
    return context_.history->Put(version);
  }

  // The server's guess, for the line of progress alone.
  Result<void> Estimate() {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto connection, Connection::Open(options_.connection));
    DRIFTLESS_ASSIGN_OR_RETURN(
        const auto rows,
        connection->Query("SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS FROM "
                          "information_schema.TABLES WHERE TABLE_ROWS IS NOT NULL"));
    for (auto& [path, table] : progress_.tables) table.is_estimated = true;
    for (const TextRow& row : rows) {
      const auto found = progress_.tables.find({"", row[0].value_or(""), row[1].value_or("")});
      if (found == progress_.tables.end()) continue;
      found->second.rows_estimated = std::strtoll(row[2].value_or("0").c_str(), nullptr, 10);
    }
    return {};
  }

  bool Report() {
    return output_.Progress(Point{stream_, progress_.attempt, progress_.number, UINT32_MAX, 0},
                            progress_.Serialize(), 0);
  }

  Result<LogPosition> Open(const SnapshotRequest& request) {
    std::vector<TablePath> wanted;
    for (const auto& [path, table] : progress_.tables) {
      if (!table.finished && request.tables.contains(path)) wanted.push_back(path);
    }
    if (wanted.empty()) {
      views_.views.clear();
      return request.log;
    }
    const auto stopping = [this] { return output_.stopping(); };
    DRIFTLESS_TRY(BeginViews(options_, facts_, request.log, wanted,
                             static_cast<size_t>(options_.snapshot_connections), stopping,
                             &views_));
    const auto first = std::min_element(
        views_.views.begin(), views_.views.end(),
        [](const auto& a, const auto& b) { return LogPlace::Of(a.at) < LogPlace::Of(b.at); });
    return first->at;
  }

  // The round's rows and the position behind them go into one cut, so that a table without key, and
  // a sink without keys, never have half of a chunk that is read again.
  Result<bool> Read(const SnapshotRequest& request) {
    SnapshotRound::Context context;
    context.options = &options_;
    context.facts = &facts_;
    context.tables = &request.tables;
    context.stream = stream_;
    SnapshotRound round(context, &views_, &progress_);
    if (!output_.Unbroken(true)) return false;
    DRIFTLESS_TRY(round.Run(&output_));
    EndViews(&views_);
    if (!options_.WantsLog()) progress_.Pass(LogPlace{});
    ++progress_.number;
    if (!Report() || !output_.Unbroken(false)) return false;
    Tell(round);
    return round.advanced();
  }

  void Tell(const SnapshotRound& round) {
    using std::chrono::steady_clock;
    for (const TablePath& table : round.finished()) {
      const auto found = progress_.tables.find(table);
      if (found == progress_.tables.end()) continue;
      spdlog::info("mysql source: snapshot of {} read: {} rows in {} chunks", table.ToString(),
                   found->second.rows, found->second.chunks_read);
    }
    const auto now = steady_clock::now();
    if (told_ == steady_clock::time_point{}) {
      told_ = began_ = now;
      rows_at_beginning_ = Sum().rows;
    }
    const Totals totals = Sum();
    SetGauges(totals);
    constexpr auto kEvery = std::chrono::seconds(10);
    if (now - told_ < kEvery) return;
    told_ = now;
    spdlog::info("mysql source: {}",
                 Line(totals, std::chrono::duration<double>(now - began_).count()));
  }

  struct Totals {
    int64_t rows = 0;
    int64_t chunks = 0;
    int64_t rows_left = 0;  // as the server guesses
    int64_t tables_left = 0;
  };
  Totals Sum() const {
    Totals totals{progress_.rows_done, progress_.chunks_done, 0, 0};
    for (const auto& [path, table] : progress_.tables) {
      totals.rows += table.rows;
      totals.chunks += table.chunks_read;
      if (table.finished) continue;
      ++totals.tables_left;
      totals.rows_left += std::max<int64_t>(table.rows_estimated - table.rows, 0);
    }
    return totals;
  }

  void SetGauges(const Totals& totals) {
    if (context_.metrics == nullptr) return;
    const auto set = [&](std::string_view name, int64_t value) {
      context_.metrics->SetGauge("snapshot", name, static_cast<double>(value));
    };
    set("snapshot_rows", totals.rows);
    set("snapshot_chunks", totals.chunks);
    set("snapshot_rows_left", totals.rows_left);
    set("snapshot_tables_left", totals.tables_left);
  }

  std::string Line(const Totals& totals, double seconds) const {
    const double rate =
        static_cast<double>(totals.rows - rows_at_beginning_) / std::max(seconds, 0.001);
    std::string line = fmt::format(
        "snapshot: {} rows in {} chunks, {} of {} tables left", totals.rows, totals.chunks,
        totals.tables_left, progress_.tables_done + static_cast<int64_t>(progress_.tables.size()));
    if (totals.rows_left > 0) line += fmt::format("; about {} rows to come", totals.rows_left);
    if (totals.rows_left > 0 && rate > 0) {
      line += fmt::format(", {:.0f} s", static_cast<double>(totals.rows_left) / rate);
    }
    return line;
  }

  void TellEnd() {
    told_ = {};
    if (!std::exchange(has_tables_, false)) return;
    spdlog::info("mysql source: snapshot done: {} rows of {} tables", progress_.rows_done,
                 progress_.tables_done);
  }

  const SourceOptions& options_;
  const ServerFacts& facts_;
  const SourceContext& context_;
  const StreamId stream_;
  const CutPosition from_;
  SourceOutput& output_;
  Handover& handover_;
  SnapshotProgress progress_;
  uint64_t attempt_ = 0;
  uint64_t number_ = 0;
  bool is_recorded_ = false;  // that this attempt was made
  bool has_tables_ = false;   // whose end is to be told
  SnapshotViews views_;
  std::chrono::steady_clock::time_point began_{};
  std::chrono::steady_clock::time_point told_{};
  int64_t rows_at_beginning_ = 0;
};

}  // namespace

Result<void> RunSnapshot(const SourceOptions& options, const ServerFacts& facts,
                         const SourceContext& context, StreamId stream, const CutPosition& from,
                         SourceOutput* output, Handover* handover) {
  return SnapshotRun(options, facts, context, stream, from, output, handover).Run();
}

}  // namespace driftless::mysql
