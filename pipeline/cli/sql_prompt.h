#pragma once

#include "pipeline/sql_host/client.h"
#include "pipeline/sql_host/session_store.h"

namespace driftless {

// Takes statements from a person at a terminal until QUIT or the end of the input: lines are
// edited, remembered from session to session (~/.driftless-sql-history) and completed by the tab
// key. Ctrl-C drops the statement that is being typed.
void RunSqlPrompt(SqlSessionStore* session, SqlClient* client);

}  // namespace driftless
