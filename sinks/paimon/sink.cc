#include "sinks/paimon/sink.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <thread>

#include "sinks/api/projected_batch.h"
#include "sinks/api/registry.h"
#include "sinks/lake/compactor.h"
#include "sinks/paimon/catalog.h"
#include "sinks/paimon/commit.h"
#include "sinks/paimon/compaction.h"
#include "sinks/paimon/planner.h"
#include "sinks/paimon/router.h"
#include "sinks/paimon/table_reader.h"
#include "sinks/paimon/table_state.h"
#include "sinks/paimon/writer.h"

namespace driftless::paimon {
namespace {

// So many new runs of a bucket make a look at the table worth while; Paimon's own trigger decides.
constexpr int64_t kRunsToLookAt = 4;

// What the sink keeps of one table between calls. Everything in it can be read again.
struct TableEntry {
  std::mutex mutex;                                           // held while files are read for it
  std::optional<std::map<std::string, std::string>> options;  // of the newest schema
  std::shared_ptr<TableState> state;                          // null: not loaded yet
  // Files of level 0 by bucket that were committed since the table was last looked at.
  std::map<std::pair<std::string, int32_t>, int64_t> new_runs;
  bool looked_at = false;  // false: what earlier runs left is not known
  // At most so many sorted runs has a bucket: what the last compaction left, and what came since it
  // began.
  int64_t runs_left = 0;
  std::map<std::pair<std::string, int32_t>, int64_t> runs_since;
  std::optional<int64_t> stop_trigger;  // of the newest schema

  int64_t RunsSince() const {
    int64_t most = 0;
    for (const auto& [bucket, runs] : runs_since) most = std::max(most, runs);
    return most;
  }
  // For Assign, on the inlet's thread only.
  EvolvedSchema routed;
  std::unique_ptr<Router> router;
};

// The columns that routing looks at, as the batch has them; the others stay empty.
struct RoutingViews {
  std::vector<ColumnView> after;
  std::vector<ColumnView> before;

  // False where a column needs work before its values are the sink's.
  bool Fill(const ChangeBatch& batch, const Projection& projection,
            std::span<const int> needed_columns) {
    after.resize(projection.columns().size());
    if (!batch.before().empty()) before.resize(after.size());
    for (const int needed : needed_columns) {
      const auto at = static_cast<size_t>(needed);
      const ProjectedColumn& column = projection.columns()[at];
      if (column.from != ProjectedColumn::From::kSource || column.needs_cast) return false;
      const auto source = static_cast<size_t>(column.source_index);
      // A delete has no values of its own, so its absent marks do not matter.
      if (HasAbsentValue(batch, batch.after()[source])) return false;
      after[at] = batch.after()[source];
      if (!batch.before().empty()) before[at] = batch.before()[source];
    }
    return true;
  }

  static bool HasAbsentValue(const ChangeBatch& batch, const ColumnView& column) {
    if (column.absent == nullptr) return false;
    const std::span<const Op> ops = batch.ops();
    for (int64_t row = 0; row < batch.size(); ++row) {
      if (ops[static_cast<size_t>(row)] != Op::kDelete && column.IsAbsent(row)) return true;
    }
    return false;
  }
};

// Losses are counted where rows are written, not where they are routed.
class IgnoringReporter : public RowReporter {
 public:
  void DeadLetter(const ChangeBatch&, uint32_t, const Error&) override {}
  void Count(const TablePath&, std::string_view, Loss, int64_t) override {}
};

// A batch that the caller keeps alive, for an interface that wants to share it.
ChangeBatchPtr Unowned(const ChangeBatch& batch) {
  return ChangeBatchPtr(std::shared_ptr<void>(), &batch);
}

class PaimonSink : public Sink {
 public:
  PaimonSink(std::shared_ptr<ObjectStore> store, PaimonOptions options,
             const SinkEnvironment& environment, TimeZone zone, Compaction compaction,
             std::function<void(int64_t ms)> wait_ms)
      : store_(std::move(store)),
        clock_(environment.clock != nullptr ? environment.clock : SystemClock()),
        table_properties_(options.table_properties),
        catalog_(store_, clock_),
        committer_(store_, Settings(options, clock_, std::move(wait_ms))),
        pipeline_(environment.pipeline_name),
        sink_(environment.sink_name),
        zone_(std::move(zone)),
        warn_(environment.warn),
        maintained_(environment.maintained) {
    planner_ = MakePaimonPlanner(std::move(options));
    compacts_ = compaction != Compaction::kNone;
    if (compaction == Compaction::kBackground) {
      compactor_ = std::make_unique<lake::Compactor>(
          [this](const TablePath& table, const std::atomic<bool>& stop) { Compact(table, stop); });
    }
  }

