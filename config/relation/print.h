#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/relation/relation.h"

namespace driftless::flink {

// Widths of columns: what the values need, or what their types may need.
enum class PrintWidths : uint8_t { kOfValues, kOfTypes };

struct PrintOptions {
  PrintWidths widths = PrintWidths::kOfValues;
  bool with_op = false;  // a first column with +I, as in streaming mode
  size_t widest = 30;    // longer texts end with "..."
};

// The rows as a table with its footer, "Empty set" where there are none; NULL is <NULL>. Errors:
// none that a relation of this build can have.
std::string PrintRelation(const Relation& relation, const PrintOptions& options);

// The texts of a column, as CAST(.. AS STRING) gives them; nothing for NULL.
std::vector<std::optional<std::string>> CellTexts(const LogicalType& type, const ColumnView& view);

}  // namespace driftless::flink
