#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "schema/base/clock.h"
#include "schema/base/result.h"
#include "schema/events/point.h"

namespace driftless {

// The file of records that could not be decoded, and of rows that the policy keeps out of a sink:
// one JSON object a line with time, stream (or sink), position, point, error and the record itself.
// A record is durable here before any position moves past it; a replay after a crash may add it
// again, with the same point. Thread-safe.
class DeadLetters {
 public:
  DeadLetters(std::string path, const Clock* clock) : path_(std::move(path)), clock_(clock) {}
  ~DeadLetters();

  // kAtSync: whoever adds it calls Sync before a position moves past it.
  enum class Durable : uint8_t { kNow, kAtSync };
  // Errors: kResourceExhausted, kPermission.
  Result<void> Add(std::string_view stream, const Point& point, std::string_view position,
                   std::string_view record, const Error& error, Durable durable = Durable::kNow);
  Result<void> Sync();

 private:
  Error Failed(const char* doing) const;

  const std::string path_;
  const Clock* const clock_;
  std::mutex mutex_;
  int file_ = -1;  // opened by the first letter
};

}  // namespace driftless
