#include "sinks/paimon/compaction.h"

#include <algorithm>
#include <map>
#include <memory>

#include "config/options/option.h"
#include "sinks/api/memory_charge.h"
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
                  const std::atomic<bool>& stop, const lake::MergeMemory& memory,
                  DataFileFormat format, FileOpener opener)
      : table_(table),
        identity_(identity),
        commit_(commit),
        clock_(clock),
        stop_(stop),
        memory_(memory),
        format_(std::move(format)),
        opener_(std::move(opener)),
        names_(FileOwner(identity.pipeline, identity.sink, identity.table), kMaintenanceCut,
               identity.attempt) {
    opener_.SetBatchRows(memory_.batch_rows());
  }

  // Merges what should be merged of one bucket with a primary key. How many runs are left.
  Result<size_t> MergeBucket(std::vector<ManifestEntry> files, const CompactionOptions& options,
                             int64_t snapshot) {
    while (true) {
      const std::vector<SortedRun> runs = SortedRuns(files);
      const std::optional<CompactionPick> pick = PickCompaction(runs, options);
      if (!pick) return runs.size();
      const CompactionPick part = FirstPart(runs, *pick, options, [&](size_t first, size_t count) {
        return OpenFiles(format_.schema, FilesOf(runs, first, count)) <= open_files_max();
      });
      const std::vector<ManifestEntry> merged = FilesOf(runs, part.first, part.runs);
      DRIFTLESS_ASSIGN_OR_RETURN(
          const std::optional<std::vector<ManifestEntry>> added,
          Replace(merged, part.output_level, snapshot,
                  [&](lake::RowGroups* rows) { return MergeRows(merged, part, rows); }));
      if (!added) return runs.size();
      if (part.runs == pick->runs) return runs.size() - part.runs + 1;
      std::erase_if(files, [&](const ManifestEntry& entry) {
        return std::ranges::any_of(merged, [&](const ManifestEntry& gone) {
          return gone.file.file_name == entry.file.file_name;
        });
      });
      files.insert(files.end(), added->begin(), added->end());
    }
  }

  // Joins files of a table without primary key, in their order.
  Result<void> Join(const std::vector<ManifestEntry>& files, int64_t snapshot) {
    DRIFTLESS_TRY(
        Replace(files, 0, snapshot, [&](lake::RowGroups* rows) { return JoinRows(files, rows); }));
    return {};
  }

  const lake::CompactionReport& report() const { return report_; }

 private:
  // False: stopped.
  using Rewrite = std::function<Result<bool>(lake::RowGroups* rows)>;

  size_t open_files_max() const { return memory_.open_files_max(format_.columns.size()); }

  static std::vector<ManifestEntry> FilesOf(const std::vector<SortedRun>& runs, size_t first,
                                            size_t count) {
    std::vector<ManifestEntry> files;
    for (size_t i = first; i < first + count; ++i) {
      files.insert(files.end(), runs[i].files.begin(), runs[i].files.end());
    }
    return files;
  }

  // What stands in the place of the files now; nullopt: they stay.
  Result<std::optional<std::vector<ManifestEntry>>> Replace(const std::vector<ManifestEntry>& files,
                                                            int32_t level, int64_t snapshot,
                                                            const Rewrite& rewrite) {
    std::optional<std::vector<ManifestEntry>> replaced;
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
    lake::RowGroups rows(
        [&](auto images, auto group, auto sequences) {
          return roller.Write(FileRows{images, group, sequences, 1});  // 1: one row group
        },
        std::nullopt, memory_.group_bytes(), memory_.budget());
    DRIFTLESS_ASSIGN_OR_RETURN(const bool whole, rewrite(&rows));
    if (!whole || Stopped(0)) return replaced;  // the encoder's file was never finished
    DRIFTLESS_TRY(rows.Flush());
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<DataFileMeta> written, roller.Finish());
    std::vector<ManifestEntry> outputs;
    for (DataFileMeta& file : written) {
      ManifestEntry added;
      added.partition = place.partition;
      added.bucket = place.bucket;
      added.total_buckets = place.total_buckets;
      added.file = std::move(file);
      committable.new_files.push_back(added);
      outputs.push_back(std::move(added));
    }
    auto committed = commit_(identity_, committable, snapshot);
    if (committed) {
      report_.files_added += static_cast<int64_t>(outputs.size());
      report_.files_removed += static_cast<int64_t>(files.size());
      replaced = std::move(outputs);
      return replaced;
    }
    // A lost race is certain: the new files are of no use. After anything else they may be in a
    // snapshot, and the next clean-up decides.
    if (committed.error().kind() != ErrorKind::kConflict) return std::move(committed).error();
    for (const ManifestEntry& output : outputs) {
      DRIFTLESS_TRY(table_.store()->Delete(target.directory + "/" + output.file.file_name));
    }
    return replaced;
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
    auto sources = MergeSources(format_.schema, files, open);
    MemoryCharge charge(memory_.budget());
    charge.Set(memory_.open_file_bytes(format_.columns.size()) *
               static_cast<int64_t>(sources.size()));
    lake::MergeReader merge(
        ScanOrder(format_.schema), std::move(sources),
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
  lake::MergeMemory memory_;
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
  const CompactionPick everything{0, runs.size(), std::max(top, runs.back().level), true};
  // The output goes to the level above the next older run; level 0 takes no merged files.
  while (count < runs.size() && runs[count].level <= 1) ++count;
  if (count == runs.size()) return everything;
  return CompactionPick{0, count, runs[count].level - 1, false};
}

CompactionPick FirstPart(const std::vector<SortedRun>& runs, const CompactionPick& pick,
                         const CompactionOptions& options, const RunsFit& fits) {
  if (fits(pick.first, pick.runs)) return pick;
  size_t level_0 = 0;
  while (level_0 < runs.size() && runs[level_0].level == 0) ++level_0;
  const bool has_free_level = level_0 == runs.size() || runs[level_0].level > 1;
  size_t first = level_0;
  size_t end = level_0;
  if ((level_0 < 2 || !has_free_level) && level_0 + 2 <= pick.runs) {
    // Higher levels are joined, which makes room for files of level 0.
    end += 2;
    while (end < pick.runs && fits(first, end + 1 - first)) ++end;
  } else {
    if (!has_free_level) ++end;  // level 1 itself is rewritten
    if (end < 2) return pick;
    first = end - 2;
    while (first > 0 && fits(first - 1, end - first + 1)) --first;
  }
  if (end - first == pick.runs) return pick;
  if (end < runs.size()) return {first, end - first, runs[end].level - 1, false};
  return {first, end - first, std::max(options.levels - 1, runs.back().level), true};
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
                                            const Clock* clock, const std::atomic<bool>& stop,
                                            const lake::MergeMemory& memory) {
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
  TableCompaction compaction(table, identity, commit, clock, stop, memory, std::move(format),
                             FileOpener(table, *schema, zone));
  int64_t runs_left = 0;
  for (const auto& [place, files] : buckets) {
    if (stop.load(std::memory_order_relaxed)) break;
    if (!schema->HasPrimaryKey()) {
      const auto joined = PickAppends(files, target_bytes, options);
      if (!joined.empty()) DRIFTLESS_TRY(compaction.Join(joined, snapshot->id));
      continue;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const size_t left,
                               compaction.MergeBucket(files, options, snapshot->id));
    runs_left = std::max(runs_left, static_cast<int64_t>(left));
  }
  lake::CompactionReport report = compaction.report();
  report.runs_left = runs_left;
  return report;
}

}  // namespace driftless::paimon
