#include "sinks/paimon/compaction.h"

#include <algorithm>
#include <map>
#include <memory>

#include "config/options/option.h"
#include "sinks/lake/row_groups.h"
#include "sinks/lake/run_policy.h"
#include "sinks/paimon/commit_attempt.h"
#include "sinks/paimon/data_file.h"
#include "sinks/paimon/partition.h"
#include "sinks/paimon/table_scan.h"

namespace driftless::paimon {
namespace {

Result<int64_t> Number(const PaimonSchema& schema, std::string_view key, int64_t default_value) {
  const std::string text = schema.Option(key, "");
  if (text.empty()) return default_value;
  auto number = ParseByteSize(text);
  if (!number) return std::move(number).error().Context("table option " + std::string(key));
  return number;
}

// The evolved schema whose columns are the table's own, for writing rows that were read from it.
EvolvedSchema OwnColumns(const PaimonSchema& schema, const TablePath& path) {
  EvolvedSchema table;
  table.path = path;
  for (const PaimonField& field : schema.fields) {
    EvolvedColumn column;
    column.sink.name = field.name;
    column.sink.type = field.type;
    table.columns.push_back(std::move(column));
  }
  table.primary_key = schema.primary_keys;
  table.partition_keys = schema.partition_keys;
  table.options = schema.options;
  return table;
}

// One table at one snapshot.
class TableCompaction {
 public:
  TableCompaction(const PaimonTable& table, const CommitIdentity& identity,
                  const CommitCompactionFn& commit, const Clock* clock,
                  const std::atomic<bool>& stop, DataFileFormat format, FileOpener opener)
      : table_(table),
        identity_(identity),
        commit_(commit),
        clock_(clock),
        stop_(stop),
        format_(std::move(format)),
        opener_(std::move(opener)),
        names_(FileOwner(identity.pipeline, identity.sink, identity.table), kMaintenanceCut,
               identity.attempt) {}

  // Merges the runs by key.
  Result<void> Merge(const std::vector<SortedRun>& runs, const CompactionPick& pick,
                     int64_t snapshot) {
    std::vector<ManifestEntry> files;
    for (size_t i = 0; i < pick.runs; ++i) {
      files.insert(files.end(), runs[i].files.begin(), runs[i].files.end());
    }
    return Replace(files, pick.output_level, snapshot,
                   [&](lake::RowGroups* rows) { return MergeRows(files, pick, rows); });
  }

  // Joins files of a table without primary key, in their order.
  Result<void> Join(const std::vector<ManifestEntry>& files, int64_t snapshot) {
    return Replace(files, 0, snapshot,
                   [&](lake::RowGroups* rows) { return JoinRows(files, rows); });
  }

  const lake::CompactionReport& report() const { return report_; }

 private:
  // False: stopped.
  using Rewrite = std::function<Result<bool>(lake::RowGroups* rows)>;

  Result<void> Replace(const std::vector<ManifestEntry>& files, int32_t level, int64_t snapshot,
                       const Rewrite& rewrite) {
    Committable committable;
    committable.kind = CommitKind::kCompact;
    committable.schema_id = format_.schema.id;
    for (const ManifestEntry& entry : files) {
      committable.new_files.push_back(entry);
      committable.new_files.back().kind = FileKind::kDelete;
    }
    const ManifestEntry& place = files.front();
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string partition_path,
                               PartitionPath(format_.schema, place.partition));
    FilePlace target;
    target.store = table_.store();
    target.directory = BucketDirectory(table_.directory(), partition_path, place.bucket);
    target.level = level;
    target.source = FileSource::kCompact;
    target.clock = clock_;
    target.names = &names_;
    DataFileRoller roller(&format_, target);
    lake::RowGroups rows([&](auto images, auto group, auto sequences) {
      return roller.Write(FileRows{images, group, sequences, 1});  // 1: one row group
    });
    DRIFTLESS_ASSIGN_OR_RETURN(const bool whole, rewrite(&rows));
    if (!whole || Stopped(0)) return {};  // the encoder's file was never finished
    DRIFTLESS_TRY(rows.Flush());
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<DataFileMeta> written, roller.Finish());
    std::vector<std::string> paths;
    for (DataFileMeta& file : written) {
      paths.push_back(target.directory + "/" + file.file_name);
      ManifestEntry added;
      added.partition = place.partition;
      added.bucket = place.bucket;
      added.total_buckets = place.total_buckets;
      added.file = std::move(file);
      committable.new_files.push_back(std::move(added));
    }
    auto committed = commit_(identity_, committable, snapshot);
    if (committed) {
      report_.files_added += static_cast<int64_t>(paths.size());
      report_.files_removed += static_cast<int64_t>(files.size());
      return {};
    }
    // A lost race is certain: the new files are of no use. After anything else they may be in a
    // snapshot, and the next clean-up decides.
    if (committed.error().kind() != ErrorKind::kConflict) return committed;
    for (const std::string& path : paths) DRIFTLESS_TRY(table_.store()->Delete(path));
    return {};
  }

