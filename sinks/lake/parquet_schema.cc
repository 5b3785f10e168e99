#include "sinks/lake/parquet_schema.h"

#include <parquet/schema.h>
#include <parquet/types.h>

namespace driftless::lake {
namespace {

namespace pq = ::parquet;
using pq::schema::GroupNode;
using pq::schema::NodePtr;
using pq::schema::PrimitiveNode;

class ColumnMaker {
 public:
  ColumnMaker(const ParquetDialect& dialect, const std::vector<int32_t>& nested_ids, int* next_leaf)
      : dialect_(dialect), nested_ids_(nested_ids), next_leaf_(next_leaf) {}

  Result<NodePtr> Make(const std::string& name, const LogicalType& type, bool nullable,
                       int32_t field_id, int16_t def, int16_t rep, SchemaNode* shape) {
    shape->type = type;
    shape->nullable = nullable;
    shape->present_level = static_cast<int16_t>(def + (nullable ? 1 : 0));
    const auto repetition = nullable ? pq::Repetition::OPTIONAL : pq::Repetition::REQUIRED;
    switch (type.kind()) {
      case TypeKind::kArray: return MakeList(name, type, repetition, field_id, rep, shape);
      case TypeKind::kMap:
      case TypeKind::kMultiset: return MakeMap(name, type, repetition, field_id, rep, shape);
      case TypeKind::kRow: return MakeRow(name, type, repetition, field_id, rep, shape);
      case TypeKind::kVariant:
        return MakeError(ErrorKind::kUnsupported,
                         "column " + name + ": VARIANT cannot be written to Parquet yet")
            .Hint("map the column to STRING");
      default: break;
    }
    shape->leaf = (*next_leaf_)++;
    return MakeLeaf(name, type, repetition, field_id, shape);
  }

 private:
  int32_t NextNestedId() {
    return nested_at_ < nested_ids_.size() ? nested_ids_[nested_at_++] : -1;
  }

  Result<NodePtr> MakeList(const std::string& name, const LogicalType& type,
                           pq::Repetition::type repetition, int32_t field_id, int16_t rep,
                           SchemaNode* shape) {
    const LogicalType& element = type.children()[0].type;
    shape->repeat_level = static_cast<int16_t>(rep + 1);
    shape->children.resize(1);
    const int32_t id = NextNestedId();
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr child, Make("element", element, element.nullable(), id,
                                                   static_cast<int16_t>(shape->present_level + 1),
                                                   shape->repeat_level, &shape->children[0]));
    NodePtr list = GroupNode::Make("list", pq::Repetition::REPEATED, {child});
    return GroupNode::Make(name, repetition, {list}, pq::LogicalType::List(), field_id);
  }

