#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "schema/events/change_batch_builder.h"
#include "sinks/api/projection.h"
#include "sinks/clients/objectstore/memory_store.h"
#include "sinks/iceberg/commit.h"
#include "sinks/iceberg/compaction.h"
#include "sinks/iceberg/data_file.h"
#include "sinks/iceberg/expire.h"
#include "sinks/iceberg/table_scan.h"
#include "sinks/iceberg/writer.h"
#include "tests/doubles/stepped_clock.h"

namespace driftless::testing {

// One Iceberg table of rows (id, note), written through the sink's own writer and committer, beside
// a model of what must be in it.
class IcebergRig {
 public:
  struct Shape {
    bool has_key = true;
    bool partitioned = false;
    int format_version = 2;
    std::string table = "t";
    std::vector<iceberg::SortField> sort;
    std::map<std::string, std::string> properties;
    uint64_t seed = 1;
  };

  IcebergRig(std::shared_ptr<ObjectStore> files, const Shape& shape)
      : store(std::move(files)),
        catalog(iceberg::MakeHadoopCatalog(store, &clock)),
        path{"", "db", shape.table},
        has_key_(shape.has_key),
        random_(shape.seed) {
    iceberg::NewTable created;
    created.schema.fields = {MakeField(1, "id", LogicalType::BigInt().NotNull(), "\"long\""),
                             MakeField(2, "note", LogicalType::String(), "\"string\"")};
    if (has_key_) created.schema.identifier_ids = {1};
    if (shape.partitioned) created.spec.fields = {{1, 1000, "id_bucket", "bucket[3]"}};
    created.sort_order.fields = shape.sort;
    created.format_version = shape.format_version;
    created.properties = shape.properties;
    created.properties.emplace("write.metadata.delete-after-commit.enabled", "true");
    created.properties.emplace("write.metadata.previous-versions-max", "5");
    EXPECT_TRUE(catalog->Create(path, created));
    evolved_.path = path;
    source_ = std::make_shared<TableSchema>();
    for (const iceberg::Field& field : created.schema.fields) {
      EvolvedColumn column;
      column.sink.name = field.name;
      column.sink.type = field.type;
      column.source = source_->AddColumn(field.name, field.type).id;
      evolved_.columns.push_back(column);
    }
    if (has_key_) {
      evolved_.primary_key = {"id"};
      source_->primary_key = {evolved_.columns[0].source};
    }
  }

  // One cut of random changes of ids below `ids`, a second of simulated time after the last.
  void CommitRandom(int64_t changes, int64_t ids) {
    clock.now_ms += 1000;
    const CommitToken token = SealRandom(changes, ids);
    const auto committed = Committer().Commit({&token, 1});
    ASSERT_TRUE(committed) << committed.error().ToString();
  }

  CommitToken SealRandom(int64_t changes, int64_t ids) {
    ChangeBatchBuilder builder(source_, 0);
    for (int64_t i = 0; i < changes; ++i) AddRandom(ids, &builder);
    return Seal(builder.Seal());
  }

  Result<TableWriterPtr> OpenWriter() const {
    iceberg::WriterSetup setup;
    setup.table = Table();
    auto format = iceberg::FileFormat::Make(setup.table.metadata, evolved_);
    EXPECT_TRUE(format) << format.error().ToString();
    setup.format = *std::move(format);
    WriterContext context;
    context.identity = Identity();
    return iceberg::MakeIcebergWriter(std::move(setup), context);
  }

