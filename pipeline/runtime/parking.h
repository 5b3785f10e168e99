#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/runtime/parking_segment.h"
#include "pipeline/state/state_store.h"

namespace driftless {

// The room that all parking lots of a pipeline share. Thread-safe.
class ParkingSpace {
 public:
  ParkingSpace(std::string folder, uint64_t next_segment, int64_t memory_bytes_max,
               int64_t disk_bytes_max, MemoryBudget* budget)
      : folder_(std::move(folder)),
        memory_bytes_max_(memory_bytes_max),
        disk_bytes_max_(disk_bytes_max),
        budget_(budget),
        next_segment_(next_segment) {}

  std::string PathOf(uint64_t segment) const;
  uint64_t NewSegment() { return next_segment_.fetch_add(1); }
  MemoryBudget* budget() const { return budget_; }

  void AddMemory(int64_t bytes) { memory_bytes_ += bytes; }
  void AddDisk(int64_t bytes) { disk_bytes_ += bytes; }
  int64_t memory_bytes() const { return memory_bytes_; }
  int64_t disk_bytes() const { return disk_bytes_; }
  int64_t disk_bytes_max() const { return disk_bytes_max_; }
  bool MemoryIsFull() const { return memory_bytes_ > memory_bytes_max_ || budget_->IsOver(); }
  bool DiskIsFull() const { return disk_bytes_ >= disk_bytes_max_; }
  // Removes a segment that no recorded position needs any more.
  void Remove(const ParkedSegment& segment);
  // Removes files of segments that the state does not know: a crash left them. Before any thread.
  void RemoveStrangers(const std::vector<ParkedTable>& known);

 private:
  const std::string folder_;
  const int64_t memory_bytes_max_;
  const int64_t disk_bytes_max_;
  MemoryBudget* const budget_;
  std::atomic<uint64_t> next_segment_;
  std::atomic<int64_t> memory_bytes_{0};
  std::atomic<int64_t> disk_bytes_{0};
};

// The items of one sink table that wait, in order: in memory, or all of them on disk. One thread.
class ParkingLot {
 public:
  static constexpr int64_t kSegmentBytes = 64 << 20;

  explicit ParkingLot(ParkingSpace* space) : space_(space) {}
  ~ParkingLot();
  ParkingLot(const ParkingLot&) = delete;
  ParkingLot& operator=(const ParkingLot&) = delete;

  // Takes over what a former process left.
  void Restore(std::vector<ParkedSegment> segments);

  bool empty() const { return items_ == 0; }
  int64_t items() const { return items_; }
  bool on_disk() const { return !segments_.empty(); }
  int64_t memory_bytes() const { return memory_bytes_; }

  // Spills when the space in memory is used up. Errors: kResourceExhausted, kPermission.
  Result<void> Append(ParkedItem item);
  Result<void> Spill();
  // The first item, loaded where need be; the lot must not be empty. Valid until PopFront.
  Result<const ParkedItem*> Front();
  void PopFront();

  // Gives the memory back and leaves the disk as it is: nobody reads this lot any more.
  void Abandon();

  // Makes what is on disk durable and returns the segments that are still needed.
  Result<std::vector<ParkedSegment>> Sync();
  // Segments that have been read to their end since the last call: to be removed once a position
  // behind them is recorded.
  std::vector<ParkedSegment> TakeRetired() { return std::exchange(retired_, {}); }

 private:
  Result<void> AppendToDisk(const ParkedItem& item);

  ParkingSpace* const space_;
  int64_t items_ = 0;
  int64_t memory_bytes_ = 0;
  std::deque<ParkedItem> memory_;        // empty while on disk, but for the loaded front
  std::deque<ParkedSegment> segments_;   // the last one may still grow
  int64_t front_read_ = 0;               // items of the first segment that were popped
  std::optional<SegmentReader> reader_;  // of the first segment
  std::optional<SegmentWriter> writer_;  // of the last one
  std::optional<ParkedItem> front_;      // read, not popped
  std::vector<ParkedSegment> retired_;
};

}  // namespace driftless
