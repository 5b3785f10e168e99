#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace driftless {

// A queue that is bounded in bytes, many producers to one consumer. Beside the bounded items it
// carries commands: posting one never blocks, and commands are taken before items.
template <typename Item, typename Command>
class ByteQueue {
 public:
  struct Taken {
    std::optional<Command> command;  // at most one of the two
    std::optional<Item> item;
    bool closed = false;  // no more items will come, and none are left
  };
  enum class Want : uint8_t { kAll, kCommandsOnly };
  enum class Wait : uint8_t { kBlock, kPoll };

  explicit ByteQueue(int64_t max_bytes) : max_bytes_(max_bytes) {}

  // Blocks while the queue is full; an item larger than the bound is let in alone. False: closed.
  bool Push(Item item, int64_t bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    room_.wait(lock, [&] { return closed_ || bytes_ == 0 || bytes_ + bytes <= max_bytes_; });
    if (closed_) return false;
    bytes_ += bytes;
    items_.emplace_back(std::move(item), bytes);
    filled_.notify_one();
    return true;
  }

  void Post(Command command) {
    const std::lock_guard<std::mutex> lock(mutex_);
    commands_.push_back(std::move(command));
    filled_.notify_one();
  }

  Taken Take(Want want, Wait wait) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto ready = [&] {
      return !commands_.empty() || (want == Want::kAll && (closed_ || !items_.empty()));
    };
    if (wait == Wait::kBlock) filled_.wait(lock, ready);
    Taken taken;
    if (!commands_.empty()) {
      taken.command = std::move(commands_.front());
      commands_.pop_front();
    } else if (want == Want::kAll && !items_.empty()) {
      taken.item = std::move(items_.front().first);
      bytes_ -= items_.front().second;
      items_.pop_front();
      room_.notify_all();
    } else {
      taken.closed = closed_;
    }
    return taken;
  }

  // No more items are let in; those that are there are still taken.
  void Close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    room_.notify_all();
    filled_.notify_all();
  }

  // Closes and throws the items away.
  void Abort() {
    std::deque<std::pair<Item, int64_t>> dropped;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
      dropped.swap(items_);
      bytes_ = 0;
      room_.notify_all();
      filled_.notify_all();
    }
  }

  int64_t bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return bytes_;
  }
  bool empty() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return items_.empty();
  }

 private:
  const int64_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable filled_;
  std::deque<std::pair<Item, int64_t>> items_;
  std::deque<Command> commands_;
  int64_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace driftless
