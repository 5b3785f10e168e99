#pragma once

#include "config/expr/typing.h"
#include "config/sql/session.h"

namespace driftless::flink {

// The look-up of user functions in `session`, for expressions; the session must outlive it.
decltype(Scope::user_function) FunctionsOf(const Session& session);

// Writes the full names of catalog functions into the tree, as Flink does when it validates.
void QualifyFunctions(const Session& session, Expr* expr);

}  // namespace driftless::flink
