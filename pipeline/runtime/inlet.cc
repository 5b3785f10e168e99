#include "pipeline/runtime/inlet.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "pipeline/runtime/key_change.h"
#include "pipeline/runtime/rename_split.h"
#include "schema/base/check.h"

namespace driftless {

Inlet::Inlet(Context context)
    : context_(std::move(context)),
      queue_(context_.queue_bytes_max),
      base_(context_.committed.base),
      progress_(context_.start) {
  for (const auto& [path, position] : context_.committed.tables) {
    Table& table = Find(path);
    table.own_base = position.base;
    table.feeds = position.feeds;
  }
  for (const InletTableStart& start : context_.tables) Begin(start);
}

Inlet::~Inlet() {
  Abort();
  Join();
}

void Inlet::Begin(const InletTableStart& start) {
  Table& table = Find(start.table);
  if (start.is_known) OpenEpoch(table, start.evolved, start.by_source, /*writers_stay=*/false);
  if (start.waits) table.state = TableState::kCutting;
  for (const TableRenaming& renaming : start.renamings) {
    const Named named{renaming.to, renaming.incarnation};
    if (!renaming.followed) {
      left_.insert(named);
      continue;
    }
    followed_[named].push_back(&table);
    if (renaming.ended) continue;
    table.names_left.erase(renaming.to);
    table.names_left[renaming.from] = named;
  }
  // A table that waits, or has parked items, stands where it was committed; the others go with the
  // sink.
  if ((start.waits || start.parked.has_value()) && !table.own_base.has_value()) {
    table.own_base = base_;
  }
  if (!start.parked.has_value()) return;
  table.received = start.parked->through;
  table.received_feeds = start.parked->feeds;
  table.lot.Restore(start.parked->segments);
  ReportParked(table);
  if (table.state == TableState::kOpen && !table.lot.empty()) draining_.insert(start.table);
}

bool Inlet::Push(Item item) {
  if (discarding_) return true;
  const int64_t bytes = ItemBytes(item);
  return queue_.Push(std::move(item), bytes) || discarding_;
}

void Inlet::Post(InletCommand command) { queue_.Post(std::move(command)); }

void Inlet::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Inlet::Discard() {
  discarding_ = true;
  Abort();
}

void Inlet::CloseItems() { queue_.Close(); }

void Inlet::Abort() {
  queue_.Abort();
  queue_.Post(StopInlet{});
}

void Inlet::Join() {
  if (thread_.joinable()) thread_.join();
}

// ---- the loop --------------------------------------------------------------------------------

void Inlet::Run() {
  while (!stopped_) {
    Result<void> result = RunOnce();
    if (result) continue;
    context_.failed(std::move(result).error().Context("sink " + context_.sink_name));
    // Nothing goes on behind a failure; the items are thrown away so that no source waits.
    queue_.Abort();
    items_closed_ = true;
    draining_.clear();
  }
  if (!discarding_) return;
  // What was parked in memory comes again at the next start; others need the room.
  for (auto& [path, table] : tables_) table->lot.Abandon();
}

// A parking disk that is full stops the whole sink: its sources wait, as with a full queue.
bool Inlet::IsStalled() const {
  return context_.space->DiskIsFull() && !context_.full_parking_fails;
}

Result<void> Inlet::RunOnce() {
  using Queue = decltype(queue_);
  const bool stalled = IsStalled();
  if (idle_round_.has_value() && draining_.empty() && (stalled || queue_.empty())) {
    context_.idle(*std::exchange(idle_round_, std::nullopt));
  }
  const bool only_commands = stalled || items_closed_ || WaitsForCheckpoint();
  const auto want = only_commands ? Queue::Want::kCommandsOnly : Queue::Want::kAll;
  const auto wait = draining_.empty() ? Queue::Wait::kBlock : Queue::Wait::kPoll;
  Queue::Taken taken = queue_.Take(want, wait);
  if (taken.closed) items_closed_ = true;
  if (taken.command.has_value()) return Obey(*taken.command);
  if (taken.item.has_value()) DRIFTLESS_TRY(Take(*taken.item));
  if (!draining_.empty()) {
    auto next = draining_.upper_bound(last_drained_);
    if (next == draining_.end()) next = draining_.begin();
    last_drained_ = *next;
    DRIFTLESS_TRY(DrainOne(Find(last_drained_)));
  }
  TellWhenCheckpointIsPossible();
  return {};
}

Result<void> Inlet::Obey(const InletCommand& command) {
  if (const auto* cut = std::get_if<TakeCut>(&command)) {
    if (!cut->table.has_value()) return TakeCheckpoint(cut->cut);
    return TakeSchemaCut(*cut);
  } else if (const auto* release = std::get_if<ReleaseTable>(&command)) {
    return Release(*release);
  } else if (const auto* settle = std::get_if<SettleTable>(&command)) {
    Settle(*settle);
  } else if (std::holds_alternative<SpillParked>(command)) {
    return SpillAll();
  } else if (std::holds_alternative<BreakUnbroken>(command)) {
    is_broken_ = unbroken_ > 0;
  } else if (const auto* report = std::get_if<ReportIdle>(&command)) {
    idle_round_ = report->round;
  } else if (std::holds_alternative<StopInlet>(command)) {
    stopped_ = true;
  }
  return {};
}

Result<void> Inlet::Take(Item& item) {
  if (const auto* batch = std::get_if<BatchItem>(&item)) {
    const TableSchema& schema = *batch->batch->schema();
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<Table*>* tables,
                               TablesOf(batch->batch->table(), schema.incarnation));
    return DeliverTo(*tables, *batch);
  }
  if (const auto* change = std::get_if<SchemaItem>(&item)) return Deliver(*change);
  if (const auto* hold = std::get_if<HoldBackItem>(&item)) return HoldBack(*hold);
  if (const auto* unbroken = std::get_if<UnbrokenItem>(&item)) {
    TakeUnbroken(*unbroken);
    return {};
  }
  TakeProgress(std::get<ProgressItem>(item));
  return {};
}

