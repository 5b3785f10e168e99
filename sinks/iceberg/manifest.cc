#include "sinks/iceberg/manifest.h"

#include <algorithm>
#include <utility>

#include "sinks/formats/avro/avro.h"
#include "sinks/iceberg/manifest_schema.h"
#include "sinks/iceberg/single_value.h"
#include "sinks/lake/parquet_schema.h"

namespace driftless::iceberg {
namespace {

using avro::Datum;
using avro::Encoder;

template <typename T, typename Write>
void WriteOptional(const std::optional<T>& value, Encoder* out, const Write& write) {
  out->Union(value ? 1 : 0);
  if (value) write(*value);
}
template <typename Integer>
void WriteOptionalNumber(const std::optional<Integer>& value, Encoder* out) {
  WriteOptional(value, out, [&](Integer number) { out->Long(static_cast<int64_t>(number)); });
}

// An optional map: null where it is empty.
template <typename Value, typename Write>
void WriteMap(const std::map<int32_t, Value>& map, Encoder* out, const Write& write) {
  out->Union(map.empty() ? 0 : 1);
  if (map.empty()) return;
  out->BeginItems(map.size());
  for (const auto& [key, value] : map) {
    out->Int(key);
    write(value);
  }
  out->EndItems();
}
template <typename Number>
void WriteNumbers(const std::vector<Number>& numbers, Encoder* out) {
  out->Union(numbers.empty() ? 0 : 1);
  if (numbers.empty()) return;
  out->BeginItems(numbers.size());
  for (const Number number : numbers) out->Long(static_cast<int64_t>(number));
  out->EndItems();
}

void WritePartitionValue(const LogicalType& type, std::string_view bytes, Encoder* out) {
  const auto integer = [&] {
    int64_t value = 0;
    if (bytes.size() == 4) {
      int32_t narrow;
      __builtin_memcpy(&narrow, bytes.data(), 4);
      value = narrow;
    } else {
      __builtin_memcpy(&value, bytes.data(), std::min<size_t>(8, bytes.size()));
    }
    return value;
  };
  switch (type.kind()) {
    case TypeKind::kBoolean: out->Boolean(!bytes.empty() && bytes[0] != 0); break;
    case TypeKind::kFloat: {
      float value = 0;
      __builtin_memcpy(&value, bytes.data(), std::min<size_t>(4, bytes.size()));
      out->Float(value);
      break;
    }
    case TypeKind::kDouble: {
      double value = 0;
      __builtin_memcpy(&value, bytes.data(), std::min<size_t>(8, bytes.size()));
      out->Double(value);
      break;
    }
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kVarBinary: out->Bytes(bytes); break;
    case TypeKind::kBinary: out->Fixed(bytes); break;
    case TypeKind::kDecimal: {
      const auto length = static_cast<size_t>(lake::DecimalByteLength(type.precision()));
      const bool negative = !bytes.empty() && (static_cast<uint8_t>(bytes[0]) & 0x80) != 0;
      std::string fixed(length > bytes.size() ? length - bytes.size() : 0,
                        negative ? '\xff' : '\0');
      out->Fixed(fixed.append(bytes));
      break;
    }
    default: out->Long(integer());
  }
}

void WriteDataFile(const DataFile& file, const std::vector<LogicalType>& partition_types,
                   int format_version, Encoder* out) {
  const auto number = [&](int64_t value) { out->Long(value); };
  const auto bytes = [&](const std::string& value) { out->Bytes(value); };
  out->Int(static_cast<int32_t>(file.content));
  out->String(file.path);
  out->String(file.format);
  for (size_t i = 0; i < partition_types.size(); ++i) {
    WriteOptional(file.partition[i], out, [&](const std::string& value) {
      WritePartitionValue(partition_types[i], value, out);
    });
  }
  out->Long(file.record_count);
  out->Long(file.size);
  WriteMap(file.column_sizes, out, number);
  WriteMap(file.value_counts, out, number);
  WriteMap(file.null_counts, out, number);
  WriteMap(file.nan_counts, out, number);
  WriteMap(file.lower_bounds, out, bytes);
  WriteMap(file.upper_bounds, out, bytes);
  out->Union(0);  // key_metadata
  WriteNumbers(file.split_offsets, out);
  WriteNumbers(file.equality_ids, out);
  WriteOptionalNumber(file.sort_order_id, out);
  if (format_version >= 3) WriteOptionalNumber(file.first_row_id, out);
  WriteOptional(file.referenced_data_file, out, bytes);
  if (format_version >= 3) {
    WriteOptionalNumber(file.content_offset, out);
    WriteOptionalNumber(file.content_size, out);
  }
}

Result<std::vector<LogicalType>> PartitionTypes(const ManifestContext& context) {
  std::vector<LogicalType> types;
  for (const PartitionField& field : context.spec->fields) {
    const Field* source = context.schema->FindId(field.source_id);
    if (source == nullptr) {
      return MakeError(ErrorKind::kUnsupported,
                       "partition field " + field.name + " has no source column any more");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(LogicalType type, TransformResult(field.transform, source->type));
    types.push_back(std::move(type));
  }
  return types;
}

// ---- reading: by field id, whatever the order and the names --------------------------------

const Datum* ById(const Datum& record, int32_t id) {
  if (record.schema == nullptr || record.schema->kind != avro::Kind::kRecord) return nullptr;
  const int at = record.schema->IndexOfId(id);
  if (at < 0) return nullptr;
  const Datum& value = record.children[static_cast<size_t>(at)];
  return value.is_null() ? nullptr : &value;
}
int64_t NumberOf(const Datum& record, int32_t id, int64_t fallback = 0) {
  const Datum* value = ById(record, id);
  return value == nullptr ? fallback : value->number;
}
std::optional<int64_t> OptionalNumber(const Datum& record, int32_t id) {
  const Datum* value = ById(record, id);
  return value == nullptr ? std::nullopt : std::optional(value->number);
}
std::string TextOf(const Datum& record, int32_t id) {
  const Datum* value = ById(record, id);
  return value == nullptr ? std::string() : std::string(value->text);
}

template <typename Take>
auto ReadMap(const Datum& record, int32_t id, const Take& take) {
  std::map<int32_t, decltype(take(record))> map;
  const Datum* entries = ById(record, id);
  if (entries == nullptr) return map;
  for (const Datum& entry : entries->children) {
    if (entry.children.size() != 2) continue;
    map[static_cast<int32_t>(entry.children[0].number)] = take(entry.children[1]);
  }
  return map;
}

// The single-value form of a partition value.
std::string PartitionBytes(const Datum& value) {
  const auto raw = [](const auto& number) {
    return std::string(reinterpret_cast<const char*>(&number), sizeof number);
  };
  switch (value.schema->kind) {
    case avro::Kind::kBoolean: return std::string(1, value.number != 0 ? '\1' : '\0');
    case avro::Kind::kInt: return raw(static_cast<int32_t>(value.number));
    case avro::Kind::kLong: return raw(value.number);
    case avro::Kind::kFloat: return raw(static_cast<float>(value.real));
    case avro::Kind::kDouble: return raw(value.real);
    case avro::Kind::kFixed:
      if (value.schema->logical_type == "decimal") {
        return DecimalBytes(DecimalFromBytes(value.text));
      }
      return std::string(value.text);
    default: return std::string(value.text);
  }
}

DataFile ReadDataFile(const Datum& record) {
  const auto number = [](const Datum& value) { return value.number; };
  const auto bytes = [](const Datum& value) { return std::string(value.text); };
  DataFile file;
  file.content = static_cast<FileContent>(NumberOf(record, 134));
  file.path = TextOf(record, 100);
  file.format = TextOf(record, 101);
  for (char& c : file.format) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  if (const Datum* partition = ById(record, 102)) {
    for (const Datum& value : partition->children) {
      file.partition.push_back(value.is_null() ? std::nullopt
                                               : std::optional(PartitionBytes(value)));
    }
  }
  file.record_count = NumberOf(record, 103);
  file.size = NumberOf(record, 104);
  file.column_sizes = ReadMap(record, 108, number);
  file.value_counts = ReadMap(record, 109, number);
  file.null_counts = ReadMap(record, 110, number);
  file.nan_counts = ReadMap(record, 137, number);
  file.lower_bounds = ReadMap(record, 125, bytes);
  file.upper_bounds = ReadMap(record, 128, bytes);
  if (const Datum* offsets = ById(record, 132)) {
    for (const Datum& offset : offsets->children) file.split_offsets.push_back(offset.number);
  }
  if (const Datum* ids = ById(record, 135)) {
    for (const Datum& id : ids->children) {
      file.equality_ids.push_back(static_cast<int32_t>(id.number));
    }
  }
  if (const auto order = OptionalNumber(record, 140)) {
    file.sort_order_id = static_cast<int32_t>(*order);
  }
  file.first_row_id = OptionalNumber(record, 142);
  if (ById(record, 143) != nullptr) file.referenced_data_file = TextOf(record, 143);
  file.content_offset = OptionalNumber(record, 144);
  file.content_size = OptionalNumber(record, 145);
  return file;
}

}  // namespace

std::string EntryKey(const DataFile& file) {
  return file.content_offset ? file.path + "#" + std::to_string(*file.content_offset) : file.path;
}

Result<std::string> EncodeManifest(const std::vector<ManifestEntry>& entries,
                                   const ManifestContext& context) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<LogicalType> types, PartitionTypes(context));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string schema,
                             ManifestSchema(*context.spec, types, context.format_version));
  const avro::Metadata metadata = {
      {"schema", SchemaToJson(*context.schema)},
      {"schema-id", std::to_string(context.schema->id)},
      {"partition-spec", SpecFieldsToJson(*context.spec)},
      {"partition-spec-id", std::to_string(context.spec->id)},
      {"format-version", std::to_string(context.format_version)},
      {"content", context.deletes ? "deletes" : "data"},
  };
  avro::FileWriter writer(schema, avro::Codec::kDeflate, metadata);
  for (const ManifestEntry& entry : entries) {
    Encoder& out = writer.encoder();
    out.Int(static_cast<int32_t>(entry.status));
    WriteOptionalNumber(entry.snapshot_id, &out);
    WriteOptionalNumber(entry.sequence_number, &out);
    WriteOptionalNumber(entry.file_sequence_number, &out);
    WriteDataFile(entry.file, types, context.format_version, &out);
    DRIFTLESS_TRY(writer.EndRecord());
  }
  return writer.Finish();
}

