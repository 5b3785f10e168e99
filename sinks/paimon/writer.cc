#include "sinks/paimon/writer.h"

#include <algorithm>
#include <unordered_map>

#include "schema/base/check.h"
#include "sinks/lake/waiting_rows.h"
#include "sinks/paimon/partition.h"
#include "sinks/paimon/router.h"
#include "sinks/paimon/row_removal.h"

namespace driftless::paimon {
namespace {

using lake::RowImage;
using lake::RowKind;
using lake::RowRef;

// The buffered rows of one (partition, bucket).
struct Group {
  std::string partition;
  int32_t bucket = 0;
  int64_t next_sequence = 0;
  std::vector<RowRef> refs;  // without a primary key, in order of arrival
  bool removes = false;      // some of them take rows out
  lake::KeyedRows keyed;     // with a primary key
};

struct GroupKey {
  std::string partition;
  int32_t bucket;
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};
struct GroupKeyHash {
  size_t operator()(const GroupKey& key) const {
    return std::hash<std::string>{}(key.partition) * 31 + static_cast<size_t>(key.bucket);
  }
};

class PaimonWriter : public TableWriter {
 public:
  PaimonWriter(WriterSetup setup, const WriterContext& context)
      : table_(setup.table),
        format_(std::move(setup.format)),
        state_(std::move(setup.state)),
        index_(std::move(setup.index)),
        writer_(setup.writer),
        buffer_bytes_max_(setup.buffer_bytes_max),
        clock_(context.clock),
        waiting_(context.budget, context.reporter),
        warn_(std::move(setup.warn)),
        order_(format_.layout.keys, format_.layout.key_types),
        router_(format_.layout, setup.writers),
        names_(FileOwner(context.identity.pipeline, context.identity.sink, context.identity.table),
               context.identity.cut, context.identity.attempt),
        remover_(table_, &format_, state_, std::move(setup.zone), clock_),
        next_cut_(context.identity.cut) {}

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    if (rows.empty()) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(const lake::WaitingRows::Added taken,
                               waiting_.Add(batch, projection, rows));
    auto added = format_.layout.has_key ? AddChanges(*taken.batch, taken.image)
                                        : AddAppends(*taken.batch, taken.image);
    if (!added) {
      return std::move(added).error().Context("writing to Paimon table " + table_.directory());
    }
    waiting_.Charge(waiting_.own_bytes());
    if (buffered_bytes() > buffer_bytes_max_) return Roll();
    return {};
  }

  Result<void> Roll() override {
    for (auto& [key, group] : groups_) {
      if (group.refs.empty() && group.keyed.empty()) continue;
      auto flushed = format_.layout.has_key ? FlushKeyed(&group) : FlushAppend(&group);
      if (!flushed) {
        return std::move(flushed).error().Context("writing to Paimon table " + table_.directory());
      }
      state_->SetNextSequence(group.partition, group.bucket, group.next_sequence);
    }
    groups_.clear();  // also their capacity: a partition that is done holds nothing
    last_group_ = nullptr;
    sorted_ = {};
    sequences_ = {};
    waiting_.Clear();
    waiting_.Charge(0);
    return {};
  }

  Result<PreparedPart> Prepare(CutId cut) override {
    DRIFTLESS_TRY(Roll());
    if (index_ != nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(pending_.index_files, index_->Save(&names_));
    }
    pending_.schema_id = format_.schema.id;
    PreparedPart part;
    part.writer = writer_;
    for (const ManifestEntry& entry : pending_.new_files) {
      if (entry.kind == FileKind::kDelete) continue;
      part.rows += entry.file.row_count;
      part.bytes += entry.file.file_size;
    }
    part.payload = EncodeCommittable(pending_);
    if (!format_.layout.has_key) remover_.Prepared(pending_.new_files);
    pending_ = {};
    next_cut_ = cut + 1;
    names_.SetFirstCut(next_cut_);
    return part;
  }

