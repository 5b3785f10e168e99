#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/expr/expr.h"
#include "config/expr/typing.h"
#include "schema/base/result.h"
#include "schema/events/change_batch.h"
#include "schema/types/owned_column.h"
#include "schema/types/time.h"

namespace driftless::flink {

class Node;

// What a program reads: columns of one length, as the scope that it was compiled against names
// them.
struct EvalInput {
  int64_t rows = 0;
  std::span<const ColumnView> columns;
  int64_t now_micros = 0;  // UTC; what CURRENT_TIMESTAMP and its kin give
};

// An expression, ready to be worked out over columns. Compiled once per schema; keeps its buffers
// from batch to batch, so nothing is allocated per row. One thread at a time.
class Program {
 public:
  // Types the expression and compiles it. Errors: kRefused and kUnsupported with line and column
  // (unknown columns and functions, with a suggestion; types that do not go together; functions
  // that cannot be worked out row by row).
  static Result<Program> Compile(Expr expr, const Scope& scope, const TimeZone& zone);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  const LogicalType& type() const { return type_; }
  // Indices of the scope's columns that are read, each once.
  const std::vector<size_t>& inputs() const { return inputs_; }

  // One value a row; what a row lacks is NULL, and absent where the row's inputs are absent (the
  // source did not send them, so nothing is known). The view is valid until the next Run.
  const ColumnView& Run(const EvalInput& input);
  // Of the last Run: rows whose value failed and whose inputs were all there. LSB first, empty:
  // none.
  const std::vector<uint8_t>& failed_rows() const { return failed_; }
  const std::string& failure() const { return failure_; }  // of the first of them

 private:
  Program();

  std::shared_ptr<Node> root_;
  LogicalType type_;
  std::vector<size_t> inputs_;
  uint64_t runs_ = 1;  // folding was number 1
  ColumnView view_;
  OwnedColumn repeated_;  // of a constant
  std::vector<uint8_t> absent_;
  std::vector<uint8_t> failed_;
  std::string failure_;
};

}  // namespace driftless::flink
