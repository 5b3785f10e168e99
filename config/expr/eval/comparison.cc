#include <bit>
#include <cmath>
#include <cstring>

#include "config/expr/eval/nodes.h"
#include "config/expr/typing.h"
#include "schema/types/decimal.h"

namespace driftless::flink {
namespace {

template <Comparison kOp, typename T>
bool Holds(const T& a, const T& b) {
  if constexpr (kOp == Comparison::kEqual) return a == b;
  if constexpr (kOp == Comparison::kNotEqual) return !(a == b);
  if constexpr (kOp == Comparison::kLess) return a < b;
  if constexpr (kOp == Comparison::kLessEqual) return a <= b;
  if constexpr (kOp == Comparison::kGreater) return a > b;
  return a >= b;
}

template <typename T>
struct ReadFixed {
  using Value = T;
  static T Get(const Node& node, int64_t row) { return node.Fixed<T>(row); }
};
struct ReadBit {
  using Value = int;
  static int Get(const Node& node, int64_t row) { return node.Bit(row) ? 1 : 0; }
};
struct ReadText {
  using Value = std::string_view;
  static std::string_view Get(const Node& node, int64_t row) { return node.Text(row); }
};

// Eight results make a byte, so that no bit is written alone.
template <typename Read, Comparison kOp>
class CompareNode : public Node {
 public:
  using Node::Node;

 protected:
  void Run(const EvalBatch& batch) override {
    Begin(batch.rows);
    const Node& a = *args[0];
    const Node& b = *args[1];
    // A null text has no bytes, a null number some: both can be looked at.
    if (a.constant) {
      const auto value = a.IsNull(0) ? typename Read::Value() : Read::Get(a, 0);
      Fill(batch.rows, [&](int64_t row) { return Holds<kOp>(value, Read::Get(b, row)); });
    } else if (b.constant) {
      const auto value = b.IsNull(0) ? typename Read::Value() : Read::Get(b, 0);
      Fill(batch.rows, [&](int64_t row) { return Holds<kOp>(Read::Get(a, row), value); });
    } else {
      Fill(batch.rows,
           [&](int64_t row) { return Holds<kOp>(Read::Get(a, row), Read::Get(b, row)); });
    }
    End();
  }

