#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "schema/base/json_writer.h"
#include "schema/events/change_batch_builder.h"
#include "sinks/api/projection.h"
#include "sinks/lake/row_json.h"
#include "sinks/paimon/commit.h"
#include "sinks/paimon/compaction.h"
#include "sinks/paimon/table_scan.h"
#include "sinks/paimon/writer.h"
#include "tests/doubles/random_values.h"
#include "tests/doubles/stepped_clock.h"

namespace driftless::testing {

// One Paimon table, written through the sink's own writer and committer, beside a model of what
// must be in it. Column ids of the source are field ids + 1.
class PaimonRig {
 public:
  PaimonRig(std::shared_ptr<ObjectStore> store, paimon::PaimonSchema schema, uint64_t seed)
      : store_(std::move(store)), schema_(std::move(schema)), random_(seed) {
    PutSchema();
  }

  paimon::PaimonTable table() const {
    return paimon::PaimonTable(store_, paimon::TableDirectory(path_));
  }
  const paimon::PaimonSchema& schema() const { return schema_; }
  RandomSchemas& random() { return random_; }

  // The next schema version; writers must have been committed.
  void Evolve(const std::function<void(paimon::PaimonSchema*)>& change) {
    writers_.clear();
    ++schema_.id;
    change(&schema_);
    PutSchema();
  }
  // All memory of writers is gone, as after a crash or a stop.
  void Restart() {
    writers_.clear();
    state_ = nullptr;
    ++attempt_;
  }

  // Random inserts, updates, deletes and key changes of keys below `keys`, in batches.
  void WriteRandomChanges(int64_t changes, int64_t keys) {
    const TableSchemaPtr source = Source();
    ChangeBatchBuilder builder(source, 0);
    for (int64_t i = 0; i < changes; ++i) AddRandomChange(*source, keys, &builder);
    Write(builder.Seal());
  }

