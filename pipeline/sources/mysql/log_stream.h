#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/sources/mysql/binlog/binlog_event.h"
#include "pipeline/sources/mysql/binlog/event_bodies.h"
#include "pipeline/sources/mysql/binlog/gtid_set.h"
#include "pipeline/sources/mysql/binlog/row_decoder.h"
#include "pipeline/sources/mysql/binlog/table_map.h"
#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/mysql/source_options.h"
#include "pipeline/sources/open_batches.h"
#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/online_schema_change.h"

namespace driftless::mysql {

// What the events of one server's log mean: rows into batches, statements into schema changes, in
// order, with their points. Knows no connection. A position is only between transactions; where a
// prepared XA transaction waits for its end, the place to go on at is before it. One thread.
class LogStream {
 public:
  struct Hooks {
    // Whether the rows of a captured table at this place go on (they may be part of a snapshot).
    std::function<bool(const TablePath&, const LogPosition&)> wants_rows;
    // SHOW CREATE TABLE as the server has it now, for a table whose statement was not in the log.
    std::function<Result<TableSchemaPtr>(const TablePath&, uint64_t incarnation)> fetch;
    // All rows of the table are to be read once more, behind everything that has been sent. False:
    // the pipeline stops.
    std::function<bool(const TablePath&)> read_again;
  };

  LogStream(const SourceOptions& options, ServerSettings settings, const SourceContext& context,
            StreamId stream, SourceOutput* output, Hooks hooks);
  ~LogStream();

  // The tables as they are at `position`, where the stream goes on.
  void Begin(const LogPosition& position, const std::vector<TableSchemaPtr>& tables,
             uint64_t next_incarnation);
  // Drops within online schema changes that waited for the next step at the place of Begin.
  void RestoreDrops(std::vector<StatementChange> drops) {
    online_.RestoreWaitingDrops(std::move(drops));
  }
  // After a connection broke: what is unfinished is forgotten, and comes again. What is prepared is
  // kept: the next connection goes on behind it, at position().
  void Reconnected();
  // The same place in another server's log.
  void MoveTo(const LogPosition& position);

  // One event as the server sent it. False: the pipeline stops.
  Result<bool> Event(std::string_view bytes);
  // Sends everything that waits and says how far the stream is. False: the pipeline stops.
  bool Flush();

  // Between two transactions: where the next one begins.
  const LogPosition& position() const { return position_; }
  bool in_transaction() const { return in_transaction_; }
  // Where a new process goes on, which knows nothing of what is prepared.
  LogPosition ResumePosition() const;
  TableSchemaPtr Find(const TablePath& table) const { return catalog_.Find(table); }
  std::map<TablePath, TableSchemaPtr> CapturedTables() const;
  // What is announced next gets numbers that nothing in the history has at the present place: a
  // start that was killed before its first commit may have begun there, too, with tables as they
  // were then, and what stands in the history at a point is taken for what happened there.
  Result<void> NumberBehindHistory();
  // Announces a table that no statement made, at the present place.
  Result<bool> Announce(const TableSchemaPtr& schema);
  // The next version of a table that was announced, from the history.
  Result<bool> Repeat(const TableSchemaPtr& version);
  // What was announced is so now, and no statement tells of it: the difference by names.
  Result<bool> Alter(const TableSchemaPtr& now);

  // Shows a table of the stream, at the present place, to sinks that lack it
  // (SourceOutput::SendTo): as it was in these versions, of which the history knows; the last one
  // is the present one. False: the pipeline stops.
  bool Introduce(const std::vector<TableSchemaPtr>& versions);

  // Tables that the options capture and that are not part of the stream yet: their rows and
  // statements are left out until they join. Called before the first event.
  void SetAside(std::set<TablePath> tables) { aside_ = std::move(tables); }
  const std::set<TablePath>& aside() const { return aside_; }
  // Shadows and leftovers of online schema changes. `Expect`: the table will be announced.
  bool IsHidden(const TablePath& table) const { return online_.IsHidden(table); }
  void Expect(const TablePath& table) { online_.Announce(table); }
  // Between two transactions: the table becomes part of the stream as it is described, or has left
  // it. Either is in the history, as a statement would be.
  Result<bool> Join(const TableSchemaPtr& schema);
  // Those that are gone meanwhile are not set aside any more: a statement may make them anew.
  void AdmitRest() {
    for (const TablePath& table : std::set<TablePath>(aside_)) Admit(table);
  }
  Result<void> Leave(const TablePath& table);

 private:
  struct Table;
  struct Mapped;
  struct KeptEvent {
    std::string bytes;
    bool has_checksum = false;  // at the end of them
    bool is_mariadb = false;
  };
  struct PreparedXa {
    LogPosition begin;
    std::vector<KeptEvent> events;
  };

