#pragma once

#include "config/definition/pipeline_options.h"
#include "schema/policy/policy.h"

namespace driftless {

// What becomes of rows that changed without row events (policy, section 11): the same for `plan`
// and `run`. A conversion is never a failure: no row is missing, old ones keep what they had.
Verdict VerdictOfUnseen(bool is_conversion, RowsWithoutEvents choice);

// The same where a source has not read a part of its log, and sends the rows of the table again.
Verdict VerdictOfGap();

}  // namespace driftless
