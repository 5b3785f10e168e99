#include <algorithm>
#include <cstring>

#include "config/expr/eval/nodes.h"

// Truth values are worked on byte by byte: a row is true, false, or neither (NULL).
namespace driftless::flink {
namespace {

class LogicNode : public Node {
 public:
  using Node::Node;

 protected:
  struct Truth {
    uint8_t yes;
    uint8_t no;
  };
  static Truth ByteOf(const Node& node, size_t byte) {
    if (node.constant) {
      if (node.IsNull(0)) return {0, 0};
      return node.Bit(0) ? Truth{0xFF, 0} : Truth{0, 0xFF};
    }
    const uint8_t valid = node.view.validity == nullptr ? uint8_t{0xFF} : node.view.validity[byte];
    const uint8_t value = node.view.values[byte];
    return {static_cast<uint8_t>(valid & value), static_cast<uint8_t>(valid & ~value)};
  }
  static uint8_t ErrorsOf(const Node& node, size_t byte) {
    if (!node.errors.any) return 0;
    return node.constant ? (node.errors.bits[0] & 1 ? uint8_t{0xFF} : uint8_t{0})
                         : node.errors.bits[byte];
  }
  void Put(size_t byte, Truth truth) {
    out_.values[byte] = truth.yes;
    out_.validity[byte] = static_cast<uint8_t>(truth.yes | truth.no);
  }
  void PutErrors(size_t byte, uint8_t bits, int64_t rows, const std::string& what) {
    if (bits == 0) return;
    if (!errors.any) {
      errors.any = true;
      errors.bits.assign(BitmapBytes(rows), 0);
      errors.what = what;
    }
    errors.bits[byte] = bits;
  }
};

// A failure on one side does not count where the other side alone decides.
template <bool kAnd>
class AndOrNode : public LogicNode {
 public:
  using LogicNode::LogicNode;

 protected:
  void Run(const EvalBatch& batch) override {
    BeginAllNull(batch.rows);
    const Node& a = *args[0];
    const Node& b = *args[1];
    const bool fails = a.errors.any || b.errors.any;
    const std::string& what = a.errors.any ? a.errors.what : b.errors.what;
    for (size_t byte = 0; byte < BitmapBytes(batch.rows); ++byte) {
      const Truth x = ByteOf(a, byte);
      const Truth y = ByteOf(b, byte);
      Truth result{};
      if constexpr (kAnd) {
        result = {static_cast<uint8_t>(x.yes & y.yes), static_cast<uint8_t>(x.no | y.no)};
      } else {
        result = {static_cast<uint8_t>(x.yes | y.yes), static_cast<uint8_t>(x.no & y.no)};
      }
      Put(byte, result);
      if (fails) {
        const auto decided = kAnd ? result.no : result.yes;
        const auto bits = static_cast<uint8_t>((ErrorsOf(a, byte) | ErrorsOf(b, byte)) & ~decided);
        PutErrors(byte, bits, batch.rows, what);
      }
    }
    End();
  }
};

class NotNode : public LogicNode {
 public:
  using LogicNode::LogicNode;

 protected:
  void Run(const EvalBatch& batch) override {
    BeginAllNull(batch.rows);
    TakeErrors(*args[0], batch.rows);
    for (size_t byte = 0; byte < BitmapBytes(batch.rows); ++byte) {
      const Truth x = ByteOf(*args[0], byte);
      Put(byte, {x.no, x.yes});
    }
    End();
  }
};

enum class Test : uint8_t { kNull, kTrue, kFalse };

class IsNode : public LogicNode {
 public:
  IsNode(Test test, bool negated)
      : LogicNode(LogicalType::Boolean().NotNull()), test_(test), negated_(negated) {}

 protected:
  void Run(const EvalBatch& batch) override {
    BeginAllNull(batch.rows);
    TakeErrors(*args[0], batch.rows);
    const Node& arg = *args[0];
    for (size_t byte = 0; byte < BitmapBytes(batch.rows); ++byte) {
      uint8_t yes = 0;
      if (test_ == Test::kNull) {
        if (arg.constant) {
          yes = arg.IsNull(0) ? 0xFF : 0;
        } else if (arg.view.validity != nullptr) {
          yes = static_cast<uint8_t>(~arg.view.validity[byte]);
        }
      } else {
        const Truth x = ByteOf(arg, byte);
        yes = test_ == Test::kTrue ? x.yes : x.no;
      }
      if (negated_) yes = static_cast<uint8_t>(~yes);
      Put(byte, {yes, static_cast<uint8_t>(~yes)});
    }
    End();
  }

 private:
  Test test_;
  bool negated_;
};

// Takes each row from one of its values; runs of rows from the same one go together.
class ChoiceNode : public Node {
 public:
  using Node::Node;

 protected:
  template <typename Choose>
  void Gather(const EvalBatch& batch, Choose choose) {
    out_.Prepare(type, 0);
    choice_.resize(static_cast<size_t>(batch.rows));
    for (int64_t row = 0; row < batch.rows; ++row) {
      choice_[static_cast<size_t>(row)] = static_cast<uint16_t>(choose(row));
    }
    int64_t begin = 0;
    while (begin < batch.rows) {
      const uint16_t which = choice_[static_cast<size_t>(begin)];
      int64_t end = begin + 1;
      while (end < batch.rows && choice_[static_cast<size_t>(end)] == which) ++end;
      const Node& from = *args[which];
      if (from.constant) {
        for (int64_t row = begin; row < end; ++row) out_.AppendRows(type, from.view, 0, 1);
      } else {
        out_.AppendRows(type, from.view, begin, end);
      }
      for (int64_t row = begin; from.errors.any && row < end; ++row) {
        if (from.FailsAt(row)) errors.Mark(row, batch.rows, from.errors.what);
      }
      begin = end;
    }
    End();
  }

