#include "pipeline/sources/mysql/log_meter.h"

#include <utility>

#include "pipeline/sources/mysql/binlog/binlog_event.h"

namespace driftless::mysql {

void LogMeter::Tell(const LogPosition& position, int64_t now_us) {
  constexpr int64_t kSecondUs = 1'000'000;
  if (metrics_ == nullptr || now_us - told_us_ < kSecondUs) return;
  told_us_ = now_us;
  for (size_t type = 0; type < counts_.size(); ++type) {
    const int64_t events = std::exchange(counts_[type], 0);
    if (events > 0) {
      metrics_->AddEvents("binlog", ToString(static_cast<EventType>(type)), events);
    }
  }
  metrics_->SetGauge("binlog", "log_file", static_cast<double>(LogFileNumber(position.file)));
  metrics_->SetGauge("binlog", "log_offset", static_cast<double>(position.offset));
  if (now_us - asked_us_ < 10 * kSecondUs) return;
  asked_us_ = now_us;
  // The log's own connection tells of a server that is away.
  if (const Result<double> behind = BytesBehind(position)) {
    metrics_->SetGauge("binlog", "lag_bytes", *behind);
  } else {
    connection_.reset();
  }
}

Result<double> LogMeter::BytesBehind(const LogPosition& position) {
  if (connection_ == nullptr) {
    DRIFTLESS_ASSIGN_OR_RETURN(connection_, Connection::Open(options_));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<LogFile> files, ListLogFiles(connection_.get()));
  const uint64_t ours = LogFileNumber(position.file);
  uint64_t bytes = 0;
  for (const LogFile& file : files) {
    const uint64_t number = LogFileNumber(file.name);
    if (number > ours) bytes += file.bytes;
    if (number == ours && file.bytes > position.offset) bytes += file.bytes - position.offset;
  }
  return static_cast<double>(bytes);
}

}  // namespace driftless::mysql
