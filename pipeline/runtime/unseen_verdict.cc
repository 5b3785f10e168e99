#include "pipeline/runtime/unseen_verdict.h"

namespace driftless {

Verdict VerdictOfUnseen(bool is_conversion, RowsWithoutEvents choice) {
  Verdict verdict;
  // A conversion takes no row away and brings none.
  const RowsWithoutEvents rule = is_conversion ? RowsWithoutEvents::kWarn : choice;
  verdict.reason = is_conversion ? "stored values were converted and no row event says so"
                                 : "rows came or went and no row event says so";
  verdict.rows = "rows at the sink stay as they were";
  switch (rule) {
    case RowsWithoutEvents::kWarn:
      verdict.kind = VerdictKind::kSkip;
      verdict.rule = "rows-without-events: warn";
      break;
    case RowsWithoutEvents::kFail:
      verdict.kind = VerdictKind::kFail;
      verdict.rule = "rows-without-events: fail";
      break;
    case RowsWithoutEvents::kResync:
      verdict.kind = VerdictKind::kRewrite;
      verdict.rule = "rows-without-events: resync";
      verdict.rewrites = {"truncate.table and all rows of the table again"};
      verdict.rows = "all rows of the table come again behind the truncate.table";
      break;
  }
  return verdict;
}

Verdict VerdictOfGap() {
  Verdict verdict = VerdictOfUnseen(/*is_conversion=*/false, RowsWithoutEvents::kWarn);
  verdict.reason = "the log between is not read";
  verdict.rows = "all rows of the table come again, and those that were deleted meanwhile stay";
  return verdict;
}

}  // namespace driftless
