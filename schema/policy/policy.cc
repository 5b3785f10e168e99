#include "schema/policy/policy.h"

#include <array>

#include "schema/base/letter_case.h"

namespace driftless {
namespace {

struct BehaviorName {
  Behavior behavior;
  std::string_view name;
};
constexpr std::array<BehaviorName, 5> kBehaviors = {{{Behavior::kLenient, "LENIENT"},
                                                     {Behavior::kEvolve, "EVOLVE"},
                                                     {Behavior::kTryEvolve, "TRY_EVOLVE"},
                                                     {Behavior::kIgnore, "IGNORE"},
                                                     {Behavior::kException, "EXCEPTION"}}};

// The families of every event that include and exclude lists know: the policy's section 1.
// tighten.nullability never becomes an event, and the internal changes have no tag.
struct EventFamilies {
  EventKind kind;
  std::array<std::string_view, 3> families;
};
constexpr std::array<EventFamilies, 11> kFamilies = {{
    {EventKind::kCreateTable, {"create", "table", "all"}},
    {EventKind::kDropTable, {"drop", "table", "all"}},
    {EventKind::kTruncateTable, {"truncate", "table", "all"}},
    {EventKind::kAddColumn, {"add", "column", "all"}},
    {EventKind::kDropColumn, {"drop", "column", "all"}},
    {EventKind::kRenameColumn, {"rename", "column", "all"}},
    {EventKind::kAlterColumnType, {"alter", "column", "all"}},
    {EventKind::kRelaxNullability, {"alter", "column", "all"}},
    {EventKind::kAlterColumnComment, {"comment", "column", "all"}},
    {EventKind::kAlterTableComment, {"comment", "table", "all"}},
    {EventKind::kAlterColumnPosition, {"alter", "column", "all"}},
}};

constexpr std::array<std::string_view, 10> kFamilyWords = {
    "all", "table", "column", "create", "drop", "truncate", "add", "rename", "alter", "comment"};

}  // namespace

std::string_view ToString(Behavior behavior) {
  for (const BehaviorName& entry : kBehaviors) {
    if (entry.behavior == behavior) return entry.name;
  }
  return "";
}

std::optional<Behavior> ParseBehavior(std::string_view text) {
  for (const BehaviorName& entry : kBehaviors) {
    if (EqualsIgnoringCase(entry.name, text)) return entry.behavior;
  }
  return std::nullopt;
}

std::string_view ToString(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kApply: return "apply";
    case VerdictKind::kRewrite: return "rewrite";
    case VerdictKind::kSkip: return "skip";
    case VerdictKind::kIgnore: return "ignore";
    case VerdictKind::kHold: return "hold";
    case VerdictKind::kFail: return "fail";
  }
  return "";
}

std::optional<VerdictKind> ParseVerdictKind(std::string_view text) {
  for (const VerdictKind kind : {VerdictKind::kApply, VerdictKind::kRewrite, VerdictKind::kSkip,
                                 VerdictKind::kIgnore, VerdictKind::kHold, VerdictKind::kFail}) {
    if (ToString(kind) == text) return kind;
  }
  return std::nullopt;
}

OnCastFailure CastFailure(const SinkPolicy& policy, Behavior behavior) {
  if (policy.on_cast_failure) return *policy.on_cast_failure;
  const bool tolerant = behavior == Behavior::kLenient || behavior == Behavior::kTryEvolve;
  return tolerant ? OnCastFailure::kNull : OnCastFailure::kFail;
}

OnNullViolation NullViolation(const SinkPolicy& policy, Behavior behavior) {
  if (policy.on_null_violation) return *policy.on_null_violation;
  return behavior == Behavior::kTryEvolve ? OnNullViolation::kDeadLetter : OnNullViolation::kFail;
}

std::optional<std::set<EventKind>> EventsNamed(std::string_view tag_or_family) {
  std::set<EventKind> events;
  for (const EventFamilies& entry : kFamilies) {
    if (Tag(entry.kind) == tag_or_family) return std::set<EventKind>{entry.kind};
    for (std::string_view family : entry.families) {
      if (family == tag_or_family) events.insert(entry.kind);
    }
  }
  if (events.empty()) return std::nullopt;
  return events;
}

std::set<EventKind> AllEvents() { return *EventsNamed("all"); }

const std::vector<std::string_view>& EventWords() {
  static const std::vector<std::string_view>* const kWords = [] {
    auto* words = new std::vector<std::string_view>(kFamilyWords.begin(), kFamilyWords.end());
    for (const EventFamilies& entry : kFamilies) words->push_back(Tag(entry.kind));
    return words;
  }();
  return *kWords;
}

}  // namespace driftless
