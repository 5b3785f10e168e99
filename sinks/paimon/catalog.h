#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schema/base/clock.h"
#include "schema/plan/schema_plan.h"
#include "sinks/clients/objectstore/object_store.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {

struct ColumnChange;

// Paimon's filesystem catalog: <warehouse>/<database>.db/<table>/schema/schema-N.
class PaimonCatalog {
 public:
  PaimonCatalog(std::shared_ptr<ObjectStore> store, const Clock* clock)
      : store_(std::move(store)), clock_(clock != nullptr ? clock : SystemClock()) {}

  // What is there now; nullopt: no such table.
  Result<std::optional<SinkTable>> ReadTable(const TablePath& table) const;

  // Carries out one step of a plan that PaimonPlanner made: creates database and table, or commits
  // the next schema. Errors: kRefused, kConflict, kCommitUnknown as Sink::ExecuteStep says.
  Result<void> ExecuteStep(const SchemaPlan& plan, size_t step) const;

 private:
  Result<void> CreateTable(const TablePath& path, PaimonSchema schema) const;
  Result<void> CommitChanges(const TablePath& path, const std::string& mark,
                             const std::vector<ColumnChange>& changes) const;

  std::shared_ptr<ObjectStore> store_;
  const Clock* clock_;
};

// A schema as the planner and the coordinator see it. `change_ids` come from the table's options.
SinkTable ToSinkTable(const PaimonSchema& schema, const TablePath& path);

}  // namespace driftless::paimon
