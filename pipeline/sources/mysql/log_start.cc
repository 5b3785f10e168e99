#include "pipeline/sources/mysql/log_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "pipeline/sources/mysql/binlog/event_bodies.h"
#include "pipeline/sources/mysql/dump_client.h"

namespace driftless::mysql {
namespace {

// A dump with this id ends at the log's end instead of waiting for more, and cuts nobody off.
constexpr uint32_t kNobody = 0;

bool BeginsTransaction(EventType type) {
  return type == EventType::kGtid || type == EventType::kAnonymousGtid ||
         type == EventType::kGtidTagged || type == EventType::kMariaGtid;
}

// Reads a log from a file's beginning on, without its rows.
class LogScan {
 public:
  LogScan(const SourceOptions& options, const ServerFacts& facts)
      : options_(options), facts_(facts) {}

  // Stops in front of the first transaction for which `found` is true, given its place and time;
  // false: the log ended before.
  using Found = std::function<bool(const LogPosition& begin, int64_t time_ms)>;
  Result<bool> Run(const std::string& file, const Found& found) {
    place_ = LogPosition();
    place_.server = facts_.identity;
    place_.file = file;
    place_.offset = 4;
    DRIFTLESS_ASSIGN_OR_RETURN(auto client, DumpClient::Open(options_, facts_, place_, kNobody));
    EventReader reader;
    for (;;) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view bytes, client->Next());
      if (bytes.empty()) {
        Finish();
        return false;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const BinlogEvent event, reader.Read(bytes));
      if (BeginsTransaction(event.type)) {
        Finish();
        DRIFTLESS_ASSIGN_OR_RETURN(const int64_t time_ms, Begin(event));
        if (found(place_, time_ms)) return true;
        open_ = next_;
      }
      DRIFTLESS_TRY(Follow(event));
    }
  }

  // When the file was begun.
  Result<int64_t> BeginningOf(const std::string& file) {
    LogPosition from;
    from.file = file;
    from.offset = 4;
    DRIFTLESS_ASSIGN_OR_RETURN(auto client, DumpClient::Open(options_, facts_, from, kNobody));
    EventReader reader;
    for (;;) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view bytes, client->Next());
      if (bytes.empty()) return 0;
      DRIFTLESS_ASSIGN_OR_RETURN(const BinlogEvent event, reader.Read(bytes));
      if (event.type == EventType::kFormatDescription) return int64_t{event.timestamp} * 1000;
    }
  }

  LogPosition place() const {
    LogPosition place = place_;
    if (!facts_.IsMariaDb() && facts_.gtid) place.gtids = gtids_.ToString();
    return place;
  }

 private:
  Result<void> Follow(const BinlogEvent& event) {
    if (event.type == EventType::kRotate) {
      DRIFTLESS_ASSIGN_OR_RETURN(const RotateEvent rotate, ParseRotate(event));
      Finish();
      place_.file = rotate.file;
      place_.offset = rotate.position;
    } else if (event.type == EventType::kPreviousGtids) {
      DRIFTLESS_ASSIGN_OR_RETURN(gtids_, ParsePreviousGtids(event));
    }
    if (!event.IsArtificial() && event.type != EventType::kRotate && event.end_position != 0) {
      place_.offset = std::max<uint64_t>(place_.offset, event.end_position);
    }
    return {};
  }

  Result<int64_t> Begin(const BinlogEvent& event) {
    next_.reset();
    if (event.type == EventType::kMariaGtid) return int64_t{event.timestamp} * 1000;
    DRIFTLESS_ASSIGN_OR_RETURN(const GtidEvent begin, ParseGtid(event));
    if (!begin.is_anonymous) next_ = begin.gtid;
    return begin.commit_time_us > 0 ? begin.commit_time_us / 1000 : int64_t{event.timestamp} * 1000;
  }

  // The transaction before is whole.
  void Finish() {
    if (open_) gtids_.Add(*open_);
    open_.reset();
  }

  const SourceOptions& options_;
  const ServerFacts& facts_;
  LogPosition place_;
  GtidSet gtids_;
  std::optional<Gtid> open_;
  std::optional<Gtid> next_;
};

// MariaDB tells the GTIDs of a place itself.
Result<LogPosition> WithMariaGtids(const SourceOptions& options, LogPosition place) {
  DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options.connection));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto gtids, connection->QueryValue(fmt::format(
                                                   "SELECT BINLOG_GTID_POS({}, {})",
                                                   connection->Quote(place.file), place.offset)));
  if (!gtids) {
    return MakeError(ErrorKind::kInvalidConfig,
                     fmt::format("the server has no event at {}:{}", place.file, place.offset))
        .Hint("SHOW BINLOG EVENTS IN 'file' shows where transactions begin.");
  }
  place.gtids = *gtids;
  return place;
}

// The last file that was begun at `time_ms` or before; they are in the order of time.
Result<std::string> FileAtTime(LogScan* scan, const std::vector<LogFile>& files, int64_t time_ms) {
  size_t low = 0;
  size_t high = files.size();
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    DRIFTLESS_ASSIGN_OR_RETURN(const int64_t begun_ms, scan->BeginningOf(files[middle].name));
    (begun_ms <= time_ms ? low : high) = middle;
  }
  return files[low].name;
}

