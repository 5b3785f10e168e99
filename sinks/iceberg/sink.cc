#include "sinks/iceberg/sink.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "schema/base/check.h"
#include "sinks/api/registry.h"
#include "sinks/iceberg/commit.h"
#include "sinks/iceberg/commit_group.h"
#include "sinks/iceberg/compaction.h"
#include "sinks/iceberg/expire.h"
#include "sinks/iceberg/options.h"
#include "sinks/iceberg/schema_step.h"
#include "sinks/iceberg/writer.h"
#include "sinks/lake/compactor.h"
#include "sinks/lake/step_mark.h"

namespace driftless::iceberg {
namespace {

constexpr int kAttempts = 20;

class IcebergSink : public Sink {
 public:
  IcebergSink(std::unique_ptr<Catalog> catalog, IcebergOptions options,
              std::unique_ptr<SchemaPlanner> planner, const SinkEnvironment& environment,
              const Clock* clock)
      : catalog_(std::move(catalog)),
        options_(std::move(options)),
        planner_(std::move(planner)),
        committer_({catalog_.get(), clock, {}, environment.warn, 4}),
        pipeline_(environment.pipeline_name),
        sink_(environment.sink_name),
        clock_(clock),
        warn_(environment.warn),
        maintained_(environment.maintained),
        compactor_(std::make_unique<lake::Compactor>(
            [this](const TablePath& table, const std::atomic<bool>& stop) {
              Maintain(table, stop);
            })) {}

  const CapabilityMatrix& matrix() const override { return kIcebergMatrix; }
  const SchemaPlanner& planner() const override { return *planner_; }

  SinkTraits traits() const override {
    SinkTraits traits;
    traits.transactional = true;
    traits.io_threads = 8;
    return traits;
  }

  Result<SinkInfo> Connect() override {
    SinkInfo info;
    DRIFTLESS_ASSIGN_OR_RETURN(info.product, catalog_->Connect());
    info.identity = catalog_->identity();
    return info;
  }

  Result<std::optional<SinkTable>> ReadTable(const TablePath& table) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<LoadedTable> loaded, catalog_->Load(table));
    if (!loaded) return std::optional<SinkTable>();
    return std::optional(ToSinkTable(loaded->metadata, loaded->metadata.schema(), table));
  }

  Result<void> ExecuteStep(const SchemaPlan& plan, StepIndex index) override {
    DRIFTLESS_CHECK(index < plan.steps.size());
    const lake::Compactor::Pause pause(compactor_.get(), plan.sink_table);
    const Step& step = plan.steps[index];
    auto done = step.creates_table ? Create(plan, index) : Change(plan, index);
    if (!done) {
      return std::move(done).error().Context("Iceberg table " + plan.sink_table.ToString());
    }
    return {};
  }

  WriterIndex WriterCount(const EvolvedSchema&) const override { return 1; }
  void Assign(const ChangeBatch& batch, const EvolvedSchema&, const Projection&,
              WriterRows* out) override {
    out->Reset(1);
    for (uint32_t row = 0; row < batch.size(); ++row) out->Add(0, row);
  }

  Result<TableWriterPtr> OpenWriter(const EvolvedSchema& table, WriterIndex index,
                                    const WriterContext& context) override {
    DRIFTLESS_ASSIGN_OR_RETURN(std::optional<LoadedTable> loaded, catalog_->Load(table.path));
    if (!loaded) {
      return MakeError(ErrorKind::kNotFound, "there is no Iceberg table " + table.path.ToString());
    }
    WriterSetup setup;
    DRIFTLESS_ASSIGN_OR_RETURN(setup.format, FileFormat::Make(loaded->metadata, table));
    setup.table = *std::move(loaded);
    setup.writer = index;
    return MakeIcebergWriter(std::move(setup), context);
  }

  Result<CommitToken> Seal(const CommitIdentity& identity, const EvolvedSchema&,
                           std::span<const PreparedPart> parts) override {
    DRIFTLESS_ASSIGN_OR_RETURN(CommitToken token, committer_.Seal(identity, parts));
    if (catalog_->CommitsTogether()) groups_.Sealed(token);
    return token;
  }
  Result<CommitState> LookUp(const CommitToken& token) override { return committer_.LookUp(token); }
  Result<void> Commit(std::span<const CommitToken> tokens) override {
    {
      const std::shared_lock<std::shared_mutex> lock(commit_mutex_);
      for (const CommitToken& token : tokens) {
        DRIFTLESS_TRY(groups_.Run(token, [this](auto some) { return committer_.Commit(some); }));
      }
    }
    const std::lock_guard<std::mutex> lock(counts_mutex_);
    for (const CommitToken& token : tokens) {
      // At first what earlier runs left is not known.
      const auto [count, is_new] = commits_.try_emplace(token.identity.table, 0);
      if (!is_new && ++count->second < options_.compaction_interval) continue;
      count->second = 0;
      compactor_->Enqueue(token.identity.table);
    }
    return {};
  }
  Result<void> Abort(std::span<const CommitToken> tokens) override {
    return committer_.Abort(tokens);
  }
  Result<void> CleanUp(const CommitIdentity& next, std::span<const CommitToken> recorded) override {
    const lake::Compactor::Pause pause(compactor_.get(), next.table);
    return committer_.CleanUp(next, recorded);
  }

