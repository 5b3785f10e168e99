#include "sinks/iceberg/writer.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "sinks/api/memory_budget.h"
#include "sinks/api/projected_batch.h"
#include "sinks/iceberg/committable.h"
#include "sinks/iceberg/partition.h"
#include "sinks/lake/key_order.h"
#include "sinks/lake/row_json.h"

namespace driftless::iceberg {
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

// The buffered rows of one partition.
struct Group {
  PartitionTuple partition;
  std::vector<RowRef> refs;  // in order of arrival
  std::vector<SortEntry> entries;
};

class IcebergWriter : public TableWriter {
 public:
  IcebergWriter(WriterSetup setup, Partitioner partitioner, std::string directory,
                const WriterContext& context)
      : table_(std::move(setup.table)),
        format_(std::move(setup.format)),
        partitioner_(std::move(partitioner)),
        directory_(std::move(directory)),
        writer_(setup.writer),
        buffer_bytes_max_(setup.buffer_bytes_max),
        budget_(context.budget),
        reporter_(context.reporter),
        name_(context.identity.table.ToString()),
        order_(format_.key_images, format_.key_types),
        names_(lake::FileOwner(context.identity.pipeline, context.identity.sink,
                               context.identity.table),
               context.identity.cut, context.identity.attempt) {
    for (const Field& field : format_.schema.fields) {
      const int image =
          format_.image_columns[static_cast<size_t>(&field - format_.schema.fields.data())];
      if (image < 0) continue;
      row_fields_.push_back({field.name, field.type, ""});
      row_images_.push_back(image);
      row_ids_.push_back(field.id);
    }
  }

  ~IcebergWriter() override { Charge(0); }

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    if (rows.empty()) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(std::shared_ptr<const ProjectedBatch> projected,
                               ProjectedBatch::Make(batch, projection, rows, reporter_));
    const auto image = static_cast<uint32_t>(images_.size());
    images_.push_back({projected->after(), projected->before()});
    images_.push_back({projected->before(), {}});
    batch_bytes_ += static_cast<int64_t>(projected->charged_bytes()) *
                    static_cast<int64_t>(rows.size()) / batch->size();
    projected_bytes_ += projected->own_bytes();
    batches_.push_back(projected);
    auto added = format_.has_key() ? AddChanges(*projected, image) : AddAppends(*projected, image);
    if (!added) return std::move(added).error().Context("writing to Iceberg table " + name_);
    Charge(own_bytes());
    if (buffered_bytes() > buffer_bytes_max_) return Roll();
    return {};
  }

  Result<void> Roll() override {
    auto flushed = Flush();
    if (!flushed) return std::move(flushed).error().Context("writing to Iceberg table " + name_);
    groups_.clear();
    last_group_ = nullptr;
    images_.clear();
    batches_.clear();
    batch_bytes_ = 0;
    projected_bytes_ = 0;
    row_count_ = 0;
    Charge(own_bytes());  // rows that left stay
    return {};
  }

  Result<PreparedPart> Prepare(CutId cut) override {
    DRIFTLESS_TRY(Roll());
    DRIFTLESS_TRY(WriteRemovals());
    pending_.schema_id = format_.schema.id;
    pending_.spec_id = format_.spec.id;
    PreparedPart part;
    part.writer = writer_;
    for (const std::vector<DataFile>& batch : pending_.batches) {
      for (const DataFile& file : batch) {
        part.bytes += file.size;
        if (file.content == FileContent::kData) part.rows += file.record_count;
      }
    }
    DRIFTLESS_ASSIGN_OR_RETURN(
        part.payload,
        EncodeCommittable(pending_, format_.schema, format_.spec, format_.format_version));
    pending_ = {};
    names_.SetFirstCut(cut + 1);
    return part;
  }

  int64_t buffered_bytes() const override {
    return batch_bytes_ + row_count_ * kBytesPerRow + removed_bytes_;
  }

 private:
  // What is charged here: the batches are charged already, by whoever read them.
  int64_t own_bytes() const {
    return projected_bytes_ + row_count_ * kBytesPerRow + removed_bytes_;
  }

  void Charge(int64_t bytes) {
    if (budget_ != nullptr) {
      if (bytes > charged_) budget_->Add(bytes - charged_);
      if (bytes < charged_) budget_->Release(charged_ - bytes);
    }
    charged_ = bytes;
  }

  Group* FindGroup(std::span<const ColumnView> views, uint32_t row) {
    if (!partitioner_.is_partitioned()) {
      if (last_group_ == nullptr) last_group_ = &groups_[""];
      return last_group_;
    }
    PartitionTuple tuple = partitioner_.Of(views, row);
    // Rows of one partition tend to come together.
    if (last_group_ != nullptr && last_group_->partition == tuple) return last_group_;
    Group& group = groups_[TupleKey(tuple)];
    group.partition = std::move(tuple);
    last_group_ = &group;
    return last_group_;
  }

