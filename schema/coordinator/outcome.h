#pragma once

#include <string>

#include "schema/coordinator/coordinator.h"

// What a decided change comes to: in the audit log, for people, and in its text.
namespace driftless {

// Whether something is sent to the sink for the part.
bool IsSent(const PartDecision& part);
// Whether that part of the change waits for approval.
bool IsHeld(const OpenChange& open, uint32_t number);
// The result of a part when its change is over.
AuditResult ResultOf(const OpenChange& open, const PartDecision& part);
Notify::Level LevelOf(const AuditRecord& record);
std::string TextOf(const StatementChange& change);

}  // namespace driftless
