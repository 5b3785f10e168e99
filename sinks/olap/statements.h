#pragma once

#include <memory>
#include <string_view>

#include "sinks/clients/mysql/sql_session.h"

namespace driftless::olap {

// How statements reach the server. Errors and promises are those of SqlSession. Thread-safe.
class Statements {
 public:
  virtual ~Statements() = default;
  // One that changes nothing.
  virtual Result<SqlRows> Query(std::string_view sql) = 0;
  // One that changes something. kCommitUnknown: its answer was lost.
  virtual Result<void> Execute(std::string_view sql) = 0;
};

std::unique_ptr<Statements> StatementsOverMySql(SqlSessionOptions options);

}  // namespace driftless::olap
