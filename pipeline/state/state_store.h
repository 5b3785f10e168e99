#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/state/positions.h"
#include "pipeline/state/sqlite.h"
#include "pipeline/state/state_lock.h"
#include "pipeline/transform/store.h"
#include "schema/audit/audit.h"
#include "schema/base/clock.h"
#include "schema/history/history.h"
#include "schema/history/unclear_statement.h"

namespace driftless {

// The state of a sink table as the coordinator wrote it; opaque text.
struct StoredTableState {
  SinkTableKey table;
  std::string state;
  CutId cut = 0;               // the schema cut that `state` was written with; 0: none is open
  TablePath source;            // whose change that cut is for
  bool cut_committed = false;  // that cut is committed, the change itself is still open
};

// One file of parked items of one sink table; see pipeline/runtime/parking_segment.h.
struct ParkedSegment {
  uint64_t number = 0;  // counts up per pipeline; the file's name is made of it
  int64_t bytes = 0;    // synced and recorded; what lies behind is cut off at the next start
  int64_t items = 0;
  friend bool operator==(const ParkedSegment&, const ParkedSegment&) = default;
};

// What a sink table has parked on disk: everything up to `through` (and up to `feeds` of single
// source tables) is in the segments or committed, so the source need not keep it.
struct ParkedTable {
  SinkTableKey table;
  CutPosition through;
  std::map<TablePath, CutPosition> feeds;
  std::vector<ParkedSegment> segments;  // in order
};

// A message from a command to the pipeline: `driftless approve 17`.
inline constexpr std::string_view kAcknowledge = "acknowledge";
struct StoredRequest {
  int64_t number = 0;
  DecisionId decision = 0;  // kAcknowledge: the number of a divergence
  std::string choice;       // "approve", "reject", "retry", "skip", "schema", kAcknowledge
  std::string content;      // of the file, for "schema"
  std::string by;
  int64_t time_ms = 0;
  std::optional<int64_t> handled_ms;
  std::string answer;
};

// A statement that a source did not understand, and what a person said of it.
struct StoredUnclear {
  DecisionId decision = 0;
  UnclearStatement statement;
  std::string choice;   // "skip", "schema"; empty: its tables wait
  std::string content;  // of the file, for "schema"
};

struct StoredSink {
  std::string name;
  std::string type;
  std::string identity;  // as Connect told it
};

class StateStore;

// The writes of one transaction. Lives inside StateStore::Transact only.
class StateTransaction {
 public:
  Result<void> PutSink(const StoredSink& sink);
  Result<void> PutPositions(std::string_view sink, const SinkPositions& positions);
  // Transaction A: the cut, its tokens and, by the caller, a table state. Also keeps the number
  // from being given again.
  Result<void> PutCut(std::string_view sink, const PendingCut& cut);
  // Transaction B: the cut and its tokens are gone; the caller puts the positions it moved.
  Result<void> DropCut(std::string_view sink, CutId cut);
  Result<void> KeepCutNumber(CutId cut);

  Result<void> PutTableState(const SinkTableKey& table, std::string_view state);
  Result<void> PutCutState(const SinkTableKey& table, std::string_view state, CutId cut,
                           const TablePath& source);
  Result<void> MarkCutCommitted(const SinkTableKey& table, CutId cut);
  Result<void> CloseCut(const SinkTableKey& table);  // the change is done

  Result<void> PutAudit(const AuditRecord& record);
  Result<void> PutDivergence(const Divergence& divergence);
  // Adds to the rows that open divergences of this column concern; column 0: go by its name. Those
  // about rows from before have no more rows. Nothing where none is open.
  Result<void> CountDivergenceRows(const SinkTableKey& table, ColumnId column,
                                   std::string_view column_name, int64_t rows);
  // Column 0: of the whole table; no event: whatever began them.
  Result<void> EndDivergences(const SinkTableKey& table, ColumnId column,
                              std::optional<EventKind> event, std::string_view by, int64_t now_ms);
  // One alone, because somebody acknowledged it.
  Result<void> EndDivergence(uint64_t id, std::string_view by, int64_t now_ms);
  // Without an answer; takes back one that was given to the same statement.
  Result<void> PutUnclear(DecisionId decision, const UnclearStatement& statement);
  Result<void> AnswerUnclear(DecisionId decision, std::string_view choice,
                             std::string_view content);
  Result<void> PutParked(const ParkedTable& parked);
  Result<void> DropParked(const SinkTableKey& table);
  Result<void> AnswerRequest(int64_t number, std::string_view answer, int64_t now_ms);

