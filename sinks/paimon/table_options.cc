#include "sinks/paimon/table_options.h"

#include <charconv>

#include "config/options/option.h"

namespace driftless::paimon {
namespace {

Result<int64_t> ParseCount(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    return MakeError(ErrorKind::kInvalidConfig, "\"" + std::string(text) + "\" is no number");
  }
  return number;
}

Result<void> Read(const PaimonSchema& schema, const std::string& key,
                  Result<int64_t> (*parse)(std::string_view), int64_t* value) {
  const auto found = schema.options.find(key);
  if (found == schema.options.end()) return {};
  Result<int64_t> parsed = parse(found->second);
  if (!parsed) return std::move(parsed).error().Context("table option " + key);
  *value = *parsed;
  return {};
}

}  // namespace

Result<TableOptions> ReadTableOptions(const PaimonSchema& schema) {
  TableOptions o;
  DRIFTLESS_TRY(Read(schema, "manifest.target-file-size", ParseByteSize, &o.manifest_target_bytes));
  DRIFTLESS_TRY(Read(schema, "manifest.merge-min-count", ParseCount, &o.manifest_merge_min_count));
  DRIFTLESS_TRY(Read(schema, "manifest.full-compaction-threshold-size", ParseByteSize,
                     &o.manifest_full_compaction_bytes));
  DRIFTLESS_TRY(Read(schema, "commit.max-retries", ParseCount, &o.commit_max_retries));
  DRIFTLESS_TRY(
      Read(schema, "commit.min-retry-wait", ParseDurationMs, &o.commit_min_retry_wait_ms));
  DRIFTLESS_TRY(
      Read(schema, "commit.max-retry-wait", ParseDurationMs, &o.commit_max_retry_wait_ms));
  DRIFTLESS_TRY(Read(schema, "snapshot.num-retained.min", ParseCount, &o.snapshots_retained_min));
  DRIFTLESS_TRY(Read(schema, "snapshot.num-retained.max", ParseCount, &o.snapshots_retained_max));
  DRIFTLESS_TRY(
      Read(schema, "snapshot.time-retained", ParseDurationMs, &o.snapshot_time_retained_ms));
  DRIFTLESS_TRY(Read(schema, "snapshot.expire.limit", ParseCount, &o.snapshot_expire_limit));
  if (o.snapshots_retained_min < 1 || o.snapshots_retained_max < o.snapshots_retained_min) {
    return MakeError(ErrorKind::kInvalidConfig,
                     "snapshot.num-retained.min must be 1 or more and at most "
                     "snapshot.num-retained.max");
  }
  o.manifest_compression = schema.Option("manifest.compression", "zstd");
  o.write_only = schema.Option("write-only", "false") == "true";
  for (const std::string_view key :
       {"changelog.num-retained.min", "changelog.num-retained.max", "changelog.time-retained"}) {
    if (schema.options.contains(std::string(key))) o.decoupled_changelog = true;
  }
  return o;
}

}  // namespace driftless::paimon
