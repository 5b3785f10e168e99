#include "sinks/print/line_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace driftless {
namespace {

Error IoError(const std::string& name, std::string_view what) {
  const int code = errno;
  const ErrorKind kind = code == EACCES || code == EROFS ? ErrorKind::kPermission
                         : code == ENOENT                ? ErrorKind::kNotFound
                                                         : ErrorKind::kResourceExhausted;
  return MakeError(kind, "cannot " + std::string(what) + " " +
                             (name.empty() ? std::string("the output of sink print") : name) +
                             ": " + std::strerror(code));
}

}  // namespace

LineOutput::LineOutput(Stream stream) : file_(stream == Stream::kStandardError ? stderr : stdout) {}

Result<std::unique_ptr<LineOutput>> LineOutput::OpenFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) {
    return IoError(path, "open").Hint("Check the sink's option \"file\": its folder must exist.");
  }
  return std::unique_ptr<LineOutput>(new LineOutput(file, path));
}

LineOutput::~LineOutput() {
  if (!name_.empty()) std::fclose(file_);
}

Result<void> LineOutput::Write(std::string_view lines) {
  const std::lock_guard lock(mutex_);
  if (std::fwrite(lines.data(), 1, lines.size(), file_) != lines.size() ||
      std::fflush(file_) != 0) {
    return IoError(name_, "write to");
  }
  return {};
}

Result<void> LineOutput::Sync() {
  const std::lock_guard lock(mutex_);
  if (!name_.empty() && ::fdatasync(::fileno(file_)) != 0) return IoError(name_, "sync");
  return {};
}

}  // namespace driftless