  int64_t buffered_bytes() const override { return waiting_.bytes(); }

 private:
  // The group of a row, made on first use. Rows of one partition tend to come together.
  Result<Group*> FindGroup(const std::string& partition, int32_t bucket) {
    if (last_group_ != nullptr && last_group_->bucket == bucket &&
        last_group_->partition == partition) {
      return last_group_;
    }
    Group& group = groups_[{partition, bucket}];
    if (group.partition.empty()) {
      if (format_.layout.mode == BucketMode::kFixed) {
        const auto total = state_->TotalBuckets(partition);
        if (total && *total != format_.layout.buckets) {
          return MakeError(ErrorKind::kUnsupported, "the partition was written with " +
                                                        std::to_string(*total) +
                                                        " buckets, the table's option says " +
                                                        std::to_string(format_.layout.buckets))
              .Hint(
                  "rewrite the partition with the new number of buckets first (INSERT OVERWRITE)");
        }
      }
      group.partition = partition;
      group.bucket = bucket;
      group.next_sequence = state_->NextSequence(partition, bucket);
    }
    last_group_ = &group;
    return last_group_;
  }

  // Adds one image of one row, if it is this writer's.
  Result<void> Add(std::span<const ColumnView> views, uint32_t image, uint32_t row, RowKind kind) {
    if (order_.HasNull(views, row)) return lake::NoKey();
    const std::string& partition = router_.Partition(views, row);
    int32_t bucket = 0;
    if (index_ != nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(bucket, index_->Assign(partition, router_.KeyHash(views, row)));
    } else {
      bucket = router_.Bucket(views, row);
      if (router_.writers() > 1 && router_.Writer(partition, bucket) != writer_) return {};
    }
    taken_ = true;
    DRIFTLESS_ASSIGN_OR_RETURN(Group * group, FindGroup(partition, bucket));
    group->keyed.Add(order_, views, RowRef(image, row, kind));
    waiting_.CountRow();
    return {};
  }

  Result<void> AddChanges(const ProjectedBatch& batch, uint32_t image) {
    const std::span<const ColumnView> after = batch.after();
    const std::span<const ColumnView> before = batch.before();
    const std::span<const Op> ops = batch.source().ops();
    for (const uint32_t row : batch.rows()) {
      taken_ = false;
      switch (ops[row]) {
        case Op::kInsert:
        case Op::kRead: DRIFTLESS_TRY(Add(after, image, row, RowKind::kInsert)); break;
        case Op::kUpdate: {
          const bool has_before = batch.source().HasBefore(row) && !order_.HasNull(before, row);
          if (has_before && !router_.SameKey(before, after, row)) {
            // The row moves to another key or partition: it goes from the old one first.
            if (!format_.ignore_delete) {
              DRIFTLESS_TRY(Add(before, image + 1, row, RowKind::kDelete));
            }
            DRIFTLESS_TRY(Add(after, image, row, RowKind::kInsert));
            break;
          }
          if (has_before && format_.has_changelog && !format_.ignore_update_before) {
            DRIFTLESS_TRY(Add(before, image + 1, row, RowKind::kUpdateBefore));
          }
          DRIFTLESS_TRY(Add(after, image, row, RowKind::kUpdateAfter));
          break;
        }
        case Op::kDelete:
          if (format_.ignore_delete) continue;
          if (!batch.source().HasBefore(row)) return lake::NoBeforeImage();
          DRIFTLESS_TRY(Add(before, image + 1, row, RowKind::kDelete));
          break;
      }
      if (!taken_) return NotMine();
    }
    return {};
  }

  // Never drop a row because the inlet and the writer route differently.
  static Error NotMine() {
    return MakeError(ErrorKind::kInternal, "a row came to a writer that does not own its bucket");
  }

