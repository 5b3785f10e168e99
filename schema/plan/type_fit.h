#pragma once

#include <string>

#include "schema/types/logical_type.h"

namespace driftless {

// Whether a column of type `column` holds every value of type `wanted` without loss, under the
// casts that writers do (schema/types/casts.h): integers widen, texts grow, everything scalar has a
// text. Nullability is not looked at.
bool HoldsEveryValue(const LogicalType& column, const LogicalType& wanted);

// Which values of `wanted` a column of type `column` cannot hold, in words: "values above
// 2147483647 or below -2147483648", "texts longer than 20 characters". Empty where it holds all.
std::string Misfits(const LogicalType& column, const LogicalType& wanted);

}  // namespace driftless
