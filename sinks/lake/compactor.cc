#include "sinks/lake/compactor.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace driftless::lake {
namespace {

// Lower than the others' by a weight of three, not more: where the system does not let a thread
// take its priority back (RLIMIT_NICE), whoever waits for it must not wait for ever.
constexpr int kLowPriority = 5;

// A Linux thread has a nice value of its own (setpriority(2), "C library/kernel differences").
void SetNice(int thread_id, int nice) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(thread_id), nice);
}

}  // namespace

Compactor::Compactor(Compact compact) : compact_(std::move(compact)), thread_([this] { Run(); }) {}

Compactor::~Compactor() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    Hurry();
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

void Compactor::Finish(const TablePath& table) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (closed_ || paused_.contains(table)) return;
  std::erase(waiting_, table);
  waiting_.push_front(table);
  ++hurried_;
  Hurry();
  changed_.notify_all();
  // What runs now may have begun before the caller's files were there.
  const bool runs = running_ != nullptr && *running_ == table;
  const uint64_t wanted = ended_[table] + (runs ? 2 : 1);
  changed_.wait(lock,
                [&] { return closed_ || paused_.contains(table) || ended_[table] >= wanted; });
  --hurried_;
}

void Compactor::Hurry() {
  if (running_ != nullptr) SetNice(thread_id_, getpriority(PRIO_PROCESS, 0));
}

void Compactor::Run() {
  const int own = gettid();
  const int usual = getpriority(PRIO_PROCESS, 0);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (closed_) return;
    const TablePath table = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = &table;
    thread_id_ = own;
    stop_ = false;
    SetNice(own, hurried_ > 0 ? usual : std::min(usual + kLowPriority, 19));
    lock.unlock();
    compact_(table, stop_);
    lock.lock();
    running_ = nullptr;
    ++ended_[table];
    changed_.notify_all();
  }
}

Compactor::Pause::Pause(Compactor* compactor, const TablePath& table)
    : compactor_(compactor), table_(table) {
  if (compactor_ == nullptr) return;
  std::unique_lock<std::mutex> lock(compactor_->mutex_);
  compactor_->paused_.insert(table_);
  std::erase(compactor_->waiting_, table_);
  compactor_->changed_.notify_all();  // nobody waits for what is not going to happen
  const auto is_running = [this] {
    return compactor_->running_ != nullptr && *compactor_->running_ == table_;
  };
  if (is_running()) {
    compactor_->Hurry();
    compactor_->stop_ = true;
  }
  compactor_->changed_.wait(lock, [&] { return !is_running(); });
}

Compactor::Pause::~Pause() {
  if (compactor_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(compactor_->mutex_);
  compactor_->paused_.erase(compactor_->paused_.find(table_));
}

}  // namespace driftless::lake
