#include "pipeline/runtime/io_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace driftless {

IoPool::IoPool(int threads, int64_t give_up_ms) : give_up_(give_up_ms) {
  for (int i = 0; i < std::max(threads, 1); ++i) threads_.emplace_back([this] { Work(); });
}

IoPool::~IoPool() {
  Stop();
  Join();
}

void IoPool::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void IoPool::Submit(const std::string& key, std::function<void()> task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) return;
  const auto [it, is_free] = waiting_.try_emplace(key);
  if (is_free) {
    ready_.emplace_back(key, std::move(task));
    changed_.notify_one();
  } else {
    it->second.push_back(std::move(task));
  }
}

void IoPool::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopping_ = true;
  ready_.clear();
  waiting_.clear();
  changed_.notify_all();
  stopped_.notify_all();
}

void IoPool::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    if (stopping_) return;
    auto [key, task] = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it captured goes outside the lock
    lock.lock();
    const auto it = waiting_.find(key);
    if (it == waiting_.end()) continue;  // stopped meanwhile
    if (it->second.empty()) {
      waiting_.erase(it);
    } else {
      ready_.emplace_back(key, std::move(it->second.front()));
      it->second.pop_front();
      changed_.notify_one();
    }
  }
}

Result<void> IoPool::Retry(const std::function<Result<void>()>& call,
                           const std::function<void(const Error&)>& on_retry) {
  const auto began = std::chrono::steady_clock::now();
  std::chrono::milliseconds pause(100);
  while (true) {
    Result<void> result = call();
    if (result) return result;
    const ErrorKind kind = result.error().kind();
    if (kind != ErrorKind::kUnavailable && kind != ErrorKind::kTimedOut) return result;
    const bool gives_up = give_up_.count() >= 0;
    if (gives_up && std::chrono::steady_clock::now() - began >= give_up_) return result;
    on_retry(result.error());
    std::unique_lock<std::mutex> lock(mutex_);
    if (stopped_.wait_for(lock, pause, [this] { return stopping_; })) {
      return MakeError(ErrorKind::kCancelled, "the pipeline is stopping");
    }
    pause = std::min(pause * 2, std::chrono::milliseconds(30'000));
  }
}

}  // namespace driftless
