#include <arrow/util/basic_decimal.h>

#include <cmath>
#include <cstring>

#include "config/expr/eval/nodes.h"
#include "schema/types/decimal.h"

// + - * / % with Flink's semantics: integers wrap, integer division cuts off and fails at zero,
// decimals have the type that typing.h gives them, round half up, and are NULL where they overflow.
namespace driftless::flink {
namespace {

constexpr std::string_view kByZero = "division by zero";

enum class Op : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kRemainder };

template <typename T, Op kOp>
class NumberNode : public Node {
 public:
  using Node::Node;

 protected:
  void Run(const EvalBatch& batch) override {
    Begin(batch.rows);
    const T* const a = reinterpret_cast<const T*>(args[0]->view.values);
    const T* const b = reinterpret_cast<const T*>(args[1]->view.values);
    T* const out = out_.data<T>();
    if (args[0]->constant) {
      Loop(batch.rows, out, [a](int64_t) { return *a; }, [b](int64_t row) { return b[row]; });
    } else if (args[1]->constant) {
      Loop(batch.rows, out, [a](int64_t row) { return a[row]; }, [b](int64_t) { return *b; });
    } else {
      Loop(
          batch.rows, out, [a](int64_t row) { return a[row]; },
          [b](int64_t row) { return b[row]; });
    }
    End();
  }

 private:
  template <typename A, typename B>
  void Loop(int64_t rows, T* out, A a, B b) {
    for (int64_t row = 0; row < rows; ++row) {
      if constexpr (std::is_integral_v<T> && (kOp == Op::kDivide || kOp == Op::kRemainder)) {
        if (OutIsNull(row)) continue;  // what lies there is no value
        const T divisor = b(row);
        if (divisor == 0) {
          out_.SetNull(row);
          errors.Mark(row, rows, kByZero);
        } else if (divisor == -1) {
          // The smallest number has no negative: it stays, as in Java.
          out[row] = kOp == Op::kRemainder ? T{0} : Negative(a(row));
        } else {
          out[row] = static_cast<T>(kOp == Op::kRemainder ? a(row) % divisor : a(row) / divisor);
        }
      } else {
        out[row] = Apply(a(row), b(row));
      }
    }
  }

  static T Negative(T value) {
    using U = std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int64_t>>;
    return static_cast<T>(U{0} - static_cast<U>(value));
  }

  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      // Unsigned arithmetic wraps.
      const auto x = static_cast<uint64_t>(a);
      const auto y = static_cast<uint64_t>(b);
      if constexpr (kOp == Op::kAdd) return static_cast<T>(x + y);
      if constexpr (kOp == Op::kSubtract) return static_cast<T>(x - y);
      return static_cast<T>(x * y);
    } else {
      if constexpr (kOp == Op::kAdd) return a + b;
      if constexpr (kOp == Op::kSubtract) return a - b;
      if constexpr (kOp == Op::kMultiply) return a * b;
      if constexpr (kOp == Op::kDivide) return a / b;
      return std::fmod(a, b);
    }
  }
};

arrow::BasicDecimal256 Wide(Int128 value) {
  return arrow::BasicDecimal256(
      arrow::BasicDecimal128(static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value)));
}

// 10^n, n up to 76.
arrow::BasicDecimal256 WidePower(int n) {
  const int first = std::min(n, 38);
  return Wide(PowerOfTen(first)) * Wide(PowerOfTen(n - first));
}

// False where it does not fit 128 bits.
bool Narrow(const arrow::BasicDecimal256& value, Int128* result) {
  const auto& words = value.native_endian_array();  // four words, the lowest first
  const auto low = static_cast<UInt128>(words[0]) | (static_cast<UInt128>(words[1]) << 64);
  *result = static_cast<Int128>(low);
  const uint64_t fill = *result < 0 ? ~uint64_t{0} : 0;
  return words[2] == fill && words[3] == fill;
}

