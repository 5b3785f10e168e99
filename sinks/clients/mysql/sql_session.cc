#include "sinks/clients/mysql/sql_session.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <algorithm>

#include "schema/base/letter_case.h"

namespace driftless {
namespace {

unsigned Seconds(int64_t ms) {
  return static_cast<unsigned>(std::max<int64_t>((ms + 999) / 1000, 1));
}

bool IsOfConnection(unsigned number) { return number >= CR_MIN_ERROR && number <= CR_MAX_ERROR; }

ErrorKind KindOf(unsigned number) {
  switch (number) {
    case ER_ACCESS_DENIED_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_SPECIFIC_ACCESS_DENIED_ERROR: return ErrorKind::kPermission;
    case ER_NO_SUCH_TABLE:
    case ER_BAD_TABLE_ERROR:
    case ER_BAD_DB_ERROR: return ErrorKind::kNotFound;
    case ER_CON_COUNT_ERROR:
    case ER_SERVER_SHUTDOWN:
    case ER_TOO_MANY_USER_CONNECTIONS: return ErrorKind::kUnavailable;
    default: return IsOfConnection(number) ? ErrorKind::kUnavailable : ErrorKind::kRefused;
  }
}

}  // namespace

std::optional<std::string> SqlRows::Value(size_t row, std::string_view name) const {
  for (size_t i = 0; i < names.size(); ++i) {
    if (EqualsIgnoringCase(names[i], name)) return rows[row][i];
  }
  return std::nullopt;
}

struct SqlSession::Impl {
  MYSQL* mysql = nullptr;
  std::string peer;
  ~Impl() {
    if (mysql != nullptr) mysql_close(mysql);
  }
};

SqlSession::SqlSession(SqlSessionOptions options) : options_(std::move(options)) {
  static std::once_flag once;
  std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
}
SqlSession::~SqlSession() = default;

Error SqlSession::LastError(std::string_view what) const {
  const unsigned number = mysql_errno(impl_->mysql);
  return MakeError(KindOf(number), impl_->peer + " " + std::string(what) + ": " +
                                       mysql_error(impl_->mysql) + " (error " +
                                       std::to_string(number) + ")");
}

Result<void> SqlSession::Connect() {
  if (impl_ != nullptr) return {};
  Error last = MakeError(ErrorKind::kInvalidConfig, "no address of a front end is given");
  for (size_t tries = 0; tries < options_.endpoints.size(); ++tries) {
    const SqlEndpoint& endpoint = options_.endpoints[endpoint_];
    impl_ = std::make_unique<Impl>();
    impl_->peer = endpoint.host + ":" + std::to_string(endpoint.port);
    impl_->mysql = mysql_init(nullptr);
    if (impl_->mysql == nullptr) {
      return MakeError(ErrorKind::kResourceExhausted, "no memory for a connection");
    }
    const unsigned connect_s = Seconds(options_.connect_timeout_ms);
    mysql_options(impl_->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    if (options_.answer_timeout_ms > 0) {
      const unsigned answer_s = Seconds(options_.answer_timeout_ms);
      mysql_options(impl_->mysql, MYSQL_OPT_READ_TIMEOUT, &answer_s);
    }
    mysql_options(impl_->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    my_bool enforce = options_.tls ? 1 : 0;
    mysql_options(impl_->mysql, MYSQL_OPT_SSL_ENFORCE, &enforce);
    my_bool verify = enforce;
    mysql_options(impl_->mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
    unsigned protocol = MYSQL_PROTOCOL_TCP;
    mysql_options(impl_->mysql, MYSQL_OPT_PROTOCOL, &protocol);
    if (mysql_real_connect(impl_->mysql, endpoint.host.c_str(), options_.user.c_str(),
                           options_.password.c_str(), nullptr, static_cast<unsigned>(endpoint.port),
                           nullptr, 0) != nullptr) {
      return {};
    }
    last = LastError("connecting as " + options_.user);
    impl_.reset();
    if (last.kind() == ErrorKind::kPermission) return last;
    endpoint_ = (endpoint_ + 1) % options_.endpoints.size();
  }
  return last;
}

Result<SqlRows> SqlSession::Run(std::string_view sql) {
  if (mysql_real_query(impl_->mysql, sql.data(), sql.size()) != 0) return LastError("refused");
  SqlRows answer;
  MYSQL_RES* result = mysql_store_result(impl_->mysql);
  if (result == nullptr) {
    if (mysql_errno(impl_->mysql) != 0) return LastError("answer");
    return answer;
  }
  const unsigned width = mysql_num_fields(result);
  const MYSQL_FIELD* fields = mysql_fetch_fields(result);
  for (unsigned i = 0; i < width; ++i) answer.names.emplace_back(fields[i].name);
  while (MYSQL_ROW row = mysql_fetch_row(result)) {
    const unsigned long* lengths = mysql_fetch_lengths(result);
    auto& values = answer.rows.emplace_back(width);
    for (unsigned i = 0; i < width; ++i) {
      if (row[i] != nullptr) values[i].emplace(row[i], lengths[i]);
    }
  }
  mysql_free_result(result);
  return answer;
}

Result<SqlRows> SqlSession::Query(std::string_view sql) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t tries = 0;; ++tries) {
    DRIFTLESS_TRY(Connect());
    Result<SqlRows> rows = Run(sql);
    if (rows || rows.error().kind() != ErrorKind::kUnavailable) return rows;
    impl_.reset();
    endpoint_ = (endpoint_ + 1) % options_.endpoints.size();
    if (tries >= options_.endpoints.size()) return rows;
  }
}

Result<void> SqlSession::Execute(std::string_view sql) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A connection that the server closed while it was idle must not look like a lost answer.
  if (impl_ != nullptr && mysql_ping(impl_->mysql) != 0) impl_.reset();
  DRIFTLESS_TRY(Connect());
  Result<SqlRows> rows = Run(sql);
  if (rows) return {};
  if (rows.error().kind() != ErrorKind::kUnavailable) return std::move(rows).error();
  impl_.reset();
  endpoint_ = (endpoint_ + 1) % options_.endpoints.size();
  return MakeError(ErrorKind::kCommitUnknown, "the answer to \"" + std::string(sql) +
                                                  "\" was lost: " + rows.error().message());
}

}  // namespace driftless
