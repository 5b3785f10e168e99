#include "sinks/lake/parquet_rows.h"

#include <arrow/array.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include "schema/events/change_batch_builder.h"
#include "sinks/lake/object_stream.h"

namespace driftless::lake {
namespace {

namespace ar = ::arrow;

// Thrown inside this file only, caught at its border.
struct WrongType {
  std::string text;
};

template <typename ArrayType>
const ArrayType& As(const ar::Array& array) {
  return static_cast<const ArrayType&>(array);
}

[[noreturn]] void Mismatch(const LogicalType& type, const ar::Array& array) {
  throw WrongType{"a column of type " + type.ToString() + " is stored as " +
                  array.type()->ToString()};
}

int64_t Integer(const LogicalType& type, const ar::Array& array, int64_t i) {
  switch (array.type_id()) {
    case ar::Type::INT8: return As<ar::Int8Array>(array).Value(i);
    case ar::Type::INT16: return As<ar::Int16Array>(array).Value(i);
    case ar::Type::INT32: return As<ar::Int32Array>(array).Value(i);
    case ar::Type::INT64: return As<ar::Int64Array>(array).Value(i);
    case ar::Type::UINT8: return As<ar::UInt8Array>(array).Value(i);
    case ar::Type::UINT16: return As<ar::UInt16Array>(array).Value(i);
    case ar::Type::UINT32: return As<ar::UInt32Array>(array).Value(i);
    case ar::Type::DATE32: return As<ar::Date32Array>(array).Value(i);
    default: Mismatch(type, array);
  }
}

std::string_view Bytes(const LogicalType& type, const ar::Array& array, int64_t i) {
  switch (array.type_id()) {
    case ar::Type::STRING:
    case ar::Type::BINARY: return As<ar::BinaryArray>(array).GetView(i);
    case ar::Type::LARGE_STRING:
    case ar::Type::LARGE_BINARY: return As<ar::LargeBinaryArray>(array).GetView(i);
    case ar::Type::FIXED_SIZE_BINARY: return As<ar::FixedSizeBinaryArray>(array).GetView(i);
    default: Mismatch(type, array);
  }
}

__int128 DecimalValue(const LogicalType& type, const ar::Array& array, int64_t i) {
  switch (array.type_id()) {
    case ar::Type::DECIMAL128: {
      const auto& decimals = As<ar::Decimal128Array>(array);
      if (static_cast<const ar::Decimal128Type&>(*array.type()).scale() != type.scale()) {
        Mismatch(type, array);
      }
      __int128 value;
      std::memcpy(&value, decimals.GetValue(i), 16);
      return value;
    }
    case ar::Type::INT32:
    case ar::Type::INT64: return Integer(type, array, i);
    default: Mismatch(type, array);
  }
}

int64_t UnitsPerSecond(ar::TimeUnit::type unit) {
  switch (unit) {
    case ar::TimeUnit::SECOND: return 1;
    case ar::TimeUnit::MILLI: return 1000;
    case ar::TimeUnit::MICRO: return 1000000;
    case ar::TimeUnit::NANO: return 1000000000;
  }
  return 1;
}

int64_t Rescale(int64_t value, int64_t from_per_second, int64_t to_per_second) {
  if (to_per_second >= from_per_second) return value * (to_per_second / from_per_second);
  const int64_t divisor = from_per_second / to_per_second;
  return value / divisor - static_cast<int64_t>(value % divisor < 0);
}

int64_t Moment(const LogicalType& type, const ar::Array& array, int64_t i) {
  const int64_t to = type.IsNanos() ? 1000000000 : 1000000;
  switch (array.type_id()) {
    case ar::Type::TIMESTAMP:
      return Rescale(As<ar::TimestampArray>(array).Value(i),
                     UnitsPerSecond(static_cast<const ar::TimestampType&>(*array.type()).unit()),
                     to);
    case ar::Type::TIME32:
      return Rescale(As<ar::Time32Array>(array).Value(i),
                     UnitsPerSecond(static_cast<const ar::Time32Type&>(*array.type()).unit()), to);
    case ar::Type::TIME64:
      return Rescale(As<ar::Time64Array>(array).Value(i),
                     UnitsPerSecond(static_cast<const ar::Time64Type&>(*array.type()).unit()), to);
    default: Mismatch(type, array);
  }
}

void AppendValue(const LogicalType& type, const ar::Array& array, int64_t i, ColumnBuilder* out) {
  if (array.IsNull(i)) {
    out->AppendNull();
    return;
  }
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (array.type_id() != ar::Type::BOOL) Mismatch(type, array);
      out->AppendBit(As<ar::BooleanArray>(array).Value(i));
      return;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kDate: out->AppendInt(Integer(type, array, i)); return;
    case TypeKind::kFloat:
      if (array.type_id() != ar::Type::FLOAT) Mismatch(type, array);
      out->AppendFloat(As<ar::FloatArray>(array).Value(i));
      return;
    case TypeKind::kDouble:
      if (array.type_id() == ar::Type::FLOAT) {  // a file from before the column was widened
        out->AppendDouble(As<ar::FloatArray>(array).Value(i));
        return;
      }
      if (array.type_id() != ar::Type::DOUBLE) Mismatch(type, array);
      out->AppendDouble(As<ar::DoubleArray>(array).Value(i));
      return;
    case TypeKind::kDecimal: out->AppendInt128(DecimalValue(type, array, i)); return;
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: out->AppendInt(Moment(type, array, i)); return;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: out->AppendBytes(Bytes(type, array, i)); return;
    case TypeKind::kArray: {
      if (array.type_id() != ar::Type::LIST) Mismatch(type, array);
      const auto& list = As<ar::ListArray>(array);
      for (int64_t e = list.value_offset(i); e < list.value_offset(i + 1); ++e) {
        AppendValue(type.children()[0].type, *list.values(), e, &out->child(0));
      }
      out->CloseList();
      return;
    }
    case TypeKind::kMap:
    case TypeKind::kMultiset: {
      if (array.type_id() != ar::Type::MAP) Mismatch(type, array);
      const auto& map = As<ar::MapArray>(array);
      const LogicalType value_type =
          type.kind() == TypeKind::kMap ? type.children()[1].type : LogicalType::Int();
      ColumnBuilder& entry = out->child(0);
      for (int64_t e = map.value_offset(i); e < map.value_offset(i + 1); ++e) {
        AppendValue(type.children()[0].type, *map.keys(), e, &entry.child(0));
        AppendValue(value_type, *map.items(), e, &entry.child(1));
        entry.CloseStruct();
      }
      out->CloseList();
      return;
    }
    case TypeKind::kRow: {
      if (array.type_id() != ar::Type::STRUCT) Mismatch(type, array);
      const auto& row = As<ar::StructArray>(array);
      for (size_t m = 0; m < type.children().size(); ++m) {
        const RowField& member = type.children()[m];
        const std::shared_ptr<ar::Array> values = row.GetFieldByName(member.name);
        ColumnBuilder& child = out->child(static_cast<int>(m));
        if (values == nullptr) {
          child.AppendNull();
        } else {
          AppendValue(member.type, *values, i, &child);
        }
      }
      out->CloseStruct();
      return;
    }
    case TypeKind::kVariant: break;
  }
  Mismatch(type, array);
}

// Appends a column value by value: `append` takes the position of one that is not null.
template <typename Append>
void ForEachValue(const ar::Array& array, ColumnBuilder* out, const Append& append) {
  const int64_t n = array.length();
  if (array.null_count() == 0) {
    for (int64_t i = 0; i < n; ++i) append(i);
    return;
  }
  for (int64_t i = 0; i < n; ++i) array.IsNull(i) ? out->AppendNull() : append(i);
}

template <typename ArrayType>
void AppendInts(const ar::Array& array, ColumnBuilder* out) {
  const auto* values = As<ArrayType>(array).raw_values();
  ForEachValue(array, out, [&](int64_t i) { out->AppendInt(values[i]); });
}

// What most columns are, without a look at their types for each value. False: this one is not; what
// was appended then is nothing.
bool AppendWhole(const LogicalType& type, const ar::Array& array, ColumnBuilder* out) {
  switch (type.kind()) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kDate:
      switch (array.type_id()) {
        case ar::Type::INT8: AppendInts<ar::Int8Array>(array, out); return true;
        case ar::Type::INT16: AppendInts<ar::Int16Array>(array, out); return true;
        case ar::Type::INT32: AppendInts<ar::Int32Array>(array, out); return true;
        case ar::Type::INT64: AppendInts<ar::Int64Array>(array, out); return true;
        case ar::Type::DATE32: AppendInts<ar::Date32Array>(array, out); return true;
        default: return false;
      }
    case TypeKind::kDouble: {
      if (array.type_id() != ar::Type::DOUBLE) return false;
      const double* values = As<ar::DoubleArray>(array).raw_values();
      ForEachValue(array, out, [&](int64_t i) { out->AppendDouble(values[i]); });
      return true;
    }
    case TypeKind::kDecimal: {
      if (array.type_id() != ar::Type::DECIMAL128 ||
          static_cast<const ar::Decimal128Type&>(*array.type()).scale() != type.scale()) {
        return false;
      }
      const auto& decimals = As<ar::Decimal128Array>(array);
      ForEachValue(array, out, [&](int64_t i) {
        __int128 value;
        std::memcpy(&value, decimals.GetValue(i), 16);
        out->AppendInt128(value);
      });
      return true;
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      if (array.type_id() != ar::Type::TIMESTAMP) return false;
      const int64_t from =
          UnitsPerSecond(static_cast<const ar::TimestampType&>(*array.type()).unit());
      const int64_t to = type.IsNanos() ? 1000000000 : 1000000;
      if (to < from) return false;
      const int64_t factor = to / from;
      const int64_t* values = As<ar::TimestampArray>(array).raw_values();
      ForEachValue(array, out, [&](int64_t i) { out->AppendInt(values[i] * factor); });
      return true;
    }
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: {
      if (array.type_id() != ar::Type::STRING && array.type_id() != ar::Type::BINARY) return false;
      const auto& bytes = As<ar::BinaryArray>(array);
      ForEachValue(array, out, [&](int64_t i) { out->AppendBytes(bytes.GetView(i)); });
      return true;
    }
    default: return false;
  }
}

