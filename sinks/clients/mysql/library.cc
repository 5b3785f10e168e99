#include "sinks/clients/mysql/library.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <algorithm>
#include <mutex>

namespace driftless {

void InitialiseMySqlLibrary() {
  static std::once_flag once;
  std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
}

unsigned MySqlSeconds(int64_t ms) {
  return static_cast<unsigned>(std::max<int64_t>((ms + 999) / 1000, 1));
}

ErrorKind KindOfMySqlError(unsigned number) {
  switch (number) {
    case ER_ACCESS_DENIED_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
    case ER_SPECIFIC_ACCESS_DENIED_ERROR:
    case ER_HOST_NOT_PRIVILEGED:
    case ER_MUST_CHANGE_PASSWORD: return ErrorKind::kPermission;
    case ER_LOCK_WAIT_TIMEOUT: return ErrorKind::kTimedOut;
    case ER_NO_SUCH_TABLE:
    case ER_BAD_TABLE_ERROR:
    case ER_BAD_DB_ERROR: return ErrorKind::kNotFound;
    case ER_LOCK_DEADLOCK:  // the server has rolled the transaction back
    case ER_CON_COUNT_ERROR:
    case ER_SERVER_SHUTDOWN:
    case ER_NEW_ABORTING_CONNECTION:
    case ER_ABORTING_CONNECTION:
    case ER_NET_READ_ERROR:
    case ER_NET_READ_INTERRUPTED:
    case ER_NET_ERROR_ON_WRITE:
    case ER_NET_WRITE_INTERRUPTED:
    case ER_TOO_MANY_USER_CONNECTIONS: return ErrorKind::kUnavailable;
    default:
      return number >= CR_MIN_ERROR && number <= CR_MAX_ERROR ? ErrorKind::kUnavailable
                                                              : ErrorKind::kRefused;
  }
}

bool IsTlsRefused(unsigned number, std::string_view text) {
  return number == CR_SSL_CONNECTION_ERROR && (text.find("ertificate") != std::string_view::npos ||
                                               text.find("not support") != std::string_view::npos);
}

}  // namespace driftless
