#include "pipeline/runtime/unseen_verdict.h"

namespace driftless {

Verdict VerdictOfUnseen(bool is_conversion, RowsWithoutEvents choice) {
  Verdict verdict;
  const bool fails = !is_conversion && choice == RowsWithoutEvents::kFail;
  verdict.kind = fails ? VerdictKind::kFail : VerdictKind::kSkip;
  verdict.rule = fails ? "rows-without-events: fail" : "rows-without-events: warn";
  verdict.reason = is_conversion ? "stored values were converted and no row event says so"
                                 : "rows came or went and no row event says so";
  verdict.rows = "rows at the sink stay as they were";
  return verdict;
}

}  // namespace driftless