Result<std::vector<ManifestEntry>> DecodeManifest(std::string_view bytes,
                                                  const ManifestFile& from) {
  DRIFTLESS_ASSIGN_OR_RETURN(avro::FileReader reader, avro::FileReader::Open(bytes));
  std::vector<ManifestEntry> entries;
  Datum record;
  int64_t next_row_id = from.first_row_id.value_or(0);
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, reader.Next(&record));
    if (!more) return entries;
    ManifestEntry entry;
    entry.status = static_cast<EntryStatus>(NumberOf(record, 0));
    entry.snapshot_id = OptionalNumber(record, 1);
    entry.sequence_number = OptionalNumber(record, 3);
    entry.file_sequence_number = OptionalNumber(record, 4);
    const Datum* file = ById(record, 2);
    if (file == nullptr) return MakeError(ErrorKind::kCorrupt, "a manifest entry has no data file");
    entry.file = ReadDataFile(*file);
    entry.spec_id = from.spec_id;
    if (!entry.snapshot_id) entry.snapshot_id = from.added_snapshot_id;
    if (!entry.sequence_number) entry.sequence_number = from.sequence_number;
    if (!entry.file_sequence_number) entry.file_sequence_number = from.sequence_number;
    if (from.first_row_id && !from.deletes && entry.status != EntryStatus::kDeleted &&
        !entry.file.first_row_id) {
      entry.file.first_row_id = next_row_id;
      next_row_id += entry.file.record_count;
    }
    entries.push_back(std::move(entry));
  }
}

