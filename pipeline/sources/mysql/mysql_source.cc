#include "pipeline/sources/mysql/mysql_source.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "pipeline/sources/mysql/chunk_reader.h"
#include "pipeline/sources/mysql/tables.h"
#include "pipeline/sources/registry.h"

namespace driftless::mysql {

Result<void> MySqlSource::Connect(const SourceContext& context) {
  context_ = context;
  DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
  DRIFTLESS_ASSIGN_OR_RETURN(facts_, ReadServerFacts(connection.get()));
  for (const Finding& finding : CheckServer(facts_, options_.WantsLog(), options_.time_zone)) {
    if (finding.level == Finding::Level::kError) {
      return MakeError(ErrorKind::kInvalidConfig, finding.what).Hint(finding.remedy);
    }
    spdlog::warn("mysql source: {}. {}", finding.what, finding.remedy);
  }
  return {};
}

Result<void> MySqlSource::Run(StreamId stream, size_t stream_index, const CutPosition& from,
                              SourceOutput* output) {
  Result<void> result = stream_index == 0
                            ? RunSnapshot(stream, from, output)
                            : RunLog(options_, facts_, context_, stream, from, output, &handover_);
  // A failure, and the log's end, leave the other stream nothing to wait for.
  if (!result || stream_index == 1) {
    handover_.Update([](Handover::State& state) { state.ended = true; });
  }
  if (!result && result.error().kind() == ErrorKind::kCancelled) return {};
  return result;
}

namespace {

// One snapshot on its way.
class SnapshotRun {
 public:
  SnapshotRun(const SourceOptions& options, const ServerFacts& facts, const SourceContext& context,
              StreamId stream, SourceOutput* output, Handover* handover)
      : options_(options),
        facts_(facts),
        context_(context),
        stream_(stream),
        output_(*output),
        handover_(*handover) {}

  Result<void> Run(const CutPosition& from) {
    if (!Wait([](const Handover::State& state) { return state.planned; })) return {};
    progress_ = handover_.Look([](const Handover::State& state) { return state.progress; });
    if (from.Last(stream_)) {
      DRIFTLESS_ASSIGN_OR_RETURN(progress_, SnapshotProgress::Parse(from.Resume(stream_)));
    }
    DRIFTLESS_TRY(NextAttempt());
    if (!Report()) return {};
    handover_.Update([&](Handover::State& state) {
      state.progress = progress_;
      state.announced = true;
    });
    if (!Wait([](const Handover::State& state) { return state.released; })) return {};
    for (;;) {
      DRIFTLESS_TRY(ReadTables());
      if (output_.stopping() || !options_.WantsLog()) return {};
      // The log may come upon a table that must be read again.
      if (!Wait([](const Handover::State& state) { return !state.progress.left.empty(); })) {
        return {};
      }
      progress_ = handover_.Look([](const Handover::State& state) { return state.progress; });
      DRIFTLESS_TRY(NextAttempt());
    }
  }

 private:
  template <typename Ready>
  bool Wait(Ready ready) {
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

  // Every reading has a number of its own, recorded before its first row.
  Result<void> NextAttempt() {
    progress_.chunk = 0;
    if (context_.history == nullptr) {
      ++progress_.attempt;
      return {};
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const auto all, context_.history->All(std::nullopt));
    for (const SchemaVersion& version : all) {
      if (version.point.stream == stream_) {
        progress_.attempt = std::max(progress_.attempt, version.point.epoch);
      }
    }
    ++progress_.attempt;
    if (progress_.left.empty()) return {};
    SchemaVersion version;
    version.table = progress_.left.front();
    version.point = Point{stream_, progress_.attempt, 0, 0, 0};
    version.position = fmt::format("snapshot {}", progress_.attempt);
    version.schema = SchemaOf(version.table);
    return context_.history->Put(version);
  }

  TableSchemaPtr SchemaOf(const TablePath& table) {
    return handover_.Look([&](const Handover::State& state) -> TableSchemaPtr {
      const auto found = state.tables.find(table);
      return found == state.tables.end() ? nullptr : found->second;
    });
  }

  bool Report() {
    return output_.Progress(Point{stream_, progress_.attempt, progress_.chunk, UINT32_MAX, 0},
                            progress_.Serialize(), 0);
  }

  Result<void> ReadTables() {
    const size_t tables = progress_.left.size();
    int64_t rows = 0;
    while (!progress_.left.empty() && !output_.stopping()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const int64_t read, ReadTable(progress_.left.front()));
      if (output_.stopping()) return {};
      rows += read;
      spdlog::info("mysql source: snapshot of {} done: {} rows; {} of {} tables left",
                   progress_.left.front().ToString(), read, progress_.left.size() - 1, tables);
      progress_.left.erase(progress_.left.begin());
      progress_.after.clear();
      if (progress_.left.empty() && options_.WantsLog()) {
        DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
        DRIFTLESS_ASSIGN_OR_RETURN(const LogPosition end,
                                   CurrentLogPosition(connection.get(), facts_));
        progress_.end = end.Serialize();
      }
      if (!Report()) return {};
      handover_.Update([&](Handover::State& state) {
        state.progress = progress_;
        state.reading.reset();
      });
    }
    if (tables > 0) spdlog::info("mysql source: snapshot done: {} rows of {} tables", rows, tables);
    return {};
  }

