#include "config/expr/eval/program.h"

#include <algorithm>

#include "config/expr/eval/compile.h"
#include "config/expr/eval/interval.h"
#include "config/expr/eval/node.h"
#include "schema/types/overlay.h"

namespace driftless::flink {

Program::Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Result<Program> Program::Compile(Expr expr, const Scope& scope, const TimeZone& zone) {
  Result<LogicalType> type = InferType(&expr, scope);
  if (!type) {
    Error error = std::move(type).error();
    if (error.line() == 0) error = std::move(error).At(expr.line, expr.column);
    return error;
  }
  Program program;
  DRIFTLESS_ASSIGN_OR_RETURN(program.root_, CompileExpr(expr, scope, zone, &program.inputs_));
  // Values that are worked out have no blanks at the end: a CHAR is one only where the text says
  // so.
  const bool keeps_char = expr.kind == ExprKind::kColumn || expr.kind == ExprKind::kCast;
  if (IsInterval(expr)) expr.result = program.root_->type;
  const bool is_char = expr.result.kind() == TypeKind::kChar && !keeps_char;
  program.type_ = is_char ? LogicalType::VarChar(std::max(expr.result.length(), 1))
                                .WithNullability(expr.result.nullable())
                          : expr.result;
  return program;
}

const ColumnView& Program::Run(const EvalInput& input) {
  EvalBatch batch;
  batch.rows = input.rows;
  batch.columns = input.columns;
  batch.now_micros = input.now_micros;
  batch.number = ++runs_;
  root_->Eval(batch);
  if (!root_->constant) {
    view_ = root_->view;
  } else if (repeated_.length() < input.rows) {
    Repeat(root_->type, root_->view, std::max<int64_t>(input.rows, 4096), &repeated_);
  }
  if (root_->constant) {
    view_ = repeated_.view();
    view_.length = input.rows;
  }

  absent_.clear();
  const size_t bytes = BitmapBytes(input.rows);
  for (const size_t column : inputs_) {
    const uint8_t* absent = input.columns[column].absent;
    if (absent == nullptr) continue;
    if (absent_.empty()) absent_.assign(bytes, 0);
    for (size_t i = 0; i < bytes; ++i) absent_[i] |= absent[i];
  }
  view_.absent = absent_.empty() ? nullptr : absent_.data();

  failed_.clear();
  if (!root_->errors.any) return view_;
  failed_.assign(bytes, 0);
  bool any = false;
  for (size_t i = 0; i < bytes; ++i) {
    uint8_t bits = root_->constant ? uint8_t{0xFF} : root_->errors.bits[i];
    if (!absent_.empty()) bits &= static_cast<uint8_t>(~absent_[i]);
    const int64_t left = input.rows - static_cast<int64_t>(i) * 8;
    if (left < 8) bits &= static_cast<uint8_t>((1u << left) - 1);
    failed_[i] = bits;
    any = any || bits != 0;
  }
  if (any) {
    failure_ = root_->errors.what;
  } else {
    failed_.clear();
  }
  return view_;
}

}  // namespace driftless::flink