Result<ManifestFile> DescribeManifest(const std::vector<ManifestEntry>& entries,
                                      const ManifestContext& context) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<LogicalType> types, PartitionTypes(context));
  ManifestFile manifest;
  manifest.spec_id = context.spec->id;
  manifest.deletes = context.deletes;
  manifest.partitions.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const bool real = types[i].kind() == TypeKind::kFloat || types[i].kind() == TypeKind::kDouble;
    if (!real) manifest.partitions[i].contains_nan = false;
  }
  for (const ManifestEntry& entry : entries) {
    const bool added = entry.status == EntryStatus::kAdded;
    const bool deleted = entry.status == EntryStatus::kDeleted;
    ++(added ? manifest.added_files : deleted ? manifest.deleted_files : manifest.existing_files);
    (added     ? manifest.added_rows
     : deleted ? manifest.deleted_rows
               : manifest.existing_rows) += entry.file.record_count;
    for (size_t i = 0; i < types.size(); ++i) {
      FieldSummary& summary = manifest.partitions[i];
      const std::optional<std::string>& value = entry.file.partition[i];
      if (!value) {
        summary.contains_null = true;
        continue;
      }
      if (!summary.lower || CompareSingleValues(types[i], *value, *summary.lower) < 0) {
        summary.lower = value;
      }
      if (!summary.upper || CompareSingleValues(types[i], *summary.upper, *value) < 0) {
        summary.upper = value;
      }
    }
  }
  return manifest;
}