// The table stays where the sink stands now, in front of the statement; what comes of other source
// tables that feed it moves their own positions.
Result<void> Inlet::HoldBack(const HoldBackItem& item) {
  // Which table of that name it is cannot be told: one that goes on elsewhere, or the route's.
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<Table*>* routed, RoutedTables(item.source));
  std::vector<Table*> tables = *routed;
  for (const auto& [named, followed] : followed_) {
    if (named.first == item.source) tables.insert(tables.end(), followed.begin(), followed.end());
  }
  for (Table* table : tables) {
    if (Covers(*table, item.source, item.point)) continue;
    table->held_back = true;
    if (!table->own_base.has_value()) table->own_base = base_;
  }
  return {};
}

void Inlet::TakeProgress(const ProgressItem& item) {
  event_time_ms_ = std::max(event_time_ms_, item.event_time_ms);
  progress_.Extend(item.point, item.resume);
  base_.Extend(item.point, item.resume);
}

Result<void> Inlet::Deliver(const SchemaItem& item) {
  const StatementChange& change = *item.change;
  if (const RenameTable* rename = FindRename(change)) return Renamed(item, *rename);
  const TableSchemaPtr schema = change.before() != nullptr ? change.before() : change.after();
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<Table*>* tables,
                             TablesOf(change.table, schema == nullptr ? 0 : schema->incarnation));
  if (change.before() == nullptr) DRIFTLESS_TRY(CheckNameIsFree(*tables, item));
  return DeliverTo(*tables, item);
}

// The table goes on into the sink tables of its old name, or is left there and appears as another.
Result<void> Inlet::Renamed(const SchemaItem& item, const RenameTable& rename) {
  const StatementChange& change = *item.change;
  const uint64_t incarnation = change.after()->incarnation;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<Table*>* former,
                             TablesOf(change.table, incarnation));
  const std::vector<Table*> tables = *former;
  if (Follows(tables, item, rename)) {
    // Where a former process has decided it, the tables are those of its routes.
    const auto& follow = followed_.try_emplace({rename.to, incarnation}, tables).first->second;
    for (Table* table : follow) {
      table->names_left.erase(rename.to);
      table->names_left[change.table] = {rename.to, incarnation};
    }
    return DeliverTo(follow, item);
  }
  RenameSplit split = SplitRename(change, rename);
  DRIFTLESS_TRY(DeliverTo(tables, SchemaItem{split.left, item.position, item.seen_ms}));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<Table*>* appears, RoutedTables(rename.to));
  return DeliverTo(*appears, SchemaItem{split.appears, item.position, item.seen_ms});
}