  const CapabilityMatrix& matrix() const override { return kPaimonMatrix; }
  const SchemaPlanner& planner() const override { return *planner_; }

  SinkTraits traits() const override {
    SinkTraits traits;
    traits.transactional = true;
    const auto producer = table_properties_.find("changelog-producer");
    traits.wants_before_images = producer != table_properties_.end() && producer->second == "input";
    traits.io_threads = 8;
    return traits;
  }

  Result<SinkInfo> Connect() override {
    DRIFTLESS_TRY(store_->Probe());
    SinkInfo info;
    info.product = "Apache Paimon (filesystem catalog)";
    info.identity = store_->root();
    return info;
  }

  Result<std::optional<SinkTable>> ReadTable(const TablePath& table) override {
    return catalog_.ReadTable(table);
  }

  Result<void> ExecuteStep(const SchemaPlan& plan, StepIndex step) override {
    const lake::Compactor::Pause pause(compactor_.get(), plan.sink_table);
    auto done = catalog_.ExecuteStep(plan, step);
    TableEntry& entry = Entry(plan.sink_table);
    const std::lock_guard<std::mutex> lock(entry.mutex);
    entry.options.reset();
    entry.stop_trigger.reset();
    return done;
  }

  WriterIndex WriterCount(const EvolvedSchema& table) const override {
    const auto layout = KeyLayout::Make(table, OptionsOf(table));
    // What is wrong with the table is said by OpenWriter, which can return an error.
    if (!layout || layout->mode != BucketMode::kFixed) return 1;
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    return std::min<WriterIndex>(static_cast<WriterIndex>(layout->buckets), cores);
  }

  void Assign(const ChangeBatch& batch, const EvolvedSchema& table, const Projection& projection,
              WriterRows* out) override {
    const WriterIndex writers = WriterCountOf(table);
    out->Reset(writers);
    if (writers == 1) {
      for (uint32_t row = 0; row < batch.size(); ++row) out->Add(0, row);
      return;
    }
    Router& router = *Entry(table.path).router;
    // Rows are routed by the sink's own values. Mostly those are the batch's.
    std::span<const ColumnView> after;
    std::span<const ColumnView> before;
    std::shared_ptr<const ProjectedBatch> projected;
    RoutingViews views;
    if (views.Fill(batch, projection, router.needed_columns())) {
      after = views.after;
      before = views.before;
    } else {
      IgnoringReporter ignoring;
      all_rows_.resize(static_cast<size_t>(batch.size()));
      std::iota(all_rows_.begin(), all_rows_.end(), 0U);
      auto made = ProjectedBatch::Make(Unowned(batch), projection, all_rows_, &ignoring);
      if (!made) {
        // A value that fails fails again in the writer, which can say so.
        for (const uint32_t row : all_rows_) out->Add(0, row);
        return;
      }
      projected = std::move(*made);
      after = projected->after();
      before = projected->before();
    }
    const std::span<const Op> ops = batch.ops();
    const auto writer_of = [&](std::span<const ColumnView> image, uint32_t row) {
      const std::string& partition = router.Partition(image, row);
      return router.Writer(partition, router.Bucket(image, row));
    };
    for (uint32_t row = 0; row < batch.size(); ++row) {
      if (ops[row] == Op::kDelete) {
        out->Add(batch.HasBefore(row) ? writer_of(before, row) : 0, row);
        continue;
      }
      const WriterIndex target = writer_of(after, row);
      // A row that moves is also the old bucket's: each writer takes its half of the move.
      if (ops[row] == Op::kUpdate && batch.HasBefore(row)) {
        const WriterIndex old = writer_of(before, row);
        if (old != target) out->Add(old, row);
      }
      out->Add(target, row);
    }
  }

