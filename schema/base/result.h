#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "schema/base/error.h"

namespace driftless {

// The return type of everything that can fail. Result<void> is two words at most, so that it costs
// nothing to return per batch; per-row code returns no Result (architecture, section 8).
template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result(Error error)
      : Base(tl::unexpect, std::move(error)) {}  // NOLINT(google-explicit-constructor)
  Result() = default;
};

static_assert(sizeof(Result<void>) <= 16);

#define DRIFTLESS_CONCAT_INNER(a, b) a##b
#define DRIFTLESS_CONCAT(a, b) DRIFTLESS_CONCAT_INNER(a, b)

// Returns the error of `expr`, if it has one, from the enclosing function.
#define DRIFTLESS_TRY(expr)                                            \
  do {                                                                 \
    auto&& driftless_result = (expr);                                  \
    if (!driftless_result) return std::move(driftless_result).error(); \
  } while (false)

// DRIFTLESS_ASSIGN_OR_RETURN(auto x, F()) declares x from F()'s value, or returns its error.
#define DRIFTLESS_ASSIGN_OR_RETURN(lhs, expr) \
  DRIFTLESS_ASSIGN_OR_RETURN_INNER(DRIFTLESS_CONCAT(driftless_result_, __LINE__), lhs, expr)
#define DRIFTLESS_ASSIGN_OR_RETURN_INNER(result, lhs, expr) \
  auto result = (expr);                                     \
  if (!result) return std::move(result).error();            \
  lhs = std::move(*result)

}  // namespace driftless
