#pragma once

#include <string>
#include <string_view>

#include "config/expr/typing.h"

namespace driftless::flink {

// The table that the tests' expressions are worked out over: three rows, of which the second is
// NULL wherever it can be.
//   id INT NOT NULL 1 2 3, a INT 7 NULL -7, b BIGINT 3 NULL 0, ti TINYINT 127 NULL 1,
//   f FLOAT 1.5 NULL -0.25, x DOUBLE 2.5 NULL -2.5, d DECIMAL(10, 2) 12.35 NULL -12.35,
//   s STRING 'Hello, Wörld' NULL '', c CHAR(5) 'abc' NULL 'x', t BOOLEAN true NULL false,
//   bin BYTES 'hello' NULL '', dt DATE 2024-02-29 NULL 1969-12-31,
//   tm TIME(3) 12:34:56.789 NULL 00:00:00, ts TIMESTAMP(6) 2024-02-29 12:34:56.789012 NULL
//   1969-12-31 23:59:59, ltz TIMESTAMP_LTZ(3) 2024-02-29 12:00:00Z NULL 1970-01-01 00:00:00Z,
//   js STRING a JSON document NULL '{', arr ARRAY<INT> [1, NULL, 3] NULL [], r ROW<n INT, m STRING>
Scope TestScope();

// The text of one value, "NULL", "absent", or "! message" where it failed; what does not compile is
// its error's text. The zone is Europe/Berlin, the clock 2024-03-01 10:20:30.456Z.
std::string Evaluated(std::string_view expression, int64_t row = 0);
// The type of an expression, as a column's.
std::string TypeText(std::string_view expression);

}  // namespace driftless::flink
