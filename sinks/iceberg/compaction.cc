#include "sinks/iceberg/compaction.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "sinks/iceberg/data_file.h"
#include "sinks/iceberg/deletion_vector.h"
#include "sinks/iceberg/live_rows.h"
#include "sinks/iceberg/manifest_writer.h"
#include "sinks/iceberg/partition.h"
#include "sinks/iceberg/rewrite.h"
#include "sinks/iceberg/single_value.h"
#include "sinks/iceberg/table_scan.h"
#include "sinks/lake/row_groups.h"
#include "sinks/lake/row_json.h"

namespace driftless::iceberg {
namespace {

constexpr size_t kPositionFilesMax = 5;            // of a partition, before they are joined
constexpr int64_t kPositionRowsMax = 10'000'000;   // that are joined
constexpr int64_t kRewrittenBytesMax = 256 << 20;  // of one snapshot, unless a partition is larger
constexpr int64_t kDeletedPercentMax = 30;         // of a file, before it is rewritten
constexpr int64_t kMergedGroupMax = 96 << 20;      // batches of a group of merged files

// The evolved schema whose columns are the table's own, for writing rows that were read from it.
EvolvedSchema OwnColumns(const TableMetadata& metadata, const TablePath& path) {
  EvolvedSchema table;
  table.path = path;
  for (const Field& field : metadata.schema().fields) {
    EvolvedColumn column;
    column.sink.name = field.name;
    column.sink.type = field.type;
    table.columns.push_back(std::move(column));
  }
  return table;
}

// Whether some of the sorted single values lies within the file's bounds of the field.
bool MayHold(const DataFile& file, const Field& field, const std::vector<std::string>& values) {
  const auto lower = file.lower_bounds.find(field.id);
  const auto upper = file.upper_bounds.find(field.id);
  const auto less = [&](const std::string& a, const std::string& b) {
    return CompareSingleValues(field.type, a, b) < 0;
  };
  const auto first = lower == file.lower_bounds.end()
                         ? values.begin()
                         : std::ranges::lower_bound(values, lower->second, less);
  if (first == values.end()) return false;
  return upper == file.upper_bounds.end() || !less(upper->second, *first);
}

int64_t SequenceOf(const ManifestEntry& entry) { return entry.sequence_number.value_or(0); }

class TableCompaction {
 public:
  TableCompaction(const MaintenanceContext& context, std::shared_ptr<const LoadedTable> table,
                  FileFormat format, std::string directory)
      : context_(context),
        table_(std::move(table)),
        format_(std::move(format)),
        directory_(std::move(directory)),
        names_(lake::FileOwner(context.identity.pipeline, context.identity.sink,
                               context.identity.table),
               kMaintenanceCut, context.identity.attempt) {
    for (const Field& field : format_.schema.fields) ids_.push_back(field.id);
    row_ids_ = ids_;
    if (has_lineage()) {
      format_.AddLineage(static_cast<int>(ids_.size()));
      row_ids_.insert(row_ids_.end(), {kRowId, kLastUpdatedId});
    }
    Restart();
  }

  Result<lake::CompactionReport> Run() {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool suits, Load());
    if (!suits) return report_;
    for (const auto& [key, files] : partitions_) {
      if (context_.stopped()) break;
      auto done = Partition(files);
      if (!done) {
        DeleteAdded();
        return std::move(done).error();
      }
      if (rewritten_bytes_ >= kRewrittenBytesMax) DRIFTLESS_TRY(Commit());
    }
    // What is whole is worth committing, also when more was to come.
    DRIFTLESS_TRY(Commit());
    return report_;
  }

 private:
  void Restart() {
    rewrite_ = {};
    rewrite_.base = table_.get();
    rewritten_bytes_ = 0;
  }

  void DeleteAdded() {
    for (const ManifestEntry& entry : rewrite_.added) (void)table_->files.Delete(entry.file.path);
  }

  // Rows keep their ids, and deleted rows of a file are one vector, from format version 3 on.
  bool has_lineage() const { return format_.format_version >= 3; }

