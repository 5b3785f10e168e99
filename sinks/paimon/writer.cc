#include "sinks/paimon/writer.h"

#include <algorithm>
#include <unordered_map>

#include "schema/base/check.h"
#include "sinks/api/memory_budget.h"
#include "sinks/api/projected_batch.h"
#include "sinks/paimon/partition.h"
#include "sinks/paimon/router.h"
#include "sinks/paimon/row_removal.h"

namespace driftless::paimon {
namespace {

using lake::RowImage;
using lake::RowKind;
using lake::RowRef;

// 24 bytes are kept per row beside the batches: a reference and a sort entry.
constexpr int64_t kBytesPerRow = 24;

// Sorting moves these, not references: the key's first 64 bits decide nearly always.
struct SortEntry {
  uint64_t prefix;
  uint32_t index;  // into Group::refs; also the order of arrival
};

// The buffered rows of one (partition, bucket).
struct Group {
  std::string partition;
  int32_t bucket = 0;
  int64_t next_sequence = 0;
  std::vector<RowRef> refs;        // in order of arrival
  bool removes = false;            // without a primary key: some of them take rows out
  std::vector<SortEntry> entries;  // with a primary key: one a reference
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
        budget_(context.budget),
        reporter_(context.reporter),
        warn_(std::move(setup.warn)),
        order_(format_.layout.keys, format_.layout.key_types),
        router_(format_.layout, setup.writers),
        names_(FileOwner(context.identity.pipeline, context.identity.sink, context.identity.table),
               context.identity.cut, context.identity.attempt),
        remover_(table_, &format_, state_, std::move(setup.zone), clock_),
        next_cut_(context.identity.cut) {}

  ~PaimonWriter() override { Charge(0); }

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    if (rows.empty()) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(std::shared_ptr<const ProjectedBatch> projected,
                               ProjectedBatch::Make(batch, projection, rows, reporter_));
    const auto image = static_cast<uint32_t>(images_.size());
    const std::span<const ColumnView> after = projected->after();
    const std::span<const ColumnView> before = projected->before();
    images_.push_back({after, before});
    images_.push_back({before, {}});
    // Several writers may hold one batch: each is charged its share.
    batch_bytes_ += static_cast<int64_t>(projected->charged_bytes()) *
                    static_cast<int64_t>(rows.size()) / batch->size();
    projected_bytes_ += projected->own_bytes();
    batches_.push_back(projected);

    auto added =
        format_.layout.has_key ? AddChanges(*projected, image) : AddAppends(*projected, image);
    if (!added) {
      return std::move(added).error().Context("writing to Paimon table " + table_.directory());
    }
    Charge(own_bytes());
    if (buffered_bytes() > buffer_bytes_max_) return Roll();
    return {};
  }

  Result<void> Roll() override {
    for (auto& [key, group] : groups_) {
      if (group.refs.empty()) continue;
      auto flushed = format_.layout.has_key ? FlushKeyed(&group) : FlushAppend(&group);
      if (!flushed) {
        return std::move(flushed).error().Context("writing to Paimon table " + table_.directory());
      }
      state_->SetNextSequence(group.partition, group.bucket, group.next_sequence);
    }
    groups_.clear();  // also their capacity: a partition that is done holds nothing
    last_group_ = nullptr;
    images_.clear();
    batches_.clear();
    batch_bytes_ = 0;
    projected_bytes_ = 0;
    row_count_ = 0;
    Charge(0);
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

  int64_t buffered_bytes() const override { return batch_bytes_ + row_count_ * kBytesPerRow; }

 private:
  // What is charged here: the batches are charged already, by whoever read them.
  int64_t own_bytes() const { return projected_bytes_ + row_count_ * kBytesPerRow; }

  void Charge(int64_t bytes) {
    if (budget_ != nullptr) {
      if (bytes > charged_) budget_->Add(bytes - charged_);
      if (bytes < charged_) budget_->Release(charged_ - bytes);
    }
    charged_ = bytes;
  }

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
    if (order_.HasNull(views, row)) {
      return MakeError(ErrorKind::kInvalidInput, "a row has no value for its primary key")
          .Hint("key columns must be NOT NULL and must be sent with every change");
    }
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
    group->entries.push_back(
        {order_.Prefix(views, row), static_cast<uint32_t>(group->refs.size())});
    group->refs.emplace_back(image, row, kind);
    ++row_count_;
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
          if (!batch.source().HasBefore(row)) {
            return MakeError(ErrorKind::kInvalidInput, "a delete has no before image")
                .Hint("the source must send at least the key of deleted rows");
          }
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
    return MakeError(
               ErrorKind::kInvalidInput,
               "an update or delete in a table without primary key has no whole before image: " +
                   missing + " was not sent")
        .Position(batch.source().point(row).ToString())
        .Hint(
            "have the source send it (binlog_row_image = FULL, REPLICA IDENTITY FULL), give the "
            "table a primary key, or set table.properties.ignore-delete to drop such removals");
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
    ++row_count_;
    return {};
  }

