#include <algorithm>

#include "config/expr/eval/function_table.h"
#include "config/expr/eval/nodes.h"

// ARRAY, MAP and ROW values: made of columns, looked into, searched.
namespace driftless::flink {
namespace {

// Whether two values of one type that holds no others are the same; neither is NULL.
bool IsSame(PhysicalKind kind, const ColumnView& a, int64_t i, const ColumnView& b, int64_t k) {
  switch (kind) {
    case PhysicalKind::kBit: return a.Bit(i) == b.Bit(k);
    case PhysicalKind::kFixed8: return a.Fixed<int8_t>(i) == b.Fixed<int8_t>(k);
    case PhysicalKind::kFixed16: return a.Fixed<int16_t>(i) == b.Fixed<int16_t>(k);
    case PhysicalKind::kFixed32: return a.Fixed<int32_t>(i) == b.Fixed<int32_t>(k);
    case PhysicalKind::kFixed64: return a.Fixed<int64_t>(i) == b.Fixed<int64_t>(k);
    case PhysicalKind::kFixed128: return a.Fixed<__int128>(i) == b.Fixed<__int128>(k);
    case PhysicalKind::kVariable: return a.Bytes(i) == b.Bytes(k);
    case PhysicalKind::kList:
    case PhysicalKind::kStruct: break;
  }
  return false;
}

// Gives its arguments as the elements of one value a row.
class ElementsNode : public Node {
 public:
  using Node::Node;

 protected:
  // `is_kept` says of an argument's number and a row whether it is an element there.
  template <typename IsKept>
  void Gather(const EvalBatch& batch, const LogicalType& element, const IsKept& is_kept) {
    out_.Prepare(type, batch.rows);
    std::fill(out_.validity.begin(), out_.validity.end(), uint8_t{0xFF});
    for (const NodePtr& arg : args) TakeErrors(*arg, batch.rows);
    for (int64_t row = 0; row < batch.rows; ++row) {
      for (size_t i = 0; i < args.size(); ++i) {
        if (!is_kept(i, row)) continue;
        const int64_t at = args[i]->At(row);
        out_.children[0].AppendRows(element, args[i]->view, at, at + 1);
      }
      out_.offsets.push_back(static_cast<int32_t>(out_.children[0].length()));
    }
    End();
  }
};

// An ARRAY of its arguments.
class ArrayNode : public ElementsNode {
 public:
  using ElementsNode::ElementsNode;

 protected:
  void Run(const EvalBatch& batch) override {
    Gather(batch, type.children()[0].type, [](size_t, int64_t) { return true; });
  }
};

// A MAP of its arguments, which are entries. A key has one value, the last one that it is given.
class MapNode : public ElementsNode {
 public:
  using ElementsNode::ElementsNode;

 protected:
  void Run(const EvalBatch& batch) override {
    const PhysicalKind key = type.children()[0].type.physical();
    Gather(batch, EntriesType(type),
           [&](size_t entry, int64_t row) { return !IsGivenAgain(key, entry, row); });
  }

 private:
  bool IsGivenAgain(PhysicalKind kind, size_t entry, int64_t row) const {
    const ColumnView& key = args[entry]->view.children[0];
    const int64_t at = args[entry]->At(row);
    for (size_t i = entry + 1; i < args.size(); ++i) {
      const ColumnView& other = args[i]->view.children[0];
      const int64_t other_at = args[i]->At(row);
      if (key.IsNull(at) != other.IsNull(other_at)) continue;
      if (key.IsNull(at) || IsSame(kind, key, at, other, other_at)) return true;
    }
    return false;
  }
};

class RowNode : public Node {
 public:
  using Node::Node;

 protected:
  void Run(const EvalBatch& batch) override {
    out_.Prepare(type, batch.rows);
    std::fill(out_.validity.begin(), out_.validity.end(), uint8_t{0xFF});
    for (size_t i = 0; i < args.size(); ++i) {
      TakeErrors(*args[i], batch.rows);
      const LogicalType& field = type.children()[i].type;
      out_.children[i].Prepare(field, 0);
      if (!args[i]->constant) {
        out_.children[i].AppendRows(field, args[i]->view, 0, batch.rows);
        continue;
      }
      for (int64_t row = 0; row < batch.rows; ++row) {
        out_.children[i].AppendRows(field, args[i]->view, 0, 1);
      }
    }
    End();
  }
};

class FieldNode : public Node {
 public:
  FieldNode(LogicalType result, size_t field) : Node(std::move(result)), field_(field) {}

 protected:
  void Run(const EvalBatch& batch) override {
    const ColumnView& from = args[0]->view.children[field_];
    if (args[0]->view.validity == nullptr) {
      view = from;
      return;
    }
    // A field of a NULL row is NULL, whatever lies there.
    out_.Prepare(type, 0);
    out_.AppendRows(type, from, 0, batch.rows);
    TakeNulls(*args[0], batch.rows);
    End();
  }

 private:
  size_t field_;
};

// args: array or map, index or key.
class ItemNode : public Node {
 public:
  using Node::Node;