  Result<void> AddAppends(const ProjectedBatch& batch, uint32_t image) {
    const std::span<const Op> ops = batch.source().ops();
    for (const uint32_t row : batch.rows()) {
      taken_ = false;
      if ((ops[row] == Op::kUpdate || ops[row] == Op::kDelete) && !format_.ignore_delete) {
        DRIFTLESS_TRY(CheckWhole(batch, row));
        DRIFTLESS_TRY(Append(batch.before(), image + 1, row, RowKind::kDelete));
      }
      if (ops[row] == Op::kDelete) {
        if (!taken_ && !format_.ignore_delete) return NotMine();
        continue;
      }
      DRIFTLESS_TRY(Append(batch.after(), image, row, RowKind::kInsert));
      if (!taken_) return NotMine();
    }
    return {};
  }

  // Without a key a row is found by all of its values.
  Result<void> CheckWhole(const ProjectedBatch& batch, uint32_t row) const {
    std::string missing = batch.source().HasBefore(row) ? "" : "all of it";
    for (size_t i = 0; missing.empty() && i < batch.before().size(); ++i) {
      if (batch.before()[i].IsAbsent(row)) missing = "column " + std::to_string(i + 1);
    }
    if (missing.empty()) return {};
    return lake::NoWholeBeforeImage(
        missing, batch.source().point(row),
        ", or set table.properties.ignore-delete to drop such removals");
  }

  Result<void> Append(std::span<const ColumnView> views, uint32_t image, uint32_t row,
                      RowKind kind) {
    const std::string& partition = router_.Partition(views, row);
    const int32_t bucket = router_.Bucket(views, row);
    if (router_.writers() > 1 && router_.Writer(partition, bucket) != writer_) return {};
    taken_ = true;
    DRIFTLESS_ASSIGN_OR_RETURN(Group * group, FindGroup(partition, bucket));
    group->refs.emplace_back(image, row, kind);
    group->removes |= kind == RowKind::kDelete;
    waiting_.CountRow();
    return {};
  }

  std::string GroupDirectory(const Group& group, const std::string& partition_path) const {
    return BucketDirectory(table_.directory(), partition_path, group.bucket);
  }