// a / b, rounded half away from zero.
arrow::BasicDecimal256 DivideHalfUp(const arrow::BasicDecimal256& a,
                                    const arrow::BasicDecimal256& b) {
  arrow::BasicDecimal256 quotient;
  arrow::BasicDecimal256 rest;
  (void)a.Divide(b, &quotient, &rest);
  const bool negative = (a.IsNegative() != b.IsNegative());
  arrow::BasicDecimal256 twice = arrow::BasicDecimal256::Abs(rest);
  twice += twice;
  if (twice >= arrow::BasicDecimal256::Abs(b)) {
    if (negative) {
      quotient -= arrow::BasicDecimal256(1);
    } else {
      quotient += arrow::BasicDecimal256(1);
    }
  }
  return quotient;
}

class DecimalNode : public Node {
 public:
  DecimalNode(LogicalType result, Op op) : Node(std::move(result)), op_(op) {}

 protected:
  void Run(const EvalBatch& batch) override {
    Begin(batch.rows);
    const int s1 = args[0]->type.scale();
    const int s2 = args[1]->type.scale();
    for (int64_t row = 0; row < batch.rows; ++row) {
      if (OutIsNull(row)) continue;
      const auto a = args[0]->Fixed<Int128>(row);
      const auto b = args[1]->Fixed<Int128>(row);
      if (b == 0 && (op_ == Op::kDivide || op_ == Op::kRemainder)) {
        out_.SetNull(row);
        errors.Mark(row, batch.rows, kByZero);
        continue;
      }
      Int128 value = 0;
      if (Compute(a, s1, b, s2, &value) && FitsPrecision(value, type.precision())) {
        std::memcpy(out_.values.data() + row * 16, &value, 16);
      } else {
        out_.SetNull(row);  // Flink: a decimal that overflows is NULL
      }
    }
    End();
  }

 private:
  bool Compute(Int128 a, int s1, Int128 b, int s2, Int128* result) const {
    switch (op_) {
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kRemainder: return SameScale(a, s1, b, s2, result);
      case Op::kMultiply: {
        Int128 product = 0;
        bool exact = false;
        if (!__builtin_mul_overflow(a, b, &product)) {
          return Rescale(product, s1 + s2, type.scale(), result, &exact);
        }
        const int less = s1 + s2 - type.scale();
        const arrow::BasicDecimal256 wide = Wide(a) * Wide(b);
        return Narrow(less > 0 ? DivideHalfUp(wide, WidePower(less)) : wide, result);
      }
      case Op::kDivide: {
        // value = a / b * 10^(scale - s1 + s2)
        const int more = type.scale() - s1 + s2;
        if (more < 0) return Narrow(DivideHalfUp(Wide(a), Wide(b) * WidePower(-more)), result);
        const Int128 most = PowerOfTen(38);
        if (more > 38 && (a > most || a < -most)) return false;
        return Narrow(DivideHalfUp(Wide(a) * WidePower(more), Wide(b)), result);
      }
    }
    return false;
  }

  bool SameScale(Int128 a, int s1, Int128 b, int s2, Int128* result) const {
    const int scale = std::max(s1, s2);
    arrow::BasicDecimal256 x = Wide(a) * WidePower(scale - s1);
    const arrow::BasicDecimal256 y = Wide(b) * WidePower(scale - s2);
    if (op_ == Op::kAdd) {
      x += y;
    } else if (op_ == Op::kSubtract) {
      x -= y;
    } else {
      arrow::BasicDecimal256 quotient;
      arrow::BasicDecimal256 rest;
      (void)x.Divide(y, &quotient, &rest);
      x = rest;
    }
    if (scale > type.scale()) x = DivideHalfUp(x, WidePower(scale - type.scale()));
    if (scale < type.scale()) x = x * WidePower(type.scale() - scale);
    return Narrow(x, result);
  }

  Op op_;
};

template <typename T>
NodePtr NumberOf(Op op, const LogicalType& type) {
  switch (op) {
    case Op::kAdd: return std::make_shared<NumberNode<T, Op::kAdd>>(type);
    case Op::kSubtract: return std::make_shared<NumberNode<T, Op::kSubtract>>(type);
    case Op::kMultiply: return std::make_shared<NumberNode<T, Op::kMultiply>>(type);
    case Op::kDivide: return std::make_shared<NumberNode<T, Op::kDivide>>(type);
    case Op::kRemainder: return std::make_shared<NumberNode<T, Op::kRemainder>>(type);
  }
  return nullptr;
}

