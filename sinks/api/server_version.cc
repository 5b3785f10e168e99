#include "sinks/api/server_version.h"

#include <charconv>
#include <vector>

namespace driftless {
namespace {

std::vector<int> Numbers(std::string_view text) {
  std::vector<int> parts;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) break;
    parts.push_back(number);
    if (stop == end || *stop != '.') break;
    at = stop + 1;
  }
  return parts;
}

}  // namespace

bool IsOlderVersion(std::string_view version, std::string_view than) {
  return Numbers(version) < Numbers(than);
}

Result<void> CheckExtensions(const CapabilityMatrix& matrix,
                             const std::set<std::string>& extensions, const SinkInfo& info) {
  if (info.version.empty()) return {};
  for (const Extension& extension : matrix.extensions) {
    if (extensions.count(std::string(extension.event)) == 0) continue;
    if (!IsOlderVersion(info.version, extension.min_version)) continue;
    return MakeError(ErrorKind::kInvalidConfig,
                     "capability.extensions: " + std::string(extension.event) + " needs " +
                         info.product + " " + std::string(extension.min_version) +
                         ", and the server is " + info.version)
        .Hint("Leave the extension out, or bring the server to that version.");
  }
  return {};
}

}  // namespace driftless
