#pragma once

#include <vector>

#include "config/expr/eval/node.h"
#include "config/expr/typing.h"
#include "schema/base/result.h"

namespace driftless::flink {

// The nodes of an expression whose types are known (InferType). `inputs`: the scope's columns that
// they read.
Result<NodePtr> CompileExpr(const Expr& expr, const Scope& scope, const TimeZone& zone,
                            std::vector<size_t>* inputs);

}  // namespace driftless::flink