 private:
  friend class StateStore;
  explicit StateTransaction(SqliteDatabase* database) : database_(database) {}
  SqliteDatabase* database_;
};

struct AuditQuery {
  std::optional<std::string> sink;
  std::optional<TablePath> table;  // of the source or at the sink
  std::optional<DecisionId> decision;
  int64_t limit = 0;  // the newest so many; 0: all
};

// The durable state of one pipeline: one SQLite database in one folder (FORMAT.md). One connection,
// serialised by a mutex, because the source threads write schema versions while the control thread
// writes everything else. Every Transact is one durable commit; group by putting more into one.
// Other processes (commands) open the same database beside a running pipeline to read and to leave
// requests.
class StateStore : public SchemaHistoryStore, public UnclearAnswers, public TransformStore {
 public:
  static constexpr int kFormat = 1;

  // For the pipeline itself: makes the folder and the database where need be and takes the lock.
  // Errors: kConflict (in use, or the state of another pipeline), kUnsupported (network file
  // system, a newer format), kPermission.
  static Result<std::unique_ptr<StateStore>> Open(const std::string& folder,
                                                  std::string_view pipeline, const Clock& clock);
  // For commands: no lock. Errors: kNotFound where there is no state.
  static Result<std::unique_ptr<StateStore>> OpenShared(const std::string& folder);
  ~StateStore() override;

  const std::string& folder() const { return folder_; }
  Result<std::string> PipelineName() const;

  // What BeginAttempt will return.
  Result<uint32_t> NextAttempt();
  // Raises the attempt durably and returns it. Called once per start, before anything is sent.
  Result<uint32_t> BeginAttempt();
  Result<StreamId> InternStream(std::string_view name);
  Result<std::map<StreamId, std::string>> Streams() const;

  Result<void> Transact(const std::function<Result<void>(StateTransaction&)>& writes);

  Result<std::vector<StoredSink>> Sinks() const;
  Result<SinkPositions> Positions(std::string_view sink) const;
  Result<std::vector<PendingCut>> PendingCuts(std::string_view sink,
                                              std::string_view pipeline) const;
  Result<CutId> NextCut() const;
  Result<std::vector<StoredTableState>> TableStates() const;
  Result<std::vector<ParkedTable>> Parked() const;
  Result<uint64_t> NextSegment() const;

  Result<DecisionId> NextDecision() const;
  Result<std::vector<AuditRecord>> Audit(const AuditQuery& query) const;
  // Decisions that wait for `approve` or `reject`: the newest record of a part says so.
  Result<std::vector<DecisionId>> OpenHolds() const;
  Result<std::vector<Divergence>> Divergences(bool also_ended) const;
  // Removes what is older than `before_ms`, except what an open divergence came from.
  Result<void> TrimAudit(int64_t before_ms);

  Result<int64_t> AddRequest(const StoredRequest& request);
  Result<std::vector<StoredRequest>> OpenRequests() const;
  Result<std::optional<StoredRequest>> Request(int64_t number) const;
  Result<std::optional<StoredUnclear>> Unclear(DecisionId decision) const;
  Result<std::optional<StoredUnclear>> UnclearAt(const Point& point) const;
  // Changes whenever another process has written; cheap enough to poll.
  Result<int64_t> DataVersion() const;

  // SchemaHistoryStore. Any thread; Put is durable when it returns.
  Result<void> Put(const SchemaVersion& version) override;
  Result<std::vector<SchemaVersion>> At(const Point& point) const override;
  Result<std::optional<SchemaVersion>> Find(const TablePath& table,
                                            const Point& point) const override;
  Result<std::vector<SchemaVersion>> All(const std::optional<TablePath>& table) const override;
  // TransformStore. Any thread.
  Result<void> PutTransform(const TransformVersion& version) override;
  Result<std::vector<TransformVersion>> Transforms(StreamId stream) const override;
  // UnclearAnswers.
  Result<std::optional<UnclearAnswer>> AnswerTo(const Point& point) const override;

 private:
  StateStore(std::string folder, StateLock lock, SqliteDatabase database)
      : folder_(std::move(folder)), lock_(std::move(lock)), database_(std::move(database)) {}

  static Result<void> Prepare(SqliteDatabase* database, std::string_view pipeline,
                              const Clock& clock);
  Result<std::string> Meta(std::string_view key) const;
  Result<std::optional<int64_t>> Number(std::string_view sql) const;
  Result<std::vector<SchemaVersion>> Versions(SqliteStatement statement) const;

  const std::string folder_;
  StateLock lock_;
  mutable std::mutex mutex_;
  SqliteDatabase database_;  // guarded by mutex_
};

}  // namespace driftless
