#include "sinks/paimon/table_scan.h"

#include <algorithm>

#include "config/options/option.h"
#include "sinks/paimon/binary_row.h"
#include "sinks/paimon/partition.h"

namespace driftless::paimon {
namespace {

// Turns the values of one file into those of the read schema.
class EvolvedRows : public lake::RowSource {
 public:
  EvolvedRows(std::unique_ptr<lake::RowSource> source, std::vector<JavaCast> casts,
              std::vector<int> sources, TableSchemaPtr schema, std::string path)
      : source_(std::move(source)),
        casts_(std::move(casts)),
        sources_(std::move(sources)),
        builder_(std::move(schema), 0),
        path_(std::move(path)) {}

  Result<lake::FileRowsPtr> Next() override {
    DRIFTLESS_ASSIGN_OR_RETURN(const lake::FileRowsPtr rows, source_->Next());
    if (rows == nullptr) return rows;
    const int64_t n = rows->values->size();
    for (int64_t i = 0; i < n; ++i) {
      builder_.BeginRow(Op::kInsert, rows->values->point(i), 0);
      for (size_t c = 0; c < sources_.size(); ++c) {
        ColumnBuilder& out = builder_.after(static_cast<int>(c));
        if (sources_[c] < 0) {
          out.AppendNull();
          continue;
        }
        auto appended =
            casts_[c].Append(rows->values->after()[static_cast<size_t>(sources_[c])], i, &out);
        if (!appended) return std::move(appended).error().Context("data file " + path_);
      }
      builder_.EndRow();
    }
    auto evolved = std::make_shared<lake::FileRows>();
    evolved->values = builder_.Seal();
    evolved->sequences = rows->sequences;
    evolved->kinds = rows->kinds;
    return lake::FileRowsPtr(std::move(evolved));
  }