  Result<NodePtr> MakeMap(const std::string& name, const LogicalType& type,
                          pq::Repetition::type repetition, int32_t field_id, int16_t rep,
                          SchemaNode* shape) {
    const LogicalType& key = type.children()[0].type;
    const LogicalType value =
        type.kind() == TypeKind::kMap ? type.children()[1].type : LogicalType::Int().NotNull();
    shape->repeat_level = static_cast<int16_t>(rep + 1);
    shape->children.resize(2);
    const auto entry_level = static_cast<int16_t>(shape->present_level + 1);
    const int32_t key_id = NextNestedId();
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr key_node,
                               Make("key", key, /*nullable=*/false, key_id, entry_level,
                                    shape->repeat_level, &shape->children[0]));
    const int32_t value_id = NextNestedId();
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value_node,
                               Make("value", value, value.nullable(), value_id, entry_level,
                                    shape->repeat_level, &shape->children[1]));
    NodePtr entries =
        GroupNode::Make("key_value", pq::Repetition::REPEATED, {key_node, value_node});
    return GroupNode::Make(name, repetition, {entries}, pq::LogicalType::Map(), field_id);
  }

  Result<NodePtr> MakeRow(const std::string& name, const LogicalType& type,
                          pq::Repetition::type repetition, int32_t field_id, int16_t rep,
                          SchemaNode* shape) {
    const auto& fields = type.children();
    shape->children.resize(fields.size());
    pq::schema::NodeVector members;
    for (size_t i = 0; i < fields.size(); ++i) {
      const int32_t id = NextNestedId();
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr member,
                                 Make(fields[i].name, fields[i].type, fields[i].type.nullable(), id,
                                      shape->present_level, rep, &shape->children[i]));
      members.push_back(std::move(member));
    }
    return GroupNode::Make(name, repetition, members, pq::ConvertedType::NONE, field_id);
  }

  Result<NodePtr> MakeLeaf(const std::string& name, const LogicalType& type,
                           pq::Repetition::type repetition, int32_t field_id, SchemaNode* shape) {
    const auto leaf = [&](LeafForm form, pq::Type::type physical,
                          std::shared_ptr<const pq::LogicalType> logical, int length = -1) {
      shape->form = form;
      shape->fixed_length = length;
      return PrimitiveNode::Make(name, repetition, std::move(logical), physical, length, field_id);
    };
    const auto none = pq::LogicalType::None();
    switch (type.kind()) {
      case TypeKind::kBoolean: return leaf(LeafForm::kBoolean, pq::Type::BOOLEAN, none);
      case TypeKind::kTinyInt:
        return leaf(LeafForm::kInt8, pq::Type::INT32, pq::LogicalType::Int(8, true));
      case TypeKind::kSmallInt:
        return leaf(LeafForm::kInt16, pq::Type::INT32, pq::LogicalType::Int(16, true));
      case TypeKind::kInt: return leaf(LeafForm::kInt32, pq::Type::INT32, none);
      case TypeKind::kBigInt: return leaf(LeafForm::kInt64, pq::Type::INT64, none);
      case TypeKind::kFloat: return leaf(LeafForm::kFloat, pq::Type::FLOAT, none);
      case TypeKind::kDouble: return leaf(LeafForm::kDouble, pq::Type::DOUBLE, none);
      case TypeKind::kDate: return leaf(LeafForm::kInt32, pq::Type::INT32, pq::LogicalType::Date());
      case TypeKind::kDecimal: {
        const auto logical = pq::LogicalType::Decimal(type.precision(), type.scale());
        if (type.precision() <= 9) return leaf(LeafForm::kDecimal32, pq::Type::INT32, logical);
        if (type.precision() <= 18) return leaf(LeafForm::kDecimal64, pq::Type::INT64, logical);
        return leaf(LeafForm::kDecimalBytes, pq::Type::FIXED_LEN_BYTE_ARRAY, logical,
                    DecimalByteLength(type.precision()));
      }
      case TypeKind::kTime: {
        if (dialect_.time_as_millis) {
          return leaf(type.IsNanos() ? LeafForm::kTimeMillisOfNanos : LeafForm::kTimeMillisOfMicros,
                      pq::Type::INT32,
                      pq::LogicalType::Time(dialect_.time_adjusted_to_utc,
                                            pq::LogicalType::TimeUnit::MILLIS));
        }
        return leaf(type.IsNanos() ? LeafForm::kTimeMicrosOfNanos : LeafForm::kInt64,
                    pq::Type::INT64,
                    pq::LogicalType::Time(dialect_.time_adjusted_to_utc,
                                          pq::LogicalType::TimeUnit::MICROS));
      }
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
      case TypeKind::kTimestampTz: return MakeTimestamp(name, type, repetition, field_id, shape);
      case TypeKind::kChar:
      case TypeKind::kVarChar:
        return leaf(LeafForm::kBytes, pq::Type::BYTE_ARRAY, pq::LogicalType::String());
      case TypeKind::kBinary:
      case TypeKind::kVarBinary: return leaf(LeafForm::kBytes, pq::Type::BYTE_ARRAY, none);
      default: break;
    }
    return MakeError(ErrorKind::kUnsupported,
                     "column " + name + ": no Parquet form for " + type.ToString());
  }

  NodePtr MakeTimestamp(const std::string& name, const LogicalType& type,
                        pq::Repetition::type repetition, int32_t field_id, SchemaNode* shape) {
    const bool utc = type.kind() != TypeKind::kTimestamp;
    if (type.IsNanos() && dialect_.nanos_as_int96) {
      shape->form = LeafForm::kInt96OfNanos;
      return PrimitiveNode::Make(name, repetition, pq::LogicalType::None(), pq::Type::INT96, -1,
                                 field_id);
    }
    const bool millis = dialect_.millis_timestamps && type.precision() <= 3;
    shape->form = millis ? LeafForm::kMillisOfMicros : LeafForm::kInt64;
    const auto unit = millis ? pq::LogicalType::TimeUnit::MILLIS
                             : (type.IsNanos() ? pq::LogicalType::TimeUnit::NANOS
                                               : pq::LogicalType::TimeUnit::MICROS);
    // The old converted type stands beside the new annotation for readers that know only that one.
    return PrimitiveNode::Make(
        name, repetition,
        pq::LogicalType::Timestamp(utc, unit, /*is_from_converted_type=*/false,
                                   /*force_set_converted_type=*/false),
        pq::Type::INT64, -1, field_id);
  }

  const ParquetDialect& dialect_;
  const std::vector<int32_t>& nested_ids_;
  size_t nested_at_ = 0;
  int* next_leaf_;
};

}  // namespace

int32_t DecimalByteLength(int32_t precision) {
  // The smallest n with 2^(8n - 1) - 1 >= 10^precision - 1.
  unsigned __int128 limit = 1;
  for (int32_t i = 0; i < precision; ++i) limit *= 10;
  int32_t bytes = 1;
  while ((static_cast<unsigned __int128>(1) << (8 * bytes - 1)) < limit) ++bytes;
  return bytes;
}

Result<BuiltColumn> BuildColumn(const ParquetColumn& column, const ParquetDialect& dialect,
                                int* next_leaf) {
  BuiltColumn built;
  ColumnMaker maker(dialect, column.nested_ids, next_leaf);
  DRIFTLESS_ASSIGN_OR_RETURN(
      built.node, maker.Make(column.name, column.type, column.type.nullable(), column.field_id, 0,
                             0, &built.shape));
  return built;
}

}  // namespace driftless::lake