  Result<void> AddKeyed(std::span<const ColumnView> views, uint32_t image, uint32_t row,
                        RowKind kind) {
    if (order_.HasNull(views, row)) {
      return MakeError(ErrorKind::kInvalidInput, "a row has no value for its primary key")
          .Hint("key columns must be NOT NULL and must be sent with every change");
    }
    Group* group = FindGroup(views, row);
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
      switch (ops[row]) {
        case Op::kInsert:
        case Op::kRead: DRIFTLESS_TRY(AddKeyed(after, image, row, RowKind::kInsert)); break;
        case Op::kUpdate:
          if (batch.source().HasBefore(row) && !order_.HasNull(before, row) &&
              order_.Compare(before, row, after, row) != 0) {
            // The row moves to another key: it goes from the old one first.
            DRIFTLESS_TRY(AddKeyed(before, image + 1, row, RowKind::kDelete));
          }
          DRIFTLESS_TRY(AddKeyed(after, image, row, RowKind::kUpdateAfter));
          break;
        case Op::kDelete:
          if (!batch.source().HasBefore(row)) {
            return MakeError(ErrorKind::kInvalidInput, "a delete has no before image")
                .Hint("the source must send at least the key of deleted rows");
          }
          DRIFTLESS_TRY(AddKeyed(before, image + 1, row, RowKind::kDelete));
          break;
      }
    }
    return {};
  }

  Result<void> AddAppends(const ProjectedBatch& batch, uint32_t image) {
    const std::span<const Op> ops = batch.source().ops();
    for (const uint32_t row : batch.rows()) {
      if (ops[row] == Op::kUpdate || ops[row] == Op::kDelete) {
        DRIFTLESS_TRY(Remove(batch, row));
      }
      if (ops[row] == Op::kDelete) continue;
      if (!removed_.empty()) {
        // A row that goes and comes back as it was never went: rows are a multiset.
        const std::string text = RowText(batch.after(), batch.before(), row);
        if (const auto found = removed_.find(text); found != removed_.end()) {
          if (--found->second == 0) removed_.erase(found);
          continue;
        }
      }
      Group* group = FindGroup(batch.after(), row);
      group->refs.emplace_back(image, row, RowKind::kInsert);
      ++row_count_;
    }
    return {};
  }

  // Without a key a row is found by all of its values.
  Result<void> Remove(const ProjectedBatch& batch, uint32_t row) {
    std::string missing = batch.source().HasBefore(row) ? "" : "all of it";
    for (const int image : row_images_) {
      if (!missing.empty()) break;
      if (batch.before()[static_cast<size_t>(image)].IsAbsent(row)) {
        missing = "column " + std::to_string(image + 1);
      }
    }
    if (!missing.empty()) {
      return MakeError(ErrorKind::kInvalidInput,
                       "an update or delete in a table without primary key has no whole before "
                       "image: " +
                           missing + " was not sent")
          .Position(batch.source().point(row).ToString())
          .Hint(
              "have the source send it (binlog_row_image = FULL, REPLICA IDENTITY FULL), or give "
              "the table a primary key");
    }
    std::string text = RowText(batch.before(), {}, row);
    removed_bytes_ += static_cast<int64_t>(text.size()) + 64;
    ++removed_[std::move(text)];
    return {};
  }

  std::string RowText(std::span<const ColumnView> views, std::span<const ColumnView> fallback,
                      uint32_t row) const {
    std::vector<ColumnView> columns;
    for (const int image : row_images_) {
      const auto at = static_cast<size_t>(image);
      const bool absent = views[at].IsAbsent(row) && at < fallback.size();
      columns.push_back(absent ? fallback[at] : views[at]);
    }
    std::string text;
    lake::AppendRowJson(row_fields_, columns, row, &text);
    return text;
  }

  Result<void> Flush() {
    std::vector<DataFile> batch;
    for (auto& [key, group] : groups_) {
      if (group.refs.empty()) continue;
      DRIFTLESS_TRY(format_.has_key() ? FlushKeyed(&group, &batch) : FlushAppend(&group, &batch));
    }
    if (batch.empty()) return {};
    if (!format_.has_key() && !pending_.batches.empty()) {
      auto& first = pending_.batches.front();
      first.insert(first.end(), std::make_move_iterator(batch.begin()),
                   std::make_move_iterator(batch.end()));
      return {};
    }
    pending_.batches.push_back(std::move(batch));
    return {};
  }

  Result<void> WriteRun(const Group& group, std::span<const RowRef> rows, FileContent content,
                        std::vector<DataFile>* out) {
    if (rows.empty()) return {};
    FilePlace place{&table_.files, directory_ + "/data", &names_};
    std::string path = partitioner_.Path(group.partition);
    if (!path.empty()) {
      path.pop_back();
      place.directory += "/" + path;
    }
    const FileRun run{images_, rows, row_count_ == 0 ? 100 : batch_bytes_ / row_count_ + 1};
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<DataFile> files,
                               WriteFiles(format_, place, run, content, group.partition));
    std::move(files.begin(), files.end(), std::back_inserter(*out));
    return {};
  }

  Result<void> FlushKeyed(Group* group, std::vector<DataFile>* batch) {
    Sort(group);
    std::vector<RowRef> touched;
    std::vector<RowRef> live;
    const std::vector<SortEntry>& entries = group->entries;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i + 1 < entries.size() && SameKey(*group, entries[i], entries[i + 1])) continue;
      const RowRef ref = group->refs[entries[i].index];
      touched.push_back(ref);
      if (!lake::IsRetract(ref.row_kind())) live.push_back(ref);
    }
    DRIFTLESS_TRY(WriteRun(*group, live, FileContent::kData, batch));
    return WriteRun(*group, touched, FileContent::kEqualityDeletes, batch);
  }

  Result<void> FlushAppend(Group* group, std::vector<DataFile>* batch) {
    if (!removed_.empty()) {
      std::erase_if(group->refs, [&](const RowRef ref) {
        const RowImage& image = images_[ref.image];
        const auto found = removed_.find(RowText(image.columns, image.fallback, ref.row));
        if (found == removed_.end()) return false;
        if (--found->second == 0) removed_.erase(found);
        return true;
      });
    }
    return WriteRun(*group, group->refs, FileContent::kData, batch);
  }

  // Rows that left and are not in the buffer: the commit looks for them.
  Result<void> WriteRemovals() {
    if (removed_.empty()) return {};
    std::string text;
    for (const int32_t id : row_ids_) {
      text += (text.empty() ? "" : ",") + std::to_string(id);
    }
    text += '\n';
    for (const auto& [row, count] : removed_) {
      for (int64_t i = 0; i < count; ++i) text.append(row).push_back('\n');
    }
    const std::string path = directory_ + "/metadata/" + names_.Next("removed", ".jsonl");
    DRIFTLESS_TRY(table_.files.store()->Put(path, text));
    pending_.removals.push_back(table_.files.Uri(path));
    removed_.clear();
    removed_bytes_ = 0;
    Charge(own_bytes());
    return {};
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

  // By key, and inside a key by arrival.
  void Sort(Group* group) const {
    const bool whole = order_.prefix_is_whole();
    const auto less = [&](const SortEntry& a, const SortEntry& b) {
      if (a.prefix != b.prefix) return a.prefix < b.prefix;
      const int order = whole ? 0 : CompareKeys(*group, a, b);
      return order != 0 ? order < 0 : a.index < b.index;
    };
    auto& entries = group->entries;
    // Inserts with growing keys come sorted.
    if (!std::is_sorted(entries.begin(), entries.end(), less)) {
      std::sort(entries.begin(), entries.end(), less);
    }
  }

  LoadedTable table_;
  FileFormat format_;
  Partitioner partitioner_;
  std::string directory_;  // of the table, below the store's root
  WriterIndex writer_;
  int64_t buffer_bytes_max_;
  MemoryBudget* budget_;
  RowReporter* reporter_;
  std::string name_;
  lake::KeyOrder order_;
  lake::FileNames names_;
  // The columns by whose values a row without key is known.
  std::vector<RowField> row_fields_;
  std::vector<int> row_images_;
  std::vector<int32_t> row_ids_;

  std::vector<RowImage> images_;  // after and before of every batch, in this order
  std::vector<std::shared_ptr<const ProjectedBatch>> batches_;
  std::unordered_map<std::string, Group> groups_;
  Group* last_group_ = nullptr;
  std::unordered_map<std::string, int64_t> removed_;  // rows that left, with how many of each
  int64_t removed_bytes_ = 0;
  int64_t batch_bytes_ = 0;      // this writer's share of the batches
  int64_t projected_bytes_ = 0;  // beside them
  int64_t row_count_ = 0;
  int64_t charged_ = 0;
  Committable pending_;
};

}  // namespace

Result<TableWriterPtr> MakeIcebergWriter(WriterSetup setup, const WriterContext& context) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      Partitioner partitioner,
      Partitioner::Make(setup.format.schema, setup.format.spec, setup.format.image_columns));
  DRIFTLESS_ASSIGN_OR_RETURN(std::string directory, setup.table.Directory());
  return TableWriterPtr(std::make_unique<IcebergWriter>(std::move(setup), std::move(partitioner),
                                                        std::move(directory), context));
}

}  // namespace driftless::iceberg