  std::string GroupDirectory(const Group& group, const std::string& partition_path) const {
    return BucketDirectory(table_.directory(), partition_path, group.bucket);
  }

  int64_t BytesPerRow() const { return row_count_ == 0 ? 100 : batch_bytes_ / row_count_ + 1; }

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
        WriteDataFiles(format_, place, FileRows{images_, rows, sequences, BytesPerRow()}));
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
    Sort(group);
    sorted_.clear();
    sequences_.clear();
    if (format_.has_changelog) {
      for (const SortEntry& entry : group->entries) {
        sorted_.push_back(group->refs[entry.index]);
        sequences_.push_back(group->next_sequence + entry.index);
      }
      DRIFTLESS_TRY(
          WriteFiles(*group, "changelog", sorted_, sequences_, &pending_.changelog_files));
      sorted_.clear();
      sequences_.clear();
    }
    const std::vector<SortEntry>& entries = group->entries;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i + 1 < entries.size() && SameKey(*group, entries[i], entries[i + 1])) continue;
      sorted_.push_back(group->refs[entries[i].index]);
      sequences_.push_back(group->next_sequence + entries[i].index);
    }
    group->next_sequence += static_cast<int64_t>(group->refs.size());
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
      RowContent content =
          ContentOf(format_.schema, format_.image_columns, images_[ref.image].columns, ref.row);
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

  int CompareKeys(const Group& group, const SortEntry& a, const SortEntry& b) const {
    const RowRef x = group.refs[a.index];
    const RowRef y = group.refs[b.index];
    return order_.Compare(images_[x.image].columns, x.row, images_[y.image].columns, y.row);
  }

  bool SameKey(const Group& group, const SortEntry& a, const SortEntry& b) const {
    if (a.prefix != b.prefix) return false;
    return order_.prefix_is_whole() || CompareKeys(group, a, b) == 0;
  }

  void Sort(Group* group) const {
    const auto by_prefix = [](const SortEntry& a, const SortEntry& b) {
      return a.prefix != b.prefix ? a.prefix < b.prefix : a.index < b.index;
    };
    const auto by_key = [&](const SortEntry& a, const SortEntry& b) {
      if (a.prefix != b.prefix) return a.prefix < b.prefix;
      const int order = CompareKeys(*group, a, b);
      return order != 0 ? order < 0 : a.index < b.index;
    };
    auto& entries = group->entries;
    const auto sort = [&](const auto& less) {
      // Inserts with growing keys come sorted.
      if (!std::is_sorted(entries.begin(), entries.end(), less)) {
        std::sort(entries.begin(), entries.end(), less);
      }
    };
    if (order_.prefix_is_whole()) {
      sort(by_prefix);
    } else {
      sort(by_key);
    }
  }

  PaimonTable table_;
  DataFileFormat format_;
  std::shared_ptr<TableState> state_;
  std::unique_ptr<HashIndex> index_;
  WriterIndex writer_;
  int64_t buffer_bytes_max_;
  const Clock* clock_;
  MemoryBudget* budget_;
  RowReporter* reporter_;
  std::function<void(const Error&)> warn_;
  lake::KeyOrder order_;
  Router router_;
  FileNames names_;

  std::vector<RowImage> images_;  // after and before of every batch, in this order
  std::vector<std::shared_ptr<const ProjectedBatch>> batches_;
  std::unordered_map<GroupKey, Group, GroupKeyHash> groups_;
  Group* last_group_ = nullptr;
  int64_t batch_bytes_ = 0;      // this writer's share of the batches
  int64_t projected_bytes_ = 0;  // beside them
  int64_t row_count_ = 0;
  int64_t charged_ = 0;
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
