#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless {

struct SqlEndpoint {
  std::string host;
  int port = 0;
};

struct SqlSessionOptions {
  std::vector<SqlEndpoint> endpoints;  // tried in turn, beginning with the last good one
  std::string user;
  std::string password;
  bool tls = false;    // refuses a server without TLS, and a certificate that is not of its host
  std::string tls_ca;  // the file with the trusted certificates, PEM; empty: the system's
  int64_t connect_timeout_ms = 30'000;
  int64_t answer_timeout_ms = 0;  // 0: for ever
};

// An answer in the text protocol.
struct SqlRows {
  std::vector<std::string> names;
  std::vector<std::vector<std::optional<std::string>>> rows;

  // The value under a column name (any letter case); none where it is NULL or there is no such
  // column: servers add columns from version to version.
  std::optional<std::string> Value(size_t row, std::string_view name) const;
};

// Statements to a server of several nodes that speaks MySQL's protocol (StarRocks, Doris), without
// prepared statements. Connects when it is first used and again after a failure. Thread-safe: one
// statement at a time.
class SqlSession {
 public:
  explicit SqlSession(SqlSessionOptions options);
  ~SqlSession();
  SqlSession(const SqlSession&) = delete;
  SqlSession& operator=(const SqlSession&) = delete;

  // A statement that changes nothing: after a lost connection it is asked again elsewhere. Errors:
  // kUnavailable (no node answers), kPermission, kNotFound (table or database), kRefused (the
  // server's own text).
  Result<SqlRows> Query(std::string_view sql);
  // A statement that changes something. Errors: as above; kCommitUnknown where its answer was lost.
  Result<void> Execute(std::string_view sql);

 private:
  struct Impl;
  Result<void> Connect();
  Result<SqlRows> Run(std::string_view sql);
  Error LastError(std::string_view what) const;

  const SqlSessionOptions options_;
  std::mutex mutex_;
  std::unique_ptr<Impl> impl_;
  size_t endpoint_ = 0;
};

}  // namespace driftless
