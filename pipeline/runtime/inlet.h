#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "pipeline/runtime/byte_queue.h"
#include "pipeline/runtime/items.h"
#include "pipeline/runtime/metrics.h"
#include "pipeline/runtime/parking.h"
#include "pipeline/runtime/writer_thread.h"
#include "pipeline/state/positions.h"

namespace driftless {

// The sink tables that a source table goes to, at one sink. Pure; called once per source table.
using RouteFunction = std::function<Result<std::vector<TablePath>>(const TablePath& source)>;

// What a table keeps on disk, as it stands at a checkpoint's barrier.
struct ParkedSnapshot {
  ParkedTable parked;                  // no segments: nothing is parked on disk any more
  std::vector<ParkedSegment> retired;  // files to remove once the snapshot is recorded
};
// What the inlet says at a barrier.
struct BarrierTaken {
  CutId cut = 0;
  CutMove move;
  int64_t event_time_ms = 0;           // of the newest change that was sent before it
  std::vector<ParkedSnapshot> parked;  // of a checkpoint
  TablePath source;                    // of a schema cut: whose change waits behind it
  // A checkpoint that cannot be taken here, within what a source sends as a whole: no writer heard
  // of it. `Context::checkpoint_possible` follows where it can be.
  bool deferred = false;
};

// ---- commands of the control thread ------------------------------------------------------------

// A checkpoint (no table) or a schema cut of one table, which is parked from here on.
struct TakeCut {
  CutId cut = 0;
  std::optional<TablePath> table;
  bool now = false;  // wherever the table stands: a drop that was approved after its rows went on
};
// The change at `point` is covered; rows go on under `evolved` (null: to nowhere). `source`: whose
// change it was, where the inlet cannot know because it came in a former process.
struct ReleaseTable {
  TablePath table;
  EvolvedSchemaPtr evolved;
  std::map<TablePath, EvolvedSchemaPtr> by_source;
  bool writers_stay = false;
  std::optional<TablePath> source;
  Point point;
};
// The table's commit of a former process is settled: it stands at `position` and goes on.
struct SettleTable {
  TablePath table;
  TablePosition position;
};
struct SpillParked {};
// Memory is short: a checkpoint may be taken within what a source sends as a whole.
struct BreakUnbroken {};
struct Wake {};  // room on the parking disk: look again
// Answered by `idle` when no item is queued and no parked item can go on.
struct ReportIdle {
  uint64_t round = 0;
};
struct StopInlet {};
using InletCommand = std::variant<TakeCut, ReleaseTable, SettleTable, SpillParked, BreakUnbroken,
                                  Wake, ReportIdle, StopInlet>;

// How a table begins in a new process.
struct InletTableStart {
  TablePath table;
  EvolvedSchemaPtr evolved;  // null with is_known: not captured any more
  std::map<TablePath, EvolvedSchemaPtr> by_source;
  bool is_known = false;
  bool waits = false;  // for ReleaseTable (open change) or SettleTable (commit unknown)
  std::optional<ParkedTable> parked;
  std::vector<TableRenaming> renamings;  // of its source tables, as they were decided
};

// One thread per sink: takes the items of all streams, drops what a table has committed, parks what
// must wait, assigns rows to writers and places the barriers. So a barrier is aligned over streams
// by construction, and over writers because their queues are first in, first out.
class Inlet {
 public:
  struct Context {
    std::string sink_name;
    Sink* sink = nullptr;
    RouteFunction route;
    TableRename table_rename = TableRename::kNewTable;
    ProjectionPolicy projection;
    std::vector<WriterThread*> writers;
    int64_t queue_bytes_max = 0;
    ParkingSpace* space = nullptr;
    bool full_parking_fails = false;
    Metrics* metrics = nullptr;
    SinkPositions committed;  // at start
    CutPosition start;        // where the sources resume
    std::vector<InletTableStart> tables;
    std::function<void(ChangeArrived)> arrived;
    std::function<void(BarrierTaken)> barrier;
    std::function<void()> checkpoint_possible;
    std::function<void(uint64_t round)> idle;
    std::function<void(Error)> failed;
  };

  explicit Inlet(Context context);
  ~Inlet();

  // Blocks while the queue is full. False: no more items are taken.
  bool Push(Item item);
  void Post(InletCommand command);
  void Start();
  // The sink is taken out: items are thrown away from now on, so that nobody waits for it.
  void Discard();
  void CloseItems();  // the sources have ended or must end
  void Abort();
  void Join();
  const std::string& sink_name() const { return context_.sink_name; }
  int64_t queue_bytes() const { return queue_.bytes(); }

