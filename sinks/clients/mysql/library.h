#pragma once

#include <cstdint>

#include "schema/base/result.h"

namespace driftless {

// What every user of libmariadb needs.

// Before the first connection of the process; again it does nothing. Thread-safe.
void InitialiseMySqlLibrary();

// Time-outs are whole seconds there, at least one.
unsigned MySqlSeconds(int64_t ms);

// What an error number means, the server's (mysqld_error.h) or the library's own (errmsg.h):
// kPermission, kNotFound (table or database), kTimedOut (a lock), kUnavailable (the connection
// could not be made or broke, or the server sends everybody away); else kRefused.
ErrorKind KindOfMySqlError(unsigned number);

}  // namespace driftless
