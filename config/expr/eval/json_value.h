#pragma once

#include <cstdint>

namespace driftless::flink {

class Call;

// A loop's body: the text of a VARIANT's scalar (a JSON string without quotes); NULL for JSON null.
void VariantText(Call& call, int64_t row);

}  // namespace driftless::flink