 private:
  std::unique_ptr<lake::RowSource> source_;
  std::vector<JavaCast> casts_;
  std::vector<int> sources_;  // by read column: index among the file's columns, -1: null
  ChangeBatchBuilder builder_;
  std::string path_;
};

Result<void> CheckReadable(const PaimonSchema& schema) {
  const auto is_true = [&](std::string_view key) {
    const auto value = ParseBool(schema.Option(key, "false"));
    return value && *value;
  };
  const std::string engine = schema.Option("merge-engine", "deduplicate");
  if (schema.HasPrimaryKey() && engine != "deduplicate") {
    return MakeError(ErrorKind::kUnsupported, "the table's merge-engine is " + engine)
        .Hint("Driftless reads deduplicate tables; use Flink or Spark for this one");
  }
  if (schema.HasPrimaryKey() && !schema.Option("sequence.field", "").empty()) {
    return MakeError(ErrorKind::kUnsupported, "the table has a sequence.field")
        .Hint("Driftless merges by sequence number only; use Flink or Spark for this table");
  }
  if (is_true("data-evolution.enabled")) {
    return MakeError(ErrorKind::kUnsupported, "the table has data-evolution.enabled")
        .Hint("use Flink or Spark to read it");
  }
  return {};
}

std::unique_ptr<lake::RowSource> Chain(std::vector<ManifestEntry> files, const OpenFile& open) {
  std::vector<lake::ChainedRows::Open> chain;
  for (ManifestEntry& entry : files) {
    chain.emplace_back([open, entry = std::move(entry)] { return open(entry); });
  }
  return std::make_unique<lake::ChainedRows>(std::move(chain));
}

// Files whose keys do not overlap stand in one chain, in key order.
std::vector<std::vector<ManifestEntry>> Chains(const PaimonSchema& schema,
                                               std::vector<ManifestEntry> files) {
  std::vector<LogicalType> types;
  for (const std::string& name : schema.TrimmedPrimaryKeys()) {
    types.push_back(schema.fields[static_cast<size_t>(schema.IndexOf(name))].type);
  }
  // Keys that cannot be compared make a file overlap with all others, which is always right.
  const auto is_less = [&](const std::string& a, const std::string& b) {
    const Result<int> order = CompareBinaryRows(types, a, b);
    return order && *order < 0;
  };
  const bool comparable = std::ranges::all_of(files, [&](const ManifestEntry& entry) {
    return CompareBinaryRows(types, entry.file.min_key, entry.file.max_key).has_value();
  });
  if (comparable) {
    std::ranges::stable_sort(files, is_less, [](const ManifestEntry& entry) -> const std::string& {
      return entry.file.min_key;
    });
  }
  std::vector<std::vector<ManifestEntry>> chains;
  for (ManifestEntry& entry : files) {
    // The chain that ends first: where that one still overlaps, all do.
    const auto ends_first = std::ranges::min_element(
        chains, is_less,
        [](const auto& chain) -> const std::string& { return chain.back().file.max_key; });
    const bool fits = comparable && ends_first != chains.end() &&
                      is_less(ends_first->back().file.max_key, entry.file.min_key);
    if (!fits) {
      chains.push_back({std::move(entry)});
    } else {
      ends_first->push_back(std::move(entry));
    }
  }
  return chains;
}

}  // namespace

std::vector<std::unique_ptr<lake::RowSource>> MergeSources(const PaimonSchema& schema,
                                                           std::vector<ManifestEntry> files,
                                                           const OpenFile& open) {
  std::vector<std::unique_ptr<lake::RowSource>> sources;
  for (auto& chain : Chains(schema, std::move(files))) {
    sources.push_back(Chain(std::move(chain), open));
  }
  return sources;
}

size_t OpenFiles(const PaimonSchema& schema, std::vector<ManifestEntry> files) {
  return Chains(schema, std::move(files)).size();
}

lake::KeyOrder ScanOrder(const PaimonSchema& schema) {
  std::vector<std::string> names = schema.TrimmedPrimaryKeys();
  names.insert(names.end(), schema.partition_keys.begin(), schema.partition_keys.end());
  std::vector<int> columns;
  std::vector<LogicalType> types;
  for (const std::string& name : names) {
    const int at = schema.IndexOf(name);
    columns.push_back(at);
    types.push_back(schema.fields[static_cast<size_t>(at)].type);
  }
  return lake::KeyOrder(std::move(columns), std::move(types));
}

FileOpener::FileOpener(PaimonTable table, PaimonSchema read_schema, const TimeZone& zone)
    : table_(std::move(table)), read_schema_(std::move(read_schema)), zone_(zone) {}

Result<const PaimonSchema*> FileOpener::SchemaOf(int64_t id) {
  if (id == read_schema_.id) return &read_schema_;
  auto found = schemas_.find(id);
  if (found == schemas_.end()) {
    DRIFTLESS_ASSIGN_OR_RETURN(PaimonSchema schema, table_.Schema(id));
    found = schemas_.emplace(id, std::move(schema)).first;
  }
  return &found->second;
}

Result<std::unique_ptr<lake::RowSource>> FileOpener::Open(const ManifestEntry& entry) {
  DRIFTLESS_ASSIGN_OR_RETURN(const PaimonSchema* file_schema, SchemaOf(entry.file.schema_id));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string partition_path,
                             PartitionPath(*file_schema, entry.partition));
  const std::string path = BucketDirectory(table_.directory(), partition_path, entry.bucket) + "/" +
                           entry.file.file_name;
  if (!entry.file.file_name.ends_with(".parquet")) {
    return MakeError(ErrorKind::kUnsupported, "data file " + path + " is not Parquet")
        .Hint("Driftless reads Parquet data files; use Flink or Spark for this table");
  }
  if (entry.file.external_path) {
    return MakeError(ErrorKind::kUnsupported,
                     "data file " + *entry.file.external_path + " lies outside the table");
  }

