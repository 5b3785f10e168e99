#pragma once

#include <string>
#include <vector>

#include "config/options/option.h"
#include "pipeline/sources/debezium/debezium_stream.h"

namespace driftless {

// What the user configured for `type: file`.
struct FileSourceOptions {
  std::vector<std::string> patterns;  // in reading order; each may be a file or a glob pattern
  bool follow = false;
  int64_t poll_interval_ms = 100;
  size_t line_bytes_max = 64 << 20;
  debezium::StreamOptions stream;
};

// Errors: kInvalidConfig.
Result<FileSourceOptions> ReadFileSourceOptions(const OptionValues& values);

}  // namespace driftless
