#include "pipeline/runtime/parking.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "schema/base/check.h"

namespace driftless {
namespace {

int64_t BytesOf(const ParkedItem& item) {
  const auto* batch = std::get_if<BatchItem>(&item);
  return batch == nullptr ? 1024 : static_cast<int64_t>(batch->batch->charged_bytes());
}

}  // namespace

std::string ParkingSpace::PathOf(uint64_t segment) const {
  return fmt::format("{}/parked-{}.seg", folder_, segment);
}

void ParkingSpace::Remove(const ParkedSegment& segment) {
  std::error_code ignored;  // a file that stays is removed at the next start
  std::filesystem::remove(PathOf(segment.number), ignored);
  AddDisk(-segment.bytes);
}

void ParkingSpace::RemoveStrangers(const std::vector<ParkedTable>& known) {
  std::set<std::string> keep;
  for (const ParkedTable& table : known) {
    for (const ParkedSegment& segment : table.segments) keep.insert(PathOf(segment.number));
  }
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("parked-") && name.ends_with(".seg") &&
        !keep.contains(entry.path().string())) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

ParkingLot::~ParkingLot() {
  space_->AddMemory(-memory_bytes_);
  for (const ParkedSegment& segment : segments_) space_->AddDisk(-segment.bytes);
}

void ParkingLot::Restore(std::vector<ParkedSegment> segments) {
  DRIFTLESS_CHECK(empty());
  for (ParkedSegment& segment : segments) {
    items_ += segment.items;
    space_->AddDisk(segment.bytes);
    segments_.push_back(segment);
  }
}

Result<void> ParkingLot::Append(ParkedItem item) {
  if (on_disk()) {
    DRIFTLESS_TRY(AppendToDisk(item));
    ++items_;
    return {};
  }
  memory_bytes_ += BytesOf(item);
  space_->AddMemory(BytesOf(item));
  memory_.push_back(std::move(item));
  ++items_;
  return space_->MemoryIsFull() ? Spill() : Result<void>();
}

Result<void> ParkingLot::Spill() {
  while (!memory_.empty()) {
    DRIFTLESS_TRY(AppendToDisk(memory_.front()));
    memory_.pop_front();
  }
  space_->AddMemory(-memory_bytes_);
  memory_bytes_ = 0;
  return {};
}

// A restored segment is never appended to: the writer of a new process begins a new one.
Result<void> ParkingLot::AppendToDisk(const ParkedItem& item) {
  if (writer_.has_value() && writer_->bytes() >= kSegmentBytes) {
    DRIFTLESS_TRY(writer_->Sync());
    writer_.reset();
  }
  if (!writer_.has_value()) {
    const uint64_t number = space_->NewSegment();
    DRIFTLESS_ASSIGN_OR_RETURN(writer_, SegmentWriter::Create(space_->PathOf(number)));
    segments_.push_back({number, 0, 0});
  }
  DRIFTLESS_TRY(writer_->Append(item));
  ParkedSegment& segment = segments_.back();
  space_->AddDisk(writer_->bytes() - segment.bytes);
  segment.bytes = writer_->bytes();
  ++segment.items;
  return {};
}

Result<const ParkedItem*> ParkingLot::Front() {
  DRIFTLESS_CHECK(!empty());
  if (!on_disk()) return static_cast<const ParkedItem*>(&memory_.front());
  if (front_.has_value()) return static_cast<const ParkedItem*>(&*front_);
  const ParkedSegment& segment = segments_.front();
  if (segments_.size() == 1 && writer_.has_value()) {
    DRIFTLESS_TRY(writer_->Flush());  // the reader sees what was appended
  }
  if (!reader_.has_value()) {
    DRIFTLESS_ASSIGN_OR_RETURN(reader_,
                               SegmentReader::Open(space_->PathOf(segment.number), segment.bytes));
  }
  reader_->ExtendTo(segment.bytes);
  DRIFTLESS_ASSIGN_OR_RETURN(ParkedItem item, reader_->Next());
  if (auto* batch = std::get_if<BatchItem>(&item)) {
    batch->batch = Charge(std::move(batch->batch), space_->budget());
  }
  front_ = std::move(item);
  return static_cast<const ParkedItem*>(&*front_);
}

void ParkingLot::PopFront() {
  DRIFTLESS_CHECK(!empty());
  --items_;
  if (!on_disk()) {
    const int64_t bytes = BytesOf(memory_.front());
    memory_.pop_front();
    memory_bytes_ -= bytes;
    space_->AddMemory(-bytes);
    return;
  }
  front_.reset();
  if (++front_read_ < segments_.front().items) return;
  // The last segment is retired too, so that an empty lot starts in memory again.
  if (segments_.size() == 1) writer_.reset();
  retired_.push_back(segments_.front());
  segments_.pop_front();
  reader_.reset();
  front_read_ = 0;
}

void ParkingLot::Abandon() {
  space_->AddMemory(-memory_bytes_);
  memory_bytes_ = 0;
  memory_.clear();
  front_.reset();
}

Result<std::vector<ParkedSegment>> ParkingLot::Sync() {
  if (writer_.has_value()) DRIFTLESS_TRY(writer_->Sync());
  return std::vector<ParkedSegment>(segments_.begin(), segments_.end());
}

}  // namespace driftless
