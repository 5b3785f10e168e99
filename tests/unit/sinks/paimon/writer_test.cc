#include "sinks/paimon/writer.h"

#include <gtest/gtest.h>

#include <functional>

#include "sinks/clients/objectstore/memory_store.h"
#include "tests/doubles/paimon_rig.h"

namespace driftless::paimon {
namespace {

using testing::EveryType;
using testing::PaimonRig;

struct Shape {
  const char* name;
  std::vector<LogicalType> keys;
  std::vector<std::string> partitions;
  std::map<std::string, std::string> options;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

PaimonSchema SchemaOf(const Shape& shape) {
  PaimonSchema schema = EveryType(shape.keys);
  schema.partition_keys = shape.partitions;
  schema.options = shape.options;
  return schema;
}

class WriterTest : public ::testing::TestWithParam<Shape> {};

TEST_P(WriterTest, WhatIsWrittenIsReadBackOverCommitsAndRestarts) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(seed);
    PaimonRig rig(std::make_shared<MemoryStore>(), SchemaOf(GetParam()), seed);
    for (int commit = 0; commit < 4; ++commit) {
      rig.WriteRandomChanges(80, 50);
      if (commit % 2 == 1) {
        rig.Roll();
        rig.WriteRandomChanges(30, 50);
      }
      rig.Commit();
      ASSERT_EQ(rig.Read(), rig.Expected());
      if (commit == 1 || commit == 2) rig.Restart();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WriterTest,
    ::testing::Values(
        Shape{"bigint", {LogicalType::BigInt()}, {}, {{"bucket", "3"}}},
        Shape{"int_mod",
              {LogicalType::Int()},
              {},
              {{"bucket", "3"}, {"bucket-function.type", "mod"}}},
        Shape{"text", {LogicalType::String()}, {}, {{"bucket", "2"}}},
        Shape{"composite",
              {LogicalType::Int(), LogicalType::String(), LogicalType::Decimal(30, 5)},
              {},
              {{"bucket", "2"}}},
        Shape{"moments",
              {LogicalType::Timestamp(3), LogicalType::Timestamp(9), LogicalType::Date(),
               LogicalType::Time(0)},
              {},
              {{"bucket", "1"}}},
        Shape{"small",
              {LogicalType::SmallInt(), LogicalType::TinyInt(), LogicalType::Int()},
              {},
              {{"bucket", "1"}}},
        Shape{"double", {LogicalType::Double()}, {}, {{"bucket", "1"}}},
        Shape{"partitioned",
              {LogicalType::Int(), LogicalType::SmallInt()},
              {"k1"},
              {{"bucket", "2"}}},
        Shape{"changelog",
              {LogicalType::BigInt()},
              {},
              {{"bucket", "2"}, {"changelog-producer", "input"}}},
        Shape{"thin",
              {LogicalType::BigInt()},
              {},
              {{"bucket", "2"}, {"data-file.thin-mode", "true"}}},
        Shape{"dynamic", {LogicalType::String()}, {}, {{"dynamic-bucket.target-row-num", "17"}}},
        Shape{"dynamic_partitioned",
              {LogicalType::Int(), LogicalType::SmallInt()},
              {"k1"},
              {{"dynamic-bucket.target-row-num", "9"}}},
        Shape{"append", {}, {}, {}},
        Shape{"append_buckets", {}, {}, {{"bucket", "2"}, {"bucket-key", "v4,v11"}}},
        Shape{"append_partitioned", {}, {"v0"}, {}}),
    [](const auto& shape) { return std::string(shape.param.name); });

TEST(WriterEvolutionTest, OldFilesAreReadUnderTheNewSchema) {
  PaimonRig rig(std::make_shared<MemoryStore>(),
                SchemaOf({"", {LogicalType::BigInt()}, {}, {{"bucket", "2"}}}), 5);
  const auto write = [&] {
    rig.WriteRandomChanges(60, 200);
    rig.Commit();
    ASSERT_EQ(rig.Read(), rig.Expected());
  };
  write();
  const std::vector<std::string> first = rig.Expected();
  const auto field = [](PaimonSchema* schema, const std::string& name) -> PaimonField& {
    return schema->fields[static_cast<size_t>(schema->IndexOf(name))];
  };
  rig.Evolve([&](PaimonSchema* schema) {
    PaimonField added;
    added.id = ++schema->highest_field_id;
    added.name = "added";
    added.type = LogicalType::String();
    schema->fields.insert(schema->fields.begin(), added);
  });
  ASSERT_EQ(rig.Read(), rig.Expected());
  write();
  rig.Evolve([&](PaimonSchema* schema) {
    // A swap of names: identity is the id.
    std::swap(field(schema, "v3").name, field(schema, "v4").name);
    field(schema, "v11").name = "renamed";
  });
  ASSERT_EQ(rig.Read(), rig.Expected());
  write();
  rig.Evolve([&](PaimonSchema* schema) {
    std::erase_if(schema->fields, [](const PaimonField& f) { return f.name == "v12"; });
    PaimonField again;
    again.id = ++schema->highest_field_id;
    again.name = "v12";
    again.type = LogicalType::Int();
    schema->fields.push_back(again);
  });
  ASSERT_EQ(rig.Read(), rig.Expected());
  write();
  rig.Evolve([&](PaimonSchema* schema) {
    // v4 is called so by the field that was INT.
    field(schema, "v4").type = LogicalType::BigInt();
    field(schema, "v2").type = LogicalType::Int();
    field(schema, "v7").type = LogicalType::Decimal(20, 2);
    field(schema, "v10").type = LogicalType::String();
    field(schema, "v21").type = LogicalType::Int();
  });
  write();
  // Time travel shows the first snapshot under its own schema.
  EXPECT_EQ(rig.Read(1), first);
}

TEST(WriterSequenceTest, ContinuesBehindTheLiveFiles) {
  auto store = std::make_shared<MemoryStore>();
  PaimonRig rig(store, SchemaOf({"", {LogicalType::BigInt()}, {}, {{"bucket", "1"}}}), 9);
  for (int i = 0; i < 4; ++i) {
    rig.WriteRandomChanges(10, 5);
    rig.Commit();
    rig.Restart();
  }
  const auto live = rig.table().LiveFiles(**rig.table().LatestSnapshot());
  ASSERT_TRUE(live.has_value());
  int64_t next = 0;
  std::vector<DataFileMeta> files;
  for (const ManifestEntry& entry : *live) files.push_back(entry.file);
  std::sort(files.begin(), files.end(), [](const DataFileMeta& a, const DataFileMeta& b) {
    return a.min_sequence_number < b.min_sequence_number;
  });
  ASSERT_EQ(files.size(), 4u);
  for (const DataFileMeta& file : files) {
    EXPECT_GE(file.min_sequence_number, next);
    next = file.max_sequence_number + 1;
  }
}

TEST(WriterRefusalTest, AppendTablesRefuseUpdatesWithoutAWholeBeforeImage) {
  PaimonSchema schema = SchemaOf({"", {}, {}, {}});
  PaimonRig rig(std::make_shared<MemoryStore>(), schema, 1);
  auto source = rig.Source();
  auto format = DataFileFormat::Make(schema, rig.Evolved());
  ASSERT_TRUE(format.has_value());
  WriterSetup setup{rig.table(), *format, std::make_shared<TableState>(), nullptr, 0, 1, 1 << 20};
  auto writer = MakePaimonWriter(std::move(setup), {.identity = rig.Identity()});
  ASSERT_TRUE(writer.has_value());
  ChangeBatchBuilder builder(source, 0);
  builder.BeginRow(Op::kUpdate, Point{0, 0, 1, 0, 0}, 0);
  for (size_t i = 0; i < source->columns.size(); ++i) {
    testing::AppendRandomValue(source->columns[i].type, &rig.random(),
                               &builder.after(static_cast<int>(i)));
  }
  builder.EndRow();
  const Projection projection =
      Projection::Make(*source, rig.Evolved(), OnCastFailure::kFail, OnNullViolation::kFail);
  const std::vector<uint32_t> rows = {0};
  const auto written = (*writer)->Write(builder.Seal(), projection, rows);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind(), ErrorKind::kInvalidInput);
  EXPECT_NE(written.error().ToString().find("no whole before image"), std::string::npos);
}

TEST(WriterRefusalTest, ARowThatIsNowhereCannotLeaveSilently) {
  PaimonSchema schema = SchemaOf({"", {}, {}, {}});
  PaimonRig rig(std::make_shared<MemoryStore>(), schema, 1);
  const TableSchemaPtr source = rig.Source();
  const auto format = DataFileFormat::Make(schema, rig.Evolved());
  ASSERT_TRUE(format.has_value());
  std::vector<std::string> warnings;
  WriterSetup setup{.table = rig.table(),
                    .format = *format,
                    .state = std::make_shared<TableState>(),
                    .warn = [&](const Error& error) { warnings.push_back(error.ToString()); }};
  auto writer = MakePaimonWriter(std::move(setup), {.identity = rig.Identity()});
  ASSERT_TRUE(writer.has_value());
  ChangeBatchBuilder builder(source, 0);
  builder.BeginRow(Op::kDelete, Point{0, 0, 1, 0, 0}, 0);
  for (size_t i = 0; i < source->columns.size(); ++i) {
    testing::AppendRandomValue(source->columns[i].type, &rig.random(),
                               &builder.before(static_cast<int>(i)));
  }
  builder.EndRow();
  const Projection projection =
      Projection::Make(*source, rig.Evolved(), OnCastFailure::kFail, OnNullViolation::kFail);
  const std::vector<uint32_t> rows = {0};
  ASSERT_TRUE((*writer)->Write(builder.Seal(), projection, rows).has_value());
  ASSERT_TRUE((*writer)->Prepare(1).has_value());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("1 updated or deleted rows"), std::string::npos) << warnings[0];
}

TEST(WriterRefusalTest, TablesThatNeedMoreThanWeDoAreNamed) {
  struct Case {
    std::map<std::string, std::string> options;
    std::vector<std::string> partitions;
    std::vector<std::string> primary_key;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{{"merge-engine", "aggregation"}}, {}, {"k0"}, "merge-engine"},
      {{{"sequence.field", "v1"}}, {}, {"k0"}, "sequence.field"},
      {{{"deletion-vectors.enabled", "true"}}, {}, {"k0"}, "deletion-vectors"},
      {{{"bucket", "-2"}}, {}, {"k0"}, "postponed"},
      {{{"bucket", "zero"}}, {}, {"k0"}, "'zero'"},
      {{{"bucket", "0"}}, {}, {"k0"}, "'0'"},
      {{{"file.format", "orc"}}, {}, {"k0"}, "orc"},
      {{{"bucket", "-1"}}, {"v1"}, {"k0"}, "cross-partition"},
      {{{"changelog-producer", "lookup"}}, {}, {"k0"}, "changelog-producer"},
      {{{"bucket", "2"}}, {"k0"}, {"k0"}, "partition by fewer"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.says);
    PaimonSchema schema = SchemaOf({"", {LogicalType::BigInt()}, c.partitions, c.options});
    EvolvedSchema evolved;
    for (const PaimonField& field : schema.fields) {
      EvolvedColumn column;
      column.sink.name = field.name;
      column.sink.type = field.type;
      evolved.columns.push_back(column);
    }
    evolved.primary_key = c.primary_key;
    evolved.partition_keys = c.partitions;
    const auto layout = KeyLayout::Make(evolved, c.options);
    ASSERT_FALSE(layout.has_value());
    EXPECT_EQ(layout.error().kind(), ErrorKind::kUnsupported);
    EXPECT_NE(layout.error().ToString().find(c.says), std::string::npos)
        << layout.error().ToString();
  }
}

}  // namespace
}  // namespace driftless::paimon
