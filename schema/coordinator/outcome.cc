#include "schema/coordinator/outcome.h"

#include <algorithm>

namespace driftless {

bool IsSent(const PartDecision& part) {
  return !part.satisfied &&
         (part.verdict.kind == VerdictKind::kApply || part.verdict.kind == VerdictKind::kRewrite);
}

bool IsHeld(const OpenChange& open, uint32_t number) {
  return std::any_of(open.parts.begin(), open.parts.end(), [&](const PartDecision& part) {
    return part.part == number && part.verdict.kind == VerdictKind::kHold;
  });
}

AuditResult ResultOf(const OpenChange& open, const PartDecision& part) {
  if (part.verdict.kind == VerdictKind::kFail) return AuditResult::kFailed;
  if (part.verdict.kind == VerdictKind::kHold) return AuditResult::kHeld;
  if (part.verdict.kind == VerdictKind::kApply || part.verdict.kind == VerdictKind::kRewrite) {
    return AuditResult::kDone;
  }
  const auto forced = open.forced.find(part.part);
  if (forced != open.forced.end()) {
    if (forced->second.by == ForcedVerdict::By::kRefused) return AuditResult::kRefused;
    if (forced->second.by == ForcedVerdict::By::kReject) return AuditResult::kRejected;
  }
  return AuditResult::kSkipped;
}

Notify::Level LevelOf(const AuditRecord& record) {
  switch (record.verdict.kind) {
    case VerdictKind::kFail: return Notify::Level::kError;
    case VerdictKind::kSkip:
      return record.verdict.never ? Notify::Level::kInfo : Notify::Level::kWarn;
    case VerdictKind::kHold: return Notify::Level::kWarn;
    default: return record.verdict.rows_may_stop ? Notify::Level::kWarn : Notify::Level::kInfo;
  }
}

std::string TextOf(const StatementChange& change) {
  if (change.statement != nullptr) return *change.statement;
  return change.inferred ? "(inferred from rows)" : "";
}

}  // namespace driftless