  // The next cut, of the rows of one batch.
  CommitToken Seal(const ChangeBatchPtr& batch) {
    ++cut_;
    auto writer = OpenWriter();
    EXPECT_TRUE(writer) << writer.error().ToString();
    const Projection projection =
        Projection::Make(*source_, evolved_, OnCastFailure::kFail, OnNullViolation::kFail);
    std::vector<uint32_t> rows(static_cast<size_t>(batch->size()));
    for (uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    const auto written = (*writer)->Write(batch, projection, rows);
    EXPECT_TRUE(written) << written.error().ToString();
    const auto part = (*writer)->Prepare(cut_);
    EXPECT_TRUE(part) << part.error().ToString();
    const auto token = Committer().Seal(Identity(), {&*part, 1});
    EXPECT_TRUE(token) << token.error().ToString();
    return *token;
  }

  const std::shared_ptr<TableSchema>& source() const { return source_; }

  // The table gets another default partition spec, as engines that evolve it do: a metadata file of
  // the next number.
  void Evolve(const std::vector<iceberg::PartitionField>& fields) {
    const iceberg::LoadedTable table = Table();
    iceberg::TableMetadata next = table.metadata;
    iceberg::PartitionSpec spec;
    spec.id = static_cast<int32_t>(next.specs.size());
    spec.fields = fields;
    next.default_spec_id = spec.id;
    next.specs.push_back(std::move(spec));
    ReplaceMetadata(table, next);
  }
  void ReplaceMetadata(const iceberg::LoadedTable& table, const iceberg::TableMetadata& next) {
    const std::string old = *table.files.Path(table.metadata_location);
    const size_t number = old.rfind("/v") + 2;
    const std::string name = old.substr(0, number) +
                             std::to_string(std::stoi(old.substr(number)) + 1) + ".metadata.json";
    ASSERT_TRUE(store->Put(name, iceberg::MetadataToJson(next)));
  }

  // Rows whose ids, below `ids`, are not in the table now, without deletes by key and under an
  // older partition spec: as engines write them that began before the spec was changed.
  void CommitUnderSpec(int32_t spec_id, int64_t rows, int64_t ids) {
    const iceberg::LoadedTable before = Table();
    iceberg::TableMetadata theirs = before.metadata;
    theirs.default_spec_id = spec_id;
    for (iceberg::Schema& schema : theirs.schemas) schema.identifier_ids.clear();
    ReplaceMetadata(before, theirs);
    ChangeBatchBuilder builder(source_, 0);
    for (int64_t id = 0; id < ids && rows > 0; ++id) {
      if (model_.contains(id)) continue;
      builder.BeginRow(Op::kInsert, Point{0, 0, ++line_, 0, 0}, 0);
      builder.after(0).AppendInt(id);
      builder.after(1).AppendBytes("theirs");
      builder.EndRow();
      model_.emplace(id, "theirs");
      --rows;
    }
    const CommitToken token = Seal(builder.Seal());
    ASSERT_TRUE(Committer().Commit({&token, 1}));
    const iceberg::LoadedTable after = Table();
    iceberg::TableMetadata ours = after.metadata;
    ours.default_spec_id = before.metadata.default_spec_id;
    ours.schemas = before.metadata.schemas;
    ReplaceMetadata(after, ours);
  }

  // New rows alone, with any ids.
  void CommitInserts(int64_t rows) {
    ChangeBatchBuilder builder(source_, 0);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t id = Below(int64_t{1} << 40);
      const std::string note = "note " + std::to_string(random_() % 1000);
      builder.BeginRow(Op::kInsert, Point{0, 0, ++line_, 0, 0}, 0);
      builder.after(0).AppendInt(id);
      builder.after(1).AppendBytes(note);
      builder.EndRow();
      model_.emplace(id, note);
    }
    const CommitToken token = Seal(builder.Seal());
    ASSERT_TRUE(Committer().Commit({&token, 1}));
  }

  // The rows of another rig, in one commit.
  void CommitRowsOf(const IcebergRig& other) {
    ChangeBatchBuilder builder(source_, 0);
    for (const auto& [id, note] : other.model_) {
      builder.BeginRow(Op::kInsert, Point{0, 0, ++line_, 0, 0}, 0);
      builder.after(0).AppendInt(id);
      builder.after(1).AppendBytes(note);
      builder.EndRow();
    }
    model_ = other.model_;
    const CommitToken token = Seal(builder.Seal());
    const auto committed = Committer().Commit({&token, 1});
    ASSERT_TRUE(committed) << committed.error().ToString();
  }

  iceberg::MaintenanceContext Context() {
    return {catalog.get(), &clock, Identity(), &commits_, nullptr};
  }
  lake::CompactionReport Compact() {
    const auto done = iceberg::CompactTable(Context());
    EXPECT_TRUE(done) << done.error().ToString();
    return done ? *done : lake::CompactionReport();
  }
  int64_t Expire() {
    const auto done = iceberg::ExpireSnapshots(Context());
    EXPECT_TRUE(done) << done.error().ToString();
    return done ? *done : 0;
  }

  iceberg::IcebergCommitter Committer() const {
    iceberg::CommitSettings settings;
    settings.catalog = catalog.get();
    settings.clock = &clock;
    settings.wait_ms = [](int64_t) {};
    settings.warn = [](const Error& error) { ADD_FAILURE() << error.ToString(); };
    settings.threads = 1;
    return iceberg::IcebergCommitter(settings);
  }
  CommitIdentity Identity() const { return {"pipe", "lake", path, cut_, 1}; }
  iceberg::LoadedTable Table() const { return **catalog->Load(path); }

