#pragma once

#include "schema/types/casts.h"

namespace driftless {

// The loop that turns columns of `from` into columns of `to`; never null. The column that it fills
// has been prepared and has the nulls of the input.
ColumnCast::Kernel ChooseCastKernel(const LogicalType& from, const LogicalType& to,
                                    CastVerdict verdict);

}  // namespace driftless
