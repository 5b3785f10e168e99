#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "pipeline/sources/mysql/connection.h"
#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/source.h"

namespace driftless::mysql {

// What /metrics shows of the log's stream: events by type, the place in the log, and how many bytes
// of log the server has behind it. One thread.
class LogMeter {
 public:
  LogMeter(ConnectionOptions options, SourceMetrics* metrics)
      : options_(std::move(options)), metrics_(metrics) {}

  // An event as the server sent it.
  void Count(std::string_view event) {
    constexpr size_t kTypeAt = 4;  // behind the timestamp
    if (event.size() > kTypeAt) ++counts_[static_cast<uint8_t>(event[kTypeAt])];
  }
  // At most once a second; asks the server for its files every ten. `now_us`: monotonic.
  void Tell(const LogPosition& position, int64_t now_us);

 private:
  Result<double> BytesBehind(const LogPosition& position);

  const ConnectionOptions options_;
  SourceMetrics* const metrics_;
  std::array<int64_t, 256> counts_{};
  std::unique_ptr<Connection> connection_;
  int64_t told_us_ = 0;
  int64_t asked_us_ = 0;
};

}  // namespace driftless::mysql
