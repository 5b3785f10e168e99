#pragma once

#include <memory>

#include "sinks/api/sink.h"

namespace driftless {

// What sinks share that have nothing to commit and no tables to look at (print, blackhole): one
// writer per table, every token is committed as soon as it is sealed.
class UnversionedSink : public Sink {
 public:
  UnversionedSink(const CapabilityMatrix* matrix, std::unique_ptr<SchemaPlanner> planner)
      : matrix_(*matrix), planner_(std::move(planner)) {}

  const CapabilityMatrix& matrix() const override { return matrix_; }
  const SchemaPlanner& planner() const override { return *planner_; }

  // No table is there before it is created, and none is found again after a restart.
  Result<std::optional<SinkTable>> ReadTable(const TablePath&) override { return std::nullopt; }

  WriterIndex WriterCount(const EvolvedSchema&) const override { return 1; }
  void Assign(const ChangeBatch& batch, const EvolvedSchema&, const Projection&,
              WriterRows* out) override {
    out->Reset(1);
    for (int64_t row = 0; row < batch.size(); ++row) out->Add(0, static_cast<uint32_t>(row));
  }

  Result<CommitToken> Seal(const CommitIdentity& identity, const EvolvedSchema&,
                           std::span<const PreparedPart>) override {
    return CommitToken{identity, ""};
  }
  Result<CommitState> LookUp(const CommitToken&) override { return CommitState::kCommitted; }
  Result<void> Commit(std::span<const CommitToken>) override { return {}; }
  Result<void> Abort(std::span<const CommitToken>) override { return {}; }
  Result<void> CleanUp(const CommitIdentity&, std::span<const CommitToken>) override { return {}; }

 private:
  const CapabilityMatrix& matrix_;
  const std::unique_ptr<SchemaPlanner> planner_;
};

}  // namespace driftless