  void Write(const ChangeBatchPtr& batch) {
    if (batch == nullptr) return;
    const paimon::DataFileFormat format = Format();
    OpenWriters(format);
    projections_.push_back(std::make_unique<Projection>(Projection::Make(
        *batch->schema(), Evolved(), OnCastFailure::kFail, OnNullViolation::kFail)));
    std::vector<uint32_t> rows(static_cast<size_t>(batch->size()));
    for (uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    const auto written = writers_[0]->Write(batch, *projections_.back(), rows);
    ASSERT_TRUE(written.has_value()) << written.error().ToString();
    Model(batch);
  }

  void Roll() {
    if (!writers_.empty()) {
      const auto rolled = writers_[0]->Roll();
      ASSERT_TRUE(rolled.has_value()) << rolled.error().ToString();
    }
  }

  paimon::Committable Prepare() {
    ++cut_;
    paimon::Committable whole;
    for (const TableWriterPtr& writer : writers_) {
      auto part = writer->Prepare(cut_);
      EXPECT_TRUE(part.has_value()) << part.error().ToString();
      if (part) whole = *paimon::DecodeCommittable(part->payload);
    }
    return whole;
  }

  void Commit() {
    const paimon::Committable committable = Prepare();
    ASSERT_TRUE(store_->SyncAll().has_value());
    const auto latest = table().LatestSnapshot();
    ASSERT_TRUE(latest.has_value());
    const CommitToken token =
        paimon::MakeToken(Identity(), committable, *latest ? (*latest)->id : 0);
    const auto committed = Committer().Commit(std::span(&token, 1));
    ASSERT_TRUE(committed.has_value()) << committed.error().ToString();
    if (state_ != nullptr) state_->Settle(cut_);
    committed_ = model_;
  }

  void Compact() {
    const std::atomic<bool> stop{false};
    const paimon::PaimonCommitter committer = Committer();
    const auto done = paimon::CompactTable(
        table(), Identity(),
        [&](const CommitIdentity& by, const paimon::Committable& files, int64_t base) {
          const auto commit = [&] { return committer.CommitCompaction(by, files, base); };
          return state_ == nullptr ? commit() : state_->CommitCompaction(files, commit);
        },
        TimeZone(), &clock, stop);
    ASSERT_TRUE(done.has_value()) << done.error().ToString();
  }

  // Model rows as the reader prints them, sorted.
  std::vector<std::string> Expected() const { return Render(committed_, schema_); }

  std::vector<std::string> Read(std::optional<int64_t> snapshot = {}) const {
    std::vector<std::string> rows;
    auto scan = paimon::TableScan::Open(table(), snapshot, TimeZone());
    EXPECT_TRUE(scan.has_value()) << scan.error().ToString();
    if (!scan) return rows;
    const std::vector<RowField> fields = Fields(scan->schema());
    lake::MergedRow row;
    while (true) {
      auto more = scan->Next(&row);
      EXPECT_TRUE(more.has_value()) << more.error().ToString();
      if (!more || !*more) break;
      rows.emplace_back();
      lake::AppendRowJson(fields, row.columns(), row.row, &rows.back());
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  TableSchemaPtr Source() const {
    auto source = std::make_shared<TableSchema>();
    source->path = path_;
    for (const paimon::PaimonField& field : schema_.fields) {
      Column column;
      column.id = static_cast<ColumnId>(field.id) + 1;
      column.name = field.name;
      column.type = field.type;
      source->columns.push_back(column);
      if (std::count(schema_.primary_keys.begin(), schema_.primary_keys.end(), field.name) > 0) {
        source->primary_key.push_back(column.id);
      }
    }
    return source;
  }

  EvolvedSchema Evolved() const {
    EvolvedSchema evolved;
    evolved.path = path_;
    for (const paimon::PaimonField& field : schema_.fields) {
      EvolvedColumn column;
      column.sink.name = field.name;
      column.sink.type = field.type;
      column.sink.native_id = field.id;
      column.source = static_cast<ColumnId>(field.id) + 1;
      evolved.columns.push_back(column);
    }
    evolved.primary_key = schema_.primary_keys;
    evolved.partition_keys = schema_.partition_keys;
    evolved.options = schema_.options;
    return evolved;
  }

  CommitIdentity Identity() const { return {"pipe", "lake", path_, cut_, attempt_}; }

  SteppedClock clock;

 private:
  using ModelRow = std::map<int32_t, std::string>;  // field id to value text
  using ModelRows = std::map<std::string, ModelRow>;

  static std::vector<RowField> Fields(const paimon::PaimonSchema& schema) {
    std::vector<RowField> fields;
    for (const paimon::PaimonField& field : schema.fields) {
      fields.push_back({field.name, field.type, ""});
    }
    return fields;
  }

  static std::vector<std::string> Render(const ModelRows& rows,
                                         const paimon::PaimonSchema& schema) {
    std::vector<std::string> lines;
    for (const auto& [key, row] : rows) {
      std::string line = "{";
      for (const paimon::PaimonField& field : schema.fields) {
        if (line.size() > 1) line += ',';
        AppendJsonString(field.name, &line);
        const auto found = row.find(field.id);
        line += ":" + (found == row.end() ? "null" : found->second);
      }
      lines.push_back(line + "}");
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  void PutSchema() {
    const auto put = store_->Put(table().Path("schema/schema-" + std::to_string(schema_.id)),
                                 paimon::SchemaToJson(schema_));
    ASSERT_TRUE(put.has_value()) << put.error().ToString();
  }

  paimon::DataFileFormat Format() const {
    auto format = paimon::DataFileFormat::Make(schema_, Evolved());
    EXPECT_TRUE(format.has_value()) << format.error().ToString();
    return *format;
  }

  paimon::PaimonCommitter Committer() const {
    paimon::CommitSettings settings;
    settings.clock = &clock;
    settings.threads = 1;
    return paimon::PaimonCommitter(store_, settings);
  }

  void OpenWriters(const paimon::DataFileFormat& format) {
    if (!writers_.empty()) return;
    if (state_ == nullptr) {
      auto state = paimon::TableState::Load(table());
      ASSERT_TRUE(state.has_value()) << state.error().ToString();
      state_ = *state;
    }
    paimon::WriterSetup setup{table(), format, state_, nullptr, 0, 1, 256 << 20, {}};
    if (format.layout.mode == paimon::BucketMode::kDynamic) {
      std::vector<paimon::IndexManifestEntry> indexes;
      const auto snapshot = table().LatestSnapshot();
      ASSERT_TRUE(snapshot.has_value());
      if (*snapshot) indexes = *table().IndexFiles(**snapshot);
      setup.index = std::make_unique<paimon::HashIndex>(table(), indexes, schema_, nullptr);
    }
    WriterContext context;
    context.identity = Identity();
    context.identity.cut = cut_ + 1;
    auto writer = paimon::MakePaimonWriter(std::move(setup), context);
    ASSERT_TRUE(writer.has_value()) << writer.error().ToString();
    writers_.push_back(std::move(*writer));
  }

  // A source table without key: updates and deletes name rows by all of their values.
  void AddKeylessChange(const TableSchema& source, ChangeBatchBuilder* builder) {
    const bool any = !living_.empty();
    const uint64_t what = any ? random_.Below(10) : 0;
    const Op op = what < 6 ? Op::kInsert : (what < 8 ? Op::kUpdate : Op::kDelete);
    builder->BeginRow(op, Point{0, 0, ++line_, 0, 0}, 0);
    if (op != Op::kInsert) {
      const size_t at = random_.Below(living_.size());
      const auto [batch, row] = living_[at];
      for (size_t i = 0; i < source.columns.size(); ++i) {
        paimon::AppendSame(source.columns[i].type, batch->after()[i], row,
                           &builder->before(static_cast<int>(i)));
      }
      living_.erase(living_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    for (size_t i = 0; i < source.columns.size() && op != Op::kDelete; ++i) {
      AppendValue(source.columns[i].type, &builder->after(static_cast<int>(i)));
    }
    builder->EndRow();
  }

  bool IsKey(size_t column) const {
    const std::string& name = schema_.fields[column].name;
    return std::count(schema_.primary_keys.begin(), schema_.primary_keys.end(), name) > 0;
  }

  void AppendKey(size_t column, int64_t key, ColumnBuilder* out) {
    const LogicalType& type = schema_.fields[column].type;
    const std::string& name = schema_.fields[column].name;
    if (std::count(schema_.partition_keys.begin(), schema_.partition_keys.end(), name) > 0) {
      key %= 3;  // few partitions
    }
    if (type.physical() == PhysicalKind::kVariable) {
      out->AppendBytes((key % 3 == 0 ? "a common prefix of keys " : "") + std::to_string(key));
    } else if (type.physical() == PhysicalKind::kFixed128) {
      out->AppendInt128((key % 2 == 0 ? 1 : -1) * static_cast<__int128>(key) * 1000);
    } else if (type.physical() == PhysicalKind::kBit) {
      out->AppendBit(key % 2 == 0);
    } else if (type.kind() == TypeKind::kDouble) {
      out->AppendDouble(static_cast<double>(key) - 7.5);
    } else if (type.IsTimestamp() || type.kind() == TypeKind::kTime) {
      // Multiples of a second fit every precision.
      out->AppendInt((type.kind() == TypeKind::kTime ? key : key - 5) *
                     (type.IsNanos() ? 1000000000 : 1000000));
    } else {
      out->AppendInt(key - 5);
    }
  }

  // Keys of a map are distinct, as Java's maps have them.
  void AppendValue(const LogicalType& type, ColumnBuilder* out) {
    if (type.kind() != TypeKind::kMap) return AppendRandomValue(type, &random_, out);
    if (random_.Below(6) == 0) return out->AppendNull();
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      ColumnBuilder& entry = out->child(0);
      entry.child(0).AppendBytes("key " + std::to_string(i));
      AppendRandomValue(type.children()[1].type, &random_, &entry.child(1));
      entry.CloseStruct();
    }
    out->CloseList();
  }

  void AddRandomChange(const TableSchema& source, int64_t keys, ChangeBatchBuilder* builder) {
    const auto key = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(keys)));
    const auto old_key = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(keys)));
    if (!schema_.HasPrimaryKey()) return AddKeylessChange(source, builder);
    const uint64_t what = random_.Below(10);
    const Op op = what < 4 ? Op::kInsert : (what < 8 ? Op::kUpdate : Op::kDelete);
    builder->BeginRow(op, Point{0, 0, ++line_, 0, 0}, 0);
    for (size_t i = 0; i < source.columns.size(); ++i) {
      const LogicalType& type = source.columns[i].type;
      const int column = static_cast<int>(i);
      if (op != Op::kDelete) {
        if (IsKey(i)) {
          AppendKey(i, key, &builder->after(column));
        } else {
          AppendValue(type, &builder->after(column));
        }
      }
      // A key change has the old key before; other updates mostly have no before image.
      if (op == Op::kDelete || what == 7 || what == 6) {
        if (IsKey(i)) {
          AppendKey(i, what == 7 ? old_key : key, &builder->before(column));
        } else if (what == 6) {
          AppendValue(type, &builder->before(column));
        }
      }
    }
    builder->EndRow();
  }

  std::string KeyText(std::span<const ColumnView> views, int64_t row) const {
    std::string key;
    for (size_t i = 0; i < schema_.fields.size(); ++i) {
      if (!IsKey(i)) continue;
      lake::AppendValueJson(schema_.fields[i].type, views[i], row, &key);
      key += '|';
    }
    return key;
  }

  ModelRow ValuesOf(std::span<const ColumnView> columns, int64_t row) const {
    ModelRow values;
    for (size_t i = 0; i < schema_.fields.size(); ++i) {
      lake::AppendValueJson(schema_.fields[i].type, columns[i], row, &values[schema_.fields[i].id]);
    }
    return values;
  }
  void EraseOne(const ModelRow& values) {
    for (auto it = model_.begin(); it != model_.end(); ++it) {
      if (it->second != values) continue;
      model_.erase(it);
      return;
    }
  }

  void Model(const ChangeBatchPtr& batch) {
    for (int64_t row = 0; row < batch->size(); ++row) {
      const Op op = batch->ops()[static_cast<size_t>(row)];
      if (op != Op::kInsert && batch->HasBefore(row)) {
        if (schema_.HasPrimaryKey()) {
          model_.erase(KeyText(batch->before(), row));
        } else {
          EraseOne(ValuesOf(batch->before(), row));
        }
      }
      if (op == Op::kDelete) continue;
      if (!schema_.HasPrimaryKey()) living_.emplace_back(batch, row);
      const std::string key =
          schema_.HasPrimaryKey() ? KeyText(batch->after(), row) : std::to_string(appended_++);
      model_[key] = ValuesOf(batch->after(), row);
    }
  }

  std::shared_ptr<ObjectStore> store_;
  TablePath path_{"", "d", "t"};
  paimon::PaimonSchema schema_;
  RandomSchemas random_;
  std::shared_ptr<paimon::TableState> state_;
  std::vector<std::unique_ptr<Projection>> projections_;
  std::vector<TableWriterPtr> writers_;
  ModelRows model_;
  ModelRows committed_;
  CutId cut_ = 0;
  uint32_t attempt_ = 1;
  uint64_t line_ = 0;
  uint64_t appended_ = 0;
  std::vector<std::pair<ChangeBatchPtr, int64_t>> living_;  // rows of a table without key
};

// A schema with every type as a value column; the key columns come first.
inline paimon::PaimonSchema EveryType(const std::vector<LogicalType>& keys) {
  paimon::PaimonSchema schema;
  const auto add = [&](const std::string& name, const LogicalType& type) {
    paimon::PaimonField field;
    field.id = ++schema.highest_field_id;
    field.name = name;
    field.type = type;
    if (type.kind() == TypeKind::kRow) {
      for (size_t i = 0; i < type.children().size(); ++i) {
        field.nested_ids.push_back(++schema.highest_field_id);
      }
    }
    schema.fields.push_back(field);
  };
  for (size_t i = 0; i < keys.size(); ++i) {
    add("k" + std::to_string(i), keys[i].NotNull());
    schema.primary_keys.push_back("k" + std::to_string(i));
  }
  const std::vector<LogicalType> types = {
      LogicalType::Boolean(),
      LogicalType::TinyInt(),
      LogicalType::SmallInt(),
      LogicalType::Int(),
      LogicalType::BigInt(),
      LogicalType::Float(),
      LogicalType::Double(),
      LogicalType::Decimal(9, 2),
      LogicalType::Decimal(18, 4),
      LogicalType::Decimal(38, 10),
      LogicalType::VarChar(20),
      LogicalType::String(),
      LogicalType::Bytes(),
      LogicalType::Date(),
      LogicalType::Time(3),
      LogicalType::Timestamp(0),
      LogicalType::Timestamp(3),
      LogicalType::Timestamp(6),
      LogicalType::Timestamp(9),
      LogicalType::TimestampLtz(3),
      LogicalType::TimestampLtz(6),
      LogicalType::Int().NotNull(),
      LogicalType::String().NotNull(),
      LogicalType::Array(LogicalType::String()),
      LogicalType::Map(LogicalType::String().NotNull(), LogicalType::Int()),
      LogicalType::Row({{"a", LogicalType::Int(), ""}, {"b", LogicalType::String(), ""}}),
      LogicalType::Array(LogicalType::Array(LogicalType::BigInt()))};
  for (size_t i = 0; i < types.size(); ++i) add("v" + std::to_string(i), types[i]);
  return schema;
}

}  // namespace driftless::testing
