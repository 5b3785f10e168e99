#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/types/owned_column.h"
#include "schema/types/time.h"

// The inside of a Program: a tree (a graph, where a value is used twice) of nodes, each of which
// works out one column per batch with one loop. Buffers are kept from batch to batch.
namespace driftless::flink {

// What the nodes read.
struct EvalBatch {
  int64_t rows = 0;
  std::span<const ColumnView> columns;  // as in the scope
  int64_t now_micros = 0;               // UTC
  uint64_t number = 0;                  // never 0; another one for every batch
};

// Rows whose value could not be worked out (a division by zero, a text that is no number). Their
// value is NULL; whether the row counts depends on who uses it, so the marks travel up the tree.
struct RowErrors {
  bool any = false;
  std::vector<uint8_t> bits;
  std::string what;  // of the first one

  void Clear() { any = false; }
  bool At(int64_t row) const {
    return any && ((bits[static_cast<size_t>(row >> 3)] >> (row & 7)) & 1) != 0;
  }
  void Mark(int64_t row, int64_t rows, std::string_view text) {
    if (!any) {
      any = true;
      bits.assign(BitmapBytes(rows), 0);
      what = text;
    }
    bits[static_cast<size_t>(row >> 3)] |= static_cast<uint8_t>(1u << (row & 7));
  }
};

class Node;
using NodePtr = std::shared_ptr<Node>;

class Node {
 public:
  explicit Node(LogicalType result) : type(std::move(result)) {}
  virtual ~Node() = default;

  // Fills `view` for this batch, once.
  void Eval(const EvalBatch& batch) {
    if (constant || done_ == batch.number) return;
    done_ = batch.number;
    for (const NodePtr& arg : args) arg->Eval(batch);
    errors.Clear();
    Run(batch);
  }
  // The node has one value for all rows from here on. Its arguments must be constant.
  void Fold() {
    EvalBatch one;
    one.rows = 1;
    one.number = 1;
    errors.Clear();
    Run(one);
    constant = true;
  }

  int64_t At(int64_t row) const { return constant ? 0 : row; }
  // NULL in the text itself, which goes with every type.
  bool IsNullLiteral() const { return constant && view.IsNull(0) && !errors.any; }
  bool IsNull(int64_t row) const { return view.IsNull(At(row)); }
  bool FailsAt(int64_t row) const { return errors.At(At(row)); }
  std::string_view Text(int64_t row) const { return view.Bytes(At(row)); }
  bool Bit(int64_t row) const { return view.Bit(At(row)); }
  template <typename T>
  T Fixed(int64_t row) const {
    return view.Fixed<T>(At(row));
  }

  const LogicalType type;
  std::vector<NodePtr> args;
  bool constant = false;      // `view` has one row, which stands for all
  bool deterministic = true;  // the same arguments give the same value
  ColumnView view;
  RowErrors errors;

 protected:
  virtual void Run(const EvalBatch& batch) = 0;

  // Room for `rows` values that are null where an argument is, with the arguments' failures.
  void Begin(int64_t rows) {
    out_.Prepare(type, rows);
    std::fill(out_.validity.begin(), out_.validity.end(), uint8_t{0xFF});
    for (const NodePtr& arg : args) TakeNulls(*arg, rows);
  }
  // The same with nulls only where the node puts them, and without failures.
  void BeginAllNull(int64_t rows) { out_.Prepare(type, rows); }
  void TakeNulls(const Node& arg, int64_t rows);
  void TakeErrors(const Node& arg, int64_t rows);
  void End() { view = out_.view(); }

  void SetBit(int64_t row) {
    out_.values[static_cast<size_t>(row >> 3)] |= static_cast<uint8_t>(1u << (row & 7));
  }
  bool OutIsNull(int64_t row) const { return out_.IsNull(row); }

  OwnedColumn out_;

 private:
  uint64_t done_ = 0;
};

class ColumnNode : public Node {
 public:
  ColumnNode(LogicalType column, size_t index) : Node(std::move(column)), index_(index) {}

 protected:
  void Run(const EvalBatch& batch) override { view = batch.columns[index_]; }

 private:
  size_t index_;
};

class Call;
// Fills the whole column of a call.
using CallLoop = void (*)(Call&, const EvalBatch&);

// A function. Its loop reads arguments in the form that the function table asks for.
class Call : public Node {
 public:
  Call(LogicalType result, CallLoop loop) : Node(std::move(result)), loop_(loop) {}

  bool Bool(size_t arg, int64_t row) const { return args[arg]->Bit(row); }
  int64_t Int(size_t arg, int64_t row) const { return args[arg]->Fixed<int64_t>(row); }
  int32_t Days(size_t arg, int64_t row) const { return args[arg]->Fixed<int32_t>(row); }
  double Double(size_t arg, int64_t row) const { return args[arg]->Fixed<double>(row); }
  std::string_view Str(size_t arg, int64_t row) const { return args[arg]->Text(row); }

  void PutInt(int64_t row, int64_t value) { out_.data<int64_t>()[row] = value; }
  void PutDays(int64_t row, int32_t value) { out_.data<int32_t>()[row] = value; }
  void PutDouble(int64_t row, double value) { out_.data<double>()[row] = value; }
  void PutBool(int64_t row, bool value) {
    if (value) SetBit(row);
  }
  void Append(std::string_view text) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
    out_.values.insert(out_.values.end(), bytes, bytes + text.size());
  }
  void PutNull(int64_t row) { out_.SetNull(row); }
  void Fail(int64_t row, std::string_view what) {
    out_.SetNull(row);
    errors.Mark(row, rows_, what);
  }

  // For loops.
  void Start(int64_t rows) {
    rows_ = rows;
    Begin(rows);
  }
  void StartAllValid(int64_t rows) {
    rows_ = rows;
    out_.Prepare(type, rows);
    std::fill(out_.validity.begin(), out_.validity.end(), uint8_t{0xFF});
    for (const NodePtr& arg : args) TakeErrors(*arg, rows);
  }
  bool Skips(int64_t row) const { return OutIsNull(row); }
  void EndText() { out_.offsets.push_back(static_cast<int32_t>(out_.values.size())); }
  void Finish() { End(); }
  OwnedColumn& out() { return out_; }

  TimeZone zone;                // the pipeline's
  std::string word;             // a unit or flag that stood among the arguments
  std::string scratch;          // for loops
  std::shared_ptr<void> cache;  // of the loop: a compiled pattern

 protected:
  void Run(const EvalBatch& batch) override { loop_(*this, batch); }

 private:
  CallLoop loop_;
  int64_t rows_ = 0;
};

// Loops over the rows whose arguments are all there; kText: the result is text or bytes.
template <auto Fn, bool kText>
void StrictLoop(Call& call, const EvalBatch& batch) {
  call.Start(batch.rows);
  for (int64_t row = 0; row < batch.rows; ++row) {
    if (!call.Skips(row)) Fn(call, row);
    if constexpr (kText) call.EndText();
  }
  call.Finish();
}
// Loops over all rows; the function asks for nulls itself.
template <auto Fn, bool kText>
void LooseLoop(Call& call, const EvalBatch& batch) {
  call.StartAllValid(batch.rows);
  for (int64_t row = 0; row < batch.rows; ++row) {
    Fn(call, row);
    if constexpr (kText) call.EndText();
  }
  call.Finish();
}

}  // namespace driftless::flink
