#include <functional>
#include <utility>

#include "sinks/formats/avro/avro.h"
#include "sinks/paimon/manifest_encoding.h"

// Manifest lists, manifests and index manifests: Avro container files with the schemas that Paimon
// 1.4 writes, field for field. Nullable members are unions with null first, because Paimon's reader
// takes branch 0 for null.
namespace driftless::paimon {
namespace {

constexpr std::string_view kRecordHead =
    R"({"type":"record","name":"record","namespace":"org.apache.paimon.avro.generated","fields":[)";
constexpr std::string_view kStatsFields =
    R"([{"name":"_MIN_VALUES","type":"bytes"},{"name":"_MAX_VALUES","type":"bytes"},)"
    R"({"name":"_NULL_COUNTS","type":["null",{"type":"array","items":["null","long"]}],)"
    R"("default":null}])";

std::string Plain(std::string_view name, std::string_view type) {
  return R"({"name":")" + std::string(name) + R"(","type":)" + std::string(type) + "},";
}
std::string Nullable(std::string_view name, std::string_view type) {
  return R"({"name":")" + std::string(name) + R"(","type":["null",)" + std::string(type) +
         R"(],"default":null},)";
}
std::string Record(std::string_view name, std::string_view fields) {
  return R"({"type":"record","name":")" + std::string(name) + R"(","fields":)" +
         std::string(fields) + "}";
}
std::string Close(std::string text) {
  text.pop_back();  // the last comma
  return text + "]";
}

const std::string& ManifestListSchema() {
  static const std::string schema = [] {
    std::string text(kRecordHead);
    text += Plain("_VERSION", R"("int")") + Plain("_FILE_NAME", R"("string")") +
            Plain("_FILE_SIZE", R"("long")") + Plain("_NUM_ADDED_FILES", R"("long")") +
            Plain("_NUM_DELETED_FILES", R"("long")") +
            Plain("_PARTITION_STATS", Record("record__PARTITION_STATS", kStatsFields)) +
            Plain("_SCHEMA_ID", R"("long")") + Nullable("_MIN_BUCKET", R"("int")") +
            Nullable("_MAX_BUCKET", R"("int")") + Nullable("_MIN_LEVEL", R"("int")") +
            Nullable("_MAX_LEVEL", R"("int")") + Nullable("_MIN_ROW_ID", R"("long")") +
            Nullable("_MAX_ROW_ID", R"("long")");
    return Close(std::move(text)) + "}";
  }();
  return schema;
}

const std::string& ManifestSchema() {
  static const std::string schema = [] {
    const std::string texts = R"({"type":"array","items":"string"})";
    std::string file = "[";
    file += Plain("_FILE_NAME", R"("string")") + Plain("_FILE_SIZE", R"("long")") +
            Plain("_ROW_COUNT", R"("long")") + Plain("_MIN_KEY", R"("bytes")") +
            Plain("_MAX_KEY", R"("bytes")") +
            Plain("_KEY_STATS", Record("record__FILE__KEY_STATS", kStatsFields)) +
            Plain("_VALUE_STATS", Record("record__FILE__VALUE_STATS", kStatsFields)) +
            Plain("_MIN_SEQUENCE_NUMBER", R"("long")") +
            Plain("_MAX_SEQUENCE_NUMBER", R"("long")") + Plain("_SCHEMA_ID", R"("long")") +
            Plain("_LEVEL", R"("int")") + Plain("_EXTRA_FILES", texts) +
            Nullable("_CREATION_TIME", R"({"type":"long","logicalType":"timestamp-millis"})") +
            Nullable("_DELETE_ROW_COUNT", R"("long")") +
            Nullable("_EMBEDDED_FILE_INDEX", R"("bytes")") + Nullable("_FILE_SOURCE", R"("int")") +
            Nullable("_VALUE_STATS_COLS", texts) + Nullable("_EXTERNAL_PATH", R"("string")") +
            Nullable("_FIRST_ROW_ID", R"("long")") + Nullable("_WRITE_COLS", texts);
    std::string text(kRecordHead);
    text += Plain("_VERSION", R"("int")") + Plain("_KIND", R"("int")") +
            Plain("_PARTITION", R"("bytes")") + Plain("_BUCKET", R"("int")") +
            Plain("_TOTAL_BUCKETS", R"("int")") +
            Plain("_FILE", Record("record__FILE", Close(std::move(file))));
    return Close(std::move(text)) + "}";
  }();
  return schema;
}

const std::string& IndexManifestSchema() {
  static const std::string schema = [] {
    std::string range = "[";
    range += Plain("f0", R"("string")") + Plain("f1", R"("int")") + Plain("f2", R"("int")") +
             Nullable("_CARDINALITY", R"("long")");
    const std::string ranges = R"({"type":"array","items":["null",)" +
                               Record("record__DELETIONS_VECTORS_RANGES", Close(std::move(range))) +
                               "]}";
    std::string text(kRecordHead);
    text += Plain("_VERSION", R"("int")") + Plain("_KIND", R"("int")") +
            Plain("_PARTITION", R"("bytes")") + Plain("_BUCKET", R"("int")") +
            Plain("_INDEX_TYPE", R"("string")") + Plain("_FILE_NAME", R"("string")") +
            Plain("_FILE_SIZE", R"("long")") + Plain("_ROW_COUNT", R"("long")") +
            Nullable("_DELETIONS_VECTORS_RANGES", ranges) +
            Nullable("_EXTERNAL_PATH", R"("string")");
    return Close(std::move(text)) + "}";
  }();
  return schema;
}

// ---- writing ---------------------------------------------------------------------------------

template <typename T, typename Write>
void WriteOptional(const std::optional<T>& value, avro::Encoder* out, Write write) {
  out->Union(value ? 1 : 0);
  if (value) write(*value);
}
template <typename Integer>
void WriteOptionalNumber(const std::optional<Integer>& value, avro::Encoder* out) {
  WriteOptional(value, out, [&](Integer number) { out->Long(static_cast<int64_t>(number)); });
}
void WriteTexts(const std::vector<std::string>& texts, avro::Encoder* out) {
  out->BeginItems(texts.size());
  for (const std::string& text : texts) out->String(text);
  out->EndItems();
}

void WriteStats(const SimpleStats& stats, avro::Encoder* out) {
  out->Bytes(stats.min_values);
  out->Bytes(stats.max_values);
  out->Union(1);
  out->BeginItems(stats.null_counts.size());
  for (const std::optional<int64_t>& count : stats.null_counts) WriteOptionalNumber(count, out);
  out->EndItems();
}

void WriteFile(const DataFileMeta& file, avro::Encoder* out) {
  const auto write_text = [&](const std::string& text) { out->String(text); };
  const auto write_texts = [&](const std::vector<std::string>& texts) { WriteTexts(texts, out); };
  out->String(file.file_name);
  out->Long(file.file_size);
  out->Long(file.row_count);
  out->Bytes(file.min_key);
  out->Bytes(file.max_key);
  WriteStats(file.key_stats, out);
  WriteStats(file.value_stats, out);
  out->Long(file.min_sequence_number);
  out->Long(file.max_sequence_number);
  out->Long(file.schema_id);
  out->Int(file.level);
  WriteTexts(file.extra_files, out);
  WriteOptionalNumber(file.creation_time_ms, out);
  WriteOptionalNumber(file.delete_row_count, out);
  WriteOptional(file.embedded_index, out, write_text);
  WriteOptionalNumber(file.file_source, out);
  WriteOptional(file.value_stats_cols, out, write_texts);
  WriteOptional(file.external_path, out, write_text);
  WriteOptionalNumber(file.first_row_id, out);
  WriteOptional(file.write_cols, out, write_texts);
}

void WriteIndexEntry(const IndexManifestEntry& entry, avro::Encoder* out) {
  out->Int(1);
  out->Int(static_cast<int32_t>(entry.kind));
  out->Bytes(entry.partition);
  out->Int(entry.bucket);
  out->String(entry.index_type);
  out->String(entry.file_name);
  out->Long(entry.file_size);
  out->Long(entry.row_count);
  WriteOptional(entry.deletion_vectors, out, [&](const std::vector<DeletionVectorRange>& ranges) {
    out->BeginItems(ranges.size());
    for (const DeletionVectorRange& range : ranges) {
      out->Union(1);
      out->String(range.data_file);
      out->Int(range.offset);
      out->Int(range.length);
      WriteOptionalNumber(range.cardinality, out);
    }
    out->EndItems();
  });
  WriteOptional(entry.external_path, out, [&](const std::string& text) { out->String(text); });
}

template <typename Item, typename Write>
Result<std::string> EncodeFile(const std::string& schema, const std::vector<Item>& items,
                               std::string_view compression, Write write) {
  DRIFTLESS_ASSIGN_OR_RETURN(const avro::Codec codec, avro::ParseCodec(compression));
  avro::FileWriter file(schema, codec);
  for (const Item& item : items) {
    write(item, &file.encoder());
    DRIFTLESS_TRY(file.EndRecord());
  }
  return file.Finish();
}

// ---- reading ---------------------------------------------------------------------------------

// Takes members of one record by name; members are tried in the order in which Paimon writes them,
// so that finding one is a single comparison as a rule. Remembers the first thing that is wrong.
class RecordReader {
 public:
  RecordReader(const avro::Datum& record, std::optional<Error>* error)
      : record_(record), error_(error) {
    if (record.schema == nullptr || record.schema->kind != avro::Kind::kRecord) {
      Fail("a record", "is something else");
    }
  }