  Result<void> WriteFiles(const Group& group, const std::string& prefix,
                          std::span<const RowRef> rows, std::span<const int64_t> sequences,
                          std::vector<ManifestEntry>* out) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string partition_path,
                               PartitionPath(format_.schema, group.partition));
    FilePlace place;
    place.store = table_.store();
    place.directory = GroupDirectory(group, partition_path);
    place.prefix = prefix;
    place.clock = clock_;
    place.names = &names_;
    DRIFTLESS_ASSIGN_OR_RETURN(
        std::vector<DataFileMeta> files,
        WriteDataFiles(format_, place,
                       FileRows{waiting_.images(), rows, sequences, waiting_.bytes_per_row()}));
    for (DataFileMeta& file : files) {
      ManifestEntry entry;
      entry.partition = group.partition;
      entry.bucket = group.bucket;
      entry.total_buckets = format_.layout.mode == BucketMode::kFixed ? format_.layout.buckets : -1;
      entry.file = std::move(file);
      out->push_back(std::move(entry));
    }
    return {};
  }

  // Rows by key, and inside a key by arrival. The data file gets the last row of each key, so that
  // keys are unique in it; the changelog file gets all of them.
  Result<void> FlushKeyed(Group* group) {
    const std::span<const RowImage> images = waiting_.images();
    lake::KeyedRows& keyed = group->keyed;
    keyed.Sort(order_, images);
    sorted_.clear();
    sequences_.clear();
    if (format_.has_changelog) {
      for (const lake::KeyedRows::Entry& entry : keyed.entries()) {
        sorted_.push_back(keyed.row(entry));
        sequences_.push_back(group->next_sequence + entry.index);
      }
      DRIFTLESS_TRY(
          WriteFiles(*group, "changelog", sorted_, sequences_, &pending_.changelog_files));
      sorted_.clear();
      sequences_.clear();
    }
    for (size_t i = 0; i < keyed.size(); ++i) {
      if (!keyed.IsNewest(i, order_, images)) continue;
      const lake::KeyedRows::Entry& entry = keyed.entries()[i];
      sorted_.push_back(keyed.row(entry));
      sequences_.push_back(group->next_sequence + entry.index);
    }
    group->next_sequence += static_cast<int64_t>(keyed.size());
    return WriteFiles(*group, "data", sorted_, sequences_, &pending_.new_files);
  }

  // A row that came and went within the buffer is never written; what is left of the removals is
  // taken out of files.
  Removals CancelOut(Group* group) const {
    Removals removals{group->partition, group->bucket, {}};
    std::unordered_map<std::string, std::vector<size_t>> live;
    std::vector<bool> gone(group->refs.size());
    for (size_t i = 0; i < group->refs.size(); ++i) {
      const RowRef ref = group->refs[i];
      RowContent content = ContentOf(format_.schema, format_.image_columns,
                                     waiting_.images()[ref.image].columns, ref.row);
      std::string joined;
      for (const std::string& field : content) {
        joined += std::to_string(field.size()) + ":" + field;
      }
      std::vector<size_t>& same = live[joined];
      if (ref.row_kind() == RowKind::kInsert) {
        same.push_back(i);
        continue;
      }
      gone[i] = true;
      if (same.empty()) {
        removals.rows.push_back(std::move(content));
      } else {
        gone[same.back()] = true;
        same.pop_back();
      }
    }
    std::vector<RowRef> kept;
    for (size_t i = 0; i < gone.size(); ++i) {
      if (!gone[i]) kept.push_back(group->refs[i]);
    }
    group->refs = std::move(kept);
    return removals;
  }

  Result<void> FlushAppend(Group* group) {
    if (group->removes) {
      state_->BeginRemovals(next_cut_);
      Removals removals = CancelOut(group);
      DRIFTLESS_ASSIGN_OR_RETURN(
          const int64_t missing,
          remover_.Remove(std::move(removals), &names_, &pending_.new_files));
      if (missing > 0 && warn_) {
        warn_(MakeError(ErrorKind::kInvalidInput,
                        std::to_string(missing) +
                            " updated or deleted rows are not in Paimon table " +
                            table_.directory() + ", which has no primary key")
                  .Hint("their old values were nowhere; the table may have been filled from"
                        " elsewhere, or from a later point than the source's log"));
      }
      group->removes = false;
      if (group->refs.empty()) return {};
    }
    sequences_.resize(group->refs.size());
    for (size_t i = 0; i < sequences_.size(); ++i) {
      sequences_[i] = group->next_sequence + static_cast<int64_t>(i);
    }
    group->next_sequence += static_cast<int64_t>(group->refs.size());
    return WriteFiles(*group, "data", group->refs, sequences_, &pending_.new_files);
  }

  PaimonTable table_;
  DataFileFormat format_;
  std::shared_ptr<TableState> state_;
  std::unique_ptr<HashIndex> index_;
  WriterIndex writer_;
  int64_t buffer_bytes_max_;
  const Clock* clock_;
  lake::WaitingRows waiting_;
  std::function<void(const Error&)> warn_;
  lake::KeyOrder order_;
  Router router_;
  FileNames names_;

  std::unordered_map<GroupKey, Group, GroupKeyHash> groups_;
  Group* last_group_ = nullptr;
  bool taken_ = false;  // the row at hand has found a bucket
  std::vector<RowRef> sorted_;
  std::vector<int64_t> sequences_;
  RowRemover remover_;  // tables without primary key
  CutId next_cut_;      // that will be prepared, at the earliest
  Committable pending_;
};

}  // namespace

Result<TableWriterPtr> MakePaimonWriter(WriterSetup setup, const WriterContext& context) {
  return TableWriterPtr(std::make_unique<PaimonWriter>(std::move(setup), context));
}

}  // namespace driftless::paimon