  // False: a table that is left alone.
  Result<bool> Load() {
    const Snapshot& snapshot = *table_->metadata.current_snapshot();
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestFile> manifests,
                               LiveManifests(*table_, &snapshot));
    for (const ManifestFile& manifest : manifests) {
      AddPartitioner(manifest.spec_id);
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, table_->files.Read(manifest.path));
      DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestEntry> entries,
                                 DecodeManifest(bytes, manifest));
      for (ManifestEntry& entry : entries) {
        if (entry.status == EntryStatus::kDeleted) continue;
        if (entry.file.format != "PARQUET" && entry.file.format != "PUFFIN") return false;
        PartitionFiles& files = partitions_[{manifest.spec_id, TupleKey(entry.file.partition)}];
        files.partition = entry.file.partition;
        files.spec_id = manifest.spec_id;
        holders_[EntryKey(entry.file)] = manifest.path;
        switch (entry.file.content) {
          case FileContent::kData: files.data.push_back(std::move(entry)); break;
          case FileContent::kPositionDeletes: files.positions.push_back(std::move(entry)); break;
          case FileContent::kEqualityDeletes:
            // Somebody else's deletes, by other columns.
            if (entry.file.equality_ids != format_.schema.identifier_ids) return false;
            files.equality.push_back(std::move(entry));
            break;
        }
      }
    }
    return true;
  }

  // Of a spec whose columns are gone nothing is known: its files stay as they are.
  void AddPartitioner(int32_t spec_id) {
    const PartitionSpec* spec = table_->metadata.FindSpec(spec_id);
    if (spec == nullptr || partitioners_.contains(spec_id)) return;
    if (auto made = Partitioner::Make(format_.schema, *spec, format_.image_columns)) {
      partitioners_.emplace(spec_id, *std::move(made));
    }
  }

  // Equality deletes of a spec without partitions hold for the files of all specs.
  bool IsGlobal(int32_t spec_id) const {
    const PartitionSpec* spec = table_->metadata.FindSpec(spec_id);
    return spec != nullptr && IsUnpartitioned(*spec);
  }

  // The equality deletes that hold for a partition's files beside its own.
  std::vector<ManifestEntry> DeletesFromBeyond(const PartitionFiles& files) const {
    std::vector<ManifestEntry> deletes;
    for (const auto& [key, other] : partitions_) {
      if (&other == &files || !IsGlobal(other.spec_id)) continue;
      deletes.insert(deletes.end(), other.equality.begin(), other.equality.end());
    }
    return deletes;
  }

  // False: the partition is left alone. Where its equality deletes reach files of other specs,
  // their keys stay; and they get the newest number of what is merged only where that makes them
  // hold for no file more.
  Result<bool> Plan(const PartitionFiles& files, PartitionPlan* plan) const {
    *plan = PlanPartition(files, format_.target_file_bytes, KeyReach::kPartition);
    if (!IsGlobal(files.spec_id) || files.equality.empty()) return true;
    const int64_t newest = SequenceOf(std::ranges::max(files.equality, {}, SequenceOf));
    std::vector<int64_t> others;
    for (const auto& [key, other] : partitions_) {
      if (&other == &files) continue;
      for (const ManifestEntry& entry : other.data) {
        if (SequenceOf(entry) < newest) others.push_back(SequenceOf(entry));
      }
    }
    if (others.empty()) return true;
    *plan = PlanPartition(files, format_.target_file_bytes, KeyReach::kBeyond);
    if (plan->dropped.empty()) return true;
    const int64_t oldest = SequenceOf(std::ranges::min(plan->dropped, {}, SequenceOf));
    return std::ranges::none_of(
        others, [&](int64_t other) { return oldest <= other && other < plan->sequence; });
  }

  Result<void> Partition(const PartitionFiles& files) {
    if (!partitioners_.contains(files.spec_id)) return {};
    PartitionPlan plan;
    DRIFTLESS_ASSIGN_OR_RETURN(const bool suits, Plan(files, &plan));
    if (!suits || (plan.IsEmpty() && files.positions.size() < kPositionFilesMax)) return {};
    std::vector<ManifestEntry> deletes = plan.dropped;
    deletes.insert(deletes.end(), files.positions.begin(), files.positions.end());
    std::ranges::move(DeletesFromBeyond(files), std::back_inserter(deletes));
    DRIFTLESS_ASSIGN_OR_RETURN(DeleteIndex loaded,
                               DeleteIndex::Load(*table_, format_.schema, deletes));
    const auto index = std::make_shared<const DeleteIndex>(std::move(loaded));
    // Equality deletes of large files become position deletes, or the file is rewritten.
    std::map<std::string, std::vector<int64_t>> hits;
    DRIFTLESS_TRY(Search(&plan, index, &hits));
    // A file whose rows come under a newer number must have met all older deletes.
    const bool meets_all = plan.dropped.size() == files.equality.size();
    for (const ManifestEntry& entry : files.data) {
      const auto old = index->positions.find(entry.file.path);
      if (!meets_all) break;
      if (old == index->positions.end() || hits.contains(entry.file.path)) continue;
      if (IsWorn(entry, static_cast<int64_t>(old->second.size()))) AddRewritten(entry, &plan);
    }
    std::unordered_set<std::string> gone;
    for (const ManifestEntry& entry : plan.rewritten) gone.insert(entry.file.path);
    if (context_.stopped()) return {};

    Rewrite part;
    FilePlace place{&table_->files, directory_ + "/data", &names_};
    if (std::string path = partitioners_.at(files.spec_id).Path(files.partition); !path.empty()) {
      path.pop_back();
      place.directory += "/" + path;
    }
    auto written = WriteRows(plan, index, place, files, &part);
    if (written) written = WriteKeys(plan, place, files, &part);
    if (written) written = JoinPositions(files, *index, gone, std::move(hits), place, &part);
    if (!written || context_.stopped()) {
      for (const ManifestEntry& entry : part.added) (void)table_->files.Delete(entry.file.path);
      return written;
    }
    for (const auto* list : {&plan.rewritten, &plan.dropped}) {
      for (const ManifestEntry& entry : *list) part.removed.insert(entry.file.path);
    }
    rewrite_.removed.merge(part.removed);
    rewrite_.with_vector.merge(part.with_vector);
    std::ranges::move(part.added, std::back_inserter(rewrite_.added));
    ManifestEntry any;
    any.spec_id = files.spec_id;
    any.file.partition = files.partition;
    int64_t& newest = rewrite_.newest[PartitionKey(table_->metadata, any)];
    newest = std::max(newest, plan.sequence);
    for (const ManifestEntry& entry : plan.rewritten) rewritten_bytes_ += entry.file.size;
    return {};
  }

  static bool IsWorn(const ManifestEntry& entry, int64_t deleted) {
    return deleted * 100 > kDeletedPercentMax * entry.file.record_count;
  }
  static void AddRewritten(const ManifestEntry& entry, PartitionPlan* plan) {
    const auto same = [&](const ManifestEntry& other) {
      return other.file.path == entry.file.path;
    };
    if (std::ranges::any_of(plan->rewritten, same)) return;
    plan->rewritten.push_back(entry);
    plan->sequence = std::max(plan->sequence, entry.sequence_number.value_or(0));
  }

  // Finds the rows of large files that dropped deletes hit.
  Result<void> Search(PartitionPlan* plan, const std::shared_ptr<const DeleteIndex>& index,
                      std::map<std::string, std::vector<int64_t>>* hits) {
    if (plan->searched.empty()) return {};
    const Field& first = *format_.schema.FindId(format_.schema.identifier_ids.front());
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<std::string> values,
                               SortedValues(plan->dropped, first));
    for (const ManifestEntry& entry : plan->searched) {
      if (context_.stopped()) return {};
      if (!MayHold(entry.file, first, values)) continue;
      TableScan scan = TableScan::OfFiles(table_, {entry}, index);
      scan.ReadColumns(format_.schema.identifier_ids);
      scan.KeepDeleted();
      const auto old = index->positions.find(entry.file.path);
      std::vector<int64_t> positions;
      int64_t deleted = 0;
      ScannedRow row;
      while (true) {
        DRIFTLESS_ASSIGN_OR_RETURN(const bool more, scan.Next(&row));
        if (!more) break;
        if (!row.is_deleted) continue;
        ++deleted;
        if (old != index->positions.end() &&
            std::ranges::binary_search(old->second, row.position)) {
          continue;
        }
        positions.push_back(row.position);
      }
      if (IsWorn(entry, deleted)) {
        AddRewritten(entry, plan);
      } else if (!positions.empty()) {
        (*hits)[entry.file.path] = std::move(positions);
      }
    }
    return {};
  }

  // The values of one key column in delete files, sorted.
  Result<std::vector<std::string>> SortedValues(const std::vector<ManifestEntry>& deletes,
                                                const Field& field) const {
    std::vector<std::string> values;
    for (const ManifestEntry& entry : deletes) {
      std::vector<RowField> fields;
      DRIFTLESS_ASSIGN_OR_RETURN(auto source, OpenTableFile(*table_, format_.schema,
                                                            entry.file.path, {field.id}, &fields));
      while (true) {
        DRIFTLESS_ASSIGN_OR_RETURN(const lake::FileRowsPtr rows, source->Next());
        if (rows == nullptr) break;
        for (int64_t i = 0; i < rows->values->size(); ++i) {
          AppendSingleValue(field.type, rows->values->after()[0], i, &values.emplace_back());
        }
      }
    }
    std::ranges::sort(values, [&](const std::string& a, const std::string& b) {
      return CompareSingleValues(field.type, a, b) < 0;
    });
    return values;
  }

  // The rows of each row group stand in the table's sort order or, without one, in that of the key.
  // `continues`: those of all groups together do.
  lake::RowGroups Groups(FileRoller* roller, bool continues) const {
    if (format_.sorter.sorts()) {
      const auto take = [this, roller, continues](auto images, auto rows, auto) {
        std::vector<lake::RowRef> sorted(rows.begin(), rows.end());
        format_.sorter.Sort(images, &sorted);
        return roller->Write(FileRun{images, sorted, 1, continues});  // 1: one row group
      };
      return continues ? lake::RowGroups(take, std::nullopt, kMergedGroupMax)
                       : lake::RowGroups(take);
    }
    return KeyGroups(roller);
  }
  lake::RowGroups KeyGroups(FileRoller* roller) const {
    std::optional<lake::KeyOrder> order;
    if (format_.has_key()) order.emplace(format_.key_images, format_.key_types);
    return lake::RowGroups(
        [roller](auto images, auto rows, auto) { return roller->Write(FileRun{images, rows, 1}); },
        std::move(order));
  }

  Result<void> AddFiles(FileRoller* roller, int64_t sequence, int32_t spec_id, Rewrite* part) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<DataFile> files, roller->Finish());
    for (DataFile& file : files) {
      ManifestEntry entry;
      entry.sequence_number = sequence;
      entry.spec_id = spec_id;
      entry.file = std::move(file);
      part->added.push_back(std::move(entry));
    }
    return {};
  }

  Result<void> WriteRows(const PartitionPlan& plan, const std::shared_ptr<const DeleteIndex>& index,
                         const FilePlace& place, const PartitionFiles& files, Rewrite* part) {
    std::vector<ManifestEntry> rewritten = plan.rewritten;
    std::ranges::stable_sort(rewritten, {}, &ManifestEntry::sequence_number);
    const bool merges = CanMerge(format_.sorter, rewritten);
    LiveRows live(table_, std::move(rewritten), index, row_ids_,
                  merges ? &format_.sorter : nullptr);
    FileRoller roller(&format_, place, FileContent::kData, files.partition);
    lake::RowGroups groups = Groups(&roller, merges);
    lake::MergedRow row;
    for (int64_t count = 0;; ++count) {
      if ((count & 4095) == 0 && context_.stopped()) {
        return AddFiles(&roller, 0, files.spec_id, part);
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const bool more, live.Next(&row));
      if (!more) break;
      DRIFTLESS_TRY(groups.Add(row));
    }
    DRIFTLESS_TRY(groups.Flush());
    return AddFiles(&roller, plan.sequence, files.spec_id, part);
  }

  // The keys of the dropped deletes once more: they hold for everything older than the new files.
  Result<void> WriteKeys(const PartitionPlan& plan, const FilePlace& place,
                         const PartitionFiles& files, Rewrite* part) {
    if (!plan.keeps_keys) return {};
    FileRoller roller(&format_, place, FileContent::kEqualityDeletes, files.partition);
    lake::RowGroups groups = KeyGroups(&roller);
    std::unordered_set<std::string> seen;
    std::vector<RowField> key_fields;
    for (const int32_t id : format_.schema.identifier_ids) {
      key_fields.push_back({"", format_.schema.FindId(id)->type, ""});
    }
    std::string key;
    for (const ManifestEntry& entry : plan.dropped) {
      std::vector<RowField> fields;
      DRIFTLESS_ASSIGN_OR_RETURN(
          auto source, OpenTableFile(*table_, format_.schema, entry.file.path, ids_, &fields));
      lake::MergedRow row;
      while (true) {
        DRIFTLESS_ASSIGN_OR_RETURN(row.rows, source->Next());
        if (row.rows == nullptr) break;
        std::vector<ColumnView> views;
        for (const int image : format_.key_images) {
          views.push_back(row.columns()[static_cast<size_t>(image)]);
        }
        for (row.row = 0; row.row < row.rows->values->size(); ++row.row) {
          key.clear();
          lake::AppendRowJson(key_fields, views, row.row, &key);
          if (seen.insert(key).second) DRIFTLESS_TRY(groups.Add(row));
        }
      }
    }
    DRIFTLESS_TRY(groups.Flush());
    return AddFiles(&roller, plan.sequence, files.spec_id, part);
  }

  // Position deletes of files that are gone go too; many small files of them become one.
  Result<void> JoinPositions(const PartitionFiles& files, const DeleteIndex& index,
                             const std::unordered_set<std::string>& gone,
                             std::map<std::string, std::vector<int64_t>> hits,
                             const FilePlace& place, Rewrite* part) {
    std::unordered_set<std::string> live;
    for (const ManifestEntry& entry : files.data) {
      if (!gone.contains(entry.file.path)) live.insert(entry.file.path);
    }
    if (has_lineage()) return ExtendVectors(files, index, live, std::move(hits), place, part);
    std::vector<const ManifestEntry*> kept;
    int64_t rows = 0;
    for (const ManifestEntry& entry : files.positions) {
      DRIFTLESS_ASSIGN_OR_RETURN(const DeleteIndex own,
                                 DeleteIndex::Load(*table_, format_.schema, {entry}));
      const bool is_needed = std::ranges::any_of(
          own.positions, [&](const auto& item) { return live.contains(item.first); });
      if (is_needed) {
        kept.push_back(&entry);
        rows += entry.file.record_count;
      } else {
        part->removed.insert(entry.file.path);
      }
    }
    const size_t count = kept.size() + (hits.empty() ? 0 : 1);
    if (count >= kPositionFilesMax && rows <= kPositionRowsMax) {
      for (const ManifestEntry* entry : kept) part->removed.insert(entry->file.path);
      for (const auto& [path, positions] : index.positions) {
        if (!live.contains(path)) continue;
        std::vector<int64_t>& all = hits[path];
        all.insert(all.end(), positions.begin(), positions.end());
      }
    }
    if (hits.empty()) return {};
    std::vector<DeletedRows> deleted;
    for (auto& [path, positions] : hits) {
      std::ranges::sort(positions);
      const auto same = std::ranges::unique(positions);
      positions.erase(same.begin(), same.end());
      deleted.push_back({path, std::move(positions)});
    }
    DRIFTLESS_ASSIGN_OR_RETURN(
        DataFile file,
        WritePositionDeletes(place, std::move(deleted), format_.settings, files.partition));
    ManifestEntry entry;  // hits files of its own sequence number and older: the snapshot's suits
    entry.spec_id = files.spec_id;
    entry.file = std::move(file);
    part->added.push_back(std::move(entry));
    return {};
  }

  // The same with deletion vectors: those of files that are gone go, and a file that more rows
  // leave gets one that holds the old ones too, whatever said so.
  Result<void> ExtendVectors(const PartitionFiles& files, const DeleteIndex& index,
                             const std::unordered_set<std::string>& live,
                             std::map<std::string, std::vector<int64_t>> hits,
                             const FilePlace& place, Rewrite* part) {
    for (const ManifestEntry& entry : files.positions) {
      bool is_needed = false;
      if (entry.file.format == "PUFFIN") {
        const std::string& path = *entry.file.referenced_data_file;
        is_needed = live.contains(path) && !hits.contains(path);
      } else {
        DRIFTLESS_ASSIGN_OR_RETURN(const DeleteIndex own,
                                   DeleteIndex::Load(*table_, format_.schema, {entry}));
        is_needed = std::ranges::any_of(
            own.positions, [&](const auto& item) { return live.contains(item.first); });
      }
      if (!is_needed) part->removed.insert(EntryKey(entry.file));
    }
    if (hits.empty()) return {};
    std::vector<DeletedRows> deleted;
    for (auto& [path, positions] : hits) {
      const auto old = index.positions.find(path);
      if (old != index.positions.end()) {
        positions.insert(positions.end(), old->second.begin(), old->second.end());
      }
      part->with_vector.insert(path);
      deleted.push_back({path, std::move(positions)});
    }
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<DataFile> vectors,
                               WriteDeletionVectors(place, std::move(deleted), files.partition));
    for (DataFile& vector : vectors) {
      ManifestEntry entry;
      entry.spec_id = files.spec_id;
      entry.file = std::move(vector);
      part->added.push_back(std::move(entry));
    }
    return {};
  }

  Result<void> Commit() {
    if (rewrite_.IsEmpty()) return {};
    for (const std::string& uri : rewrite_.removed) rewrite_.holders.insert(holders_.at(uri));
    auto done = CommitRewrite(context_, rewrite_, &names_);
    if (done) {
      report_.files_removed += static_cast<int64_t>(rewrite_.removed.size());
      report_.files_added += static_cast<int64_t>(rewrite_.added.size());
    } else if (done.error().kind() == ErrorKind::kCommitUnknown) {
      return done;  // the files may be in a snapshot; CleanUp knows by the next start
    } else {
      DeleteAdded();
      if (done.error().kind() != ErrorKind::kConflict) return done;
    }
    Restart();
    return {};
  }

  const MaintenanceContext& context_;
  std::shared_ptr<const LoadedTable> table_;
  FileFormat format_;
  std::string directory_;
  lake::FileNames names_;
  std::vector<int32_t> ids_;                     // of all columns
  std::vector<int32_t> row_ids_;                 // with those of row lineage
  std::map<int32_t, Partitioner> partitioners_;  // by the spec that files were written under
  std::map<std::pair<int32_t, std::string>, PartitionFiles> partitions_;  // by spec and TupleKey
  std::unordered_map<std::string, std::string> holders_;  // of each live file, its manifest
  Rewrite rewrite_;
  int64_t rewritten_bytes_ = 0;
  lake::CompactionReport report_;
};

}  // namespace

Result<lake::CompactionReport> CompactTable(const MaintenanceContext& context) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::optional<LoadedTable> loaded,
                             context.catalog->Load(context.identity.table));
  lake::CompactionReport nothing;
  if (!loaded || loaded->metadata.current_snapshot() == nullptr ||
      loaded->metadata.format_version < 2) {
    return nothing;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      FileFormat format,
      FileFormat::Make(loaded->metadata, OwnColumns(loaded->metadata, context.identity.table)));
  DRIFTLESS_ASSIGN_OR_RETURN(std::string directory, loaded->Directory());
  auto table = std::make_shared<const LoadedTable>(*std::move(loaded));
  return TableCompaction(context, std::move(table), std::move(format), std::move(directory)).Run();
}

}  // namespace driftless::iceberg
