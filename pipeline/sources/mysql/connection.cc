#include "pipeline/sources/mysql/connection.h"

#include <errmsg.h>
#include <fmt/format.h>
#include <mysql.h>

#include "schema/base/check.h"
#include "sinks/clients/mysql/library.h"

namespace driftless::mysql {
namespace {

// The dump thread may send events up to this size (Reference Manual, max_allowed_packet).
constexpr size_t kPacketBytesMax = 1 << 30;

}  // namespace

struct Connection::Impl {
  MYSQL* mysql = nullptr;
  MYSQL_RES* stream = nullptr;
  unsigned columns = 0;
  std::string peer;

  ~Impl() {
    // Closing first drops what is unread of a long answer; freeing the answer would read it all.
    if (stream != nullptr && mysql != nullptr) {
      mysql_close(mysql);
      mysql = nullptr;
      stream->handle = nullptr;
      mysql_free_result(stream);
    }
    if (mysql != nullptr) mysql_close(mysql);
  }
};

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;

Error Connection::LastError(std::string_view what) const {
  const unsigned number = mysql_errno(impl_->mysql);
  return MakeError(KindOfMySqlError(number), fmt::format("{} {}: {} (error {})", impl_->peer, what,
                                                         mysql_error(impl_->mysql), number));
}

namespace {

void SetOptions(MYSQL* mysql, const ConnectionOptions& options, bool with_tls) {
  const unsigned connect_s = MySqlSeconds(options.connect_timeout_ms);
  mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
  if (options.read_timeout_ms > 0) {
    const unsigned read_s = MySqlSeconds(options.read_timeout_ms);
    mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &read_s);
  }
  const unsigned write_s = 60;
  mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &write_s);
  const size_t packet_max = kPacketBytesMax;
  mysql_options(mysql, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet_max);
  mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  mysql_optionsv(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "driftless");
  my_bool enforce = with_tls ? 1 : 0;
  mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &enforce);
  my_bool verify = options.tls == TlsMode::kVerifyIdentity ? 1 : 0;
  mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
  if (!with_tls) return;
  const auto file = [&](mysql_option option, const std::string& path) {
    if (!path.empty()) mysql_options(mysql, option, path.c_str());
  };
  file(MYSQL_OPT_SSL_CA, options.tls_ca);
  file(MYSQL_OPT_SSL_CERT, options.tls_certificate);
  file(MYSQL_OPT_SSL_KEY, options.tls_key);
}

bool ServerHasNoTls(unsigned number, std::string_view text) {
  return number == CR_SSL_CONNECTION_ERROR && text.find("not support") != std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::Open(const ConnectionOptions& options) {
  InitialiseMySqlLibrary();
  for (bool with_tls = options.tls != TlsMode::kDisabled;; with_tls = false) {
    auto impl = std::make_unique<Impl>();
    impl->peer = fmt::format("{}:{}", options.host, options.port);
    impl->mysql = mysql_init(nullptr);
    if (impl->mysql == nullptr) {
      return MakeError(ErrorKind::kResourceExhausted, "no memory for a connection");
    }
    SetOptions(impl->mysql, options, with_tls);
    // libmariadb reaches "localhost" by a socket file; a host here is always a network address.
    unsigned protocol = MYSQL_PROTOCOL_TCP;
    mysql_options(impl->mysql, MYSQL_OPT_PROTOCOL, &protocol);
    MYSQL* connected = mysql_real_connect(impl->mysql, options.host.c_str(), options.user.c_str(),
                                          options.password.c_str(), nullptr,
                                          static_cast<unsigned>(options.port), nullptr, 0);
    std::unique_ptr<Connection> connection(new Connection(std::move(impl)));
    if (connected == nullptr) {
      MYSQL* mysql = connection->impl_->mysql;
      if (with_tls && options.tls == TlsMode::kPreferred &&
          ServerHasNoTls(mysql_errno(mysql), mysql_error(mysql))) {
        continue;
      }
      return connection->LastError(fmt::format("connecting as {}", options.user));
    }
    if (options.tls >= TlsMode::kRequired && !connection->uses_tls()) {
      return MakeError(ErrorKind::kPermission,
                       fmt::format("{}:{} offers no TLS, and tls.mode demands it", options.host,
                                   options.port))
          .Hint("Give the server a certificate (ssl_cert, ssl_key), or set tls.mode: preferred.");
    }
    // Text has the database's own values: UTC, no padding, and long answers may wait for us.
    DRIFTLESS_TRY(connection->Execute("SET NAMES utf8mb4"));
    DRIFTLESS_TRY(
        connection->Execute("SET time_zone = '+00:00', sql_mode = '', net_write_timeout = 3600, "
                            "net_read_timeout = 3600, wait_timeout = 86400"));
    return connection;
  }
}

Result<void> Connection::Execute(std::string_view sql) {
  DRIFTLESS_CHECK(impl_->stream == nullptr);
  if (mysql_real_query(impl_->mysql, sql.data(), sql.size()) != 0) {
    return LastError(fmt::format("executing {}", sql));
  }
  MYSQL_RES* result = mysql_store_result(impl_->mysql);
  if (result != nullptr) {
    mysql_free_result(result);
  } else if (mysql_errno(impl_->mysql) != 0) {
    return LastError(fmt::format("executing {}", sql));
  }
  return {};
}

Result<std::vector<TextRow>> Connection::Query(std::string_view sql) {
  DRIFTLESS_TRY(BeginStream(sql));
  std::vector<TextRow> rows;
  for (;;) {
    DRIFTLESS_ASSIGN_OR_RETURN(const RawRow raw, NextRow());
    if (raw.empty()) return rows;
    TextRow& row = rows.emplace_back();
    for (size_t i = 0; i < raw.values.size(); ++i) {
      if (raw.values[i] == nullptr) {
        row.emplace_back();
      } else {
        row.emplace_back(std::string(raw.values[i], raw.lengths[i]));
      }
    }
  }
}

Result<std::optional<std::string>> Connection::QueryValue(std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<TextRow> rows, Query(sql));
  if (rows.empty() || rows.front().empty()) return std::optional<std::string>();
  return std::move(rows.front().front());
}

