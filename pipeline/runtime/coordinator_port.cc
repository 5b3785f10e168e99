#include "pipeline/runtime/coordinator_port.h"

#include <utility>

namespace driftless {
namespace {

class RealCoordinator : public CoordinatorPort {
 public:
  RealCoordinator(std::string pipeline, std::vector<CoordinatorSink> sinks, DecisionId next)
      : coordinator_(std::move(pipeline), std::move(sinks), next) {}

  Result<std::vector<CoordinatorAction>> Restart(std::vector<RecoveredTable> tables,
                                                 int64_t now_ms) override {
    return coordinator_.Restart(std::move(tables), now_ms);
  }
  std::vector<CoordinatorAction> Step(CoordinatorInput input, int64_t now_ms) override {
    return coordinator_.Step(std::move(input), now_ms);
  }
  DecisionId NewDecision() override { return coordinator_.NewDecision(); }
  std::optional<SinkTableKey> Waiting(DecisionId decision) const override {
    return coordinator_.Waiting(decision);
  }
  EvolvedSchemaPtr Evolved(const SinkTableKey& table) const override {
    return coordinator_.Evolved(table);
  }
  bool WaitsForPerson(const SinkTableKey& table) const override {
    return coordinator_.WaitsForPerson(table);
  }
  std::map<TablePath, EvolvedSchemaPtr> EvolvedBySource(const SinkTableKey& table) const override {
    return coordinator_.EvolvedBySource(table);
  }
  std::vector<TableRenaming> Renamings(const SinkTableKey& table) const override {
    return coordinator_.Renamings(table);
  }

 private:
  Coordinator coordinator_;
};

}  // namespace

std::unique_ptr<CoordinatorPort> MakeCoordinatorPort(std::string pipeline,
                                                     std::vector<CoordinatorSink> sinks,
                                                     DecisionId next_decision) {
  return std::make_unique<RealCoordinator>(std::move(pipeline), std::move(sinks), next_decision);
}

}  // namespace driftless
