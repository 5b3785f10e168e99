#pragma once

#include "config/expr/eval/time_nodes.h"
#include "config/expr/expr.h"
#include "schema/base/result.h"

namespace driftless::flink {

bool IsInterval(const Expr& expr);  // an INTERVAL, or a sum of some
// INTERVAL '1-2' YEAR TO MONTH, '3 04:05' DAY TO MINUTE, '90' SECOND, and sums. Errors: kParse.
Result<Interval> ReadInterval(const Expr& expr);
// As Flink casts it to text: "+3 04:05:06.789" of days, "+2-03" of years and months. Errors:
// kParse.
Result<std::string> IntervalText(const Expr& expr);

}  // namespace driftless::flink
