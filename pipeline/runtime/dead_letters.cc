#include "pipeline/runtime/dead_letters.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "schema/base/json_writer.h"

namespace driftless {

DeadLetters::~DeadLetters() {
  if (file_ >= 0) close(file_);
}

Result<void> DeadLetters::Add(std::string_view stream, const Point& point,
                              std::string_view position, std::string_view record,
                              const Error& error, Durable durable) {
  std::string line;
  JsonWriter json(&line);
  json.BeginObject().Key("time_ms").Int(clock_->NowMillis()).Key("stream").String(stream);
  json.Key("position").String(position).Key("point").String(point.ToString());
  json.Key("error").String(error.ToString()).Key("record").Bytes(record).EndObject();
  line += '\n';
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_ < 0) {
    file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file_ < 0) return Failed("open");
  }
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("write");
    rest.remove_prefix(static_cast<size_t>(written));
  }
  if (durable == Durable::kNow && fdatasync(file_) != 0) return Failed("sync");
  return {};
}

Result<void> DeadLetters::Sync() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_ >= 0 && fdatasync(file_) != 0) return Failed("sync");
  return {};
}

Error DeadLetters::Failed(const char* doing) const {
  return MakeError(errno == EACCES || errno == EROFS ? ErrorKind::kPermission
                                                     : ErrorKind::kResourceExhausted,
                   fmt::format("cannot {} {}: {}", doing, path_, std::strerror(errno)))
      .Hint("A bad record is not passed over before its dead letter is safe.");
}

}  // namespace driftless