  Result<int64_t> ReadTable(const TablePath table) {
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
    int64_t rows = 0;
    int attempts = 0;
    for (;;) {
      const TableSchemaPtr schema = SchemaOf(table);
      if (schema == nullptr) return rows;  // dropped or renamed meanwhile
      handover_.Update([&](Handover::State& state) { state.reading = table; });
      DRIFTLESS_ASSIGN_OR_RETURN(ChunkReader reader, ChunkReader::Make(options_, facts_, schema));
      if (!reader.is_split() && schema->primary_key.empty() && progress_.attempt > 1 && rows == 0 &&
          attempts == 0) {
        spdlog::warn(
            "mysql source: the snapshot of {}, which has no primary key, starts anew: rows that "
            "were written before may be there twice",
            table.ToString());
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const bool finished, ReadChunks(connection.get(), &reader, &rows));
      if (finished || output_.stopping()) return rows;
      if (!options_.WantsLog() || ++attempts > kAttemptsMax) {
        return MakeError(ErrorKind::kConflict,
                         fmt::format("table {} was altered while its snapshot was read",
                                     table.ToString()))
            .Hint("Start again; in scan.startup.mode snapshot no log tells what was altered.");
      }
      if (!AskToAdvance()) return rows;
    }
  }

  // False: the table is not as the schema says.
  Result<bool> ReadChunks(Connection* connection, ChunkReader* reader, int64_t* rows) {
    ChangeBatchBuilder builder(reader->schema(), stream_);
    const auto send = [&] {
      ChangeBatchPtr batch = builder.Seal();
      return !output_.stopping() && (batch == nullptr || output_.Changes(std::move(batch)));
    };
    for (;;) {
      const Point first{stream_, progress_.attempt, progress_.chunk + 1, 0, 0};
      DRIFTLESS_ASSIGN_OR_RETURN(ChunkReader::Chunk chunk,
                                 reader->Read(connection, progress_.after, first, &builder, send));
      if (chunk.schema_differs) return false;
      ++progress_.chunk;
      *rows += chunk.rows;
      if (chunk.seen) progress_.seen[reader->schema()->path] = chunk.seen->Serialize();
      if (chunk.is_last) return true;
      progress_.after = std::move(chunk.last_key);
      if (!Report()) return true;
    }
  }

  // The log goes on to its present end, where the statement that we have seen the effect of is.
  bool AskToAdvance() {
    uint64_t number = 0;
    handover_.Update([&](Handover::State& state) { number = ++state.advance_wanted; });
    return Wait([&](const Handover::State& state) { return state.advance_done >= number; });
  }

  static constexpr int kAttemptsMax = 100;

  const SourceOptions& options_;
  const ServerFacts& facts_;
  const SourceContext& context_;
  const StreamId stream_;
  SourceOutput& output_;
  Handover& handover_;
  SnapshotProgress progress_;
};

}  // namespace

Result<void> MySqlSource::RunSnapshot(StreamId stream, const CutPosition& from,
                                      SourceOutput* output) {
  return SnapshotRun(options_, facts_, context_, stream, output, &handover_).Run(from);
}

}  // namespace driftless::mysql

namespace driftless {

Result<std::unique_ptr<Source>> MakeMySqlSource(const OptionValues& values) {
  DRIFTLESS_ASSIGN_OR_RETURN(mysql::SourceOptions options, mysql::ReadSourceOptions(values));
  return std::unique_ptr<Source>(std::make_unique<mysql::MySqlSource>(std::move(options)));
}

}  // namespace driftless