  bool Stopped(int64_t count) const {
    return (count & 4095) == 0 && stop_.load(std::memory_order_relaxed);
  }

  Result<bool> MergeRows(const std::vector<ManifestEntry>& files, const CompactionPick& pick,
                         lake::RowGroups* rows) {
    // Opening many files of many columns takes a while: a stop is seen there, too.
    bool stopped = false;
    const OpenFile open =
        [&](const ManifestEntry& entry) -> Result<std::unique_ptr<lake::RowSource>> {
      stopped |= Stopped(0);
      if (stopped) return MakeError(ErrorKind::kCancelled, "the compaction is stopped");
      return opener_.Open(entry);
    };
    lake::MergeReader merge(
        ScanOrder(format_.schema), MergeSources(format_.schema, files, open),
        pick.drops_deletes ? lake::Retractions::kDrop : lake::Retractions::kKeep);
    lake::MergedRow row;
    for (int64_t count = 0; !Stopped(count); ++count) {
      const Result<bool> more = merge.Next(&row);
      if (stopped) return false;
      if (!more) return more.error();
      if (!*more) return true;
      DRIFTLESS_TRY(rows->Add(row));
    }
    return false;
  }

  Result<bool> JoinRows(const std::vector<ManifestEntry>& files, lake::RowGroups* rows) {
    for (const ManifestEntry& entry : files) {
      DRIFTLESS_ASSIGN_OR_RETURN(auto source, opener_.Open(entry));
      lake::MergedRow row;
      row.sequence = entry.file.min_sequence_number;
      while (true) {
        if (Stopped(0)) return false;
        DRIFTLESS_ASSIGN_OR_RETURN(row.rows, source->Next());
        if (row.rows == nullptr) break;
        for (row.row = 0; row.row < row.rows->values->size(); ++row.row, ++row.sequence) {
          DRIFTLESS_TRY(rows->Add(row));
        }
      }
    }
    return true;
  }

  PaimonTable table_;
  CommitIdentity identity_;
  const CommitCompactionFn& commit_;
  const Clock* clock_;
  const std::atomic<bool>& stop_;
  lake::CompactionReport report_;
  DataFileFormat format_;
  FileOpener opener_;
  FileNames names_;
};

}  // namespace

Result<CompactionOptions> CompactionOptions::Read(const PaimonSchema& schema) {
  CompactionOptions options;
  DRIFTLESS_ASSIGN_OR_RETURN(options.trigger,
                             Number(schema, "num-sorted-run.compaction-trigger", 5));
  options.trigger = std::max<int64_t>(options.trigger, 1);
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t stop,
                             Number(schema, "num-sorted-run.stop-trigger", options.trigger + 3));
  options.stop_trigger = std::max(stop, options.trigger);
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t levels,
                             Number(schema, "num-levels", options.trigger + 1));
  options.levels = static_cast<int32_t>(std::clamp<int64_t>(levels, 2, 100));
  DRIFTLESS_ASSIGN_OR_RETURN(options.size_amplification,
                             Number(schema, "compaction.max-size-amplification-percent", 200));
  DRIFTLESS_ASSIGN_OR_RETURN(options.size_ratio, Number(schema, "compaction.size-ratio", 1));
  DRIFTLESS_ASSIGN_OR_RETURN(options.min_file_num, Number(schema, "compaction.min.file-num", 5));
  const auto write_only = ParseBool(schema.Option("write-only", "false"));
  options.write_only = write_only && *write_only;
  return options;
}

