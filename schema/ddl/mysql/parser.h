#pragma once

#include <string_view>

#include "schema/ddl/mysql/statement.h"

namespace driftless::mysql {

// Parses the text of one statement, with or without a semicolon behind it. Bodies of views and
// routines, and everything else that cannot change a table's schema, are passed over unread.
// Errors: kParse with line and column, also for a second statement behind the first.
// Grammar: MySQL 9.7 and 8.4 Reference Manuals, chapter 15.1; MariaDB Knowledge Base, "Data
// Definition".
Result<Statement> ParseStatement(std::string_view sql, const ServerSettings& settings,
                                 const SqlMode& mode);

}  // namespace driftless::mysql