  Result<bool> Dispatch(const BinlogEvent& event);
  Result<bool> DispatchInner(const BinlogEvent& event);
  Result<bool> Rotate(const BinlogEvent& event);
  void Advance(const BinlogEvent& event);
  Result<void> AdvanceBetween(const BinlogEvent& event);
  Result<bool> Gtid(const BinlogEvent& event);
  Result<bool> MariaGtid(const BinlogEvent& event);
  Result<bool> Query(const BinlogEvent& event);
  Result<bool> Statement(const std::string& sql, const QueryEvent& query);
  Result<bool> NotUnderstood(const std::string& sql, const StatementContext& context, Error error);
  Point StatementPoint() const;
  Result<std::optional<UnclearAnswer>> AnswerHere() const;
  std::vector<TablePath> Concerned(const std::string& sql, const StatementContext& context) const;
  // What a statement does for which a person decided, or whose tables wait; none: it is to be read.
  Result<std::optional<bool>> Settled(const std::string& sql, const StatementContext& context);
  Result<bool> FollowGiven(UnclearAnswer answer, const std::string& sql);
  Result<bool> FollowTables(const std::vector<std::pair<TablePath, TableSchemaPtr>>& tables,
                            const std::string& sql);
  Result<bool> Park(std::vector<TablePath> tables, std::string text, std::string why,
                    bool follows_another);
  Result<bool> Differs(const TableMap& map, Table* table, const Error& difference);
  Result<bool> SendChanges(std::vector<StatementChange> changes, const std::string& sql);
  bool CanReadAgain(UnseenChange* unseen) const;
  Result<bool> ReadAgain(const std::set<TablePath>& tables, const std::set<TablePath>& created,
                         const std::string& sql);
  Result<void> Remember(const TablePath& path, const Point& point, TableSchemaPtr* schema,
                        std::string_view statement);
  Result<void> RememberHidden(const std::vector<TablePath>& tables, const std::string& sql);
  Result<bool> Map(const BinlogEvent& event);
  Result<bool> Rows(const BinlogEvent& event);
  Result<bool> EndTransaction();
  Result<bool> XaPrepare(const BinlogEvent& event);
  Result<bool> XaEnd(const std::string& id, bool commits);
  Table* TableOf(const TablePath& path);
  bool IsCaptured(const TablePath& table) const {
    return options_.IsCaptured(table) && !aside_.contains(table);
  }
  void Admit(const TablePath& table);
  Result<bool> AnnounceAt(const Point& point, const TableSchemaPtr& schema);
  Result<bool> MakePlan(Mapped* mapped);
  Result<bool> SetSchema(const TablePath& path, const TableSchemaPtr& schema);
  // Rows count from here at one place; statements from 0.
  static constexpr uint32_t kFirstRow = 1 << 16;
  Point PointHere() const;
  Error Here(Error error) const;

  const SourceOptions& options_;
  const SourceContext context_;
  const StreamId stream_;
  SourceOutput* const output_;
  const Hooks hooks_;
  DdlCatalog catalog_;
  OnlineSchemaChange online_;
  EventReader reader_;
  RowDecoder rows_;
  OpenBatches batches_;
  std::set<TablePath> aside_;
  std::map<TablePath, std::unique_ptr<Table>> tables_;
  std::unordered_map<uint64_t, std::unique_ptr<Mapped>> mapped_;  // by table id

  LogPosition position_;    // behind the last whole transaction
  std::string file_;        // of the event at hand
  uint64_t event_end_ = 0;  // of the event at hand
  bool in_transaction_ = false;
  bool is_inner_ = false;  // inside of a compressed transaction
  uint32_t row_ = 0;       // the next row's number at this place
  uint32_t statement_row_ = 0;
  uint32_t introductions_ = 0;
  bool any_waits_ = false;
  const OnUnparsedDdl on_unparsed_;
  int64_t commit_time_ms_ = 0;
  std::string transaction_;
  GtidSet gtids_;
  MariaGtidList maria_gtids_;
  std::optional<driftless::mysql::Gtid> gtid_;
  std::optional<driftless::mysql::MariaGtid> maria_gtid_;
  bool maria_standalone_ = false;
  QueryEvent::AlterPhase alter_phase_ = QueryEvent::AlterPhase::kNone;
  std::string open_xa_;  // id of the XA transaction whose events are kept
  std::vector<KeptEvent> xa_events_;
  LogPosition xa_begin_;
  std::map<std::string, PreparedXa> prepared_;
  std::string buffer_;
};

}  // namespace driftless::mysql