  // Null where there is no such member or its value is null.
  const avro::Datum* Find(std::string_view name) {
    if (record_.schema == nullptr) return nullptr;
    const auto& fields = record_.schema->fields;
    if (fields.size() != record_.children.size()) return nullptr;
    for (size_t tried = 0; tried < fields.size(); ++tried) {
      const size_t i = next_ < fields.size() ? next_ : 0;
      next_ = i + 1;
      if (fields[i].name != name) continue;
      return record_.children[i].is_null() ? nullptr : &record_.children[i];
    }
    return nullptr;
  }
  const avro::Datum* Need(std::string_view name) {
    const avro::Datum* datum = Find(name);
    if (datum == nullptr) Fail(name, "is missing");
    return datum;
  }

  template <typename Integer = int64_t>
  Integer Number(std::string_view name) {
    return ToNumber<Integer>(name, Need(name));
  }
  template <typename Integer = int64_t>
  std::optional<Integer> OptionalNumber(std::string_view name) {
    const avro::Datum* datum = Find(name);
    if (datum == nullptr) return std::nullopt;
    return ToNumber<Integer>(name, datum);
  }
  std::string Text(std::string_view name) { return ToText(name, Need(name)); }
  std::optional<std::string> OptionalText(std::string_view name) {
    const avro::Datum* datum = Find(name);
    if (datum == nullptr) return std::nullopt;
    return ToText(name, datum);
  }
  std::optional<std::vector<std::string>> OptionalTexts(std::string_view name) {
    const avro::Datum* datum = Find(name);
    if (datum == nullptr) return std::nullopt;
    if (datum->schema->kind != avro::Kind::kArray) Fail(name, "is no array");
    std::vector<std::string> texts;
    for (const avro::Datum& item : datum->children) texts.push_back(ToText(name, &item));
    return texts;
  }
  SimpleStats Stats(std::string_view name) {
    SimpleStats stats;
    const avro::Datum* datum = Need(name);
    if (datum == nullptr) return stats;
    RecordReader record(*datum, error_);
    stats.min_values = record.Text("_MIN_VALUES");
    stats.max_values = record.Text("_MAX_VALUES");
    const avro::Datum* counts = record.Find("_NULL_COUNTS");
    if (counts == nullptr) return stats;
    for (const avro::Datum& count : counts->children) {
      stats.null_counts.push_back(count.is_null() ? std::nullopt
                                                  : std::optional<int64_t>(count.number));
    }
    return stats;
  }
  void Fail(std::string_view name, std::string_view what) {
    if (*error_) return;
    *error_ = MakeError(ErrorKind::kCorrupt, std::string(name) + " " + std::string(what));
  }
  std::optional<Error>* error() { return error_; }

