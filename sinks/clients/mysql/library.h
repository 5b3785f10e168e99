#pragma once

#include <cstdint>
#include <string_view>

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

// Whether TLS failed for a reason that another try does not mend: the server has none, or its
// certificate is not trusted or of another host. The library has one number for every failure of
// TLS, a broken connection included; `text` is what it says.
bool IsTlsRefused(unsigned number, std::string_view text);

}  // namespace driftless