NodePtr NumberOf(Op op, const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kTinyInt: return NumberOf<int8_t>(op, type);
    case TypeKind::kSmallInt: return NumberOf<int16_t>(op, type);
    case TypeKind::kInt: return NumberOf<int32_t>(op, type);
    case TypeKind::kBigInt: return NumberOf<int64_t>(op, type);
    case TypeKind::kFloat: return NumberOf<float>(op, type);
    default: return NumberOf<double>(op, type);
  }
}

bool IsNumeric(const LogicalType& type) {
  return type.IsInteger() || type.kind() == TypeKind::kFloat || type.kind() == TypeKind::kDouble ||
         type.kind() == TypeKind::kDecimal;
}

LogicalType AsDecimal(const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kTinyInt: return LogicalType::Decimal(3, 0);
    case TypeKind::kSmallInt: return LogicalType::Decimal(5, 0);
    case TypeKind::kInt: return LogicalType::Decimal(10, 0);
    case TypeKind::kBigInt: return LogicalType::Decimal(19, 0);
    default: return type;
  }
}

}  // namespace

Result<NodePtr> MakeArithmetic(std::string_view op, NodePtr a, NodePtr b, const LogicalType& result,
                               const TimeZone& zone) {
  const Op which = op == "+"   ? Op::kAdd
                   : op == "-" ? Op::kSubtract
                   : op == "*" ? Op::kMultiply
                   : op == "/" ? Op::kDivide
                               : Op::kRemainder;
  if (!IsNumeric(a->type) || !IsNumeric(b->type)) {
    return MakeError(ErrorKind::kUnsupported, "Cannot apply '" + std::string(op) + "' to '" +
                                                  a->type.ToStringIgnoringNullability() +
                                                  "' and '" +
                                                  b->type.ToStringIgnoringNullability() + "'");
  }
  if (result.kind() == TypeKind::kDecimal) {
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr x, MakeCast(a, AsDecimal(a->type), CastMode::kStrict, zone));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr y, MakeCast(b, AsDecimal(b->type), CastMode::kStrict, zone));
    NodePtr node = std::make_shared<DecimalNode>(result, which);
    node->args = {std::move(x), std::move(y)};
    return node;
  }
  // A remainder has the divisor's type, but is worked out in the wider one.
  LogicalType work = result;
  if (which == Op::kRemainder && a->type.IsInteger() && b->type.IsInteger()) {
    work = a->type.kind() > b->type.kind() ? a->type : b->type;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(NodePtr x, MakeCast(a, work, CastMode::kStrict, zone));
  DRIFTLESS_ASSIGN_OR_RETURN(NodePtr y, MakeCast(b, work, CastMode::kStrict, zone));
  NodePtr node = NumberOf(which, work.WithNullability(result.nullable()));
  node->args = {std::move(x), std::move(y)};
  return MakeCast(std::move(node), result, CastMode::kStrict, zone);
}

Result<NodePtr> MakeNegative(NodePtr value) {
  const LogicalType type = value->type;
  if (type.kind() == TypeKind::kDecimal) {
    NodePtr node = std::make_shared<DecimalNode>(type, Op::kSubtract);
    node->args = {MakeDecimalLiteral(LogicalType::Decimal(1, 0), 0), std::move(value)};
    return node;
  }
  if (type.kind() == TypeKind::kFloat || type.kind() == TypeKind::kDouble) {
    // 0 - x would lose the sign of zero.
    return MakeArithmetic("*", MakeDoubleLiteral(LogicalType::Double(), -1), std::move(value), type,
                          TimeZone());
  }
  return MakeArithmetic("-", MakeIntLiteral(type.NotNull(), 0), std::move(value), type, TimeZone());
}

}  // namespace driftless::flink
