#pragma once

#include <string_view>
#include <vector>

#include "schema/ddl/mysql/dialect.h"

namespace driftless::mysql {

struct StatementText {
  std::string_view text;  // without the semicolon and the blanks around it
  size_t begin = 0;       // where it stands in the script, in bytes
};

// Splits a script at its semicolons: not at those in strings, names, comments and in the bodies
// (BEGIN ... END) of routines, triggers and events. Empty statements and comments alone are left
// out. A script that cannot be split to its end (a string that does not close) gives the rest as
// one statement, whose parse then tells why.
std::vector<StatementText> SplitStatements(std::string_view script, const ServerSettings& settings,
                                           const SqlMode& mode);

}  // namespace driftless::mysql
