#include <gtest/gtest.h>

#include <map>
#include <string>

#include "schema/events/change_batch_builder.h"
#include "sinks/clients/objectstore/memory_store.h"
#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/manifest.h"
#include "sinks/iceberg/partition.h"
#include "sinks/iceberg/single_value.h"

namespace driftless::iceberg {
namespace {

Field MakeField(int32_t id, std::string name, LogicalType type, std::string json) {
  Field field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  field.type_json = std::move(json);
  return field;
}

Schema Orders() {
  Schema schema;
  schema.fields = {MakeField(1, "id", LogicalType::BigInt().NotNull(), "\"long\""),
                   MakeField(2, "region", LogicalType::String(), "\"string\""),
                   MakeField(3, "amount", LogicalType::Decimal(12, 2), "\"decimal(12, 2)\"")};
  schema.identifier_ids = {1};
  return schema;
}

std::string Long(int64_t value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// Specification, appendix B.
TEST(IcebergFormat, BucketHashes) {
  EXPECT_EQ(Murmur3(Long(34)), 2017239379);
  EXPECT_EQ(Murmur3(DecimalBytes(1420)), -500754589);
  EXPECT_EQ(Murmur3(Long(17486)), -653330422);
  EXPECT_EQ(Murmur3(Long(81068000000)), -662762989);
  EXPECT_EQ(Murmur3(Long(1510871468000000)), -2047944441);
  EXPECT_EQ(Murmur3(Long(1510871468000001)), -1207196810);
  EXPECT_EQ(Murmur3("iceberg"), 1210000089);
  EXPECT_EQ(Murmur3(std::string("\0\1\2\3", 4)), -188683207);
}

TEST(IcebergFormat, DecimalBytesAreMinimal) {
  EXPECT_EQ(DecimalBytes(0), std::string(1, '\0'));
  EXPECT_EQ(DecimalBytes(127), "\x7f");
  EXPECT_EQ(DecimalBytes(128), std::string("\0\x80", 2));
  EXPECT_EQ(DecimalBytes(-1), "\xff");
  EXPECT_EQ(DecimalBytes(-129), "\xff\x7f");
  for (const __int128 value : {__int128{0}, __int128{-129}, __int128{123456789012345678}}) {
    EXPECT_TRUE(DecimalFromBytes(DecimalBytes(value)) == value);
  }
}

TEST(IcebergFormat, BoundsAreCutByCodePointsAndRaised) {
  const LogicalType text = LogicalType::String();
  EXPECT_EQ(TruncateLower(text, "äöüß", 2), "äö");
  EXPECT_EQ(TruncateUpper(text, "äöüß", 2), "ä÷");
  EXPECT_EQ(TruncateUpper(text, "ab", 2), "ab");
  EXPECT_EQ(TruncateUpper(text, "a\U0010ffffc", 2), "b");
  EXPECT_EQ(TruncateUpper(text, "\U0010ffff\U0010ffffc", 2), std::nullopt);
  EXPECT_EQ(TruncateUpper(text, "\ud7ffx", 1), "\ue000");
  EXPECT_EQ(TruncateUpper(LogicalType::Bytes(), "a\xff\xff", 2), "b");
  EXPECT_EQ(TruncateUpper(LogicalType::Bytes(), "\xff\xff\xff", 2), std::nullopt);
}

TEST(IcebergFormat, TransformsOfRows) {
  Schema schema;
  schema.fields = {MakeField(1, "id", LogicalType::Int(), "\"int\""),
                   MakeField(2, "ts", LogicalType::Timestamp(6), "\"timestamp\""),
                   MakeField(3, "s", LogicalType::String(), "\"string\"")};
  PartitionSpec spec;
  spec.fields = {{1, 1000, "id_trunc", "truncate[10]"}, {2, 1001, "ts_day", "day"},
                 {2, 1002, "ts_year", "year"},          {2, 1003, "ts_month", "month"},
                 {2, 1004, "ts_hour", "hour"},          {3, 1005, "s", "identity"}};
  const auto partitioner = Partitioner::Make(schema, spec, {0, 1, 2});
  ASSERT_TRUE(partitioner.has_value());
  auto source = std::make_shared<TableSchema>();
  for (const Field& field : schema.fields) source->AddColumn(field.name, field.type);
  ChangeBatchBuilder builder(source, 0);
  const auto add = [&](int64_t id, int64_t micros, bool null) {
    builder.BeginRow(Op::kInsert, Point{0, 0, 1, 0, 0}, 0);
    builder.after(0).AppendInt(id);
    builder.after(1).AppendInt(micros);
    null ? builder.after(2).AppendNull() : builder.after(2).AppendBytes("a b/ü");
    builder.EndRow();
  };
  add(-1, -1, false);
  add(17, 1510871468000001, true);  // 2017-11-16T22:31:08.000001
  const ChangeBatchPtr batch = builder.Seal();
  EXPECT_EQ(partitioner->Path(partitioner->Of(batch->after(), 0)),
            "id_trunc=-10/ts_day=1969-12-31/ts_year=1969/ts_month=-1/ts_hour=-1/s=a%20b%2F%C3%BC/");
  EXPECT_EQ(partitioner->Path(partitioner->Of(batch->after(), 1)),
            "id_trunc=10/ts_day=2017-11-16/ts_year=2017/ts_month=574/ts_hour=419686/s=null/");
}

TEST(IcebergFormat, ManifestsComeBack) {
  const Schema schema = Orders();
  PartitionSpec spec;
  spec.fields = {{2, 1000, "region", "identity"}, {3, 1001, "amount", "identity"}};
  ManifestEntry entry;
  entry.file.path = "file:///w/db/t/data/a.parquet";
  entry.file.partition = {std::string("EU"), DecimalBytes(-1420)};
  entry.file.record_count = 3;
  entry.file.size = 17;
  entry.file.value_counts = {{1, 3}};
  entry.file.lower_bounds = {{1, Long(1)}};
  entry.file.split_offsets = {4};
  ManifestEntry old = entry;
  old.status = EntryStatus::kExisting;
  old.snapshot_id = 5;
  old.sequence_number = 6;
  old.file_sequence_number = 7;
  old.file.partition = {std::nullopt, std::nullopt};
  const ManifestContext context{2, &schema, &spec, false};
  const auto bytes = EncodeManifest({entry, old}, context);
  ASSERT_TRUE(bytes.has_value());
  auto described = DescribeManifest({entry, old}, context);
  ASSERT_TRUE(described.has_value());
  EXPECT_EQ(described->added_rows, 3);
  EXPECT_TRUE(described->partitions[0].contains_null);
  EXPECT_EQ(described->partitions[0].lower, "EU");
  described->sequence_number = 9;
  described->added_snapshot_id = 11;
  const auto back = DecodeManifest(*bytes, *described);
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(back->size(), 2U);
  EXPECT_EQ((*back)[0].sequence_number, 9);  // inherited
  EXPECT_EQ((*back)[0].snapshot_id, 11);
  EXPECT_EQ((*back)[0].file.partition, entry.file.partition);
  EXPECT_EQ((*back)[0].file.lower_bounds, entry.file.lower_bounds);
  EXPECT_EQ((*back)[1].sequence_number, 6);
  EXPECT_EQ((*back)[1].file.partition, old.file.partition);
  Snapshot snapshot;
  const auto list = EncodeManifestList({*described}, 2, snapshot);
  ASSERT_TRUE(list.has_value());
  const auto lists = DecodeManifestList(*list);
  ASSERT_TRUE(lists.has_value());
  EXPECT_EQ((*lists)[0].partitions[1].upper, DecimalBytes(-1420));
  EXPECT_EQ((*lists)[0].added_files, 1);
}

TEST(IcebergFormat, HadoopCatalogLetsOneWriterWin) {
  auto store = std::make_shared<MemoryStore>();
  const auto catalog = MakeHadoopCatalog(store, SystemClock());
  const TablePath path{"", "db", "t"};
  NewTable created;
  created.schema = Orders();
  ASSERT_TRUE(catalog->Create(path, created).has_value());
  EXPECT_EQ(catalog->Create(path, created).error().kind(), ErrorKind::kAlreadyExists);
  const auto base = catalog->Load(path);
  ASSERT_TRUE(base.has_value() && base->has_value());
  MetadataChange change;
  change.set_properties = {{"a", "1"}};
  change.schema = (*base)->metadata.schema();
  change.schema->fields.push_back(MakeField(4, "note", LogicalType::String(), "\"string\""));
  change.last_column_id = 4;
  const CatalogCommit commit{path, &**base, &change};
  const auto first = catalog->Commit(std::span(&commit, 1));
  ASSERT_TRUE(first[0].has_value());
  EXPECT_EQ(catalog->Commit(std::span(&commit, 1))[0].error().kind(), ErrorKind::kConflict);
  const auto after = catalog->Load(path);
  ASSERT_TRUE(after.has_value() && after->has_value());
  const TableMetadata& metadata = (*after)->metadata;
  EXPECT_EQ(metadata.schema().fields.size(), 4U);
  EXPECT_EQ(metadata.schema().id, 1);
  EXPECT_EQ(metadata.last_column_id, 4);
  EXPECT_EQ(metadata.properties.at("a"), "1");
  EXPECT_EQ(metadata.metadata_log.size(), 1U);
  EXPECT_EQ(metadata.uuid, (*base)->metadata.uuid);
}

// A summary is carried as it stands, whatever another writer put into it, and read by name.
TEST(IcebergFormat, SummariesOfSnapshotsAreCarried) {
  const std::string summary =
      R"({"operation":"append","total-records":"7","note":"a \"b\" \\ \n é","odd":3})";
  const auto metadata = ParseMetadata(
      R"({"format-version":2,"table-uuid":"u","location":"file:///w/t","last-sequence-number":3,)"
      R"("last-updated-ms":5,"last-column-id":1,"current-schema-id":0,"schemas":[{"type":"struct",)"
      R"("schema-id":0,"fields":[{"id":1,"name":"l","required":false,"type":"int"}]}],)"
      R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],)"
      R"("last-partition-id":999,"current-snapshot-id":7,"snapshots":[{"snapshot-id":7,)"
      R"("sequence-number":3,"timestamp-ms":5,"manifest-list":"m","summary": )" +
      summary + "}]}");
  ASSERT_TRUE(metadata.has_value()) << metadata.error().ToString();
  const SnapshotSummary& read = metadata->snapshots[0].summary;
  EXPECT_EQ(read.Find("total-records"), "7");
  EXPECT_EQ(read.Find("note"), "a \"b\" \\ \n é");
  EXPECT_EQ(read.Find("odd"), "3");
  EXPECT_FALSE(read.Find("7").has_value()) << "a value is no name";
  EXPECT_TRUE(read.Says("operation", "append"));
  EXPECT_FALSE(read.Says("total-records", "append")) << "another name says it";
  EXPECT_NE(MetadataToJson(*metadata).find("\"summary\":" + summary), std::string::npos);
  EXPECT_EQ(SnapshotSummary().json(), "{}");
  const std::map<std::string, std::string> written = {{"a", "x\"y"}};
  EXPECT_EQ(SnapshotSummary(written).json(), R"({"a":"x\"y"})");
}