// What was decided once holds, whatever the pipeline says now.
bool Inlet::Follows(const std::vector<Table*>& tables, const SchemaItem& item,
                    const RenameTable& rename) const {
  const StatementChange& change = *item.change;
  const Named named{rename.to, change.after()->incarnation};
  if (followed_.contains(named)) return true;
  if (left_.contains(named) || context_.table_rename != TableRename::kFollow) return false;
  return std::none_of(tables.begin(), tables.end(), [&](const Table* table) {
    return Covers(*table, change.table, change.point);
  });
}

// Two tables that no route brings together would overwrite each other's rows.
Result<void> Inlet::CheckNameIsFree(const std::vector<Table*>& tables,
                                    const SchemaItem& item) const {
  const StatementChange& change = *item.change;
  for (const Table* table : tables) {
    const auto left = table->names_left.find(change.table);
    if (left == table->names_left.end()) continue;
    const auto& [name, incarnation] = left->second;
    if (incarnation == change.after()->incarnation) continue;
    if (Covers(*table, change.table, change.point)) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<TablePath> routed, context_.route(name));
    if (std::find(routed.begin(), routed.end(), table->key.table) != routed.end()) continue;
    return MakeError(
               ErrorKind::kInvalidConfig,
               fmt::format("{} is created anew, but the table that had this name goes on into "
                           "{} under another one (table.rename: follow)",
                           change.table.ToString(), table->key.table.ToString()))
        .Position(item.position)
        .Hint(fmt::format("Route {} to a sink table of its own, or leave it out of the source.",
                          change.table.ToString()));
  }
  return {};
}

template <typename AnyItem>
Result<void> Inlet::DeliverTo(const std::vector<Table*>& tables, const AnyItem& item) {
  for (Table* table : tables) {
    Result<void> handled = Handle(*table, item);
    if (!handled) {
      return std::move(handled).error().Context("table " + table->key.table.ToString());
    }
  }
  return {};
}

// ---- items -----------------------------------------------------------------------------------

bool Inlet::Covers(const Table& table, const TablePath& source, const Point& point) const {
  if (!table.own_base.has_value()) {
    if (base_.Covers(point)) return true;
  } else if (table.own_base->Covers(point)) {
    return true;
  }
  const auto feed = table.feeds.find(source);
  return feed != table.feeds.end() && feed->second.Covers(point);
}

bool Inlet::IsReceived(const Table& table, const TablePath& source, const Point& point) const {
  if (table.received.Covers(point)) return true;
  const auto feed = table.received_feeds.find(source);
  return feed != table.received_feeds.end() && feed->second.Covers(point);
}

int64_t Inlet::FirstUncovered(const Table& table, const ChangeBatch& batch) const {
  // Nearly always nothing is covered: only a replay looks further than the first row.
  if (!Covers(table, batch.table(), batch.point(0))) return 0;
  int64_t covered = 0;
  int64_t uncovered = batch.size();
  while (uncovered - covered > 1) {
    const int64_t middle = covered + (uncovered - covered) / 2;
    (Covers(table, batch.table(), batch.point(middle)) ? covered : uncovered) = middle;
  }
  return uncovered;
}

Result<void> Inlet::Handle(Table& table, const BatchItem& item) {
  const ChangeBatch& batch = *item.batch;
  if (Covers(table, batch.table(), batch.last_point())) {
    table.metrics->AddReplayed(batch.size());
    return {};
  }
  if (table.state == TableState::kOpen && table.lot.empty()) return Assign(table, item.batch);
  if (IsReceived(table, batch.table(), batch.last_point())) return {};
  table.received_feeds[batch.table()].Extend(batch.last_point());
  return Park(table, item);
}

Result<void> Inlet::Handle(Table& table, const SchemaItem& item) {
  const StatementChange& change = *item.change;
  if (Covers(table, change.table, change.point)) return {};
  const bool goes_on = table.state == TableState::kOpen && table.lot.empty();
  if (!goes_on && IsReceived(table, change.table, change.point)) return {};
  table.received_feeds[change.table].Extend(change.point);
  DRIFTLESS_TRY(Park(table, item));
  if (goes_on) Arrive(table, item);
  return {};
}

