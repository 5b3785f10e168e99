#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "schema/coordinator/coordinator.h"
#include "schema/events/change_batch.h"
#include "schema/events/schema_change.h"
#include "sinks/api/memory_budget.h"
#include "sinks/api/projection.h"

namespace driftless {

// What travels from a source stream to the inlet of every sink.
struct BatchItem {
  ChangeBatchPtr batch;  // charged to the budget, see Charge
};
struct SchemaItem {
  StatementChangePtr change;
  std::string position;
  int64_t seen_ms = 0;  // wall clock, when the source sent it
};
struct ProgressItem {
  Point point;
  std::string resume;
  int64_t event_time_ms = 0;
};
// The source sends nothing more of this table in this run: at `point` stands a statement that it
// does not understand. The table must be read again from there.
struct HoldBackItem {
  TablePath source;
  Point point;
};
// What comes between a beginning and its end goes into one cut.
struct UnbrokenItem {
  bool begins = false;
};
using Item = std::variant<BatchItem, SchemaItem, ProgressItem, HoldBackItem, UnbrokenItem>;

// Queue bytes that an item counts for.
int64_t ItemBytes(const Item& item);
const TablePath& TableOf(const BatchItem& item);
const TablePath& TableOf(const SchemaItem& item);

// The same batch, charged to the budget until the last reference to it is gone, wherever it is: in
// queues, in parking, in a writer that keeps it.
ChangeBatchPtr Charge(ChangeBatchPtr batch, MemoryBudget* budget);

// One sink table under one evolved schema: what the inlet assigns with and what writers are opened
// for. Made by the inlet at every release; writers hold it as long as they are open. The inlet
// alone adds projections; one that was added never moves.
class TableEpoch {
 public:
  TableEpoch(SinkTableKey key, uint64_t generation, EvolvedSchemaPtr evolved,
             std::map<TablePath, EvolvedSchemaPtr> by_source, ProjectionPolicy policy)
      : key_(std::move(key)),
        generation_(generation),
        evolved_(std::move(evolved)),
        by_source_(std::move(by_source)),
        policy_(std::move(policy)) {}

  const SinkTableKey& key() const { return key_; }
  // Epochs of one generation share their writers: a skip changes who feeds a column, not the table.
  uint64_t generation() const { return generation_; }
  const EvolvedSchema& evolved() const { return *evolved_; }
  // In the column ids of this source table.
  const EvolvedSchema& EvolvedFor(const TablePath& source) const;
  // Whether more than one source table feeds it: their column ids are their own.
  bool is_merged() const { return !by_source_.empty(); }
  // Worked out once per source version; inlet thread.
  const Projection& ProjectionFor(const TableSchemaPtr& source);

 private:
  struct Version {
    TablePath table;
    uint64_t incarnation = 0;
    uint32_t version = 0;
    friend auto operator<=>(const Version&, const Version&) = default;
  };

  const SinkTableKey key_;
  const uint64_t generation_;
  const EvolvedSchemaPtr evolved_;
  const std::map<TablePath, EvolvedSchemaPtr> by_source_;
  const ProjectionPolicy policy_;
  std::map<Version, std::unique_ptr<const Projection>> projections_;
  const TableSchema* last_schema_ = nullptr;  // batches come in runs of one schema
  TableSchemaPtr last_schema_owner_;
  const Projection* last_projection_ = nullptr;
};
using TableEpochPtr = std::shared_ptr<TableEpoch>;

}  // namespace driftless
