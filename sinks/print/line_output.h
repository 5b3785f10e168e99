#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless {

// Where the print sink's lines go: one stream, shared by the writers of all tables. A whole batch
// is handed over at once, so that there is one lock per batch and lines never interleave.
class LineOutput {
 public:
  enum class Stream : uint8_t { kStandardOutput, kStandardError };
  explicit LineOutput(Stream stream);
  // Appends to the file. Errors: kPermission, kNotFound.
  static Result<std::unique_ptr<LineOutput>> OpenFile(const std::string& path);
  ~LineOutput();
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;

  // Writes and flushes. Errors: kResourceExhausted when the disk is full or the pipe is closed.
  Result<void> Write(std::string_view lines);
  // Brings a file's lines to the disk; does nothing for a screen.
  Result<void> Sync();

 private:
  LineOutput(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}

  std::mutex mutex_;
  std::FILE* file_;
  std::string name_;  // for errors; empty for a stream of the process
};

}  // namespace driftless