TableSchemaPtr SchemaOf(const std::vector<RowField>& columns) {
  auto schema = std::make_shared<TableSchema>();
  for (const RowField& column : columns) schema->AddColumn(column.name, column.type);
  return schema;
}

class ParquetRows : public RowSource {
 public:
  ParquetRows(std::string path, ParquetRowsRequest request)
      : path_(std::move(path)),
        request_(std::move(request)),
        schema_(SchemaOf(request_.columns)),
        builder_(schema_, 0) {}

  Result<void> Open(const std::shared_ptr<ObjectStore>& store, int64_t size) {
    return Guard([&]() -> Result<void> {
      auto file = MakeObjectInputFile(store, path_, size);
      ::parquet::ReaderProperties properties;
      properties.enable_buffered_stream();
      ::parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
      arrow_properties.set_batch_size(request_.batch_rows);
      arrow_properties.set_pre_buffer(false);
      ::parquet::arrow::FileReaderBuilder builder;
      Check(builder.Open(file, properties));
      builder.properties(arrow_properties);
      Check(builder.Build(&reader_));
      // Only the wanted columns are read; root fields are found by name.
      const auto* descriptor = reader_->parquet_reader()->metadata()->schema();
      const auto* root = descriptor->group_node();
      std::vector<int> leaves;
      for (int leaf = 0; leaf < descriptor->num_columns(); ++leaf) {
        if (Wants(root->field(root->FieldIndex(*descriptor->GetColumnRoot(leaf)))->name())) {
          leaves.push_back(leaf);
        }
      }
      rows_in_file_ = reader_->parquet_reader()->metadata()->num_rows();
      no_columns_ = leaves.empty();
      if (no_columns_) return {};
      std::vector<int> groups(static_cast<size_t>(reader_->num_row_groups()));
      for (size_t g = 0; g < groups.size(); ++g) groups[g] = static_cast<int>(g);
      auto made = reader_->GetRecordBatchReader(groups, leaves);
      Check(made.status());
      batches_ = std::move(made).ValueUnsafe();
      return {};
    });
  }

