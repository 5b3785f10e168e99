#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/events/schema_change.h"
#include "schema/policy/policy.h"

namespace driftless {

// One sink table of the pipeline: the unit that decides, waits and commits for itself.
struct SinkTableKey {
  std::string sink;              // the sink's name in the pipeline
  TablePath table;               // at the sink
  std::string ToString() const;  // "lake: shop.orders"
  friend auto operator<=>(const SinkTableKey&, const SinkTableKey&) = default;
};

// Names a decision to people: `driftless approve 17`. Counts up per pipeline.
using DecisionId = uint64_t;

enum class AuditPhase : uint8_t { kIntent, kOutcome };
enum class AuditResult : uint8_t {
  kPending,  // intent only
  kDone,
  kRefused,  // the sink said no
  kSkipped,  // nothing was to be done
  kHeld,
  kRejected,
  kFailed,
  kSuperseded,  // decided again later
};
std::string_view ToString(AuditPhase phase);
std::string_view ToString(AuditResult result);

// One line of the audit log: one part, one sink table, one phase. The JSON names are an interface:
// docs in config/reference/audit.md.
struct AuditRecord {
  DecisionId id = 0;
  int64_t time_ms = 0;
  AuditPhase phase = AuditPhase::kIntent;
  std::string statement;
  TablePath source_table;
  Point point;
  std::string position;  // the source's own words for the point: file and line, binlog position
  uint32_t part = 0;
  EventKind event = EventKind::kCreateTable;
  bool is_unclear = false;  // the statement as a whole was not understood: there is no event
  bool is_unseen = false;   // rows changed without row events (policy, section 11): no event either
  std::string detail;       // Describe(change)
  SinkTableKey sink;
  std::string sink_type;
  Behavior behavior = Behavior::kLenient;
  Verdict verdict;
  std::vector<std::string> actions;  // Step::action of the plan
  AuditResult result = AuditResult::kPending;
  std::string message;  // the sink's words, a person's name, a file
};

// The event's tag, kUnclearTag or kUnseenTag.
std::string_view EventText(const AuditRecord& record);
inline constexpr std::string_view kUnclearTag = "unclear.statement";
inline constexpr std::string_view kUnseenTag = "rows.without.events";
// Stands for the sink in records that concern every sink: of an unclear statement.
inline constexpr std::string_view kEverySink = "*";

// A standing difference between source and sink that a verdict caused. Visible until it is gone.
struct Divergence {
  uint64_t id = 0;  // set by the store
  SinkTableKey sink;
  ColumnId column = 0;      // 0: the table as a whole
  std::string column_name;  // at the source, when it began
  EventKind event = EventKind::kAddColumn;
  std::string text;  // "column qty is not at the sink; its values are not written"
  // It concerns rows that are there already, and later rows are right: it stays until a resync or
  // until somebody acknowledges it.
  bool of_old_rows = false;
  DecisionId cause = 0;
  int64_t since_ms = 0;
  int64_t rows = 0;  // rows concerned so far, where that is counted
  std::optional<int64_t> ended_ms;
  std::string ended_by;  // "drop.column of qty", "acknowledged"
};

}  // namespace driftless
