#include "sinks/clients/mysql/sql_session.h"

#include <mysql.h>

#include "schema/base/letter_case.h"
#include "sinks/clients/mysql/library.h"

namespace driftless {
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
  InitialiseMySqlLibrary();
}
SqlSession::~SqlSession() = default;

Error SqlSession::LastError(std::string_view what) const {
  const unsigned number = mysql_errno(impl_->mysql);
  const std::string text = mysql_error(impl_->mysql);
  const bool is_refused = IsTlsRefused(number, text);
  Error error = MakeError(is_refused ? ErrorKind::kPermission : KindOfMySqlError(number),
                          impl_->peer + " " + std::string(what) + ": " + text + " (error " +
                              std::to_string(number) + ")");
  if (!is_refused) return error;
  return std::move(error).Hint(
      "Name the file of the certificates that are to be trusted; the server's certificate must be "
      "of the host that is named in the address.");
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
    const unsigned connect_s = MySqlSeconds(options_.connect_timeout_ms);
    mysql_options(impl_->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    if (options_.answer_timeout_ms > 0) {
      const unsigned answer_s = MySqlSeconds(options_.answer_timeout_ms);
      mysql_options(impl_->mysql, MYSQL_OPT_READ_TIMEOUT, &answer_s);
    }
    mysql_options(impl_->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    my_bool enforce = options_.tls ? 1 : 0;
    mysql_options(impl_->mysql, MYSQL_OPT_SSL_ENFORCE, &enforce);
    my_bool verify = enforce;
    mysql_options(impl_->mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
    if (!options_.tls_ca.empty()) {
      mysql_options(impl_->mysql, MYSQL_OPT_SSL_CA, options_.tls_ca.c_str());
    }
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
