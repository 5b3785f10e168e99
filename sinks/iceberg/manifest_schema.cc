#include "sinks/iceberg/manifest_schema.h"

#include <cstdio>

#include "sinks/lake/parquet_schema.h"

namespace driftless::iceberg {
namespace {

std::string Required(std::string_view name, int id, std::string_view type) {
  return R"({"name":")" + std::string(name) + R"(","type":)" + std::string(type) +
         R"(,"field-id":)" + std::to_string(id) + "},";
}
std::string Optional(std::string_view name, int id, std::string_view type) {
  return R"({"name":")" + std::string(name) + R"(","type":["null",)" + std::string(type) +
         R"(],"default":null,"field-id":)" + std::to_string(id) + "},";
}
std::string Record(std::string_view name, std::string fields) {
  if (!fields.empty()) fields.pop_back();  // the last comma
  return R"({"type":"record","name":")" + std::string(name) + R"(","fields":[)" + fields + "]}";
}
// Maps with integer keys are arrays of pairs (specification, appendix A).
std::string IntMap(int key_id, int value_id, std::string_view value) {
  const std::string name = "k" + std::to_string(key_id) + "_v" + std::to_string(value_id);
  return R"({"type":"array","items":)" +
         Record(name, Required("key", key_id, R"("int")") + Required("value", value_id, value)) +
         R"(,"logicalType":"map"})";
}
std::string Array(int element_id, std::string_view item) {
  return R"({"type":"array","items":)" + std::string(item) + R"(,"element-id":)" +
         std::to_string(element_id) + "}";
}

Result<std::string> PartitionAvroType(const LogicalType& type, int field_id) {
  const auto logical = [](std::string_view base, std::string_view name) {
    return R"({"type":")" + std::string(base) + R"(","logicalType":")" + std::string(name) + "\"}";
  };
  const auto timestamp = [&](std::string_view name, bool utc) {
    return R"({"type":"long","logicalType":")" + std::string(name) + R"(","adjust-to-utc":)" +
           (utc ? "true}" : "false}");
  };
  switch (type.kind()) {
    case TypeKind::kBoolean: return std::string(R"("boolean")");
    case TypeKind::kInt: return std::string(R"("int")");
    case TypeKind::kBigInt: return std::string(R"("long")");
    case TypeKind::kFloat: return std::string(R"("float")");
    case TypeKind::kDouble: return std::string(R"("double")");
    case TypeKind::kDate: return logical("int", "date");
    case TypeKind::kTime: return logical("long", "time-micros");
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return timestamp(type.IsNanos() ? "timestamp-nanos" : "timestamp-micros",
                       type.kind() == TypeKind::kTimestampLtz);
    case TypeKind::kVarChar: return std::string(R"("string")");
    case TypeKind::kVarBinary: return std::string(R"("bytes")");
    case TypeKind::kBinary:
      return R"({"type":"fixed","name":"fixed_)" + std::to_string(field_id) + R"(","size":)" +
             std::to_string(type.length()) + "}";
    case TypeKind::kDecimal:
      return R"({"type":"fixed","name":"decimal_)" + std::to_string(field_id) + R"(","size":)" +
             std::to_string(lake::DecimalByteLength(type.precision())) +
             R"(,"logicalType":"decimal","precision":)" + std::to_string(type.precision()) +
             R"(,"scale":)" + std::to_string(type.scale()) + "}";
    default: break;
  }
  return MakeError(ErrorKind::kUnsupported,
                   "no partition values of type " + type.ToStringIgnoringNullability());
}

}  // namespace

std::string AvroName(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (letter || (digit && !out.empty())) {
      out += c;
    } else if (digit) {
      out += std::string("_") + c;
    } else {
      char text[8];
      std::snprintf(text, sizeof text, "_x%X", static_cast<unsigned>(static_cast<uint8_t>(c)));
      out += text;
    }
  }
  return out;
}

Result<std::string> ManifestSchema(const PartitionSpec& spec,
                                   const std::vector<LogicalType>& partition_types,
                                   int format_version) {
  std::string partition;
  for (size_t i = 0; i < partition_types.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string type,
                               PartitionAvroType(partition_types[i], field.field_id));
    partition += Optional(AvroName(field.name), field.field_id, type);
  }
  const bool v3 = format_version >= 3;
  const std::string file = Required("content", 134, R"("int")") +
                           Required("file_path", 100, R"("string")") +
                           Required("file_format", 101, R"("string")") +
                           Required("partition", 102, Record("r102", partition)) +
                           Required("record_count", 103, R"("long")") +
                           Required("file_size_in_bytes", 104, R"("long")") +
                           Optional("column_sizes", 108, IntMap(117, 118, R"("long")")) +
                           Optional("value_counts", 109, IntMap(119, 120, R"("long")")) +
                           Optional("null_value_counts", 110, IntMap(121, 122, R"("long")")) +
                           Optional("nan_value_counts", 137, IntMap(138, 139, R"("long")")) +
                           Optional("lower_bounds", 125, IntMap(126, 127, R"("bytes")")) +
                           Optional("upper_bounds", 128, IntMap(129, 130, R"("bytes")")) +
                           Optional("key_metadata", 131, R"("bytes")") +
                           Optional("split_offsets", 132, Array(133, R"("long")")) +
                           Optional("equality_ids", 135, Array(136, R"("int")")) +
                           Optional("sort_order_id", 140, R"("int")") +
                           (v3 ? Optional("first_row_id", 142, R"("long")") : "") +
                           Optional("referenced_data_file", 143, R"("string")") +
                           (v3 ? Optional("content_offset", 144, R"("long")") +
                                     Optional("content_size_in_bytes", 145, R"("long")")
                               : "");
  return Record("manifest_entry", Required("status", 0, R"("int")") +
                                      Optional("snapshot_id", 1, R"("long")") +
                                      Optional("sequence_number", 3, R"("long")") +
                                      Optional("file_sequence_number", 4, R"("long")") +
                                      Required("data_file", 2, Record("r2", file)));
}

std::string ManifestListSchema(int format_version) {
  const std::string summary = Record("r508", Required("contains_null", 509, R"("boolean")") +
                                                 Optional("contains_nan", 518, R"("boolean")") +
                                                 Optional("lower_bound", 510, R"("bytes")") +
                                                 Optional("upper_bound", 511, R"("bytes")"));
  return Record("manifest_file",
                Required("manifest_path", 500, R"("string")") +
                    Required("manifest_length", 501, R"("long")") +
                    Required("partition_spec_id", 502, R"("int")") +
                    Required("content", 517, R"("int")") +
                    Required("sequence_number", 515, R"("long")") +
                    Required("min_sequence_number", 516, R"("long")") +
                    Required("added_snapshot_id", 503, R"("long")") +
                    Required("added_files_count", 504, R"("int")") +
                    Required("existing_files_count", 505, R"("int")") +
                    Required("deleted_files_count", 506, R"("int")") +
                    Required("added_rows_count", 512, R"("long")") +
                    Required("existing_rows_count", 513, R"("long")") +
                    Required("deleted_rows_count", 514, R"("long")") +
                    Optional("partitions", 507, Array(508, summary)) +
                    Optional("key_metadata", 519, R"("bytes")") +
                    (format_version >= 3 ? Optional("first_row_id", 520, R"("long")") : ""));
}

}  // namespace driftless::iceberg
