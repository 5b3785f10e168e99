#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace driftless {

// What other threads ask the control thread to do. Posting never blocks.
class Mailbox {
 public:
  using Letter = std::function<void()>;

  void Post(Letter letter) {
    const std::lock_guard<std::mutex> lock(mutex_);
    letters_.push_back(std::move(letter));
    filled_.notify_one();
  }

  // Everything that has come, after at most `wait` for the first.
  std::vector<Letter> TakeAll(std::chrono::milliseconds wait) {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_.wait_for(lock, wait, [this] { return !letters_.empty(); });
    return std::exchange(letters_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<Letter> letters_;
};

}  // namespace driftless
