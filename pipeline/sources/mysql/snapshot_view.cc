#include "pipeline/sources/mysql/snapshot_view.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "pipeline/sources/mysql/dump_client.h"
#include "pipeline/sources/mysql/log_peek.h"
#include "pipeline/sources/mysql/snapshot_progress.h"

namespace driftless::mysql {
namespace {

// How often views are begun anew before the tables are locked.
constexpr int kTriesMax = 40;

class ViewOpener {
 public:
  ViewOpener(const SourceOptions& options, const ServerFacts& facts, const LogPosition& log,
             const std::vector<TablePath>& wanted, const std::function<bool()>& stopping,
             SnapshotViews* views)
      : options_(options),
        facts_(facts),
        log_(log),
        wanted_(wanted),
        stopping_(stopping),
        views_(*views) {}

  Result<void> Open() {
    if (!options_.WantsLog()) return BeginAll();
    if (facts_.IsMariaDb()) return OpenMariaDb();
    if (facts_.gtid && SecondServerId(options_.server_id) != 0) {
      for (int tries = 0; tries < kTriesMax; ++tries) {
        DRIFTLESS_ASSIGN_OR_RETURN(const bool exact, OpenBetweenBounds());
        if (exact) return {};
        EndViews(&views_);
        DRIFTLESS_TRY(Pause());
      }
    }
    return OpenUnderLock();
  }

 private:
  Result<void> Pause() {
    if (stopping_()) return MakeError(ErrorKind::kCancelled, "the pipeline stops");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return {};
  }

  static Result<void> Begin(Connection* connection) {
    DRIFTLESS_TRY(connection->Execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
    return connection->Execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
  }

  Result<void> BeginAll() {
    for (SnapshotView& view : views_.views) DRIFTLESS_TRY(Begin(view.connection.get()));
    return {};
  }

  // The server knows each view's place. A transaction may be in the log, and in our hands, before
  // views see it: then the view is taken again.
  Result<void> OpenMariaDb() {
    for (SnapshotView& view : views_.views) {
      for (int tries = 0;; ++tries) {
        DRIFTLESS_TRY(Begin(view.connection.get()));
        DRIFTLESS_ASSIGN_OR_RETURN(view.at, MariaDbPlace(view.connection.get()));
        if (LogPlace::Of(log_) <= LogPlace::Of(view.at)) break;
        if (tries > 1000) {
          return MakeError(ErrorKind::kUnavailable,
                           fmt::format("the server's tables stay at {}, behind its log at {}",
                                       view.at.ToString(), log_.ToString()));
        }
        DRIFTLESS_TRY(view.connection->Execute("ROLLBACK"));
        DRIFTLESS_TRY(Pause());
      }
    }
    return {};
  }

  Result<LogPosition> MariaDbPlace(Connection* connection) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto rows,
                               connection->Query("SHOW STATUS LIKE 'binlog_snapshot_%'"));
    LogPosition at;
    at.server = facts_.identity;
    at.generation = log_.generation;
    for (const TextRow& row : rows) {
      if (*row[0] == "Binlog_snapshot_file") at.file = row[1].value_or("");
      if (*row[0] == "Binlog_snapshot_position") {
        at.offset = std::strtoull(row[1].value_or("0").c_str(), nullptr, 10);
      }
    }
    return at;
  }

  // False: every wanted table has transactions of which it is not known who sees them.
  Result<bool> OpenBetweenBounds() {
    Connection* connection = views_.views.front().connection.get();
    DRIFTLESS_ASSIGN_OR_RETURN(const GtidSet behind, GtidSet::Parse(log_.gtids));
    GtidSet low;
    for (;;) {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto text,
                                 connection->QueryValue("SELECT @@global.gtid_executed"));
      DRIFTLESS_ASSIGN_OR_RETURN(low, GtidSet::Parse(text.value_or("")));
      // What the log's reader has must be seen by every view.
      if (low.Contains(behind)) break;
      DRIFTLESS_TRY(Pause());
    }
    DRIFTLESS_TRY(BeginAll());
    DRIFTLESS_ASSIGN_OR_RETURN(LogPosition high, CurrentLogPosition(connection, facts_));
    high.generation = log_.generation;
    for (SnapshotView& view : views_.views) view.at = high;
    TouchedTables touched;
    if (LogPlace::Of(log_) < LogPlace::Of(high)) {
      DRIFTLESS_ASSIGN_OR_RETURN(touched, PeekLog(options_, facts_, log_, low, high, stopping_));
    }
    views_.uncertain = std::move(touched.tables);
    views_.all_uncertain = touched.any;
    return std::any_of(wanted_.begin(), wanted_.end(),
                       [&](const TablePath& table) { return views_.IsExactFor(table); });
  }

  // No transaction on the table is under way while it is locked, so the log's end is the views'.
  Result<void> OpenUnderLock() {
    const TablePath& table = wanted_.front();
    DRIFTLESS_ASSIGN_OR_RETURN(const auto lock, Connection::Open(options_.connection));
    DRIFTLESS_TRY(lock->Execute("SET lock_wait_timeout = 30"));
    auto locked = lock->Execute(
        fmt::format("LOCK TABLES {}.{} READ", QuoteName(table.database), QuoteName(table.table)));
    if (!locked) {
      return std::move(locked).error().Hint(
          "Without GTIDs, and where transactions on a table never pause, its snapshot needs a "
          "moment's LOCK TABLES ... READ: grant LOCK TABLES, end long transactions on it, or turn "
          "gtid_mode on.");
    }
    DRIFTLESS_TRY(BeginAll());
    DRIFTLESS_ASSIGN_OR_RETURN(LogPosition at, CurrentLogPosition(lock.get(), facts_));
    at.generation = log_.generation;
    for (SnapshotView& view : views_.views) view.at = at;
    views_.only = table;
    return {};
  }

  const SourceOptions& options_;
  const ServerFacts& facts_;
  const LogPosition& log_;
  const std::vector<TablePath>& wanted_;
  const std::function<bool()>& stopping_;
  SnapshotViews& views_;
};

}  // namespace

Result<void> BeginViews(const SourceOptions& options, const ServerFacts& facts,
                        const LogPosition& log, const std::vector<TablePath>& wanted, size_t count,
                        const std::function<bool()>& stopping, SnapshotViews* views) {
  views->uncertain.clear();
  views->all_uncertain = false;
  views->only.reset();
  while (views->views.size() < count) {
    auto connection = Connection::Open(options.connection);
    if (!connection) {
      if (views->views.empty()) return std::move(connection).error();
      spdlog::warn("mysql source: {} connections read the snapshot, not {}: {}",
                   views->views.size(), count, connection.error().ToString());
      break;
    }
    // A statement that waits for our views must not wait for ever for a view that waits for it.
    DRIFTLESS_TRY((*connection)->Execute("SET lock_wait_timeout = 1"));
    views->views.push_back({std::move(*connection), {}});
  }
  return ViewOpener(options, facts, log, wanted, stopping, views).Open();
}

void EndViews(SnapshotViews* views) {
  std::erase_if(views->views, [](SnapshotView& view) {
    const Result<void> ended = view.connection->Execute("ROLLBACK");
    return !ended;
  });
}

}  // namespace driftless::mysql
