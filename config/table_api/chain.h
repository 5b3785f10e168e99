#pragma once

#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless::table_api {

// What a method chain makes of each row, in the language of transforms (config/expr/projection.h).
struct Chain {
  std::string projection;  // empty: all columns as they are
  std::string filter;      // empty: all rows
};

// Reads a chain as it stands behind a table in a Java program: addColumns(..), addOrReplaceColumns,
// renameColumns, dropColumns, select, where and filter, each with or without a dot in front. The
// table's columns are not known here: a name is a column of the table unless the chain made or took
// it away; addColumns of a name that the table turns out to have stands in its place. Errors:
// kParse and kInvalidConfig with line and column in the text, kUnsupported for methods that need
// more than the row at hand.
Result<Chain> ReadChain(std::string_view text);

}  // namespace driftless::table_api
