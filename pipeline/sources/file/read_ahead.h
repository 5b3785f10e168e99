#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "schema/base/result.h"

namespace driftless {

// Makes the next piece of a stream ready on a thread of its own while the caller works on the one
// before. One piece at a time, one caller.
class ReadAhead {
 public:
  // Gives how many bytes there are.
  using Work = std::function<Result<size_t>()>;

  ReadAhead() = default;
  ~ReadAhead();  // waits for what has begun
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // What `work` touches is its own until Wait returns.
  void Begin(Work work);
  bool has_begun() const { return has_begun_; }
  Result<size_t> Wait();

 private:
  void Run();

  bool has_begun_ = false;  // the caller's
  std::mutex mutex_;
  std::condition_variable changed_;
  Work work_;  // guarded, as the next two
  std::optional<Result<size_t>> got_;
  bool closed_ = false;
  std::thread thread_;  // from the first piece on
};

}  // namespace driftless
