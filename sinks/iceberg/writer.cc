#include "sinks/iceberg/writer.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "sinks/iceberg/committable.h"
#include "sinks/iceberg/manifest_writer.h"
#include "sinks/iceberg/partition.h"
#include "sinks/lake/row_json.h"
#include "sinks/lake/waiting_rows.h"

namespace driftless::iceberg {
namespace {

using lake::RowImage;
using lake::RowKind;
using lake::RowRef;

// The buffered rows of one partition.
struct Group {
  PartitionTuple partition;
  std::vector<RowRef> refs;  // without a key, in order of arrival
  lake::KeyedRows keyed;     // with one
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
        waiting_(context.budget, context.reporter),
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

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    if (rows.empty()) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(const lake::WaitingRows::Added taken,
                               waiting_.Add(batch, projection, rows));
    auto added = format_.has_key() ? AddChanges(*taken.batch, taken.image)
                                   : AddAppends(*taken.batch, taken.image);
    if (!added) return std::move(added).error().Context("writing to Iceberg table " + name_);
    waiting_.Charge(waiting_.own_bytes() + removed_bytes_);
    if (buffered_bytes() > buffer_bytes_max_) return Roll();
    return {};
  }

  Result<void> Roll() override {
    auto flushed = Flush();
    if (!flushed) return std::move(flushed).error().Context("writing to Iceberg table " + name_);
    groups_.clear();
    last_group_ = nullptr;
    waiting_.Clear();
    waiting_.Charge(waiting_.own_bytes() + removed_bytes_);  // rows that left stay
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

  int64_t buffered_bytes() const override { return waiting_.bytes() + removed_bytes_; }

 private:
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
    if (order_.HasNull(views, row)) return lake::NoKey();
    FindGroup(views, row)->keyed.Add(order_, views, RowRef(image, row, kind));
    waiting_.CountRow();
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
          if (!batch.source().HasBefore(row)) return lake::NoBeforeImage();
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
        const std::string text = RowText(batch.after(), row);
        if (const auto found = removed_.find(text); found != removed_.end()) {
          if (--found->second == 0) removed_.erase(found);
          continue;
        }
      }
      Group* group = FindGroup(batch.after(), row);
      group->refs.emplace_back(image, row, RowKind::kInsert);
      waiting_.CountRow();
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
    if (!missing.empty()) return lake::NoWholeBeforeImage(missing, batch.source().point(row));
    std::string text = RowText(batch.before(), row);
    removed_bytes_ += static_cast<int64_t>(text.size()) + 64;
    ++removed_[std::move(text)];
    return {};
  }

  std::string RowText(std::span<const ColumnView> views, uint32_t row) const {
    std::vector<ColumnView> columns;
    for (const int image : row_images_) {
      columns.push_back(views[static_cast<size_t>(image)]);
    }
    std::string text;
    lake::AppendRowJson(row_fields_, columns, row, &text);
    return text;
  }

  Result<void> Flush() {
    std::vector<DataFile> batch;
    for (auto& [key, group] : groups_) {
      if (group.refs.empty() && group.keyed.empty()) continue;
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
    const FileRun run{waiting_.images(), rows, waiting_.bytes_per_row()};
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<DataFile> files,
                               WriteFiles(format_, place, run, content, group.partition));
    std::move(files.begin(), files.end(), std::back_inserter(*out));
    return {};
  }

  Result<void> FlushKeyed(Group* group, std::vector<DataFile>* batch) {
    const std::span<const RowImage> images = waiting_.images();
    group->keyed.Sort(order_, images);
    std::vector<RowRef> touched;
    std::vector<RowRef> live;
    for (size_t i = 0; i < group->keyed.size(); ++i) {
      if (!group->keyed.IsNewest(i, order_, images)) continue;
      const RowRef ref = group->keyed.row(group->keyed.entries()[i]);
      touched.push_back(ref);
      if (!lake::IsRetract(ref.row_kind())) live.push_back(ref);
    }
    format_.sorter.Sort(images, &live);
    DRIFTLESS_TRY(WriteRun(*group, live, FileContent::kData, batch));
    return WriteRun(*group, touched, FileContent::kEqualityDeletes, batch);
  }

  Result<void> FlushAppend(Group* group, std::vector<DataFile>* batch) {
    if (!removed_.empty()) {
      std::erase_if(group->refs, [&](const RowRef ref) {
        const RowImage& image = waiting_.images()[ref.image];
        const auto found = removed_.find(RowText(image.columns, ref.row));
        if (found == removed_.end()) return false;
        if (--found->second == 0) removed_.erase(found);
        return true;
      });
    }
    format_.sorter.Sort(waiting_.images(), &group->refs);
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
    waiting_.Charge(waiting_.own_bytes() + removed_bytes_);
    return {};
  }

  LoadedTable table_;
  FileFormat format_;
  Partitioner partitioner_;
  std::string directory_;  // of the table, below the store's root
  WriterIndex writer_;
  int64_t buffer_bytes_max_;
  lake::WaitingRows waiting_;
  std::string name_;
  lake::KeyOrder order_;
  lake::FileNames names_;
  // The columns by whose values a row without key is known.
  std::vector<RowField> row_fields_;
  std::vector<int> row_images_;
  std::vector<int32_t> row_ids_;

  std::unordered_map<std::string, Group> groups_;
  Group* last_group_ = nullptr;
  std::unordered_map<std::string, int64_t> removed_;  // rows that left, with how many of each
  int64_t removed_bytes_ = 0;
  Committable pending_;
};

// A delete by key holds for files of its own partition spec, unless that has no partitions: rows in
// files of other specs would stay, beside their successors.
Result<void> CheckReach(const LoadedTable& table, const FileFormat& format) {
  if (!format.has_key() || IsUnpartitioned(format.spec) || table.metadata.specs.size() < 2) {
    return {};
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestFile> manifests,
                             LiveManifests(table, table.metadata.current_snapshot()));
  for (const ManifestFile& manifest : manifests) {
    if (manifest.deletes || manifest.spec_id == format.spec.id) continue;
    return MakeError(ErrorKind::kUnsupported,
                     "the Iceberg table has rows in files of partition spec " +
                         std::to_string(manifest.spec_id) + ", which deletes by key under spec " +
                         std::to_string(format.spec.id) + " do not reach")
        .Hint(
            "rewrite those files under the table's spec first (CALL "
            "catalog.system.rewrite_data_files with rewrite-all)");
  }
  return {};
}

}  // namespace

Result<TableWriterPtr> MakeIcebergWriter(WriterSetup setup, const WriterContext& context) {
  if (auto done = CheckReach(setup.table, setup.format); !done) {
    return std::move(done).error().Context(context.identity.table.ToString());
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      Partitioner partitioner,
      Partitioner::Make(setup.format.schema, setup.format.spec, setup.format.image_columns));
  DRIFTLESS_ASSIGN_OR_RETURN(std::string directory, setup.table.Directory());
  return TableWriterPtr(std::make_unique<IcebergWriter>(std::move(setup), std::move(partitioner),
                                                        std::move(directory), context));
}

}  // namespace driftless::iceberg
