#include "schema/policy/ruling.h"

#include <algorithm>
#include <tuple>

#include "schema/base/letter_case.h"
#include "schema/policy/decide.h"

namespace driftless {
namespace {

std::string Tagged(EventKind kind) { return std::string(Tag(kind)); }

bool Matches(const PolicyRule& rule, const RulingSubject& subject) {
  if (!rule.sink.empty() && rule.sink != subject.sink) return false;
  if (rule.table && !rule.table(*subject.sink_table)) return false;
  if (!rule.events.empty() && rule.events.count(subject.event) == 0) return false;
  if (rule.column.empty()) return true;
  return std::any_of(subject.columns.begin(), subject.columns.end(), [&](const std::string& name) {
    return EqualsIgnoringCase(name, rule.column);
  });
}

// column > tag > family > exact table > pattern
auto Specificity(const PolicyRule& rule) {
  const bool has_events = !rule.events.empty();
  const bool has_table = static_cast<bool>(rule.table);
  return std::make_tuple(!rule.column.empty(), has_events && !rule.events_are_family,
                         has_events && rule.events_are_family, has_table && rule.table_is_exact,
                         has_table && !rule.table_is_exact);
}

CellKind KindUnder(Behavior behavior, const Cell& cell) {
  const bool lenient = behavior == Behavior::kLenient || behavior == Behavior::kIgnore;
  return lenient ? cell.lenient : cell.evolve;
}

// Relaxed nullability and comments that a matrix does not support are skipped in every mode.
bool IsAlwaysSkippedWhenUnsupported(EventKind event) {
  return event == EventKind::kRelaxNullability || event == EventKind::kAlterColumnComment ||
         event == EventKind::kAlterTableComment;
}

std::string NoteOr(std::string_view note, std::string otherwise) {
  return note.empty() ? std::move(otherwise) : std::string(note);
}

std::string WayOut(EventKind event) {
  return "; change the sink by hand, set a rule or behaviour that skips " + Tagged(event) +
         ", or continue with driftless decide ID skip";
}

void SetCell(Ruling* ruling, const CapabilityMatrix& matrix, const Cell& cell, CellKind kind) {
  ruling->cell = CellText(matrix, cell, kind);
  ruling->reason = std::string(cell.note);
}

void Finish(Ruling* ruling, Wish wish, std::string reason) {
  ruling->wish = wish;
  ruling->reason = std::move(reason);
}

// An event that the matrix has no row for.
void RuleWithoutCell(const CapabilityMatrix& matrix, const RulingSubject& subject, Ruling* ruling) {
  const std::string sink(matrix.sink);
  if (subject.event == EventKind::kTightenNullability) {
    Finish(ruling, Wish::kNever, "NOT NULL is never sent to a sink");
  } else if (!matrix.keeps_schema) {
    const bool fails = ruling->behavior == Behavior::kException &&
                       subject.event != EventKind::kAlterColumnPosition;
    Finish(ruling, fails ? Wish::kFail : Wish::kIgnore,
           fails ? "EXCEPTION allows no " + Tagged(subject.event) + WayOut(subject.event)
                 : sink + " keeps no schema");
  } else if (subject.event == EventKind::kAlterColumnPosition) {
    Finish(ruling, Wish::kSkip, sink + " does not move columns; the order may differ");
  } else {
    Finish(ruling, Wish::kSkip, sink + " has no " + Tagged(subject.event));
  }
}

void RuleByCell(const CapabilityMatrix& matrix, const RulingSubject& subject, CellKind kind,
                Ruling* ruling) {
  const std::string sink(matrix.sink);
  const std::string event = Tagged(subject.event);
  const std::string behavior(ToString(ruling->behavior));
  const std::string note = ruling->reason;
  const auto skip = [&](std::string why) {
    Finish(ruling, Wish::kSkip, NoteOr(note, std::move(why)));
  };
  if (kind == CellKind::kNever) {
    return Finish(ruling, Wish::kNever, NoteOr(note, event + " is never sent to " + sink));
  }
  if (kind == CellKind::kIgnore && ruling->behavior != Behavior::kException) {
    return Finish(ruling, Wish::kIgnore, NoteOr(note, sink + " keeps no schema"));
  }
  if (kind == CellKind::kSkip && IsAlwaysSkippedWhenUnsupported(subject.event)) {
    return skip(sink + " does not follow " + event);
  }
  const bool is_create = subject.event == EventKind::kCreateTable;
  switch (ruling->behavior) {
    case Behavior::kIgnore:
      if (is_create) break;
      return Finish(ruling, Wish::kSkip, "IGNORE applies nothing but create.table");
    case Behavior::kException:
      if (is_create) break;
      return Finish(ruling, Wish::kFail, "EXCEPTION allows no " + event + WayOut(subject.event));
    case Behavior::kLenient:
    case Behavior::kTryEvolve:
      if (kind == CellKind::kSkip || kind == CellKind::kFail) {
        return skip(sink + " does not support " + event);
      }
      break;
    case Behavior::kEvolve:
      if (kind == CellKind::kSkip) return skip(sink + " does not support " + event);
      if (kind == CellKind::kFail) {
        return Finish(ruling, Wish::kFail,
                      sink + " does not support " + event + " (behavior " + behavior + ")" +
                          WayOut(subject.event));
      }
      break;
  }
  const bool rewrites = kind == CellKind::kRewrite && ruling->behavior != Behavior::kTryEvolve;
  ruling->wish = rewrites ? Wish::kTryRewrite : Wish::kTry;
}

// A rule's own verdict. Returns false where it is `hold`: then cell and behaviour decide the rest.
bool RuleByVerdict(const CapabilityMatrix& matrix, VerdictKind verdict, Ruling* ruling) {
  switch (verdict) {
    case VerdictKind::kApply: ruling->wish = Wish::kTry; return true;
    case VerdictKind::kRewrite: ruling->wish = Wish::kTryRewrite; return true;
    case VerdictKind::kSkip: Finish(ruling, Wish::kSkip, "a rule says skip"); return true;
    case VerdictKind::kIgnore:
      Finish(ruling, matrix.keeps_schema ? Wish::kSkip : Wish::kIgnore, "a rule says ignore");
      return true;
    case VerdictKind::kFail:
      Finish(ruling, Wish::kFail, "a rule says fail; change it or continue with driftless decide");
      return true;
    case VerdictKind::kHold: ruling->hold = true; return false;
  }
  return false;
}

}  // namespace

const PolicyRule* MatchRule(const SinkPolicy& policy, const RulingSubject& subject) {
  const PolicyRule* best = nullptr;
  for (const PolicyRule& rule : policy.rules) {
    if (!Matches(rule, subject)) continue;
    if (best == nullptr || Specificity(rule) > Specificity(*best)) best = &rule;
  }
  return best;
}

std::optional<Ruling> FilterRuling(const SinkPolicy& policy, const RulingSubject& subject) {
  const bool has_tag = AllEvents().count(subject.event) > 0;
  if (!has_tag) return std::nullopt;
  Ruling ruling;
  ruling.wish = Wish::kSkip;
  ruling.behavior = policy.behavior;
  if (policy.accepted.count(subject.event) == 0) {
    ruling.rule = policy.has_exclude_list ? "exclude.schema.changes" : "include.schema.changes";
    ruling.reason = Tagged(subject.event) + " is filtered by " + ruling.rule;
    return ruling;
  }
  const bool removes =
      subject.event == EventKind::kDropTable || subject.event == EventKind::kTruncateTable;
  if (removes && policy.behavior == Behavior::kLenient &&
      policy.lenient_style == LenientStyle::kFlinkCdc && !policy.has_exclude_list) {
    ruling.rule = "lenient.style flink-cdc";
    ruling.reason = Tagged(subject.event) +
                    " is withheld: lenient.style flink-cdc, and the sink has no exclude list";
    return ruling;
  }
  return std::nullopt;
}

Ruling Rule(const SinkPolicy& policy, const CapabilityMatrix& matrix,
            const RulingSubject& subject) {
  Ruling ruling;
  ruling.behavior = policy.behavior;
  ruling.never_fails = subject.event == EventKind::kAlterColumnPosition;
  const PolicyRule* rule = MatchRule(policy, subject);
  if (rule != nullptr && rule->behavior) ruling.behavior = *rule->behavior;
  ruling.rule = rule != nullptr ? rule->text : "behavior " + std::string(ToString(policy.behavior));

  const Extension* extension = matrix.FindExtension(subject.event);
  const bool extended =
      extension != nullptr && policy.extensions.count(std::string(extension->event)) > 0;
  const Cell* cell = matrix.Find(subject.event, subject.not_null);
  CellKind kind = CellKind::kApply;
  if (extended) {
    ruling.cell = std::string(matrix.sink) + "/" + Tagged(subject.event) + " = apply (extension)";
    ruling.reason = std::string(extension->note);
  } else if (cell != nullptr) {
    kind = KindUnder(ruling.behavior, *cell);
    SetCell(&ruling, matrix, *cell, kind);
  }
  if (rule != nullptr && rule->verdict && RuleByVerdict(matrix, *rule->verdict, &ruling)) {
    return ruling;
  }
  if (cell == nullptr && !extended) {
    RuleWithoutCell(matrix, subject, &ruling);
  } else {
    RuleByCell(matrix, subject, kind, &ruling);
  }
  return ruling;
}

Ruling Impossible(const Ruling& ruling, const CapabilityMatrix& matrix,
                  const RulingSubject& subject, const std::string& why) {
  Ruling result = ruling;
  result.hold = false;
  result.cell = std::string(matrix.sink) + "/" + Tagged(subject.event) + " = fail (planner)";
  const bool fails = !ruling.never_fails && (ruling.behavior == Behavior::kEvolve ||
                                             ruling.behavior == Behavior::kException);
  result.wish = fails ? Wish::kFail : Wish::kSkip;
  result.reason = fails ? why + WayOut(subject.event) : why;
  return result;
}

bool AdaptsConstraints(const Ruling& ruling, const CapabilityMatrix& matrix) {
  return matrix.adapts_constraints_always || ruling.behavior == Behavior::kLenient ||
         ruling.behavior == Behavior::kTryEvolve || ruling.wish == Wish::kTryRewrite;
}

bool IsFlinkCdcStyle(const SinkPolicy& policy, const CapabilityMatrix& matrix,
                     const Ruling& ruling) {
  return policy.lenient_style == LenientStyle::kFlinkCdc && matrix.keeps_schema &&
         ruling.behavior == Behavior::kLenient;
}

const PolicyRule* MatchRule(const SinkPolicy& policy, const std::string& sink,
                            const TablePath& sink_table, EventKind event,
                            const std::string& column) {
  RulingSubject subject{sink, &sink_table, event, {}, false};
  if (!column.empty()) subject.columns.push_back(column);
  return MatchRule(policy, subject);
}

Verdict Explain(const SinkPolicy& policy, const CapabilityMatrix& matrix, const std::string& sink,
                const TablePath& sink_table, EventKind event, const std::string& column,
                bool not_null_column, Behavior* behavior) {
  RulingSubject subject{sink, &sink_table, event, {}, not_null_column};
  if (!column.empty()) subject.columns.push_back(column);
  const Ruling ruling = FilterRuling(policy, subject).value_or(Rule(policy, matrix, subject));
  if (behavior != nullptr) *behavior = ruling.behavior;
  Verdict verdict;
  verdict.rule = ruling.rule;
  verdict.cell = ruling.cell;
  verdict.reason = ruling.reason;
  switch (ruling.wish) {
    case Wish::kTry: verdict.kind = VerdictKind::kApply; break;
    case Wish::kTryRewrite: verdict.kind = VerdictKind::kRewrite; break;
    case Wish::kSkip: verdict.kind = VerdictKind::kSkip; break;
    case Wish::kIgnore: verdict.kind = VerdictKind::kIgnore; break;
    case Wish::kFail: verdict.kind = VerdictKind::kFail; break;
    case Wish::kNever:
      verdict.kind = VerdictKind::kSkip;
      verdict.never = true;
      break;
  }
  const bool sends = ruling.wish == Wish::kTry || ruling.wish == Wish::kTryRewrite;
  if (verdict.reason.empty() && sends) verdict.reason = std::string(matrix.sink) + " follows";
  if (sends && (ruling.hold || policy.approval.count(event) > 0)) {
    verdict.kind = VerdictKind::kHold;
    verdict.reason = "waits for approval; " + verdict.reason;
  }
  return verdict;
}

}  // namespace driftless