  Result<FileRowsPtr> Next() override {
    FileRowsPtr rows;
    auto done = Guard([&]() -> Result<void> {
      std::shared_ptr<ar::RecordBatch> batch;
      if (no_columns_) return NextOfNothing(&rows);
      do {
        Check(batches_->ReadNext(&batch));
      } while (batch != nullptr && batch->num_rows() == 0);
      if (batch != nullptr) rows = Convert(*batch);
      return {};
    });
    if (!done) return std::move(done).error();
    return rows;
  }

 private:
  static void Check(const ar::Status& status) {
    if (!status.ok()) throw ::parquet::ParquetStatusException(status);
  }

  template <typename Work>
  Result<void> Guard(Work&& work) {
    try {
      return work();
    } catch (const WrongType& wrong) {
      return MakeError(ErrorKind::kCorrupt, "data file " + path_ + ": " + wrong.text);
    } catch (const std::exception& e) {
      return MakeError(ErrorKind::kCorrupt, "data file " + path_ + ": " + e.what());
    }
  }

  bool Wants(const std::string& name) const {
    if (name == request_.sequence_column || name == request_.kind_column) return true;
    for (const RowField& column : request_.columns) {
      if (column.name == name) return true;
    }
    return false;
  }

  void AppendRows(int64_t rows) {
    for (int64_t i = 0; i < rows; ++i) {
      builder_.BeginRow(Op::kInsert, Point{0, 0, static_cast<uint64_t>(at_ + i), 0, 0}, 0);
    }
    at_ += rows;
  }

  // What stands for a value that the file does not have. `position`: of its row in the file.
  void AppendMissing(size_t column, int64_t position, ColumnBuilder* out) const {
    if (FillsNulls(column)) {
      request_.null_fills[column](position, out);
    } else if (column < request_.fills.size() && request_.fills[column]) {
      request_.fills[column](out);
    } else {
      out->AppendNull();
    }
  }