 private:
  template <typename Test>
  void Fill(int64_t rows, Test test) {
    int64_t row = 0;
    for (size_t byte = 0; row < rows; ++byte) {
      uint8_t bits = 0;
      const int64_t end = std::min<int64_t>(row + 8, rows);
      for (int bit = 0; row < end; ++row, ++bit) {
        bits |= static_cast<uint8_t>((test(row) ? 1u : 0u) << bit);
      }
      out_.values[byte] = bits;
    }
  }
};

template <typename Read>
NodePtr CompareOf(Comparison op, const LogicalType& type) {
  switch (op) {
    case Comparison::kEqual: return std::make_shared<CompareNode<Read, Comparison::kEqual>>(type);
    case Comparison::kNotEqual:
      return std::make_shared<CompareNode<Read, Comparison::kNotEqual>>(type);
    case Comparison::kLess: return std::make_shared<CompareNode<Read, Comparison::kLess>>(type);
    case Comparison::kLessEqual:
      return std::make_shared<CompareNode<Read, Comparison::kLessEqual>>(type);
    case Comparison::kGreater:
      return std::make_shared<CompareNode<Read, Comparison::kGreater>>(type);
    case Comparison::kGreaterEqual:
      return std::make_shared<CompareNode<Read, Comparison::kGreaterEqual>>(type);
  }
  return nullptr;
}

NodePtr CompareOf(Comparison op, const LogicalType& operands, const LogicalType& type) {
  switch (operands.physical()) {
    case PhysicalKind::kBit: return CompareOf<ReadBit>(op, type);
    case PhysicalKind::kFixed8: return CompareOf<ReadFixed<int8_t>>(op, type);
    case PhysicalKind::kFixed16: return CompareOf<ReadFixed<int16_t>>(op, type);
    case PhysicalKind::kFixed32:
      if (operands.kind() == TypeKind::kFloat) return CompareOf<ReadFixed<float>>(op, type);
      return CompareOf<ReadFixed<int32_t>>(op, type);
    case PhysicalKind::kFixed64:
      if (operands.kind() == TypeKind::kDouble) return CompareOf<ReadFixed<double>>(op, type);
      return CompareOf<ReadFixed<int64_t>>(op, type);
    case PhysicalKind::kFixed128: return CompareOf<ReadFixed<Int128>>(op, type);
    case PhysicalKind::kVariable: return CompareOf<ReadText>(op, type);
    default: return nullptr;
  }
}

bool IsNumeric(const LogicalType& type) {
  return type.IsInteger() || type.kind() == TypeKind::kFloat || type.kind() == TypeKind::kDouble ||
         type.kind() == TypeKind::kDecimal;
}
bool IsDateTime(const LogicalType& type) {
  return type.IsTimestamp() || type.kind() == TypeKind::kDate || type.kind() == TypeKind::kTime;
}

// What both are compared as. A text beside something else is read as that.
std::optional<LogicalType> Operands(const LogicalType& a, const LogicalType& b) {
  if (a.IsCharacter() && b.IsCharacter()) return LogicalType::String();
  if (IsNumeric(a) && b.IsCharacter()) {
    if (a.kind() == TypeKind::kDecimal) return LogicalType::Decimal(38, a.scale());
    return a.IsInteger() ? LogicalType::Decimal(38, 18) : LogicalType::Double();
  }
  if (b.IsCharacter() && (IsDateTime(b) || IsDateTime(a) || a.kind() == TypeKind::kBoolean)) {
    if (a.kind() == TypeKind::kTimestamp) return LogicalType::Timestamp(a.IsNanos() ? 9 : 6);
    if (a.kind() == TypeKind::kTimestampLtz) return LogicalType::TimestampLtz(a.IsNanos() ? 9 : 6);
    return a;
  }
  if (a.IsCharacter() && !b.IsCharacter() && !b.IsBytes() && !b.IsNested()) return Operands(b, a);
  return LeastRestrictive(a, b);
}

class DistinctNode : public Node {
 public:
  explicit DistinctNode(bool distinct)
      : Node(LogicalType::Boolean().NotNull()), distinct_(distinct) {}

 protected:
  void Run(const EvalBatch& batch) override {
    BeginAllNull(batch.rows);
    for (const NodePtr& arg : args) TakeErrors(*arg, batch.rows);
    std::fill(out_.validity.begin(), out_.validity.end(), uint8_t{0xFF});
    const Node& equal = *args[0];
    for (int64_t row = 0; row < batch.rows; ++row) {
      const bool null_a = args[1]->IsNull(row);
      const bool null_b = args[2]->IsNull(row);
      const bool same = null_a || null_b ? null_a && null_b : equal.Bit(row);
      if (same != distinct_) SetBit(row);
    }
    End();
  }

 private:
  bool distinct_;
};

}  // namespace

Result<NodePtr> MakeComparison(Comparison op, NodePtr a, NodePtr b, const TimeZone& zone) {
  // NULL has no type of its own.
  if (a->IsNullLiteral() || b->IsNullLiteral()) return MakeNullLiteral(LogicalType::Boolean());
  const LogicalType type =
      LogicalType::Boolean().WithNullability(a->type.nullable() || b->type.nullable());
  const std::optional<LogicalType> operands = Operands(a->type, b->type);
  if (operands) {
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr x, MakeCast(a, *operands, CastMode::kStrict, zone));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr y, MakeCast(b, *operands, CastMode::kStrict, zone));
    if (NodePtr node = CompareOf(op, *operands, type); node != nullptr) {
      node->args = {std::move(x), std::move(y)};
      return node;
    }
  }
  return MakeError(ErrorKind::kUnsupported,
                   "values of type " + a->type.ToStringIgnoringNullability() + " and " +
                       b->type.ToStringIgnoringNullability() + " cannot be compared");
}

NodePtr MakeDistinct(NodePtr equal, NodePtr a, NodePtr b, bool distinct) {
  NodePtr node = std::make_shared<DistinctNode>(distinct);
  node->args = {std::move(equal), std::move(a), std::move(b)};
  return node;
}

}  // namespace driftless::flink
