#pragma once

#include <set>
#include <string>
#include <string_view>

#include "sinks/api/sink.h"

namespace driftless {

// Versions by their numbers: "3.3.1-857dd73" is older than "3.3.2", and "3.3.2" than "3.10". What
// is no number ends a version.
bool IsOlderVersion(std::string_view version, std::string_view than);

// Whether the server is new enough for what the user switched on by `capability.extensions`.
// Servers that do not tell their version have all. Errors: kInvalidConfig, which names both.
Result<void> CheckExtensions(const CapabilityMatrix& matrix,
                             const std::set<std::string>& extensions, const SinkInfo& info);

}  // namespace driftless