  lake::ParquetRowsRequest request;
  if (read_schema_.HasPrimaryKey()) {
    request.sequence_column = "_SEQUENCE_NUMBER";
    request.kind_column = "_VALUE_KIND";
  }
  if (batch_rows_) request.batch_rows = *batch_rows_;
  std::vector<JavaCast> casts;
  std::vector<int> sources;
  bool identity = true;
  auto schema = std::make_shared<TableSchema>();
  for (const PaimonField& field : read_schema_.fields) {
    schema->AddColumn(field.name, field.type);
    const PaimonField* old = file_schema->FindId(field.id);
    // A file of an append table may hold some of the columns only.
    if (old != nullptr && entry.file.write_cols &&
        std::find(entry.file.write_cols->begin(), entry.file.write_cols->end(), old->name) ==
            entry.file.write_cols->end()) {
      old = nullptr;
    }
    if (old == nullptr) {
      identity = false;
      sources.push_back(-1);
      casts.emplace_back();
      continue;
    }
    auto cast = JavaCast::Make(TypeTree::Of(*old), TypeTree::Of(field), zone_);
    if (!cast) return std::move(cast).error().Context("column " + field.name + " in " + path);
    identity &= cast->is_identity();
    sources.push_back(static_cast<int>(request.columns.size()));
    casts.push_back(std::move(*cast));
    request.columns.push_back({old->name, old->type, ""});
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      auto rows, lake::OpenParquetRows(table_.shared_store(), path, std::move(request)));
  if (identity) return rows;
  return std::unique_ptr<lake::RowSource>(std::make_unique<EvolvedRows>(
      std::move(rows), std::move(casts), std::move(sources), std::move(schema), path));
}

Result<TableScan> TableScan::Open(const PaimonTable& table, std::optional<int64_t> snapshot_id,
                                  const TimeZone& zone) {
  TableScan scan(table);
  scan.zone_ = zone;
  if (snapshot_id) {
    DRIFTLESS_ASSIGN_OR_RETURN(scan.snapshot_, table.SnapshotAt(*snapshot_id));
    DRIFTLESS_ASSIGN_OR_RETURN(scan.schema_, table.Schema(scan.snapshot_->schema_id));
  } else {
    DRIFTLESS_ASSIGN_OR_RETURN(std::optional<PaimonSchema> schema, table.LatestSchema());
    if (!schema) {
      return MakeError(ErrorKind::kNotFound, "there is no Paimon table " + table.directory());
    }
    scan.schema_ = std::move(*schema);
    DRIFTLESS_ASSIGN_OR_RETURN(scan.snapshot_, table.LatestSnapshot());
  }
  DRIFTLESS_TRY(CheckReadable(scan.schema_));
  return scan;
}

Result<void> TableScan::Start() {
  std::vector<ManifestEntry> live;
  if (snapshot_) {
    DRIFTLESS_ASSIGN_OR_RETURN(live, table_.LiveFiles(*snapshot_));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<IndexManifestEntry> indexes,
                               table_.IndexFiles(*snapshot_));
    for (const IndexManifestEntry& index : indexes) {
      if (index.index_type == "DELETION_VECTORS") {
        return MakeError(ErrorKind::kUnsupported, "the table has deletion vectors")
            .Hint("Driftless reads merge-on-read tables; use Flink or Spark for this one");
      }
    }
    std::stable_sort(live.begin(), live.end(), [](const ManifestEntry& a, const ManifestEntry& b) {
      if (a.partition != b.partition) return a.partition < b.partition;
      if (a.bucket != b.bucket) return a.bucket < b.bucket;
      return a.file.min_sequence_number < b.file.min_sequence_number;
    });
    // Postponed ones are not visible to readers either.
    std::erase_if(live, [](const ManifestEntry& entry) { return entry.bucket == -2; });
  }
  const OpenFile open = [opener = std::make_shared<FileOpener>(table_, schema_, zone_)](
                            const ManifestEntry& entry) { return opener->Open(entry); };
  if (schema_.HasPrimaryKey()) {
    merge_ = std::make_unique<lake::MergeReader>(
        ScanOrder(schema_), MergeSources(schema_, std::move(live), open), lake::Retractions::kDrop);
  } else {
    plain_ = std::make_unique<lake::PlainReader>(Chain(std::move(live), open));
  }
  return {};
}

Result<bool> TableScan::Next(lake::MergedRow* row) {
  if (merge_ == nullptr && plain_ == nullptr) DRIFTLESS_TRY(Start());
  return merge_ != nullptr ? merge_->Next(row) : plain_->Next(row);
}

}  // namespace driftless::paimon
