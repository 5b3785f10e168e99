#pragma once

#include <atomic>
#include <functional>
#include <shared_mutex>

#include "sinks/api/sink.h"
#include "sinks/iceberg/catalog.h"

namespace driftless::iceberg {

// The cut number in the names of files that maintenance writes: leftovers once no snapshot names
// them.
inline constexpr CutId kMaintenanceCut = INT64_MAX;

// What the maintenance of one table works with.
struct MaintenanceContext {
  Catalog* catalog = nullptr;
  const Clock* clock = nullptr;
  CommitIdentity identity;
  // Held alone while maintenance commits, shared while rows are committed: the two would only make
  // each other try again.
  std::shared_mutex* commits = nullptr;
  // Looked at between batches: when it is set, maintenance returns soon and has changed nothing.
  const std::atomic<bool>* stop = nullptr;

  bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

}  // namespace driftless::iceberg
