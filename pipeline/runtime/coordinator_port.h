#pragma once

#include <memory>
#include <vector>

#include "schema/coordinator/coordinator.h"

namespace driftless {

// The runtime's view of the coordinator, so that tests can put a scripted one in its place. The
// contract is that of schema/coordinator/coordinator.h.
class CoordinatorPort {
 public:
  virtual ~CoordinatorPort() = default;
  virtual Result<std::vector<CoordinatorAction>> Restart(std::vector<RecoveredTable> tables,
                                                         int64_t now_ms) = 0;
  virtual std::vector<CoordinatorAction> Step(CoordinatorInput input, int64_t now_ms) = 0;
  virtual DecisionId NewDecision() = 0;
  virtual std::optional<SinkTableKey> Waiting(DecisionId decision) const = 0;
  virtual EvolvedSchemaPtr Evolved(const SinkTableKey& table) const = 0;
  virtual bool WaitsForPerson(const SinkTableKey&) const { return false; }
  virtual std::map<TablePath, EvolvedSchemaPtr> EvolvedBySource(const SinkTableKey& table) const {
    static_cast<void>(table);
    return {};
  }
  virtual std::vector<TableRenaming> Renamings(const SinkTableKey& table) const {
    static_cast<void>(table);
    return {};
  }
};

// The real one.
std::unique_ptr<CoordinatorPort> MakeCoordinatorPort(std::string pipeline,
                                                     std::vector<CoordinatorSink> sinks,
                                                     DecisionId next_decision);

}  // namespace driftless