// The change stands at the front of the lot and stays there until it is released.
void Inlet::Arrive(Table& table, const SchemaItem& item) {
  table.state = TableState::kParked;
  draining_.erase(table.key.table);
  if (!table.own_base.has_value()) table.own_base = base_;
  table.waiting_point = item.change->point;
  table.waiting_source = item.change->table;
  context_.arrived(ChangeArrived{table.key, item.change, item.position, item.seen_ms});
}

Result<void> Inlet::Park(Table& table, ParkedItem item) {
  if (context_.space->DiskIsFull() && context_.full_parking_fails) {
    return MakeError(ErrorKind::kResourceExhausted,
                     fmt::format("parked items fill parking.disk-bytes-max ({} bytes)",
                                 context_.space->disk_bytes_max()))
        .Hint(
            "Decide the held schema changes (`driftless approve` or `reject`), raise "
            "parking.disk-bytes-max, or set parking.on-full: block.");
  }
  if (!table.own_base.has_value()) table.own_base = base_;
  table.parks_unbroken |= unbroken_ > 0;
  DRIFTLESS_TRY(table.lot.Append(std::move(item)));
  ReportParked(table);
  WarnOfFullDisk();
  return {};
}

void Inlet::WarnOfFullDisk() {
  const int64_t percent =
      context_.space->disk_bytes() * 100 / std::max<int64_t>(context_.space->disk_bytes_max(), 1);
  const int step = percent >= 100 ? 100 : percent >= 80 ? 80 : percent >= 50 ? 50 : 0;
  if (step > disk_warning_) {
    spdlog::warn("sink {}: parked items use {} % of parking.disk-bytes-max{}", context_.sink_name,
                 percent, step == 100 ? "; the sink waits for decisions" : "");
  }
  disk_warning_ = step;
}

Result<void> Inlet::DrainOne(Table& table) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ParkedItem* front, table.lot.Front());
  if (const auto* change = std::get_if<SchemaItem>(front)) {
    if (!Covers(table, change->change->table, change->change->point)) {
      Arrive(table, *change);
      return {};
    }
  } else {
    ChangeBatchPtr batch = std::get<BatchItem>(*front).batch;
    if (Covers(table, batch->table(), batch->last_point())) {
      table.metrics->AddReplayed(batch->size());
    } else {
      Result<void> assigned = Assign(table, std::move(batch));
      if (!assigned) {
        return std::move(assigned).error().Context("table " + table.key.table.ToString());
      }
    }
  }
  table.lot.PopFront();
  ReportParked(table);
  if (table.lot.empty()) LotIsEmpty(table);
  return {};
}

// Everything that was parked has gone on, so the table has all that this process was sent, and what
// a former one had received.
void Inlet::LotIsEmpty(Table& table) {
  table.parks_unbroken = false;
  draining_.erase(table.key.table);
  table.own_base = CutPosition::Join(*table.own_base, table.received);
  table.received = {};
  table.received_feeds.clear();
  CatchUp(table);
}

void Inlet::CatchUp(Table& table) {
  if (!table.own_base.has_value() || table.held_back || table.state != TableState::kOpen ||
      !table.lot.empty()) {
    return;
  }
  table.own_base = CutPosition::Join(*table.own_base, progress_);
  if (table.own_base->Covers(base_)) table.own_base.reset();
}