// What a view that begins now sees, the log has up to here.
Result<LogPosition> MariaStart(const ServerFacts& facts, Connection* connection) {
  DRIFTLESS_TRY(connection->Execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
  DRIFTLESS_TRY(connection->Execute("START TRANSACTION WITH CONSISTENT SNAPSHOT"));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto rows,
                             connection->Query("SHOW STATUS LIKE 'binlog_snapshot_%'"));
  LogPosition start;
  start.server = facts.identity;
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

}  // namespace

Result<LogPosition> StartPosition(const SourceOptions& options, const ServerFacts& facts,
                                  Connection* connection) {
  switch (options.start) {
    case StartMode::kSpecific: {
      LogPosition start;
      start.server = facts.identity;
      start.file = options.start_file;
      start.offset = options.start_offset;
      start.gtids = options.start_gtids;
      return WithGtids(options, facts, std::move(start));
    }
    case StartMode::kEarliest: {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto files, ListLogFiles(connection));
      LogPosition start;
      start.server = facts.identity;
      start.file = files.empty() ? "" : files.front().name;
      start.offset = 4;
      return WithGtids(options, facts, std::move(start));
    }
    case StartMode::kTimestamp: return PositionAtTime(options, facts, options.start_timestamp_ms);
    default: break;
  }
  if (facts.IsMariaDb() || facts.gtid) {
    DRIFTLESS_ASSIGN_OR_RETURN(LogPosition start, CurrentLogPosition(connection, facts));
    if (facts.IsMariaDb()) return MariaStart(facts, connection);
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
  auto start = CurrentLogPosition(connection, facts);
  DRIFTLESS_TRY(connection->Execute("UNLOCK TABLES"));
  return start;
}

Result<LogPosition> PositionAtTime(const SourceOptions& options, const ServerFacts& facts,
                                   int64_t time_ms) {
  std::vector<LogFile> files;
  {
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options.connection));
    DRIFTLESS_ASSIGN_OR_RETURN(files, ListLogFiles(connection.get()));
  }
  if (files.empty()) {
    return MakeError(ErrorKind::kNotFound, "the server has no binary log file")
        .Hint("Start it with --log-bin.");
  }
  LogScan scan(options, facts);
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string file, FileAtTime(&scan, files, time_ms));
  DRIFTLESS_TRY(
      scan.Run(file, [&](const LogPosition&, int64_t at_ms) { return at_ms >= time_ms; }));
  if (facts.IsMariaDb()) return WithMariaGtids(options, scan.place());
  return scan.place();
}

Result<LogPosition> WithGtids(const SourceOptions& options, const ServerFacts& facts,
                              LogPosition place) {
  if (!place.gtids.empty() || place.file.empty()) return place;
  if (facts.IsMariaDb()) return WithMariaGtids(options, std::move(place));
  if (!facts.gtid) return place;
  LogScan scan(options, facts);
  bool is_boundary = place.offset <= 4;
  uint64_t next = 0;
  DRIFTLESS_ASSIGN_OR_RETURN(
      const bool found, scan.Run(place.file, [&](const LogPosition& begin, int64_t) {
        const bool is_there = begin.file != place.file || begin.offset >= place.offset;
        is_boundary = is_boundary || (begin.file == place.file && begin.offset == place.offset);
        if (is_there && begin.file == place.file) next = begin.offset;
        return is_there;
      }));
  const LogPosition end = scan.place();
  const bool is_end = !found && end.file == place.file && end.offset == place.offset;
  if (!is_boundary && !is_end && end.file == place.file) {
    return MakeError(ErrorKind::kInvalidConfig,
                     fmt::format("no transaction begins at {}:{}{}", place.file, place.offset,
                                 next > 0 ? fmt::format("; the next one begins at {}", next) : ""))
        .Hint("SHOW BINLOG EVENTS IN 'file' shows where transactions begin.");
  }
  place.gtids = end.gtids;
  return place;
}

Result<bool> HasLogFrom(const SourceOptions& options, const ServerFacts& facts,
                        const LogPosition& place) {
  DRIFTLESS_ASSIGN_OR_RETURN(auto client, DumpClient::Open(options, facts, place, kNobody));
  const auto first = client->Next();
  if (first) return true;
  if (first.error().kind() == ErrorKind::kNotFound) return false;
  return first.error();
}

Result<LogPosition> AtServer(LogPosition position, const ServerFacts& now) {
  if (position.server.empty() || position.server == now.identity) return position;
  if (position.gtids.empty() || !now.gtid) {
    return MakeError(ErrorKind::kNotFound,
                     "the server is another one than before, and the position has no GTIDs")
        .Hint("Point hostname at the former server, or start on a new state folder.");
  }
  ++position.generation;  // its files are counted anew
  position.server = now.identity;
  position.file.clear();
  position.joined = 0;
  return position;
}

}  // namespace driftless::mysql
