#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless::mysql {

// How a connection is protected.
enum class TlsMode : uint8_t {
  kDisabled,
  kPreferred,       // TLS where the server has it
  kRequired,        // refuses a server without TLS; does not look at its certificate
  kVerifyIdentity,  // the certificate must be the host's, signed by a known authority
};

struct ConnectionOptions {
  std::string host;
  int port = 3306;
  std::string user;
  std::string password;
  int64_t connect_timeout_ms = 30000;
  // How long one read may wait; 0: for ever. A dump connection has heartbeats, so it may be short.
  int64_t read_timeout_ms = 0;
  TlsMode tls = TlsMode::kPreferred;
  std::string tls_ca;  // files; empty: the system's
  std::string tls_certificate;
  std::string tls_key;
};

// One row of an answer in the text protocol: what the server sent, or none for NULL.
using TextRow = std::vector<std::optional<std::string>>;

// A session of a MySQL or MariaDB server through libmariadb: text queries, and what a replica
// needs. Sessions speak utf8mb4 in the time zone +00:00. One thread at a time.
//
// Errors: kUnavailable (no answer, the connection broke; try again), kPermission (login or
// privilege), kTimedOut (a lock), kRefused (the server says no); with the server's number and text.
class Connection {
 public:
  static Result<std::unique_ptr<Connection>> Open(const ConnectionOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // A statement without an answer, or whose answer is not wanted.
  Result<void> Execute(std::string_view sql);
  // All rows of a short answer.
  Result<std::vector<TextRow>> Query(std::string_view sql);
  // The first column of the only row; none where it is NULL or there is no row.
  Result<std::optional<std::string>> QueryValue(std::string_view sql);

  // An answer of any length, row by row. Read all rows (or close the connection) before the next
  // statement.
  Result<void> BeginStream(std::string_view sql);
  // The next row: pointers (null: NULL) and lengths, valid until the next call; empty at the end.
  struct RawRow {
    std::span<const char* const> values;
    std::span<const unsigned long> lengths;
    bool empty() const { return values.empty(); }
  };
  Result<RawRow> NextRow();

  // Sends a command of the replication protocol; its answer comes by NextPacket.
  Result<void> SendCommand(uint8_t command, std::string_view argument);
  // One packet of the answer, joined where the server split it, valid until the next call. Empty at
  // an end-of-file packet. Errors: as above; an error packet has the server's number in
  // last_errno().
  Result<std::string_view> NextPacket();

  unsigned last_errno() const;
  std::string_view server_version() const;
  uint64_t thread_id() const;
  bool uses_tls() const;

  // 'text' with what a string literal must escape.
  std::string Quote(std::string_view text);

 private:
  struct Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  Error LastError(std::string_view what) const;
  std::unique_ptr<Impl> impl_;
};

// `name` with backticks doubled.
std::string QuoteName(std::string_view name);

}  // namespace driftless::mysql
