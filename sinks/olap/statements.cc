#include "sinks/olap/statements.h"

#include <utility>

namespace driftless::olap {
namespace {

class MySqlStatements : public Statements {
 public:
  explicit MySqlStatements(SqlSessionOptions options) : session_(std::move(options)) {}
  Result<SqlRows> Query(std::string_view sql) override { return session_.Query(sql); }
  Result<void> Execute(std::string_view sql) override { return session_.Execute(sql); }

 private:
  SqlSession session_;
};

}  // namespace

std::unique_ptr<Statements> StatementsOverMySql(SqlSessionOptions options) {
  return std::make_unique<MySqlStatements>(std::move(options));
}

}  // namespace driftless::olap
