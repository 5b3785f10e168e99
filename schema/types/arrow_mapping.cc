#include "schema/types/arrow_mapping.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include <utility>
#include <vector>

#include "schema/base/check.h"

namespace driftless {
namespace {

// A slice of somebody's memory that keeps that somebody alive.
class SharedBuffer : public arrow::Buffer {
 public:
  SharedBuffer(const uint8_t* data, int64_t size, std::shared_ptr<const void> owner)
      : arrow::Buffer(data, size), owner_(std::move(owner)) {}

 private:
  std::shared_ptr<const void> owner_;
};

std::shared_ptr<arrow::Buffer> Share(const void* data, int64_t size,
                                     const std::shared_ptr<const void>& owner) {
  // Arrow wants a pointer even where there is nothing.
  static constexpr uint8_t kNothing[8] = {};
  const auto* bytes = data == nullptr ? kNothing : static_cast<const uint8_t*>(data);
  return std::make_shared<SharedBuffer>(bytes, data == nullptr ? 0 : size, owner);
}

int64_t ByteWidth(PhysicalKind kind) {
  switch (kind) {
    case PhysicalKind::kFixed8: return 1;
    case PhysicalKind::kFixed16: return 2;
    case PhysicalKind::kFixed32: return 4;
    case PhysicalKind::kFixed64: return 8;
    default: return 16;
  }
}

std::shared_ptr<arrow::ArrayData> ToArrayData(const LogicalType& type, const ColumnView& column,
                                              std::shared_ptr<arrow::DataType> arrow_type,
                                              const std::shared_ptr<const void>& owner) {
  const int64_t n = column.length;
  const int64_t bitmap_bytes = (n + 7) / 8;
  std::vector<std::shared_ptr<arrow::Buffer>> buffers = {
      column.validity == nullptr ? nullptr : Share(column.validity, bitmap_bytes, owner)};
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  const int64_t offset_bytes = (n + 1) * static_cast<int64_t>(sizeof(int32_t));
  switch (type.physical()) {
    case PhysicalKind::kBit: buffers.push_back(Share(column.values, bitmap_bytes, owner)); break;
    case PhysicalKind::kVariable:
      buffers.push_back(Share(column.offsets, offset_bytes, owner));
      buffers.push_back(Share(column.values, column.offsets[n], owner));
      break;
    case PhysicalKind::kList: {
      buffers.push_back(Share(column.offsets, offset_bytes, owner));
      const LogicalType child =
          type.kind() == TypeKind::kArray ? type.children()[0].type : EntriesType(type);
      children.push_back(
          ToArrayData(child, column.children[0], arrow_type->field(0)->type(), owner));
      break;
    }
    case PhysicalKind::kStruct:
      for (size_t i = 0; i < type.children().size(); ++i) {
        children.push_back(ToArrayData(type.children()[i].type, column.children[i],
                                       arrow_type->field(static_cast<int>(i))->type(), owner));
      }
      break;
    default: buffers.push_back(Share(column.values, n * ByteWidth(type.physical()), owner));
  }
  const int64_t null_count = column.validity == nullptr ? 0 : arrow::kUnknownNullCount;
  return arrow::ArrayData::Make(std::move(arrow_type), n, std::move(buffers), std::move(children),
                                null_count);
}

arrow::TimeUnit::type UnitOf(const LogicalType& type) {
  return type.IsNanos() ? arrow::TimeUnit::NANO : arrow::TimeUnit::MICRO;
}

}  // namespace

std::shared_ptr<arrow::DataType> ToArrowType(const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return arrow::boolean();
    case TypeKind::kTinyInt: return arrow::int8();
    case TypeKind::kSmallInt: return arrow::int16();
    case TypeKind::kInt: return arrow::int32();
    case TypeKind::kBigInt: return arrow::int64();
    case TypeKind::kFloat: return arrow::float32();
    case TypeKind::kDouble: return arrow::float64();
    case TypeKind::kDecimal: return arrow::decimal128(type.precision(), type.scale());
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kVariant: return arrow::utf8();
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return arrow::binary();
    case TypeKind::kDate: return arrow::date32();
    case TypeKind::kTime: return arrow::time64(UnitOf(type));
    case TypeKind::kTimestamp: return arrow::timestamp(UnitOf(type));
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return arrow::timestamp(UnitOf(type), "UTC");
    case TypeKind::kArray: return arrow::list(ToArrowField("element", type.children()[0].type));
    case TypeKind::kMap:
    case TypeKind::kMultiset: {
      // Arrow's keys are never null; the field form keeps the value's nullability.
      const LogicalType entries = EntriesType(type);
      return std::make_shared<arrow::MapType>(
          ToArrowField("key", entries.children()[0].type.NotNull()),
          ToArrowField("value", entries.children()[1].type));
    }
    case TypeKind::kRow: {
      std::vector<std::shared_ptr<arrow::Field>> fields;
      for (const RowField& field : type.children()) {
        fields.push_back(ToArrowField(field.name, field.type));
      }
      return arrow::struct_(std::move(fields));
    }
  }
  DRIFTLESS_CHECK(false && "unknown type kind");
  return nullptr;
}

std::shared_ptr<arrow::Field> ToArrowField(const std::string& name, const LogicalType& type) {
  return arrow::field(name, ToArrowType(type), type.nullable());
}

std::shared_ptr<arrow::Schema> ToArrowSchema(const TableSchema& schema) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  for (const Column& column : schema.columns) {
    fields.push_back(ToArrowField(column.name, column.type));
  }
  return arrow::schema(std::move(fields));
}

std::shared_ptr<arrow::Array> ToArrowArray(const LogicalType& type, const ColumnView& column,
                                           std::shared_ptr<const void> owner) {
  return arrow::MakeArray(ToArrayData(type, column, ToArrowType(type), owner));
}

}  // namespace driftless