  Result<TableWriterPtr> OpenWriter(const EvolvedSchema& table, WriterIndex index,
                                    const WriterContext& context) override {
    budget_ = context.budget;
    PaimonTable files(store_, TableDirectory(table.path));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<PaimonSchema> schema, files.LatestSchema());
    if (!schema) {
      return MakeError(ErrorKind::kNotFound, "there is no Paimon table " + table.path.ToString());
    }
    WriterSetup setup{files, {}, nullptr, nullptr, index, WriterCount(table), 0};
    DRIFTLESS_ASSIGN_OR_RETURN(setup.format, DataFileFormat::Make(*schema, table));
    DRIFTLESS_ASSIGN_OR_RETURN(setup.buffer_bytes_max,
                               ParseByteSize(schema->Option("write-buffer-size", "256mb")));
    DRIFTLESS_ASSIGN_OR_RETURN(setup.state, StateOf(table.path, files));
    if (setup.format.layout.mode == BucketMode::kDynamic) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<Snapshot> snapshot, files.LatestSnapshot());
      std::vector<IndexManifestEntry> indexes;
      if (snapshot) {
        DRIFTLESS_ASSIGN_OR_RETURN(indexes, files.IndexFiles(*snapshot));
      }
      setup.index = std::make_unique<HashIndex>(files, std::move(indexes), *schema, context.budget);
    }
    setup.zone = zone_;
    setup.warn = warn_;
    return MakePaimonWriter(std::move(setup), context);
  }

  Result<CommitToken> Seal(const CommitIdentity& identity, const EvolvedSchema& table,
                           std::span<const PreparedPart> parts) override {
    Committable whole;
    for (const PreparedPart& part : parts) {
      DRIFTLESS_ASSIGN_OR_RETURN(Committable one, DecodeCommittable(part.payload));
      whole.schema_id = std::max(whole.schema_id, one.schema_id);
      const auto append = [](auto* to, auto&& from) {
        to->insert(to->end(), std::make_move_iterator(from.begin()),
                   std::make_move_iterator(from.end()));
      };
      append(&whole.new_files, std::move(one.new_files));
      append(&whole.changelog_files, std::move(one.changelog_files));
      append(&whole.index_files, std::move(one.index_files));
    }
    // The token is recorded next: what it names must survive a power cut by then.
    if (!whole.new_files.empty() || !whole.index_files.empty()) DRIFTLESS_TRY(store_->SyncAll());
    const PaimonTable files(store_, TableDirectory(table.path));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<Snapshot> latest, files.LatestSnapshot());
    return MakeToken(identity, whole, latest ? latest->id : 0);
  }

  Result<CommitState> LookUp(const CommitToken& token) override { return committer_.LookUp(token); }

  Result<void> Commit(std::span<const CommitToken> tokens) override {
    {
      const std::shared_lock<std::shared_mutex> lock(commit_mutex_);
      DRIFTLESS_TRY(committer_.Commit(tokens));
    }
    if (compacts_) {
      for (const CommitToken& token : tokens) DRIFTLESS_TRY(CountRuns(token));
    }
    return {};
  }

  Result<void> Abort(std::span<const CommitToken> tokens) override {
    DRIFTLESS_TRY(committer_.Abort(tokens));
    for (const CommitToken& token : tokens) {
      TableEntry& entry = Entry(token.identity.table);
      const std::lock_guard<std::mutex> lock(entry.mutex);
      if (entry.state != nullptr) entry.state->Settle(token.identity.cut);
    }
    return {};
  }

  Result<void> CleanUp(const CommitIdentity& next, std::span<const CommitToken> recorded) override {
    const lake::Compactor::Pause pause(compactor_.get(), next.table);
    return committer_.CleanUp(next, recorded);
  }

 private:
  static CommitSettings Settings(const PaimonOptions& options, const Clock* clock,
                                 std::function<void(int64_t ms)> wait_ms) {
    CommitSettings settings;
    settings.commit_user_prefix = options.commit_user_prefix;
    settings.clock = clock;
    settings.wait_ms = std::move(wait_ms);
    return settings;
  }

  // Puts the table on the compactor's list when one of its buckets may have enough runs; waits for
  // the compactor where there are so many that readers would suffer (Paimon's stop trigger).
  Result<void> CountRuns(const CommitToken& token) {
    DRIFTLESS_ASSIGN_OR_RETURN(const TokenPayload payload, ReadToken(token));
    const TablePath& path = token.identity.table;
    TableEntry& entry = Entry(path);
    bool must_wait = false;
    {
      const std::lock_guard<std::mutex> lock(entry.mutex);
      // Until a writer is opened, cuts of before the start are committed: what they take out of
      // files is not known to the state.
      if (entry.state == nullptr) return {};
      entry.state->Settle(token.identity.cut);
      bool due = !entry.looked_at;
      for (const ManifestEntry& file : payload.committable.new_files) {
        const std::pair bucket(file.partition, file.bucket);
        if (file.kind == FileKind::kAdd) ++entry.runs_since[bucket];
        due |= ++entry.new_runs[bucket] >= kRunsToLookAt;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const int64_t stop, StopTrigger(path, &entry));
      must_wait = entry.runs_left + entry.RunsSince() > stop;
      if (!must_wait && !due) return {};
      entry.looked_at = true;
      entry.new_runs.clear();
    }
    if (compactor_ == nullptr) {
      static const std::atomic<bool> kNever{false};
      Compact(path, kNever);
    } else if (must_wait) {
      compactor_->Finish(path);
    } else {
      compactor_->Enqueue(path);
    }
    return {};
  }

  // How many sorted runs a bucket may have before its writer waits. Locked.
  Result<int64_t> StopTrigger(const TablePath& path, TableEntry* entry) const {
    if (entry->stop_trigger) return *entry->stop_trigger;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<PaimonSchema> schema,
                               PaimonTable(store_, TableDirectory(path)).LatestSchema());
    entry->stop_trigger = std::numeric_limits<int64_t>::max();
    if (!schema || !schema->HasPrimaryKey()) return *entry->stop_trigger;
    DRIFTLESS_ASSIGN_OR_RETURN(const CompactionOptions options, CompactionOptions::Read(*schema));
    if (!options.write_only) entry->stop_trigger = options.stop_trigger;
    return *entry->stop_trigger;
  }

  // On the compactor's thread.
  void Compact(const TablePath& path, const std::atomic<bool>& stop) {
    const CommitIdentity identity{pipeline_, sink_, path, 0, 0};
    const PaimonTable table(store_, TableDirectory(path));
    const auto commit = [&](const CommitIdentity& by, const Committable& files,
                            int64_t base) -> Result<void> {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::shared_ptr<TableState> state, StateOf(path, table));
      const auto alone = [&] {
        // Expiry follows every commit; two at once would do each other's work.
        const std::unique_lock<std::shared_mutex> lock(commit_mutex_);
        return committer_.CommitCompaction(by, files, base);
      };
      return state->CommitCompaction(files, alone);
    };
    const int64_t begin = clock_->MonotonicMicros();
    TableEntry& entry = Entry(path);
    {
      const std::lock_guard<std::mutex> lock(entry.mutex);
      entry.runs_left += entry.RunsSince();
      entry.runs_since.clear();
    }
    auto done =
        CompactTable(table, identity, commit, zone_, clock_, stop, lake::MergeMemory(budget_));
    if (done && !stop) {
      const std::lock_guard<std::mutex> lock(entry.mutex);
      entry.runs_left = done->runs_left;
    }
    if (!done && warn_) {
      warn_(std::move(done).error().Context("compaction of Paimon table " + path.ToString()));
    }
    if (!done || !maintained_ || done->files_removed + done->files_added == 0) return;
    MaintenanceReport report{path, "compaction", done->files_removed, done->files_added};
    report.seconds = static_cast<double>(clock_->MonotonicMicros() - begin) / 1e6;
    maintained_(report);
  }

  TableEntry& Entry(const TablePath& path) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<TableEntry>& entry = entries_[path];
    if (entry == nullptr) entry = std::make_unique<TableEntry>();
    return *entry;
  }

  // The table's own options; what the plan said where the table cannot be read now.
  std::map<std::string, std::string> OptionsOf(const EvolvedSchema& table) const {
    TableEntry& entry = Entry(table.path);
    const std::lock_guard<std::mutex> lock(entry.mutex);
    if (!entry.options) {
      const auto schema = PaimonTable(store_, TableDirectory(table.path)).LatestSchema();
      if (!schema || !*schema) return table.options;
      entry.options = (*schema)->options;
    }
    return *entry.options;
  }

  // On the inlet's thread: works the routing out again only when the evolved schema changed.
  WriterIndex WriterCountOf(const EvolvedSchema& table) {
    TableEntry& entry = Entry(table.path);
    if (entry.router == nullptr || !(entry.routed == table)) {
      const WriterIndex writers = WriterCount(table);
      auto layout = KeyLayout::Make(table, OptionsOf(table));
      entry.router = std::make_unique<Router>(layout ? *layout : KeyLayout{}, writers);
      entry.routed = table;
    }
    return entry.router->writers();
  }

  Result<std::shared_ptr<TableState>> StateOf(const TablePath& path, const PaimonTable& files) {
    TableEntry& entry = Entry(path);
    const std::lock_guard<std::mutex> lock(entry.mutex);
    if (entry.state == nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(entry.state, TableState::Load(files));
    }
    return entry.state;
  }

  std::shared_ptr<ObjectStore> store_;
  const Clock* clock_;
  std::map<std::string, std::string> table_properties_;
  std::unique_ptr<SchemaPlanner> planner_;
  PaimonCatalog catalog_;
  PaimonCommitter committer_;
  std::string pipeline_;
  std::string sink_;
  std::vector<uint32_t> all_rows_;  // of Assign
  mutable std::mutex mutex_;        // of the map, not of what its entries hold
  mutable std::map<TablePath, std::unique_ptr<TableEntry>> entries_;
  TimeZone zone_;
  std::function<void(const Error&)> warn_;
  std::function<void(const MaintenanceReport&)> maintained_;
  bool compacts_ = false;
  // The writers'; it outlives the sink. Tables without writers are not compacted.
  std::atomic<MemoryBudget*> budget_{nullptr};
  std::shared_mutex commit_mutex_;              // compactions commit alone
  std::unique_ptr<lake::Compactor> compactor_;  // last: its thread uses all the others
};

}  // namespace

