#include "pipeline/script/memory_sink.h"

#include <utility>

#include "pipeline/script/memory_changes.h"
#include "schema/base/check.h"
#include "sinks/api/projected_batch.h"

namespace driftless {
namespace {

class MemoryWriter : public TableWriter {
 public:
  MemoryWriter(const EvolvedSchema& table, const WriterContext& context)
      : table_(table), reporter_(context.reporter) {}

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::shared_ptr<const ProjectedBatch> projected,
                               ProjectedBatch::Make(batch, projection, rows, reporter_));
    for (const uint32_t row : projected->rows()) {
      const bool is_delete = batch->ops()[row] == Op::kDelete;
      changes_.push_back(
          {is_delete, RowOf(is_delete ? projected->before() : projected->after(), row)});
    }
    return {};
  }
  Result<void> Roll() override { return {}; }
  Result<PreparedPart> Prepare(CutId) override {
    PreparedPart part;
    part.rows = static_cast<int64_t>(changes_.size());
    part.payload = EncodeChanges(std::exchange(changes_, {}));
    part.bytes = static_cast<int64_t>(part.payload.size());
    return part;
  }
  int64_t buffered_bytes() const override { return static_cast<int64_t>(changes_.size()) * 64; }

 private:
  TextRow RowOf(std::span<const ColumnView> columns, uint32_t row) const {
    TextRow texts;
    for (size_t i = 0; i < columns.size(); ++i) {
      texts[table_.columns[i].sink.name] = TextOf(table_.columns[i].sink.type, columns[i], row);
    }
    return texts;
  }

  const EvolvedSchema table_;
  RowReporter* const reporter_;
  std::vector<MemoryChange> changes_;
};

class MemorySink : public Sink {
 public:
  MemorySink(const SinkComponent& component, std::unique_ptr<SchemaPlanner> planner,
             std::shared_ptr<MemoryStore> store)
      : matrix_(*component.matrix), planner_(std::move(planner)), store_(std::move(store)) {}

  const CapabilityMatrix& matrix() const override { return matrix_; }
  const SchemaPlanner& planner() const override { return *planner_; }
  SinkTraits traits() const override {
    SinkTraits traits;
    traits.transactional = true;
    traits.keeps_schema = matrix_.keeps_schema;
    traits.max_wait_ms = 20;
    traits.io_threads = 1;
    return traits;
  }

  Result<SinkInfo> Connect() override {
    return SinkInfo{std::string(matrix_.sink) + " (in memory)", "", "memory"};
  }
  Result<std::optional<SinkTable>> ReadTable(const TablePath& table) override {
    return store_->Read(table);
  }
  Result<void> ExecuteStep(const SchemaPlan& plan, StepIndex step) override {
    // What a sink without a schema sends is a message about the table, which stays as it is.
    if (!matrix_.keeps_schema && !plan.steps[step].creates_table) return {};
    return store_->ExecuteStep(plan, step);
  }

  WriterIndex WriterCount(const EvolvedSchema&) const override { return 1; }
  void Assign(const ChangeBatch& batch, const EvolvedSchema&, const Projection&,
              WriterRows* out) override {
    out->Reset(1);
    for (int64_t row = 0; row < batch.size(); ++row) out->Add(0, static_cast<uint32_t>(row));
  }
  Result<TableWriterPtr> OpenWriter(const EvolvedSchema& table, WriterIndex,
                                    const WriterContext& context) override {
    if (!matrix_.keeps_schema) store_->AdoptColumns(table);
    return std::make_unique<MemoryWriter>(table, context);
  }

  Result<CommitToken> Seal(const CommitIdentity& identity, const EvolvedSchema&,
                           std::span<const PreparedPart> parts) override {
    CommitToken token{identity, ""};
    for (const PreparedPart& part : parts) token.payload += part.payload;
    return token;
  }
  Result<CommitState> LookUp(const CommitToken& token) override {
    return store_->IsCommitted(token) ? CommitState::kCommitted : CommitState::kPrepared;
  }
  Result<void> Commit(std::span<const CommitToken> tokens) override {
    for (const CommitToken& token : tokens) DRIFTLESS_TRY(store_->Commit(token));
    return {};
  }
  Result<void> Abort(std::span<const CommitToken>) override { return {}; }
  Result<void> CleanUp(const CommitIdentity&, std::span<const CommitToken>) override { return {}; }

 private:
  const CapabilityMatrix& matrix_;
  const std::unique_ptr<SchemaPlanner> planner_;
  const std::shared_ptr<MemoryStore> store_;
};

}  // namespace

Result<std::unique_ptr<Sink>> MakeMemorySink(const SinkComponent& component,
                                             const OptionValues& options,
                                             std::shared_ptr<MemoryStore> store) {
  DRIFTLESS_CHECK(component.matrix != nullptr && component.make_planner != nullptr);
  DRIFTLESS_ASSIGN_OR_RETURN(std::unique_ptr<SchemaPlanner> planner,
                             component.make_planner(options));
  return std::make_unique<MemorySink>(component, std::move(planner), std::move(store));
}

}  // namespace driftless
