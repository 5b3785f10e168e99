#include "schema/audit/audit.h"

#include "schema/base/check.h"

namespace driftless {

std::string SinkTableKey::ToString() const { return sink + ": " + table.ToString(); }

std::string_view ToString(AuditPhase phase) {
  switch (phase) {
    case AuditPhase::kIntent: return "intent";
    case AuditPhase::kOutcome: return "outcome";
  }
  DRIFTLESS_CHECK(false);
}

std::string_view ToString(AuditResult result) {
  switch (result) {
    case AuditResult::kPending: return "pending";
    case AuditResult::kDone: return "done";
    case AuditResult::kRefused: return "refused";
    case AuditResult::kSkipped: return "skipped";
    case AuditResult::kHeld: return "held";
    case AuditResult::kRejected: return "rejected";
    case AuditResult::kFailed: return "failed";
    case AuditResult::kSuperseded: return "superseded";
  }
  DRIFTLESS_CHECK(false);
}

std::string_view EventText(const AuditRecord& record) {
  if (record.is_unclear) return kUnclearTag;
  return record.is_unseen ? kUnseenTag : Tag(record.event);
}

}  // namespace driftless