Result<void> Inlet::Assign(Table& table, ChangeBatchPtr batch) {
  const TablePath& source = batch->table();
  if (!table.is_known) {
    return MakeError(ErrorKind::kInvalidInput,
                     "rows of " + source.ToString() + " came before its create.table")
        .Position(batch->point(0).ToString())
        .Hint(
            "The state of this sink does not know the table. Start the pipeline on a new state "
            "folder, so that the source announces its tables.");
  }
  const Point last = batch->last_point();
  if (table.epoch == nullptr) {
    table.metrics->AddUnrouted(batch->size());
    table.feeds[source].Extend(last);
    return {};
  }
  const EvolvedSchema& evolved = table.epoch->EvolvedFor(source);
  if (ChangeBatchPtr split = SplitKeyChanges(batch, evolved); split != batch) {
    batch = Charge(std::move(split), context_.space->budget());
  }
  const auto first = static_cast<uint32_t>(FirstUncovered(table, *batch));
  if (first > 0) table.metrics->AddReplayed(first);
  const Projection& projection = table.epoch->ProjectionFor(batch->schema());
  rows_.Reset(table.writer_count);
  context_.sink->Assign(*batch, evolved, projection, &rows_);
  for (WriterIndex writer = 0; writer < rows_.writer_count(); ++writer) {
    std::span<const uint32_t> rows = rows_.rows(writer);
    rows = rows.subspan(
        static_cast<size_t>(std::lower_bound(rows.begin(), rows.end(), first) - rows.begin()));
    if (rows.empty()) continue;
    WriteRows write{table.epoch, writer, batch, &projection, {rows.begin(), rows.end()}};
    const size_t thread = (table.first_thread + writer) % context_.writers.size();
    if (!context_.writers[thread]->Push(std::move(write))) return {};
  }
  table.feeds[source].Extend(last);
  table.metrics->AddChanges(batch->size() - first, static_cast<int64_t>(batch->charged_bytes()));
  return {};
}

// ---- cuts and releases -----------------------------------------------------------------------

CutMove Inlet::CheckpointMove() {
  CutMove move;
  move.base = base_;
  for (auto& [path, table] : tables_) {
    if (table->state == TableState::kCutting) {
      move.left_behind.insert(path);
      continue;
    }
    CatchUp(*table);
    const CutPosition& base = table->own_base.has_value() ? *table->own_base : base_;
    std::erase_if(table->feeds, [&](const auto& feed) { return base.Covers(feed.second); });
    TablePosition position{table->own_base, table->feeds};
    if (!position.empty()) move.tables[path] = std::move(position);
  }
  return move;
}

Result<void> Inlet::TakeCheckpoint(CutId cut) {
  DRIFTLESS_ASSIGN_OR_RETURN(const bool may, MayTakeCheckpoint(cut));
  if (!may) return {};
  BarrierTaken taken;
  taken.cut = cut;
  taken.move = CheckpointMove();
  taken.event_time_ms = event_time_ms_;
  const auto left_behind = std::make_shared<const std::set<TablePath>>(taken.move.left_behind);
  for (WriterThread* writer : context_.writers) {
    if (!writer->Push(PrepareCut{cut, std::nullopt, left_behind})) return {};
  }
  DRIFTLESS_ASSIGN_OR_RETURN(taken.parked, SnapshotParked());
  context_.barrier(std::move(taken));
  return {};
}

Result<std::vector<ParkedSnapshot>> Inlet::SnapshotParked() {
  std::vector<ParkedSnapshot> snapshots;
  for (auto& [path, table] : tables_) {
    ParkedSnapshot snapshot;
    snapshot.retired = table->lot.TakeRetired();
    if (!table->lot.on_disk() && snapshot.retired.empty()) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(snapshot.parked.segments, table->lot.Sync());
    if (table->lot.on_disk() && !table->held_back) {
      table->received = CutPosition::Join(table->received, progress_);
    }
    snapshot.parked.table = table->key;
    snapshot.parked.through = table->received;
    snapshot.parked.feeds = table->received_feeds;
    snapshots.push_back(std::move(snapshot));
  }
  return snapshots;
}

Result<void> Inlet::TakeSchemaCut(const TakeCut& command) {
  const TablePath& path = *command.table;
  Table& table = Find(path);
  DRIFTLESS_CHECK(table.state != TableState::kCutting);
  CatchUp(table);
  if (!table.own_base.has_value()) table.own_base = base_;
  draining_.erase(path);
  table.state = TableState::kCutting;
  table.late_cut = command.now;
  BarrierTaken taken;
  taken.cut = command.cut;
  taken.move.tables[path] = TablePosition{table.own_base, table.feeds};
  if (!command.now) taken.source = table.waiting_source;
  for (WriterThread* writer : context_.writers) {
    if (!writer->Push(PrepareCut{command.cut, path, nullptr})) return {};
  }
  context_.barrier(std::move(taken));
  return {};
}

