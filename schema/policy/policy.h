#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/events/schema_change.h"

namespace driftless {

// `pipeline.schema.change.behavior`.
enum class Behavior : uint8_t { kLenient, kEvolve, kTryEvolve, kIgnore, kException };
enum class LenientStyle : uint8_t { kMatrix, kFlinkCdc };

std::string_view ToString(Behavior behavior);
std::optional<Behavior> ParseBehavior(std::string_view text);  // ignores case

// The policy's verdicts, section 2.
enum class VerdictKind : uint8_t { kApply, kRewrite, kSkip, kIgnore, kHold, kFail };
std::string_view ToString(VerdictKind kind);
std::optional<VerdictKind> ParseVerdictKind(std::string_view text);  // exact letters

// What was decided about one part for one sink table. Data, never an error.
struct Verdict {
  VerdictKind kind = VerdictKind::kFail;
  std::string reason;  // in words, for people
  std::string rule;    // which rule decided: "behavior LENIENT", "rule 2 (line 14)", "exclude list"
  std::string cell;    // "fluss/drop.column = skip"; empty where no cell was looked at
  std::vector<std::string> rewrites;  // kRewrite: "appended at the end", ...
  std::string rows;                   // what happens to rows, in words; may be empty
  bool rows_may_stop = false;
  bool never = false;  // a skip at INFO, without divergence
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// One entry of `pipeline.schema.change.rules`. Unset members match everything. Specificity decides:
// column > tag > family > exact table > pattern; among equals the first.
struct PolicyRule {
  std::string text;  // as the user wrote it, with its line: shown as Verdict::rule
  std::string sink;  // sink name; empty: every sink
  std::function<bool(const TablePath& sink_table)> table;  // null: every table
  bool table_is_exact = false;
  std::set<EventKind> events;  // empty: every event
  bool events_are_family = false;
  std::string column;  // empty: every column
  std::optional<Behavior> behavior;
  std::optional<VerdictKind> verdict;
};

// Every event that include and exclude lists know.
std::set<EventKind> AllEvents();

enum class DropSkip : uint8_t { kNull, kKeep };
enum class RenameSkip : uint8_t { kFollow, kNull };
// What becomes of a value that does not fit (policy, section 4). Key, partition and bucket columns
// always fail.
enum class OnCastFailure : uint8_t { kFail, kNull, kDeadLetter };
enum class OnNullViolation : uint8_t { kFail, kDeadLetter, kDefaultValue };
// What becomes of a value that the source did not send and the before image does not have either
// (architecture, section 5). Sinks with partial updates leave their own value and never ask.
enum class OnAbsent : uint8_t {
  kFail,
  kLookup,  // the sink reads its own value: the projected column keeps the absent marks
  kNull,    // counted as a divergence
};
// `table.rename`: what a plain rename to a captured name means (section 9).
enum class TableRename : uint8_t { kNewTable, kFollow };

// The whole policy of one sink, defaults resolved.
struct SinkPolicy {
  Behavior behavior = Behavior::kLenient;
  LenientStyle lenient_style = LenientStyle::kMatrix;
  std::set<EventKind> accepted = AllEvents();  // after include and exclude lists
  bool has_exclude_list = false;
  std::vector<PolicyRule> rules;
  std::set<EventKind> approval;  // events that are held for approve / reject
  int64_t approval_timeout_ms = 12LL * 3600 * 1000;
  bool approval_timeout_rejects = false;  // else it fails
  std::set<std::string> extensions;       // capability.extensions
  std::optional<DropSkip> drop_skip;
  RenameSkip rename_skip = RenameSkip::kFollow;
  bool create_relaxed = false;                       // create.nullability: relaxed
  std::optional<OnCastFailure> on_cast_failure;      // none: see CastFailure
  std::optional<OnNullViolation> on_null_violation;  // none: see NullViolation
  TableRename table_rename = TableRename::kNewTable;
};

// The options as they stand under a behaviour: the defaults of section 4 where the user gave none.
OnCastFailure CastFailure(const SinkPolicy& policy, Behavior behavior);
OnNullViolation NullViolation(const SinkPolicy& policy, Behavior behavior);

// The families and tags that include and exclude lists know. Returns nullopt for an unknown word.
std::optional<std::set<EventKind>> EventsNamed(std::string_view tag_or_family);
// Every word that EventsNamed knows, for suggestions.
const std::vector<std::string_view>& EventWords();

}  // namespace driftless
