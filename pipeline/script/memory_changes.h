#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/script/memory_sink.h"

namespace driftless {

// One change that waits for its commit inside a token.
struct MemoryChange {
  bool is_delete = false;  // `row` is the row as it was
  TextRow row;
};

std::string EncodeChanges(const std::vector<MemoryChange>& changes);
// Errors: kCorrupt.
Result<std::vector<MemoryChange>> DecodeChanges(std::string_view bytes);

}  // namespace driftless