 private:
  std::vector<uint16_t> choice_;
};

// args: the values, then the conditions.
class CaseNode : public ChoiceNode {
 public:
  CaseNode(LogicalType result, size_t values) : ChoiceNode(std::move(result)), values_(values) {}

 protected:
  void Run(const EvalBatch& batch) override {
    Gather(batch, [&](int64_t row) {
      for (size_t i = 0; i + 1 < values_; ++i) {
        const Node& condition = *args[values_ + i];
        if (condition.errors.any && condition.FailsAt(row)) {
          errors.Mark(row, batch.rows, condition.errors.what);
        }
        if (!condition.IsNull(row) && condition.Bit(row)) return i;
      }
      return values_ - 1;
    });
  }

 private:
  size_t values_;
};

class CoalesceNode : public ChoiceNode {
 public:
  using ChoiceNode::ChoiceNode;

 protected:
  void Run(const EvalBatch& batch) override {
    Gather(batch, [&](int64_t row) {
      for (size_t i = 0; i + 1 < args.size(); ++i) {
        if (!args[i]->IsNull(row) || args[i]->FailsAt(row)) return i;
      }
      return args.size() - 1;
    });
  }
};

// args: value, NULL, equal.
class NullIfNode : public ChoiceNode {
 public:
  using ChoiceNode::ChoiceNode;

 protected:
  void Run(const EvalBatch& batch) override {
    const Node& equal = *args[2];
    TakeErrors(equal, batch.rows);
    Gather(batch, [&](int64_t row) {
      return !equal.IsNull(row) && equal.Bit(row) ? size_t{1} : size_t{0};
    });
  }
};

class LiteralNode : public Node {
 public:
  explicit LiteralNode(const LogicalType& literal) : Node(literal) {
    out_.Prepare(type, 1);
    constant = true;
  }
  void SetText(std::string_view text) {
    out_.values.assign(text.begin(), text.end());
    Valid();
  }
  void SetInt(int64_t value) {
    if (type.kind() == TypeKind::kBoolean) {
      out_.values[0] = value != 0 ? 0xFF : 0;
    } else {
      WriteInteger(type, &out_, 0, value);
    }
    Valid();
  }
  template <typename T>
  void SetFixed(T value) {
    std::memcpy(out_.values.data(), &value, sizeof value);
    Valid();
  }
  void Null() {
    if (!out_.offsets.empty()) out_.offsets.push_back(0);
    End();
  }

 protected:
  void Run(const EvalBatch&) override {}

 private:
  void Valid() {
    out_.validity[0] = 0xFF;
    if (!out_.offsets.empty()) out_.offsets.push_back(static_cast<int32_t>(out_.values.size()));
    End();
  }
};

LogicalType BooleanOf(const Node& a, const Node& b) {
  return LogicalType::Boolean().WithNullability(a.type.nullable() || b.type.nullable());
}

}  // namespace

NodePtr MakeAnd(NodePtr a, NodePtr b) {
  NodePtr node = std::make_shared<AndOrNode<true>>(BooleanOf(*a, *b));
  node->args = {std::move(a), std::move(b)};
  return node;
}
NodePtr MakeOr(NodePtr a, NodePtr b) {
  NodePtr node = std::make_shared<AndOrNode<false>>(BooleanOf(*a, *b));
  node->args = {std::move(a), std::move(b)};
  return node;
}
NodePtr MakeNot(NodePtr value) {
  NodePtr node = std::make_shared<NotNode>(value->type);
  node->args = {std::move(value)};
  return node;
}
NodePtr MakeIs(std::string_view test, NodePtr value) {
  const bool negated = test.starts_with("NOT ");
  if (negated) test.remove_prefix(4);
  const Test which = test == "TRUE" ? Test::kTrue : test == "FALSE" ? Test::kFalse : Test::kNull;
  NodePtr node = std::make_shared<IsNode>(which, negated);
  node->args = {std::move(value)};
  return node;
}

NodePtr MakeCase(std::vector<NodePtr> conditions, std::vector<NodePtr> values,
                 const LogicalType& type) {
  NodePtr node = std::make_shared<CaseNode>(type, values.size());
  node->args = std::move(values);
  for (NodePtr& condition : conditions) node->args.push_back(std::move(condition));
  return node;
}
NodePtr MakeCoalesce(std::vector<NodePtr> values, const LogicalType& type) {
  NodePtr node = std::make_shared<CoalesceNode>(type);
  node->args = std::move(values);
  return node;
}
NodePtr MakeNullIf(NodePtr value, NodePtr equal, const LogicalType& type) {
  NodePtr node = std::make_shared<NullIfNode>(type);
  node->args = {std::move(value), MakeNullLiteral(type), std::move(equal)};
  return node;
}

NodePtr MakeTextLiteral(const LogicalType& type, std::string_view text) {
  auto node = std::make_shared<LiteralNode>(type);
  node->SetText(text);
  return node;
}
NodePtr MakeIntLiteral(const LogicalType& type, int64_t value) {
  auto node = std::make_shared<LiteralNode>(type);
  node->SetInt(value);
  return node;
}
NodePtr MakeDoubleLiteral(const LogicalType& type, double value) {
  auto node = std::make_shared<LiteralNode>(type);
  node->SetFixed(value);
  return node;
}
NodePtr MakeDecimalLiteral(const LogicalType& type, __int128 value) {
  auto node = std::make_shared<LiteralNode>(type);
  node->SetFixed(value);
  return node;
}
NodePtr MakeNullLiteral(const LogicalType& type) {
  auto node = std::make_shared<LiteralNode>(type.Nullable());
  node->Null();
  return node;
}

}  // namespace driftless::flink
