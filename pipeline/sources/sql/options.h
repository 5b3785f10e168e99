#pragma once

#include <optional>
#include <string>

#include "config/definition/selector.h"
#include "config/options/option.h"

namespace driftless {

struct SqlSourceOptions {
  std::string path;                     // of the script; empty: `script` is it
  std::string script;                   // the text itself
  std::optional<TableSelector> tables;  // none: all
};

// Errors: kInvalidConfig with line and column.
Result<SqlSourceOptions> ReadSqlSourceOptions(const OptionValues& values);

}  // namespace driftless