 private:
  enum class TableState : uint8_t {
    kOpen,     // items go to the writers, behind those that are still parked
    kParked,   // a schema change has arrived; its cut has not been taken
    kCutting,  // from the schema cut's barrier to the release
  };
  using Named = std::pair<TablePath, uint64_t>;  // a source table and its incarnation
  struct Table {
    Table(SinkTableKey sink_key, ParkingSpace* space) : key(std::move(sink_key)), lot(space) {}
    const SinkTableKey key;
    TableState state = TableState::kOpen;
    bool is_known = false;  // its create.table has been seen
    uint64_t generation = 0;
    TableEpochPtr epoch;  // null with is_known: not captured
    WriterIndex writer_count = 1;
    uint32_t first_thread = 0;
    std::optional<CutPosition> own_base;  // where it stays behind the sink
    std::map<TablePath, CutPosition> feeds;
    ParkingLot lot;
    // The change that it waits for, and whose it is.
    std::optional<Point> waiting_point;
    TablePath waiting_source;
    bool held_back = false;       // its position must not pass what the source has sent of it
    bool late_cut = false;        // the cut under way belongs to another, older change
    bool parks_unbroken = false;  // the lot has rows of what a source sends as a whole
    // What is in the lot already (a former process put it there, or this one): `received` and, per
    // feed, `received_feeds`.
    CutPosition received;
    std::map<TablePath, CutPosition> received_feeds;
    // Names that source tables of this one have left, and under which they go on.
    std::map<TablePath, Named> names_left;
    TableMetrics* metrics = nullptr;
  };

  void Run();
  Result<void> RunOnce();
  void Begin(const InletTableStart& start);
  Result<void> Obey(const InletCommand& command);
  Result<void> Take(Item& item);
  void TakeProgress(const ProgressItem& item);
  Result<void> HoldBack(const HoldBackItem& item);
  Result<void> Deliver(const SchemaItem& item);
  template <typename AnyItem>
  Result<void> DeliverTo(const std::vector<Table*>& tables, const AnyItem& item);
  Result<void> Renamed(const SchemaItem& item, const RenameTable& rename);
  bool Follows(const std::vector<Table*>& tables, const SchemaItem& item,
               const RenameTable& rename) const;
  Result<void> CheckNameIsFree(const std::vector<Table*>& tables, const SchemaItem& item) const;

  Result<void> Handle(Table& table, const BatchItem& item);
  Result<void> Handle(Table& table, const SchemaItem& item);
  Result<void> Park(Table& table, ParkedItem item);
  Result<void> DrainOne(Table& table);
  Result<void> Assign(Table& table, ChangeBatchPtr batch);
  Result<void> Release(const ReleaseTable& release);
  void Settle(const SettleTable& settle);
  bool HasPassed(const Table& table, const Point& point) const;
  void GoOn(Table& table);
  Result<void> TakeCheckpoint(CutId cut);
  // inlet_unbroken.cc
  void TakeUnbroken(const UnbrokenItem& item);
  bool IsWithinUnbroken() const;
  bool WaitsForCheckpoint() const;
  void TellWhenCheckpointIsPossible();
  Result<bool> MayTakeCheckpoint(CutId cut);
  Result<void> TakeSchemaCut(const TakeCut& command);
  Result<void> SpillAll();

  Table& Find(const TablePath& path);
  // `incarnation`: of the table under that name.
  Result<const std::vector<Table*>*> TablesOf(const TablePath& source, uint64_t incarnation);
  Result<const std::vector<Table*>*> RoutedTables(const TablePath& source);
  bool Covers(const Table& table, const TablePath& source, const Point& point) const;
  bool IsReceived(const Table& table, const TablePath& source, const Point& point) const;
  int64_t FirstUncovered(const Table& table, const ChangeBatch& batch) const;
  void Arrive(Table& table, const SchemaItem& item);
  void LotIsEmpty(Table& table);
  void CatchUp(Table& table);
  void OpenEpoch(Table& table, EvolvedSchemaPtr evolved,
                 std::map<TablePath, EvolvedSchemaPtr> by_source, bool writers_stay);
  CutMove CheckpointMove();
  Result<std::vector<ParkedSnapshot>> SnapshotParked();
  void ReportParked(Table& table);
  bool IsStalled() const;
  void WarnOfFullDisk();

  const Context context_;
  std::atomic<bool> discarding_{false};
  ByteQueue<Item, InletCommand> queue_;
  CutPosition base_;      // every table that is not behind has everything up to here
  CutPosition progress_;  // what this process has been sent; behind base_ while it replays
  int64_t event_time_ms_ = 0;
  std::map<TablePath, std::unique_ptr<Table>> tables_;
  std::map<TablePath, std::vector<Table*>> routes_;
  // Renamed source tables (`table.rename`), by name and incarnation: those that go on into the sink
  // tables of their former name, and those that were decided to be new tables.
  std::map<Named, std::vector<Table*>> followed_;
  std::set<Named> left_;
  std::set<TablePath> draining_;  // open, with items in the lot
  TablePath last_drained_;        // so that they take turns
  std::optional<uint64_t> idle_round_;
  int unbroken_ = 0;                  // beginnings whose end has not come
  bool sends_unbroken_ = false;       // some source does
  bool is_broken_ = false;            // until that end
  bool checkpoint_deferred_ = false;  // one is to be taken as soon as it can be
  bool checkpoint_told_ = false;      // that it can be
  bool items_closed_ = false;
  bool stopped_ = false;
  uint32_t next_thread_ = 0;
  WriterRows rows_;
  int disk_warning_ = 0;  // percent of the last warning
  std::thread thread_;
};

}  // namespace driftless
