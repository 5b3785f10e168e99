#include "sinks/paimon/row_removal.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "sinks/paimon/file_paths.h"
#include "sinks/paimon/partition.h"
#include "sinks/paimon/table_scan.h"

namespace driftless::paimon {
namespace {

// More cuts than can be prepared and not yet committed.
constexpr size_t kPreparedCutsMax = 8;

size_t FixedWidth(PhysicalKind kind) {
  switch (kind) {
    case PhysicalKind::kFixed8: return 1;
    case PhysicalKind::kFixed16: return 2;
    case PhysicalKind::kFixed32: return 4;
    case PhysicalKind::kFixed64: return 8;
    case PhysicalKind::kFixed128: return 16;
    default: return 0;
  }
}

void AppendContent(const ColumnView& column, const LogicalType& type, int64_t row,
                   std::string* out);

// The children of element `row` of a list: a count, then each one.
void AppendList(const ColumnView& column, const LogicalType& type, int64_t row, std::string* out) {
  const int32_t begin = column.offsets[row];
  const int32_t end = column.offsets[row + 1];
  *out += std::to_string(end - begin) + "[";
  const ColumnView& items = column.children[0];
  for (int32_t i = begin; i < end; ++i) {
    if (type.kind() == TypeKind::kArray) {
      AppendContent(items, type.children()[0].type, i, out);
      continue;
    }
    AppendContent(items.children[0], type.children()[0].type, i, out);
    const LogicalType value =
        type.kind() == TypeKind::kMap ? type.children()[1].type : LogicalType::Int();
    AppendContent(items.children[1], value, i, out);
  }
}

// "n" for NULL, else "v" and the value; variable lengths are told first, so that texts of different
// values never run into each other.
void AppendContent(const ColumnView& column, const LogicalType& type, int64_t row,
                   std::string* out) {
  if (column.IsNull(row)) {
    *out += 'n';
    return;
  }
  *out += 'v';
  switch (type.physical()) {
    case PhysicalKind::kBit: *out += column.Bit(row) ? '1' : '0'; return;
    case PhysicalKind::kVariable: {
      const std::string_view bytes = column.Bytes(row);
      *out += std::to_string(bytes.size()) + ":";
      *out += bytes;
      return;
    }
    case PhysicalKind::kList: AppendList(column, type, row, out); return;
    case PhysicalKind::kStruct:
      for (size_t i = 0; i < type.children().size(); ++i) {
        AppendContent(column.children[i], type.children()[i].type, row, out);
      }
      return;
    default: {
      const size_t width = FixedWidth(type.physical());
      out->append(reinterpret_cast<const char*>(column.values) + static_cast<size_t>(row) * width,
                  width);
      return;
    }
  }
}

std::string Joined(const RowContent& content) {
  std::string joined;
  for (const std::string& field : content) joined += std::to_string(field.size()) + ":" + field;
  return joined;
}

bool FitsButForNulls(const RowContent& at_sink, const RowContent& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (at_sink[i] != wanted[i] && at_sink[i] != "n") return false;
  }
  return true;
}

// Picks rows out of what is wanted, each at most once.
class WantedRows {
 public:
  explicit WantedRows(std::vector<RowContent>* rows) : rows_(rows), taken_(rows->size()) {
    for (size_t i = 0; i < rows->size(); ++i) exact_[Joined((*rows)[i])].push_back(i);
  }

  bool TakeExact(const RowContent& content) {
    const auto found = exact_.find(Joined(content));
    if (found == exact_.end() || found->second.empty()) return false;
    taken_[found->second.back()] = true;
    found->second.pop_back();
    return true;
  }

  bool TakeButForNulls(const RowContent& content) {
    for (size_t i = 0; i < rows_->size(); ++i) {
      if (taken_[i] || !FitsButForNulls(content, (*rows_)[i])) continue;
      taken_[i] = true;
      return true;
    }
    return false;
  }

  // Leaves only what was not found.
  void Finish() {
    std::vector<RowContent> rest;
    for (size_t i = 0; i < rows_->size(); ++i) {
      if (!taken_[i]) rest.push_back(std::move((*rows_)[i]));
    }
    *rows_ = std::move(rest);
  }

 private:
  std::vector<RowContent>* rows_;
  std::vector<bool> taken_;
  std::unordered_map<std::string, std::vector<size_t>> exact_;
};

}  // namespace

RowContent ContentOf(const PaimonSchema& schema, const std::vector<int>& image_columns,
                     std::span<const ColumnView> columns, uint32_t row) {
  RowContent content(schema.fields.size());
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (image_columns[i] < 0) {
      content[i] = "n";
    } else {
      AppendContent(columns[static_cast<size_t>(image_columns[i])], schema.fields[i].type, row,
                    &content[i]);
    }
  }
  return content;
}

