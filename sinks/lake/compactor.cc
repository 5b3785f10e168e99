#include "sinks/lake/compactor.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace driftless::lake {

Compactor::Compactor(Compact compact) : compact_(std::move(compact)), thread_([this] { Run(); }) {}

Compactor::~Compactor() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Compactor::Enqueue(const TablePath& table) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (paused_.contains(table)) return;
  if (std::find(waiting_.begin(), waiting_.end(), table) != waiting_.end()) return;
  waiting_.push_back(table);
  changed_.notify_all();
}

void Compactor::Run() {
  // A Linux thread has a nice value of its own (setpriority(2), "C library/kernel differences").
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (closed_) return;
    const TablePath table = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = &table;
    stop_ = false;
    lock.unlock();
    compact_(table, stop_);
    lock.lock();
    running_ = nullptr;
    changed_.notify_all();
  }
}

Compactor::Pause::Pause(Compactor* compactor, const TablePath& table)
    : compactor_(compactor), table_(table) {
  if (compactor_ == nullptr) return;
  std::unique_lock<std::mutex> lock(compactor_->mutex_);
  compactor_->paused_.insert(table_);
  std::erase(compactor_->waiting_, table_);
  const auto is_running = [this] {
    return compactor_->running_ != nullptr && *compactor_->running_ == table_;
  };
  if (is_running()) compactor_->stop_ = true;
  compactor_->changed_.wait(lock, [&] { return !is_running(); });
}

Compactor::Pause::~Pause() {
  if (compactor_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(compactor_->mutex_);
  compactor_->paused_.erase(compactor_->paused_.find(table_));
}

}  // namespace driftless::lake