Result<std::unique_ptr<Sink>> MakePaimonSinkOver(std::shared_ptr<ObjectStore> warehouse,
                                                 PaimonOptions options,
                                                 const SinkEnvironment& environment,
                                                 Compaction compaction,
                                                 std::function<void(int64_t ms)> wait_ms) {
  TimeZone zone;
  if (!environment.local_time_zone.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(zone, TimeZone::Load(environment.local_time_zone));
  }
  return std::unique_ptr<Sink>(
      std::make_unique<PaimonSink>(std::move(warehouse), std::move(options), environment,
                                   std::move(zone), compaction, std::move(wait_ms)));
}

}  // namespace driftless::paimon

namespace driftless {

Result<std::unique_ptr<Sink>> MakePaimonSink(const OptionValues& values,
                                             const SinkEnvironment& environment) {
  DRIFTLESS_ASSIGN_OR_RETURN(paimon::PaimonOptions options, paimon::ReadPaimonOptions(values));
  DRIFTLESS_ASSIGN_OR_RETURN(std::shared_ptr<ObjectStore> store, paimon::OpenWarehouse(options));
  return paimon::MakePaimonSinkOver(std::move(store), std::move(options), environment,
                                    paimon::Compaction::kBackground);
}

Result<std::unique_ptr<TableReader>> MakePaimonTableReader(const OptionValues& values,
                                                           const SinkEnvironment& environment) {
  DRIFTLESS_ASSIGN_OR_RETURN(const paimon::PaimonOptions options,
                             paimon::ReadPaimonOptions(values));
  DRIFTLESS_ASSIGN_OR_RETURN(std::shared_ptr<ObjectStore> store, paimon::OpenWarehouse(options));
  return paimon::MakePaimonReader(std::move(store), environment.local_time_zone);
}

}  // namespace driftless
