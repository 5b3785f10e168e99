#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "schema/base/result.h"

namespace driftless {

// Threads that may block on a sink. Tasks with one key run one after the other, in order; tasks of
// different keys run beside each other.
class IoPool {
 public:
  // `give_up_ms`: how long Retry tries; negative: for ever.
  explicit IoPool(int threads, int64_t give_up_ms = -1);
  // Stop, then waits for the running tasks.
  ~IoPool();
  IoPool(const IoPool&) = delete;
  IoPool& operator=(const IoPool&) = delete;

  void Submit(const std::string& key, std::function<void()> task);
  // Tasks that have not begun are dropped, waits between retries end at once.
  void Stop();
  void Join();  // after Stop: the last task has ended

  // Calls `call` until it succeeds or fails with anything but kUnavailable and kTimedOut, with a
  // growing pause between (100 ms to 30 s). kCancelled after Stop, the last error after
  // `give_up_ms`. `on_retry` hears every error before its pause.
  Result<void> Retry(const std::function<Result<void>()>& call,
                     const std::function<void(const Error&)>& on_retry);

 private:
  void Work();

  const std::chrono::milliseconds give_up_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable stopped_;  // its own, so that a pause never takes a worker's wake-up
  std::map<std::string, std::deque<std::function<void()>>> waiting_;  // behind a running task
  std::deque<std::pair<std::string, std::function<void()>>> ready_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace driftless