Result<std::string> EncodeManifestList(const std::vector<ManifestFile>& manifests,
                                       int format_version, const Snapshot& snapshot) {
  avro::Metadata metadata = {
      {"snapshot-id", std::to_string(snapshot.id)},
      {"parent-snapshot-id", snapshot.parent ? std::to_string(*snapshot.parent) : "null"},
      {"sequence-number", std::to_string(snapshot.sequence_number)},
      {"format-version", std::to_string(format_version)},
  };
  if (format_version >= 3) {
    metadata["first-row-id"] = std::to_string(snapshot.first_row_id.value_or(0));
  }
  avro::FileWriter writer(ManifestListSchema(format_version), avro::Codec::kDeflate, metadata);
  for (const ManifestFile& manifest : manifests) {
    Encoder& out = writer.encoder();
    const auto bytes = [&](const std::string& value) { out.Bytes(value); };
    out.String(manifest.path);
    out.Long(manifest.length);
    out.Int(manifest.spec_id);
    out.Int(manifest.deletes ? 1 : 0);
    for (const int64_t number :
         {manifest.sequence_number, manifest.min_sequence_number, manifest.added_snapshot_id,
          manifest.added_files, manifest.existing_files, manifest.deleted_files,
          manifest.added_rows, manifest.existing_rows, manifest.deleted_rows}) {
      out.Long(number);
    }
    out.Union(1);
    out.BeginItems(manifest.partitions.size());
    for (const FieldSummary& summary : manifest.partitions) {
      out.Boolean(summary.contains_null);
      WriteOptional(summary.contains_nan, &out, [&](bool value) { out.Boolean(value); });
      WriteOptional(summary.lower, &out, bytes);
      WriteOptional(summary.upper, &out, bytes);
    }
    out.EndItems();
    WriteOptional(manifest.key_metadata, &out, bytes);
    if (format_version >= 3) WriteOptionalNumber(manifest.first_row_id, &out);
    DRIFTLESS_TRY(writer.EndRecord());
  }
  return writer.Finish();
}

Result<std::vector<ManifestFile>> DecodeManifestList(std::string_view bytes) {
  DRIFTLESS_ASSIGN_OR_RETURN(avro::FileReader reader, avro::FileReader::Open(bytes));
  std::vector<ManifestFile> manifests;
  Datum record;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, reader.Next(&record));
    if (!more) return manifests;
    ManifestFile manifest;
    manifest.path = TextOf(record, 500);
    manifest.length = NumberOf(record, 501);
    manifest.spec_id = static_cast<int32_t>(NumberOf(record, 502));
    manifest.deletes = NumberOf(record, 517) == 1;
    manifest.sequence_number = NumberOf(record, 515);
    manifest.min_sequence_number = NumberOf(record, 516);
    manifest.added_snapshot_id = NumberOf(record, 503);
    manifest.added_files = NumberOf(record, 504);
    manifest.existing_files = NumberOf(record, 505);
    manifest.deleted_files = NumberOf(record, 506);
    manifest.added_rows = NumberOf(record, 512);
    manifest.existing_rows = NumberOf(record, 513);
    manifest.deleted_rows = NumberOf(record, 514);
    if (const Datum* partitions = ById(record, 507)) {
      for (const Datum& item : partitions->children) {
        FieldSummary summary;
        summary.contains_null = NumberOf(item, 509) != 0;
        if (const auto nan = OptionalNumber(item, 518)) summary.contains_nan = *nan != 0;
        if (ById(item, 510) != nullptr) summary.lower = TextOf(item, 510);
        if (ById(item, 511) != nullptr) summary.upper = TextOf(item, 511);
        manifest.partitions.push_back(std::move(summary));
      }
    }
    if (ById(record, 519) != nullptr) manifest.key_metadata = TextOf(record, 519);
    manifest.first_row_id = OptionalNumber(record, 520);
    manifests.push_back(std::move(manifest));
  }
}

}  // namespace driftless::iceberg
