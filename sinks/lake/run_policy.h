#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace driftless::lake {

// When sorted runs are merged, in percent where a size is compared.
struct RunPolicy {
  int64_t trigger = 5;               // fewer runs are left alone
  int64_t size_amplification = 200;  // newer runs against the oldest: beyond it, everything
  int64_t size_ratio = 1;            // how much larger the next run may be than all before it
};

// Universal compaction: how many of the newest runs to merge, given their sizes, newest first.
// Everything when the newer runs outgrow the oldest; else newer runs of like size; else as many as
// bring the number of runs down to the trigger. 0: nothing need be done.
size_t PickRuns(std::span<const int64_t> bytes, const RunPolicy& policy);

}  // namespace driftless::lake