// Whether the table has passed this point, in whatever feed.
bool Inlet::HasPassed(const Table& table, const Point& point) const {
  if (table.own_base.has_value() ? table.own_base->Covers(point) : base_.Covers(point)) return true;
  return std::any_of(table.feeds.begin(), table.feeds.end(),
                     [&](const auto& feed) { return feed.second.Covers(point); });
}

Result<void> Inlet::Release(const ReleaseTable& release) {
  Table& table = Find(release.table);
  const bool is_answer = table.waiting_point == release.point;
  if (is_answer) {
    table.feeds[table.waiting_source].Extend(release.point);
    table.waiting_point.reset();
  } else if (release.source.has_value()) {
    table.feeds[*release.source].Extend(release.point);
  } else if (!table.late_cut && table.state != TableState::kCutting &&
             (table.waiting_point.has_value() || !HasPassed(table, release.point))) {
    // An answer that was given twice, or before the change has come again in this process: then it
    // will be given again.
    return {};
  }
  if (table.state == TableState::kCutting && !is_answer && !table.late_cut &&
      table.waiting_point.has_value()) {
    return {};  // an old answer while the cut of another change is under way
  }
  table.late_cut = false;
  OpenEpoch(table, release.evolved, release.by_source, release.writers_stay);
  if (table.waiting_point.has_value()) {
    table.state = TableState::kParked;  // a change that came while an older one was carried out
    return {};
  }
  GoOn(table);
  return {};
}

void Inlet::GoOn(Table& table) {
  table.state = TableState::kOpen;
  if (table.lot.empty()) {
    CatchUp(table);
  } else {
    draining_.insert(table.key.table);
  }
}

void Inlet::Settle(const SettleTable& settle) {
  Table& table = Find(settle.table);
  table.own_base = settle.position.base;
  if (!table.own_base.has_value()) table.own_base = base_;
  table.feeds = settle.position.feeds;
  GoOn(table);
}

Result<void> Inlet::SpillAll() {
  for (auto& [path, table] : tables_) {
    if (table->lot.on_disk() || table->lot.empty()) continue;
    DRIFTLESS_TRY(table->lot.Spill());
    ReportParked(*table);
  }
  return {};
}

// ---- tables ----------------------------------------------------------------------------------

void Inlet::OpenEpoch(Table& table, EvolvedSchemaPtr evolved,
                      std::map<TablePath, EvolvedSchemaPtr> by_source, bool writers_stay) {
  table.is_known = true;
  if (!writers_stay) ++table.generation;
  if (evolved == nullptr) {
    table.epoch = nullptr;
    return;
  }
  table.writer_count = std::max<WriterIndex>(context_.sink->WriterCount(*evolved), 1);
  table.epoch = std::make_shared<TableEpoch>(table.key, table.generation, std::move(evolved),
                                             std::move(by_source), context_.projection);
}

Inlet::Table& Inlet::Find(const TablePath& path) {
  std::unique_ptr<Table>& table = tables_[path];
  if (table == nullptr) {
    table = std::make_unique<Table>(SinkTableKey{context_.sink_name, path}, context_.space);
    table->metrics = context_.metrics->Table(table->key);
    table->first_thread = next_thread_++;
  }
  return *table;
}

Result<const std::vector<Inlet::Table*>*> Inlet::TablesOf(const TablePath& source,
                                                          uint64_t incarnation) {
  if (!followed_.empty()) {
    const auto followed = followed_.find({source, incarnation});
    if (followed != followed_.end()) {
      return static_cast<const std::vector<Table*>*>(&followed->second);
    }
  }
  return RoutedTables(source);
}

Result<const std::vector<Inlet::Table*>*> Inlet::RoutedTables(const TablePath& source) {
  auto it = routes_.find(source);
  if (it == routes_.end()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<TablePath> paths, context_.route(source));
    it = routes_.try_emplace(source).first;
    for (const TablePath& path : paths) it->second.push_back(&Find(path));
  }
  return static_cast<const std::vector<Table*>*>(&it->second);
}

void Inlet::ReportParked(Table& table) {
  table.metrics->SetParked(table.lot.items(), table.lot.memory_bytes());
}

}  // namespace driftless