 private:
  Result<void> Create(const SchemaPlan& plan, StepIndex index) {
    const Step& step = plan.steps[index];
    std::vector<std::string> partition = step.after->partition_keys;
    const std::string name = plan.sink_table.database + "." + plan.sink_table.table;
    const auto configured = options_.partition_keys.find(name);
    if (configured != options_.partition_keys.end()) partition = configured->second;
    const auto sort = options_.sort_keys.find(name);
    DRIFTLESS_ASSIGN_OR_RETURN(const auto properties,
                               catalog_->EffectiveProperties(options_.catalog_properties));
    SinkTable table = *step.after;
    AddCatalogDefaults(properties, &table.options);
    DRIFTLESS_ASSIGN_OR_RETURN(
        NewTable created,
        TableOf(table, partition,
                sort == options_.sort_keys.end() ? std::vector<std::string>() : sort->second));
    created.properties[std::string(kChangeProperty)] = lake::StepMark(plan.change_id, index);
    created.properties.emplace("write.metadata.delete-after-commit.enabled", "true");
    // As Paimon keeps them: a table of many commits would drown in its own history.
    created.properties.emplace("history.expire.max-snapshot-age-ms", "3600000");
    created.properties.emplace("history.expire.min-snapshots-to-keep", "10");
    created.properties.emplace("write.parquet.compression-codec", "zstd");
    auto done = catalog_->Create(plan.sink_table, created);
    if (!done && done.error().kind() == ErrorKind::kAlreadyExists) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<SinkTable> actual, ReadTable(plan.sink_table));
      if (actual && planner_->Recognise(plan, index, &*actual) == StepState::kDone) return {};
      return MakeError(ErrorKind::kRefused,
                       "the table was created by somebody else, with another schema, a moment ago");
    }
    return done;
  }

  Result<void> Change(const SchemaPlan& plan, StepIndex index) {
    const std::string mark = lake::StepMark(plan.change_id, index);
    bool unknown = false;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<LoadedTable> loaded,
                                 catalog_->Load(plan.sink_table));
      if (!loaded) return MakeError(ErrorKind::kRefused, "the table is not there");
      // Our own commit, whose answer was lost.
      if (unknown && loaded->metadata.Property(kChangeProperty, "") == mark) return {};
      DRIFTLESS_ASSIGN_OR_RETURN(MetadataChange change,
                                 SchemaAfter(loaded->metadata, plan.steps[index]));
      change.set_properties[std::string(kChangeProperty)] = mark;
      const CatalogCommit commit{plan.sink_table, &*loaded, &change};
      Result<void> done = std::move(catalog_->Commit(std::span(&commit, 1)).front());
      if (done) return {};
      unknown |= done.error().kind() == ErrorKind::kCommitUnknown;
      if (done.error().kind() != ErrorKind::kConflict &&
          done.error().kind() != ErrorKind::kCommitUnknown) {
        return done;
      }
    }
    return MakeError(unknown ? ErrorKind::kCommitUnknown : ErrorKind::kConflict,
                     "other writers change the table all the time");
  }

  // On the compactor's thread.
  void Maintain(const TablePath& path, const std::atomic<bool>& stop) {
    const MaintenanceContext context{
        catalog_.get(), clock_, {pipeline_, sink_, path, 0, 0}, &commit_mutex_, &stop};
    MaintenanceReport report{path, "compaction"};
    const auto run = [&](const auto& work) {
      const int64_t begin = clock_->MonotonicMicros();
      Result<void> done = work();
      report.seconds = static_cast<double>(clock_->MonotonicMicros() - begin) / 1e6;
      if (!done && warn_) {
        warn_(std::move(done).error().Context(std::string(report.work) + " of Iceberg table " +
                                              path.ToString()));
      }
      const bool did = report.files_removed + report.files_added + report.snapshots_removed > 0;
      if (did && maintained_) maintained_(report);
    };
    if (options_.compacts) {
      run([&]() -> Result<void> {
        DRIFTLESS_ASSIGN_OR_RETURN(const lake::CompactionReport did, CompactTable(context));
        report.files_removed = did.files_removed;
        report.files_added = did.files_added;
        return {};
      });
    }
    report = {path, "expiry"};
    run([&]() -> Result<void> {
      DRIFTLESS_ASSIGN_OR_RETURN(report.snapshots_removed, ExpireSnapshots(context));
      return {};
    });
  }

  std::unique_ptr<Catalog> catalog_;
  IcebergOptions options_;
  std::unique_ptr<SchemaPlanner> planner_;
  IcebergCommitter committer_;
  CommitGroups groups_;
  std::string pipeline_;
  std::string sink_;
  const Clock* clock_;
  std::function<void(const Error&)> warn_;
  std::function<void(const MaintenanceReport&)> maintained_;
  std::shared_mutex commit_mutex_;  // maintenance commits alone
  std::mutex counts_mutex_;
  std::map<TablePath, int64_t> commits_;        // since the table was last looked at
  std::unique_ptr<lake::Compactor> compactor_;  // last: its thread uses all the others
};

}  // namespace
}  // namespace driftless::iceberg

namespace driftless {

Result<std::unique_ptr<Sink>> MakeIcebergSink(const OptionValues& values,
                                              const SinkEnvironment& environment) {
  DRIFTLESS_ASSIGN_OR_RETURN(iceberg::IcebergOptions options, iceberg::ReadIcebergOptions(values));
  const Clock* clock = environment.clock != nullptr ? environment.clock : SystemClock();
  DRIFTLESS_ASSIGN_OR_RETURN(auto catalog, iceberg::OpenCatalog(options, clock));
  DRIFTLESS_ASSIGN_OR_RETURN(auto planner, MakeIcebergPlanner(values));
  return std::unique_ptr<Sink>(std::make_unique<iceberg::IcebergSink>(
      std::move(catalog), std::move(options), std::move(planner), environment, clock));
}

}  // namespace driftless
