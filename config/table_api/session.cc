#include "config/table_api/session.h"

#include "config/table_api/interpreter.h"

namespace driftless::table_api {

struct TableSession::Impl {
  explicit Impl(TableOptions options) : interpreter(options) {}
  Interpreter interpreter;
};

TableSession::TableSession(TableOptions options) : impl_(std::make_unique<Impl>(options)) {}
TableSession::~TableSession() = default;

Result<std::string> TableSession::Execute(const Statement& statement) {
  return impl_->interpreter.Execute(statement);
}

Result<std::vector<ApiExpr>> TableSession::Arguments(const Node& call) {
  return impl_->interpreter.Expressions(call);
}

}  // namespace driftless::table_api