  bool FillsNulls(size_t column) const {
    return column < request_.null_fills.size() && request_.null_fills[column];
  }

  FileRowsPtr Convert(const ar::RecordBatch& batch) {
    auto rows = std::make_shared<FileRows>();
    const int64_t n = batch.num_rows();
    AppendRows(n);
    for (size_t c = 0; c < request_.columns.size(); ++c) {
      const RowField& column = request_.columns[c];
      ColumnBuilder& out = builder_.after(static_cast<int>(c));
      const std::shared_ptr<ar::Array> array = batch.GetColumnByName(column.name);
      const bool fills_nulls = FillsNulls(c);
      if (array != nullptr && !fills_nulls && AppendWhole(column.type, *array, &out)) continue;
      for (int64_t i = 0; i < n; ++i) {
        if (array == nullptr || (fills_nulls && array->IsNull(i))) {
          AppendMissing(c, at_ - n + i, &out);
        } else {
          AppendValue(column.type, *array, i, &out);
        }
      }
    }
    if (!request_.sequence_column.empty()) {
      const auto array = batch.GetColumnByName(request_.sequence_column);
      if (array == nullptr) throw WrongType{"there is no column " + request_.sequence_column};
      rows->sequences.reserve(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        rows->sequences.push_back(Integer(LogicalType::BigInt(), *array, i));
      }
    }
    if (!request_.kind_column.empty()) {
      const auto array = batch.GetColumnByName(request_.kind_column);
      if (array == nullptr) throw WrongType{"there is no column " + request_.kind_column};
      rows->kinds.reserve(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        const int64_t kind = Integer(LogicalType::TinyInt(), *array, i);
        if (kind < 0 || kind > 3) throw WrongType{"row kind " + std::to_string(kind)};
        rows->kinds.push_back(static_cast<RowKind>(kind));
      }
    }
    rows->values = builder_.Seal();
    return rows;
  }

  // A file that has none of the columns still has rows: all null.
  Result<void> NextOfNothing(FileRowsPtr* rows) {
    const int64_t n = std::min(request_.batch_rows, rows_in_file_ - at_);
    if (n <= 0) return {};
    auto made = std::make_shared<FileRows>();
    AppendRows(n);
    for (size_t c = 0; c < request_.columns.size(); ++c) {
      for (int64_t i = 0; i < n; ++i) {
        AppendMissing(c, at_ - n + i, &builder_.after(static_cast<int>(c)));
      }
    }
    made->values = builder_.Seal();
    *rows = std::move(made);
    return {};
  }

  std::string path_;
  ParquetRowsRequest request_;
  TableSchemaPtr schema_;
  ChangeBatchBuilder builder_;
  std::unique_ptr<::parquet::arrow::FileReader> reader_;
  std::shared_ptr<ar::RecordBatchReader> batches_;
  int64_t at_ = 0;
  int64_t rows_in_file_ = 0;
  bool no_columns_ = false;
};

}  // namespace

Result<std::unique_ptr<RowSource>> OpenParquetRows(std::shared_ptr<ObjectStore> store,
                                                   const std::string& path,
                                                   ParquetRowsRequest request) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<ObjectInfo> info, store->Stat(path));
  if (!info) return MakeError(ErrorKind::kNotFound, "data file " + path + " is not there");
  auto rows = std::make_unique<ParquetRows>(path, std::move(request));
  DRIFTLESS_TRY(rows->Open(store, info->size));
  return std::unique_ptr<RowSource>(std::move(rows));
}

namespace {

void CollectFieldIds(const ::parquet::schema::GroupNode& group,
                     std::map<int32_t, std::string>* names) {
  for (int i = 0; i < group.field_count(); ++i) {
    const ::parquet::schema::Node& node = *group.field(i);
    if (node.field_id() >= 0) (*names)[node.field_id()] = node.name();
    if (node.is_group()) {
      CollectFieldIds(static_cast<const ::parquet::schema::GroupNode&>(node), names);
    }
  }
}

}  // namespace

Result<std::map<int32_t, std::string>> ReadParquetFieldIds(
    const std::shared_ptr<ObjectStore>& store, const std::string& path) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<ObjectInfo> info, store->Stat(path));
  if (!info) return MakeError(ErrorKind::kNotFound, "data file " + path + " is not there");
  try {
    const auto file =
        ::parquet::ParquetFileReader::Open(MakeObjectInputFile(store, path, info->size));
    std::map<int32_t, std::string> names;
    CollectFieldIds(*file->metadata()->schema()->group_node(), &names);
    return names;
  } catch (const std::exception& e) {
    return MakeError(ErrorKind::kCorrupt, "data file " + path + ": " + e.what());
  }
}

}  // namespace driftless::lake
