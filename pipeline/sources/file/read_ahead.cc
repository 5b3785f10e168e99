#include "pipeline/sources/file/read_ahead.h"

#include <utility>

#include "schema/base/check.h"

namespace driftless {

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void ReadAhead::Begin(Work work) {
  DRIFTLESS_CHECK(!has_begun_);
  has_begun_ = true;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_ = std::move(work);
    changed_.notify_all();
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

Result<size_t> ReadAhead::Wait() {
  DRIFTLESS_CHECK(has_begun_);
  has_begun_ = false;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return got_.has_value(); });
  return *std::exchange(got_, std::nullopt);
}

void ReadAhead::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || work_ != nullptr; });
    if (closed_) return;
    const Work work = std::exchange(work_, nullptr);
    lock.unlock();
    Result<size_t> got = work();
    lock.lock();
    got_ = std::move(got);
    changed_.notify_all();
  }
}

}  // namespace driftless