 protected:
  void Run(const EvalBatch& batch) override {
    out_.Prepare(type, 0);
    const Node& from = *args[0];
    const Node& key = *args[1];
    for (const NodePtr& arg : args) TakeErrors(*arg, batch.rows);
    const bool is_map = from.type.kind() == TypeKind::kMap;
    const ColumnView& values = is_map ? from.view.children[0].children[1] : from.view.children[0];
    ColumnView none;  // one NULL
    OwnedColumn null;
    null.Prepare(type, 1);
    if (!null.offsets.empty()) null.offsets.push_back(0);
    none = null.view();
    for (int64_t row = 0; row < batch.rows; ++row) {
      const int64_t at = from.IsNull(row) || key.IsNull(row) ? -1 : Find(from, key, row, is_map);
      if (at < 0) {
        out_.AppendRows(type, none, 0, 1);
      } else {
        out_.AppendRows(type, values, at, at + 1);
      }
    }
    End();
  }

 private:
  static int64_t Find(const Node& from, const Node& key, int64_t row, bool is_map) {
    const int64_t begin = from.view.offsets[from.At(row)];
    const int64_t end = from.view.offsets[from.At(row) + 1];
    if (!is_map) {
      const auto index = key.Fixed<int64_t>(row);
      return index >= 1 && index <= end - begin ? begin + index - 1 : -1;
    }
    const ColumnView& keys = from.view.children[0].children[0];
    for (int64_t i = begin; i < end; ++i) {
      if (keys.IsNull(i)) continue;
      if (IsSame(key.type.physical(), keys, i, key.view, key.At(row))) return i;
    }
    return -1;
  }
};

void Cardinality(Call& c, int64_t row) {
  const Node& list = *c.args[0];
  c.PutInt(row, list.view.offsets[list.At(row) + 1] - list.view.offsets[list.At(row)]);
}

// The place of the second argument in the list, from 1 on; 0 where it is not there. NULL finds
// NULL.
int64_t PlaceIn(Call& c, int64_t row) {
  const Node& list = *c.args[0];
  const Node& wanted = *c.args[1];
  const ColumnView& elements = list.view.children[0];
  const int64_t begin = list.view.offsets[list.At(row)];
  const int64_t end = list.view.offsets[list.At(row) + 1];
  for (int64_t i = begin; i < end; ++i) {
    const bool null_here = elements.IsNull(i);
    if (null_here || wanted.IsNull(row)) {
      if (null_here && wanted.IsNull(row)) return i - begin + 1;
      continue;
    }
    if (IsSame(wanted.type.physical(), elements, i, wanted.view, wanted.At(row))) {
      return i - begin + 1;
    }
  }
  return 0;
}
void ArrayContains(Call& c, int64_t row) {
  if (c.args[0]->IsNull(row)) return c.PutNull(row);
  c.PutBool(row, PlaceIn(c, row) > 0);
}
void ArrayPosition(Call& c, int64_t row) { c.PutInt(row, PlaceIn(c, row)); }

}  // namespace

NodePtr MakeArray(std::vector<NodePtr> values, const LogicalType& type) {
  NodePtr node = std::make_shared<ArrayNode>(type);
  node->args = std::move(values);
  return node;
}
NodePtr MakeMap(std::vector<NodePtr> entries, const LogicalType& type) {
  NodePtr node = std::make_shared<MapNode>(type);
  node->args = std::move(entries);
  return node;
}
NodePtr MakeRow(std::vector<NodePtr> values, const LogicalType& type) {
  NodePtr node = std::make_shared<RowNode>(type);
  node->args = std::move(values);
  return node;
}
NodePtr MakeField(NodePtr row, size_t field, const LogicalType& type) {
  NodePtr node = std::make_shared<FieldNode>(type, field);
  node->args.push_back(std::move(row));
  return node;
}

Result<NodePtr> MakeItem(NodePtr from, NodePtr index, const LogicalType& type,
                         const TimeZone& zone) {
  const TypeKind kind = from->type.kind();
  if (kind == TypeKind::kArray) {
    DRIFTLESS_ASSIGN_OR_RETURN(
        index, MakeCast(std::move(index), LogicalType::BigInt(), CastMode::kStrict, zone));
  } else if (kind == TypeKind::kMap) {
    const LogicalType& key = from->type.children()[0].type;
    if (key.IsNested()) {
      return MakeError(ErrorKind::kUnsupported,
                       "a MAP with keys of type " + key.ToString() + " cannot be looked into");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(index, MakeCast(std::move(index), key, CastMode::kStrict, zone));
  } else {
    return MakeError(ErrorKind::kUnsupported,
                     "a value of type " + from->type.ToString() + " has no items");
  }
  NodePtr node = std::make_shared<ItemNode>(type);
  node->args = {std::move(from), std::move(index)};
  return node;
}

std::span<const FunctionForm> ListForms() {
  // 'e': an element of the first argument.
  static constexpr FunctionForm kForms[] = {
      {"CARDINALITY", "*", 'l', kFixedLoop<Cardinality>},
      {"ARRAY_CONTAINS", "*e", 'b', LooseLoop<ArrayContains, false>},
      {"ARRAY_POSITION", "*e", 'l', kFixedLoop<ArrayPosition>},
  };
  return kForms;
}

}  // namespace driftless::flink