 private:
  template <typename Integer>
  Integer ToNumber(std::string_view name, const avro::Datum* datum) {
    if (datum == nullptr) return 0;
    const avro::Kind kind = datum->schema->kind;
    if (kind != avro::Kind::kInt && kind != avro::Kind::kLong) Fail(name, "is no number");
    if (!std::in_range<Integer>(datum->number)) Fail(name, "is out of range");
    return static_cast<Integer>(datum->number);
  }
  std::string ToText(std::string_view name, const avro::Datum* datum) {
    if (datum == nullptr) return "";
    const avro::Kind kind = datum->is_null() ? avro::Kind::kNull : datum->schema->kind;
    if (kind != avro::Kind::kString && kind != avro::Kind::kBytes) Fail(name, "is no text");
    return std::string(datum->text);
  }

  const avro::Datum& record_;
  std::optional<Error>* error_;
  size_t next_ = 0;
};

DataFileMeta ReadFile(RecordReader record) {
  DataFileMeta file;
  file.file_name = record.Text("_FILE_NAME");
  file.file_size = record.Number("_FILE_SIZE");
  file.row_count = record.Number("_ROW_COUNT");
  file.min_key = record.Text("_MIN_KEY");
  file.max_key = record.Text("_MAX_KEY");
  file.key_stats = record.Stats("_KEY_STATS");
  file.value_stats = record.Stats("_VALUE_STATS");
  file.min_sequence_number = record.Number("_MIN_SEQUENCE_NUMBER");
  file.max_sequence_number = record.Number("_MAX_SEQUENCE_NUMBER");
  file.schema_id = record.Number("_SCHEMA_ID");
  file.level = record.Number<int32_t>("_LEVEL");
  file.extra_files = record.OptionalTexts("_EXTRA_FILES").value_or(std::vector<std::string>());
  file.creation_time_ms = record.OptionalNumber("_CREATION_TIME");
  file.delete_row_count = record.OptionalNumber("_DELETE_ROW_COUNT");
  file.embedded_index = record.OptionalText("_EMBEDDED_FILE_INDEX");
  const std::optional<int32_t> source = record.OptionalNumber<int32_t>("_FILE_SOURCE");
  if (source) file.file_source = *source == 1 ? FileSource::kCompact : FileSource::kAppend;
  file.value_stats_cols = record.OptionalTexts("_VALUE_STATS_COLS");
  file.external_path = record.OptionalText("_EXTERNAL_PATH");
  file.first_row_id = record.OptionalNumber("_FIRST_ROW_ID");
  file.write_cols = record.OptionalTexts("_WRITE_COLS");
  return file;
}

FileKind ReadKind(RecordReader* record) {
  const auto kind = record->Number<int32_t>("_KIND");
  if (kind != 0 && kind != 1) record->Fail("_KIND", "is neither 0 nor 1");
  return kind == 1 ? FileKind::kDelete : FileKind::kAdd;
}

void CheckVersion(RecordReader* record, int32_t known) {
  const auto version = record->Number<int32_t>("_VERSION");
  if (version != known) {
    record->Fail("_VERSION",
                 "is " + std::to_string(version) + ", known is " + std::to_string(known));
  }
}

ManifestEntry ReadEntry(RecordReader* record) {
  ManifestEntry entry;
  CheckVersion(record, 2);
  entry.kind = ReadKind(record);
  entry.partition = record->Text("_PARTITION");
  entry.bucket = record->Number<int32_t>("_BUCKET");
  entry.total_buckets = record->Number<int32_t>("_TOTAL_BUCKETS");
  if (const avro::Datum* file = record->Need("_FILE")) {
    entry.file = ReadFile(RecordReader(*file, record->error()));
  }
  return entry;
}

ManifestFileMeta ReadMeta(RecordReader* record) {
  ManifestFileMeta meta;
  CheckVersion(record, 2);
  meta.file_name = record->Text("_FILE_NAME");
  meta.file_size = record->Number("_FILE_SIZE");
  meta.num_added_files = record->Number("_NUM_ADDED_FILES");
  meta.num_deleted_files = record->Number("_NUM_DELETED_FILES");
  meta.partition_stats = record->Stats("_PARTITION_STATS");
  meta.schema_id = record->Number("_SCHEMA_ID");
  meta.min_bucket = record->OptionalNumber<int32_t>("_MIN_BUCKET");
  meta.max_bucket = record->OptionalNumber<int32_t>("_MAX_BUCKET");
  meta.min_level = record->OptionalNumber<int32_t>("_MIN_LEVEL");
  meta.max_level = record->OptionalNumber<int32_t>("_MAX_LEVEL");
  meta.min_row_id = record->OptionalNumber("_MIN_ROW_ID");
  meta.max_row_id = record->OptionalNumber("_MAX_ROW_ID");
  return meta;
}

IndexManifestEntry ReadIndexEntry(RecordReader* record) {
  IndexManifestEntry entry;
  CheckVersion(record, 1);
  entry.kind = ReadKind(record);
  entry.partition = record->Text("_PARTITION");
  entry.bucket = record->Number<int32_t>("_BUCKET");
  entry.index_type = record->Text("_INDEX_TYPE");
  entry.file_name = record->Text("_FILE_NAME");
  entry.file_size = record->Number("_FILE_SIZE");
  entry.row_count = record->Number("_ROW_COUNT");
  if (const avro::Datum* ranges = record->Find("_DELETIONS_VECTORS_RANGES")) {
    entry.deletion_vectors.emplace();
    for (const avro::Datum& item : ranges->children) {
      RecordReader range(item, record->error());
      DeletionVectorRange& read = entry.deletion_vectors->emplace_back();
      read.data_file = range.Text("f0");
      read.offset = range.Number<int32_t>("f1");
      read.length = range.Number<int32_t>("f2");
      read.cardinality = range.OptionalNumber("_CARDINALITY");
    }
  }
  entry.external_path = record->OptionalText("_EXTERNAL_PATH");
  return entry;
}

template <typename Item>
Result<std::vector<Item>> DecodeFile(std::string_view bytes, std::string_view what,
                                     Item (*read)(RecordReader*)) {
  Result<avro::FileReader> file = avro::FileReader::Open(bytes);
  if (!file) return std::move(file).error().Context(std::string(what));
  std::vector<Item> items;
  avro::Datum datum;
  while (true) {
    Result<bool> more = file->Next(&datum);
    if (!more) return std::move(more).error().Context(std::string(what));
    if (!*more) return items;
    std::optional<Error> error;
    RecordReader record(datum, &error);
    items.push_back(read(&record));
    if (error) {
      return std::move(*error).Context(std::string(what) + ", record " +
                                       std::to_string(items.size()));
    }
  }
}

}  // namespace

Result<std::string> EncodeManifestList(const std::vector<ManifestFileMeta>& metas,
                                       std::string_view compression) {
  return EncodeFile(ManifestListSchema(), metas, compression,
                    [](const ManifestFileMeta& meta, avro::Encoder* out) {
                      out->Int(2);
                      out->String(meta.file_name);
                      out->Long(meta.file_size);
                      out->Long(meta.num_added_files);
                      out->Long(meta.num_deleted_files);
                      WriteStats(meta.partition_stats, out);
                      out->Long(meta.schema_id);
                      WriteOptionalNumber(meta.min_bucket, out);
                      WriteOptionalNumber(meta.max_bucket, out);
                      WriteOptionalNumber(meta.min_level, out);
                      WriteOptionalNumber(meta.max_level, out);
                      WriteOptionalNumber(meta.min_row_id, out);
                      WriteOptionalNumber(meta.max_row_id, out);
                    });
}

const std::string& ManifestAvroSchema() { return ManifestSchema(); }

void WriteManifestEntry(const ManifestEntry& entry, avro::Encoder* out) {
  out->Int(2);
  out->Int(static_cast<int32_t>(entry.kind));
  out->Bytes(entry.partition);
  out->Int(entry.bucket);
  out->Int(entry.total_buckets);
  WriteFile(entry.file, out);
}

Result<std::vector<ManifestFileMeta>> DecodeManifestList(std::string_view bytes) {
  return DecodeFile<ManifestFileMeta>(bytes, "manifest list", ReadMeta);
}

Result<std::string> EncodeManifest(const std::vector<ManifestEntry>& entries,
                                   std::string_view compression) {
  return EncodeFile(ManifestSchema(), entries, compression, WriteManifestEntry);
}

Result<std::vector<ManifestEntry>> DecodeManifest(std::string_view bytes) {
  return DecodeFile<ManifestEntry>(bytes, "manifest", ReadEntry);
}

Result<std::string> EncodeIndexManifest(const std::vector<IndexManifestEntry>& entries,
                                        std::string_view compression) {
  return EncodeFile(IndexManifestSchema(), entries, compression, WriteIndexEntry);
}

Result<std::vector<IndexManifestEntry>> DecodeIndexManifest(std::string_view bytes) {
  return DecodeFile<IndexManifestEntry>(bytes, "index manifest", ReadIndexEntry);
}

}  // namespace driftless::paimon