TEST(IcebergFormat, MetadataKeepsWhatOthersWrote) {
  const auto metadata = ParseMetadata(
      R"({"format-version":2,"table-uuid":"u","location":"file:///w/t","last-sequence-number":3,)"
      R"("last-updated-ms":5,"last-column-id":2,"current-schema-id":0,"schemas":[{"type":"struct",)"
      R"("schema-id":0,"fields":[{"id":1,"name":"l","required":false,"type":{"type":"list",)"
      R"("element-id":2,"element":"int","element-required":true}}]}],"default-spec-id":0,)"
      R"("partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
      R"("default-sort-order-id":1,"sort-orders":[{"order-id":1,"fields":[]}],)"
      R"("refs":{"tag":{"snapshot-id":7,"type":"tag"}},"statistics":[{"snapshot-id":7}]})");
  ASSERT_TRUE(metadata.has_value()) << metadata.error().ToString();
  EXPECT_EQ(metadata->schema().fields[0].type.kind(), TypeKind::kArray);
  const std::string json = MetadataToJson(*metadata);
  EXPECT_NE(json.find(R"("element-id":2)"), std::string::npos);
  EXPECT_NE(json.find(R"("tag":{"snapshot-id":7,"type":"tag"})"), std::string::npos);
  EXPECT_NE(json.find(R"("statistics":[{"snapshot-id":7}])"), std::string::npos);
  EXPECT_NE(json.find(R"("sort-orders":[{"order-id":1)"), std::string::npos);
  EXPECT_FALSE(ParseMetadata("{}").has_value());
  EXPECT_FALSE(ParseMetadata("not json").has_value());
}

}  // namespace
}  // namespace driftless::iceberg
