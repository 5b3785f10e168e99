#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sinks/api/sink.h"
#include "sinks/clients/objectstore/memory_store.h"
#include "tests/sim/model_sink.h"

namespace driftless::sim {

// The real Paimon sink over a store in memory that loses or refuses at any call and dies at any
// call, driven as the runtime drives it. It compacts inside its commits, so that a crash may come
// at any step of that too.
class PaimonWorld {
 public:
  using Rows = std::vector<std::pair<std::string, ModelSink::Row>>;  // by key, in order
  // `dice` gives numbers below its argument; `faults`: whether the store is forgetful at all.
  PaimonWorld(std::function<uint32_t(uint32_t)> dice, bool faults);
  ~PaimonWorld();

  const SchemaPlanner& planner() const { return *planner_; }
  // The process starts again; a part of the crashes are power cuts.
  void Restart();
  bool crashed() const { return store_->crashed(); }

  Result<std::optional<SinkTable>> Read(const TablePath& table) { return sink_->ReadTable(table); }
  Result<void> Execute(const SchemaPlan& plan, uint32_t step) {
    return sink_->ExecuteStep(plan, step);
  }
  // Rows in the evolved schema's names, written, prepared and sealed: durable and invisible.
  Result<CommitToken> Seal(const EvolvedSchema& evolved, const Rows& rows);
  Result<CommitState> LookUp(const CommitToken& token) { return sink_->LookUp(token); }
  Result<void> Commit(const CommitToken& token) { return sink_->Commit({&token, 1}); }
  Result<void> CleanUp(const TablePath& table, const std::vector<CommitToken>& recorded) {
    return sink_->CleanUp({"sim", "lake", table, cut_, attempt_}, recorded);
  }

  int64_t compactions() const { return compactions_; }  // that changed something
  void NoMoreFaults() { faults_ = false; }
  // How things are, without faults.
  std::optional<SinkTable> Look(const TablePath& table);
  std::vector<std::string> Contents(const TablePath& table);  // rows as JSON, sorted
  // The same of rows of the model, in the sink table's columns.
  static std::vector<std::string> Render(const SinkTable& table, const ModelSink::Table& rows);

 private:
  void Open();
  CommitIdentity Identity(const TablePath& table) const;

  std::function<uint32_t(uint32_t)> dice_;
  bool faults_;
  bool calm_ = false;  // somebody only looks
  std::shared_ptr<MemoryStore> store_;
  std::unique_ptr<SchemaPlanner> planner_;
  std::unique_ptr<Sink> sink_;
  CutId cut_ = 0;
  uint32_t attempt_ = 0;
  int64_t compactions_ = 0;
};

}  // namespace driftless::sim
