#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/expr/expr.h"

namespace driftless::flink {

// How names of functions print: Flink validates the expressions of CREATE TABLE before it prints
// them, and not those of ALTER TABLE.
enum class PrintStyle : uint8_t { kValidated, kAsWritten };

std::string PrintExpr(const Expr& expr, PrintStyle style);

// `a``b`
std::string QuoteName(std::string_view name);
// 'it''s'
std::string QuoteString(std::string_view text);

// The type as SHOW CREATE prints it: VARCHAR(2147483647), TIMESTAMP(3) WITH LOCAL TIME ZONE.
std::string DdlTypeText(const LogicalType& type);

}  // namespace driftless::flink