Result<void> Connection::BeginStream(std::string_view sql) {
  DRIFTLESS_CHECK(impl_->stream == nullptr);
  if (mysql_real_query(impl_->mysql, sql.data(), sql.size()) != 0) {
    return LastError(fmt::format("executing {}", sql));
  }
  impl_->stream = mysql_use_result(impl_->mysql);
  if (impl_->stream == nullptr) {
    if (mysql_errno(impl_->mysql) != 0) return LastError(fmt::format("executing {}", sql));
    return MakeError(ErrorKind::kInternal, fmt::format("a statement has no answer: {}", sql));
  }
  impl_->columns = mysql_num_fields(impl_->stream);
  return {};
}

Result<Connection::RawRow> Connection::NextRow() {
  if (impl_->stream == nullptr) return RawRow{};
  MYSQL_ROW row = mysql_fetch_row(impl_->stream);
  if (row != nullptr) {
    const unsigned long* lengths = mysql_fetch_lengths(impl_->stream);
    return RawRow{{row, impl_->columns}, {lengths, impl_->columns}};
  }
  const bool failed = mysql_errno(impl_->mysql) != 0;
  Error error = failed ? LastError("reading rows") : MakeError(ErrorKind::kInternal, "");
  mysql_free_result(impl_->stream);
  impl_->stream = nullptr;
  if (failed) return error;
  return RawRow{};
}

Result<void> Connection::SendCommand(uint8_t command, std::string_view argument) {
  // Connector/C has no public call for COM_BINLOG_DUMP_GTID; its own replication code uses this
  // one.
  const int failed = impl_->mysql->methods->db_command(
      impl_->mysql, static_cast<enum_server_command>(command), argument.data(), argument.size(),
      /*skip_check=*/1, nullptr);
  if (failed != 0) return LastError("sending a replication command");
  return {};
}

Result<std::string_view> Connection::NextPacket() {
  const unsigned long size = mysql_net_read_packet(impl_->mysql);
  if (size == packet_error) return LastError("reading the binary log");
  const auto* data = reinterpret_cast<const char*>(impl_->mysql->net.read_pos);
  // An end-of-file packet is 0xFE with at most 8 bytes in all.
  if (size > 0 && size < 9 && static_cast<uint8_t>(data[0]) == 0xFE) return std::string_view();
  return std::string_view(data, size);
}

unsigned Connection::last_errno() const { return mysql_errno(impl_->mysql); }
std::string_view Connection::server_version() const { return mysql_get_server_info(impl_->mysql); }
uint64_t Connection::thread_id() const { return mysql_thread_id(impl_->mysql); }
bool Connection::uses_tls() const { return mysql_get_ssl_cipher(impl_->mysql) != nullptr; }

std::string Connection::Quote(std::string_view text) {
  std::string escaped(text.size() * 2 + 1, '\0');
  escaped.resize(mysql_real_escape_string(impl_->mysql, escaped.data(), text.data(), text.size()));
  return "'" + escaped + "'";
}

std::string QuoteName(std::string_view name) {
  std::string quoted = "`";
  for (const char c : name) quoted.append(c == '`' ? 2 : 1, c);
  return quoted + "`";
}

}  // namespace driftless::mysql
