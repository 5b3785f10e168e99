#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "pipeline/runtime/inlet.h"

// What a source sends as a whole (a chunk of a snapshot) goes into one cut: read again after a
// crash its rows would not be the same, and nothing could tell which of them are there.
namespace driftless {

void Inlet::TakeUnbroken(const UnbrokenItem& item) {
  sends_unbroken_ = true;
  // A restart may go on behind the last row of a whole, in front of its end.
  unbroken_ = std::max(unbroken_ + (item.begins ? 1 : -1), 0);
  if (unbroken_ == 0) is_broken_ = false;
}

// Rows that leave a lot are in the cut one by one, so the whole lot comes first.
bool Inlet::IsWithinUnbroken() const {
  if (is_broken_) return false;
  return unbroken_ > 0 ||
         std::any_of(draining_.begin(), draining_.end(),
                     [&](const TablePath& path) { return tables_.at(path)->parks_unbroken; });
}

// The control thread has been told; what comes meanwhile may be the next beginning.
bool Inlet::WaitsForCheckpoint() const {
  return checkpoint_deferred_ && unbroken_ == 0 && !idle_round_.has_value();
}

void Inlet::TellWhenCheckpointIsPossible() {
  if (!checkpoint_deferred_ || checkpoint_told_ || IsWithinUnbroken()) return;
  checkpoint_told_ = true;
  context_.checkpoint_possible();
}

Result<bool> Inlet::MayTakeCheckpoint(CutId cut) {
  checkpoint_told_ = false;
  checkpoint_deferred_ = IsWithinUnbroken();
  if (checkpoint_deferred_) {
    BarrierTaken taken;
    taken.cut = cut;
    taken.deferred = true;
    context_.barrier(std::move(taken));
    return false;
  }
  if (is_broken_) {
    spdlog::warn(
        "sink {}: memory is short, so a checkpoint is made within a chunk of a snapshot; after a "
        "crash a table without primary key may hold rows twice",
        context_.sink_name);
  }
  // What waits for a schema change counts as received once it is on disk: else the source would go
  // back in front of it, for the other tables too.
  for (auto& [path, table] : tables_) {
    if (!sends_unbroken_ || table->lot.empty() || table->lot.on_disk()) continue;
    DRIFTLESS_TRY(table->lot.Spill());
    ReportParked(*table);
  }
  return true;
}

}  // namespace driftless