std::vector<SortedRun> SortedRuns(const std::vector<ManifestEntry>& bucket_files) {
  std::vector<ManifestEntry> level_0;
  std::map<int32_t, SortedRun> higher;
  for (const ManifestEntry& entry : bucket_files) {
    if (entry.file.level == 0) {
      level_0.push_back(entry);
      continue;
    }
    SortedRun& run = higher[entry.file.level];
    run.level = entry.file.level;
    run.bytes += entry.file.file_size;
    run.files.push_back(entry);
  }
  std::sort(level_0.begin(), level_0.end(), [](const ManifestEntry& a, const ManifestEntry& b) {
    return a.file.max_sequence_number > b.file.max_sequence_number;
  });
  std::vector<SortedRun> runs;
  for (ManifestEntry& entry : level_0) {
    runs.push_back({0, entry.file.file_size, {}});
    runs.back().files.push_back(std::move(entry));
  }
  for (auto& [level, run] : higher) runs.push_back(std::move(run));
  return runs;
}

std::optional<CompactionPick> PickCompaction(const std::vector<SortedRun>& runs,
                                             const CompactionOptions& options) {
  std::vector<int64_t> bytes;
  for (const SortedRun& run : runs) bytes.push_back(run.bytes);
  size_t count =
      lake::PickRuns(bytes, {options.trigger, options.size_amplification, options.size_ratio});
  if (count == 0) return std::nullopt;
  const int32_t top = options.levels - 1;
  const CompactionPick everything{runs.size(), std::max(top, runs.back().level), true};
  // The output goes to the level above the next older run; level 0 takes no merged files.
  while (count < runs.size() && runs[count].level <= 1) ++count;
  if (count == runs.size()) return everything;
  return CompactionPick{count, runs[count].level - 1, false};
}

std::vector<ManifestEntry> PickAppends(const std::vector<ManifestEntry>& bucket_files,
                                       int64_t target_bytes, const CompactionOptions& options) {
  std::vector<ManifestEntry> files = bucket_files;
  std::ranges::stable_sort(files, std::greater<>(), [](const ManifestEntry& entry) {
    return entry.file.min_sequence_number;
  });
  std::vector<int64_t> sizes;
  for (const ManifestEntry& entry : files) {
    if (entry.file.file_size >= target_bytes / 10 * 7) break;  // Paimon's idea of a small file
    sizes.push_back(entry.file.file_size);
  }
  lake::RunPolicy policy;
  policy.trigger = options.min_file_num;
  files.resize(lake::PickRuns(sizes, policy));
  std::ranges::reverse(files);
  return files;
}

Result<lake::CompactionReport> CompactTable(const PaimonTable& table,
                                            const CommitIdentity& identity,
                                            const CommitCompactionFn& commit, const TimeZone& zone,
                                            const Clock* clock, const std::atomic<bool>& stop) {
  const lake::CompactionReport nothing;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<PaimonSchema> schema, table.LatestSchema());
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<Snapshot> snapshot, table.LatestSnapshot());
  if (!schema || !snapshot) return nothing;
  DRIFTLESS_ASSIGN_OR_RETURN(const CompactionOptions options, CompactionOptions::Read(*schema));
  if (options.write_only) return nothing;
  DRIFTLESS_ASSIGN_OR_RETURN(DataFileFormat format,
                             DataFileFormat::Make(*schema, OwnColumns(*schema, identity.table)));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> live, table.LiveFiles(*snapshot));
  std::map<std::pair<std::string, int32_t>, std::vector<ManifestEntry>> buckets;
  for (const ManifestEntry& entry : live) buckets[{entry.partition, entry.bucket}].push_back(entry);

  const int64_t target_bytes = format.target_file_bytes;
  TableCompaction compaction(table, identity, commit, clock, stop, std::move(format),
                             FileOpener(table, *schema, zone));
  int64_t runs_left = 0;
  for (const auto& [place, files] : buckets) {
    if (stop.load(std::memory_order_relaxed)) break;
    if (!schema->HasPrimaryKey()) {
      const auto joined = PickAppends(files, target_bytes, options);
      if (!joined.empty()) DRIFTLESS_TRY(compaction.Join(joined, snapshot->id));
      continue;
    }
    const std::vector<SortedRun> runs = SortedRuns(files);
    const std::optional<CompactionPick> pick = PickCompaction(runs, options);
    const size_t left = runs.size() - (pick ? pick->runs - 1 : 0);
    runs_left = std::max(runs_left, static_cast<int64_t>(left));
    if (!pick) continue;
    DRIFTLESS_TRY(compaction.Merge(runs, *pick, snapshot->id));
  }
  lake::CompactionReport report = compaction.report();
  report.runs_left = runs_left;
  return report;
}

}  // namespace driftless::paimon