  std::vector<std::string> Expected() const {
    std::vector<std::string> rows;
    for (const auto& [id, note] : model_) rows.push_back(std::to_string(id) + " " + note);
    std::ranges::sort(rows);
    return rows;
  }
  std::vector<std::string> Read(std::optional<int64_t> snapshot = std::nullopt) const {
    std::vector<std::string> rows;
    auto scan = iceberg::TableScan::Open(Table(), snapshot);
    EXPECT_TRUE(scan) << scan.error().ToString();
    iceberg::ScannedRow row;
    while (scan) {
      const auto more = scan->Next(&row);
      EXPECT_TRUE(more) << more.error().ToString();
      if (!more || !*more) break;
      const auto columns = row.row.columns();
      rows.push_back(std::to_string(columns[0].Fixed<int64_t>(row.row.row)) + " " +
                     std::string(columns[1].Bytes(row.row.row)));
    }
    std::ranges::sort(rows);
    return rows;
  }
  // Format version 3: "id note" of every row with its row id and the number of its last update.
  std::map<std::string, std::pair<int64_t, int64_t>> Lineage() const {
    std::map<std::string, std::pair<int64_t, int64_t>> rows;
    auto scan = *iceberg::TableScan::Open(Table(), std::nullopt);
    scan.ReadColumns({1, 2, iceberg::kRowId, iceberg::kLastUpdatedId});
    std::set<int64_t> ids;
    for (iceberg::ScannedRow row; *scan.Next(&row);) {
      const auto columns = row.row.columns();
      const auto at = row.row.row;
      const int64_t id = columns[2].Fixed<int64_t>(at);
      EXPECT_FALSE(columns[2].IsNull(at) || columns[3].IsNull(at));
      EXPECT_TRUE(ids.insert(id).second) << "two rows have the id " << id;
      rows[std::to_string(columns[0].Fixed<int64_t>(at)) + " " + std::string(columns[1].Bytes(at)) +
           " #" + std::to_string(has_key_ ? 0 : id)] = {id, columns[3].Fixed<int64_t>(at)};
    }
    return rows;
  }
  // Deletion vectors: a file has one at most.
  void CheckVectors() const {
    std::set<std::string> files;
    for (const iceberg::ManifestEntry& entry : Live().deletes) {
      if (entry.file.format != "PUFFIN") continue;
      EXPECT_TRUE(files.insert(*entry.file.referenced_data_file).second);
    }
  }
  iceberg::LiveFiles Live() const {
    const iceberg::LoadedTable table = Table();
    return *iceberg::ReadLiveFiles(table, *table.metadata.current_snapshot());
  }

  // Every file below the table that its metadata reaches, but for the metadata itself.
  std::set<std::string> Reachable() const {
    std::set<std::string> paths;
    const iceberg::LoadedTable table = Table();
    const auto add = [&](const std::string& uri) { paths.insert(*table.files.Path(uri)); };
    for (const iceberg::Snapshot& snapshot : table.metadata.snapshots) {
      add(snapshot.manifest_list);
      const auto list = table.files.Read(snapshot.manifest_list);
      EXPECT_TRUE(list) << list.error().ToString();
      const auto manifests = *iceberg::DecodeManifestList(*list);
      for (const auto& manifest : manifests) {
        if (!paths.insert(*table.files.Path(manifest.path)).second) continue;
        const auto bytes = table.files.Read(manifest.path);
        EXPECT_TRUE(bytes) << bytes.error().ToString();
        const auto entries = *iceberg::DecodeManifest(*bytes, manifest);
        for (const auto& entry : entries) {
          if (entry.status != iceberg::EntryStatus::kDeleted) add(entry.file.path);
        }
      }
    }
    return paths;
  }
  // What lies there, but for metadata files and their hint.
  std::set<std::string> Stored() const {
    std::set<std::string> paths;
    const auto objects = *store->List("db/" + path.table, ObjectStore::Depth::kAll);
    for (const ListedObject& object : objects) {
      const bool is_metadata =
          object.path.ends_with(".metadata.json") || object.path.ends_with("version-hint.text");
      if (!is_metadata) paths.insert(object.path);
    }
    return paths;
  }

  SteppedClock clock;
  std::shared_ptr<ObjectStore> store;
  std::unique_ptr<iceberg::Catalog> catalog;
  const TablePath path;

 private:
  static iceberg::Field MakeField(int32_t id, std::string name, LogicalType type,
                                  std::string json) {
    iceberg::Field field;
    field.id = id;
    field.name = std::move(name);
    field.type = std::move(type);
    field.type_json = std::move(json);
    return field;
  }

  int64_t Below(int64_t end) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(end));
  }

  // With a key, a row whose id is there changes or leaves; without one any row may.
  void AddRandom(int64_t ids, ChangeBatchBuilder* builder) {
    auto old = has_key_ ? model_.find(Below(ids)) : model_.end();
    if (!has_key_ && !model_.empty() && Below(3) == 0) {
      old = std::next(model_.begin(), Below(static_cast<int64_t>(model_.size())));
    }
    const bool is_there = old != model_.end();
    const Op op = !is_there ? Op::kInsert : Below(3) == 0 ? Op::kDelete : Op::kUpdate;
    const int64_t id = is_there ? old->first : Below(ids);
    builder->BeginRow(op, Point{0, 0, ++line_, 0, 0}, 0);
    if (is_there) {
      builder->before(0).AppendInt(id);
      builder->before(1).AppendBytes(old->second);
      model_.erase(old);
    }
    if (op != Op::kDelete) {
      const std::string note = "note " + std::to_string(random_() % 1000);
      builder->after(0).AppendInt(id);
      builder->after(1).AppendBytes(note);
      if (has_key_) model_.erase(id);
      model_.emplace(id, note);
    }
    builder->EndRow();
  }

  bool has_key_;
  std::mt19937_64 random_;
  std::shared_mutex commits_;
  EvolvedSchema evolved_;
  std::shared_ptr<TableSchema> source_;
  std::multimap<int64_t, std::string> model_;
  CutId cut_ = 0;
  uint64_t line_ = 0;
};

}  // namespace driftless::testing