RowRemover::RowRemover(PaimonTable table, const DataFileFormat* format,
                       std::shared_ptr<TableState> state, TimeZone zone, const Clock* clock)
    : table_(std::move(table)),
      own_format_(*format),
      state_(std::move(state)),
      zone_(std::move(zone)),
      clock_(clock) {
  own_columns_.resize(own_format_.schema.fields.size());
  std::iota(own_columns_.begin(), own_columns_.end(), 0);
  own_format_.image_columns = own_columns_;
  own_format_.columns = DataFileColumns(own_format_.schema, own_columns_);
}

void RowRemover::Prepared(const std::vector<ManifestEntry>& files) {
  prepared_.push_back(files);
  if (prepared_.size() > kPreparedCutsMax) prepared_.pop_front();
}

Result<std::vector<ManifestEntry>> RowRemover::Candidates(
    const Removals& removals, const std::vector<ManifestEntry>& pending) const {
  const auto is_of_bucket = [&](const ManifestEntry& entry) {
    return entry.partition == removals.partition && entry.bucket == removals.bucket;
  };
  std::vector<ManifestEntry> files;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<Snapshot> latest, table_.LatestSnapshot());
  if (latest) {
    DRIFTLESS_ASSIGN_OR_RETURN(files, table_.LiveFiles(*latest, is_of_bucket));
  }
  const auto follow = [&](const std::vector<ManifestEntry>& cut) {
    for (const ManifestEntry& entry : cut) {
      if (!is_of_bucket(entry)) continue;
      const auto same = std::find_if(files.begin(), files.end(), [&](const ManifestEntry& file) {
        return file.file.file_name == entry.file.file_name;
      });
      if (entry.kind == FileKind::kDelete) {
        if (same != files.end()) files.erase(same);
      } else if (same == files.end() && !state_->WasCompacted(entry.file.file_name)) {
        files.push_back(entry);
      }
    }
  };
  // A file that a prepared cut added and a later one removed stays removed: both are walked in
  // order.
  for (const std::vector<ManifestEntry>& cut : prepared_) follow(cut);
  follow(pending);
  return files;
}

Result<bool> RowRemover::RemoveFrom(const ManifestEntry& file, Match match,
                                    std::vector<RowContent>* wanted, FileNames* names,
                                    std::vector<ManifestEntry>* pending) {
  FileOpener opener(table_, own_format_.schema, zone_);
  DRIFTLESS_ASSIGN_OR_RETURN(const std::unique_ptr<lake::RowSource> source, opener.Open(file));
  WantedRows rows(wanted);
  std::vector<lake::FileRowsPtr> batches;
  std::vector<lake::RowImage> images;
  std::vector<lake::RowRef> kept;
  bool any = false;
  for (;;) {
    DRIFTLESS_ASSIGN_OR_RETURN(lake::FileRowsPtr batch, source->Next());
    if (batch == nullptr) break;
    const auto image = static_cast<uint32_t>(images.size());
    images.push_back({batch->values->after()});
    for (uint32_t row = 0; row < batch->values->size(); ++row) {
      const RowContent content =
          ContentOf(own_format_.schema, own_columns_, batch->values->after(), row);
      const bool goes =
          match == Match::kExact ? rows.TakeExact(content) : rows.TakeButForNulls(content);
      any |= goes;
      if (!goes) kept.emplace_back(image, row, lake::RowKind::kInsert);
    }
    batches.push_back(std::move(batch));
  }
  if (!any) return false;
  rows.Finish();

  std::vector<int64_t> sequences(kept.size());
  std::iota(sequences.begin(), sequences.end(), file.file.min_sequence_number);
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string partition_path,
                             PartitionPath(own_format_.schema, file.partition));
  FilePlace place;
  place.store = table_.store();
  place.directory = BucketDirectory(table_.directory(), partition_path, file.bucket);
  place.clock = clock_;
  place.names = names;
  std::vector<DataFileMeta> written;
  if (!kept.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(
        written, WriteDataFiles(own_format_, place, FileRows{images, kept, sequences, 100}));
  }
  const auto own = std::find_if(pending->begin(), pending->end(), [&](const ManifestEntry& entry) {
    return entry.kind == FileKind::kAdd && entry.file.file_name == file.file.file_name;
  });
  if (own != pending->end()) {
    pending->erase(own);  // of this cut: nobody has seen it; clean-up deletes the file
  } else {
    ManifestEntry removed = file;
    removed.kind = FileKind::kDelete;
    pending->push_back(std::move(removed));
  }
  for (DataFileMeta& meta : written) {
    ManifestEntry added = file;
    added.kind = FileKind::kAdd;
    added.file = std::move(meta);
    pending->push_back(std::move(added));
  }
  return true;
}

Result<int64_t> RowRemover::Remove(Removals removals, FileNames* names,
                                   std::vector<ManifestEntry>* pending) {
  for (const Match match : {Match::kExact, Match::kNullAtSink}) {
    if (removals.rows.empty()) break;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> files,
                               Candidates(removals, *pending));
    for (const ManifestEntry& file : files) {
      if (removals.rows.empty()) break;
      DRIFTLESS_TRY(RemoveFrom(file, match, &removals.rows, names, pending));
    }
  }
  return static_cast<int64_t>(removals.rows.size());
}

}  // namespace driftless::paimon
