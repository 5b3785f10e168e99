#include "sinks/paimon/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "sinks/clients/objectstore/local_store.h"
#include "sinks/paimon/partition.h"
#include "sinks/paimon/table.h"
#include "tests/doubles/source_dir.h"

namespace driftless::paimon {
namespace {

const std::string kSamples = SourceDir() + "/tests/data/paimon/java-1.4.2";

PaimonTable Sample(const std::string& name) {
  return PaimonTable(OpenLocalStore(kSamples), "sample.db/" + name);
}

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << path;
  return lines;
}

class SampleTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tables, SampleTest, testing::Values("pk", "part", "app"));

TEST_P(SampleTest, SchemasAreReadAndWrittenBack) {
  const PaimonTable table = Sample(GetParam());
  EXPECT_THAT(*table.SchemaIds(), testing::ElementsAre(0, 1, 2, 3));
  const std::vector<int64_t> ids = *table.SchemaIds();
  for (const int64_t id : ids) {
    const Result<PaimonSchema> schema = table.Schema(id);
    ASSERT_TRUE(schema) << schema.error().ToString();
    EXPECT_EQ(schema->id, id);
    const Result<PaimonSchema> again = ParseSchemaJson(SchemaToJson(*schema));
    ASSERT_TRUE(again) << again.error().ToString();
    EXPECT_EQ(*again, *schema);
    // Nothing that Paimon wrote may be lost, whatever the order of members.
    const std::string original =
        *table.store()->Read(table.Path("schema/schema-" + std::to_string(id)));
    const auto squeeze = [](std::string text) {
      std::string result;
      bool quoted = false;
      for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
        if (quoted || (text[i] != ' ' && text[i] != '\n')) result += text[i];
      }
      return result;
    };
    // The order of options is free; everything before and behind them is as Paimon writes it.
    const auto without_options = [](const std::string& text) {
      const size_t begin = text.find("\"options\"");
      return text.substr(0, begin) + text.substr(text.find('}', begin));
    };
    EXPECT_EQ(without_options(SchemaToJson(*schema)), without_options(squeeze(original)));
  }
  const PaimonSchema latest = **table.LatestSchema();
  EXPECT_EQ(latest.id, 3);
  EXPECT_EQ(latest.highest_field_id, 24);
}

TEST_P(SampleTest, SnapshotsAreReadAndWrittenBack) {
  const PaimonTable table = Sample(GetParam());
  const std::vector<int64_t> ids = *table.SnapshotIds();
  for (const int64_t id : ids) {
    const Result<Snapshot> snapshot = table.SnapshotAt(id);
    ASSERT_TRUE(snapshot) << snapshot.error().ToString();
    EXPECT_EQ(snapshot->id, id);
    const Result<Snapshot> again = ParseSnapshotJson(SnapshotToJson(*snapshot));
    ASSERT_TRUE(again) << again.error().ToString();
    EXPECT_EQ(*again, *snapshot);
  }
  EXPECT_EQ((*table.LatestSnapshot())->id, table.SnapshotIds()->back());
}

TEST_P(SampleTest, ManifestsAreReadAndWrittenBack) {
  const PaimonTable table = Sample(GetParam());
  const std::vector<int64_t> ids = *table.SnapshotIds();
  for (const int64_t id : ids) {
    const Snapshot snapshot = *table.SnapshotAt(id);
    for (const std::string& name : {snapshot.base_manifest_list, snapshot.delta_manifest_list}) {
      const auto metas = table.ReadManifestList(name);
      ASSERT_TRUE(metas) << metas.error().ToString();
      for (const std::string_view codec : {"zstd", "none", "deflate"}) {
        EXPECT_EQ(*DecodeManifestList(*EncodeManifestList(*metas, codec)), *metas);
      }
      for (const ManifestFileMeta& meta : *metas) {
        const auto entries = table.ReadManifest(meta.file_name);
        ASSERT_TRUE(entries) << entries.error().ToString();
        EXPECT_EQ(static_cast<int64_t>(entries->size()),
                  meta.num_added_files + meta.num_deleted_files);
        for (const std::string_view codec : {"zstd", "none", "deflate"}) {
          EXPECT_EQ(*DecodeManifest(*EncodeManifest(*entries, codec)), *entries);
        }
        EXPECT_EQ(meta.partition_stats.null_counts.size(),
                  (*table.LatestSchema())->partition_keys.size());
      }
    }
  }
}

// The reference reader's own list of live files, made when the samples were.
TEST_P(SampleTest, LiveFilesAreThoseOfTheReference) {
  const PaimonTable table = Sample(GetParam());
  std::map<std::string, int64_t> expected;
  simdjson::dom::parser parser;
  for (const std::string& line : Lines(kSamples + "/" + GetParam() + ".files.jsonl")) {
    const simdjson::dom::element json = parser.parse(line);
    const std::string_view name = json["fileName"];
    expected[std::string(name)] = json["rowCount"].get_int64();
  }
  std::map<std::string, int64_t> live;
  const Result<std::vector<ManifestEntry>> entries = table.LiveFiles(**table.LatestSnapshot());
  ASSERT_TRUE(entries) << entries.error().ToString();
  for (const ManifestEntry& entry : *entries) {
    live[entry.file.file_name] = entry.file.row_count;
    const std::string directory = BucketDirectory(
        table.directory(), *PartitionPath(**table.LatestSchema(), entry.partition), entry.bucket);
    const auto info = table.store()->Stat(directory + "/" + entry.file.file_name);
    ASSERT_TRUE(info->has_value()) << directory;
    EXPECT_EQ((*info)->size, entry.file.file_size);
  }
  EXPECT_EQ(live, expected);
}

TEST(SchemaJsonTest, OldVersionsGetTheirOldDefaults) {
  constexpr std::string_view kV1 =
      R"({"id":0,"fields":[{"id":0,"name":"a","type":"INT"}],"highestFieldId":0,)"
      R"("partitionKeys":[],"primaryKeys":[],"options":{}})";
  const PaimonSchema schema = *ParseSchemaJson(kV1);
  EXPECT_EQ(schema.Buckets(), 1);
  EXPECT_EQ(schema.Option("file.format", ""), "orc");
}

TEST(SchemaJsonTest, NestedTypesKeepIdsNullabilityAndComments) {
  constexpr std::string_view kJson =
      R"({"version":3,"id":2,"fields":[{"id":0,"name":"k","type":"INT NOT NULL"},)"
      R"({"id":1,"name":"n","type":{"type":"ARRAY NOT NULL","element":{"type":"ROW NOT NULL",)"
      R"("fields":[{"id":2,"name":"x","type":"TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",)"
      R"("description":"d"},{"id":3,"name":"y","type":{"type":"MAP","key":"STRING NOT NULL",)"
      R"("value":{"type":"MULTISET","element":"INT"}}}]}},"description":"é \"q\"",)"
      R"("defaultValue":"[]"}],"highestFieldId":9,"partitionKeys":[],"primaryKeys":["k"],)"
      R"("options":{"a":"b"},"comment":"c","timeMillis":5})";
  const Result<PaimonSchema> schema = ParseSchemaJson(kJson);
  ASSERT_TRUE(schema) << schema.error().ToString();
  EXPECT_THAT(schema->fields[1].nested_ids, testing::ElementsAre(2, 3));
  EXPECT_EQ(schema->fields[1].type.ToString(),
            "ARRAY<ROW<`x` TIMESTAMP_LTZ(3) NOT NULL 'd', `y` MAP<STRING NOT NULL, MULTISET<INT>>> "
            "NOT NULL> NOT NULL");
  EXPECT_EQ(SchemaToJson(*schema), kJson);
}

TEST(SchemaJsonTest, BadSchemasAreRefused) {
  const std::string good =
      R"({"version":3,"id":0,"fields":[{"id":0,"name":"a","type":"INT"},{"id":1,"name":"b",)"
      R"("type":"INT"}],"highestFieldId":1,"partitionKeys":[],"primaryKeys":["a"],"options":{}})";
  ASSERT_TRUE(ParseSchemaJson(good));
  const std::pair<std::string, std::string> damages[] = {
      {R"("id":1)", R"("id":0)"},
      {R"("name":"b")", R"("name":"a")"},
      {R"("highestFieldId":1)", R"("highestFieldId":0)"},
      {R"("primaryKeys":["a"])", R"("primaryKeys":["c"])"},
      {R"("primaryKeys":["a"])", R"("primaryKeys":[1])"},
      {R"("type":"INT")", R"("type":"INTEGRAL")"},
      {R"("type":"INT")", R"("type":{"type":"ARRAY"})"},
      {R"("options":{})", R"("options":{"a":1})"},
      {R"("options":{})", R"("option":{})"}};
  for (const auto& [from, to] : damages) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    const Result<PaimonSchema> schema = ParseSchemaJson(bad);
    ASSERT_FALSE(schema) << bad;
    EXPECT_EQ(schema.error().kind(), ErrorKind::kCorrupt) << bad;
  }
  std::string newer = good;
  newer.replace(newer.find("3"), 1, "4");
  EXPECT_EQ(ParseSchemaJson(newer).error().kind(), ErrorKind::kUnsupported);
  std::string blob = good;
  blob.replace(blob.find("\"INT\""), 5, "\"BLOB\"");
  EXPECT_EQ(ParseSchemaJson(blob).error().kind(), ErrorKind::kUnsupported);
}

TEST(SnapshotJsonTest, MissingMembersAreNamed) {
  const Result<Snapshot> snapshot = ParseSnapshotJson(R"({"version":3,"id":1,"schemaId":0})");
  ASSERT_FALSE(snapshot);
  EXPECT_THAT(snapshot.error().message(), testing::HasSubstr("baseManifestList"));
}

TEST(ManifestTest, EveryMemberComesBack) {
  ManifestEntry entry;
  entry.kind = FileKind::kDelete;
  entry.bucket = -2;
  entry.total_buckets = 4;
  entry.file.file_name = "data-1.parquet";
  entry.file.key_stats.null_counts = {0, std::nullopt};
  entry.file.extra_files = {"x.index"};
  entry.file.creation_time_ms = 5;
  entry.file.delete_row_count = 2;
  entry.file.embedded_index = std::string("\0\1", 2);
  entry.file.file_source = FileSource::kCompact;
  entry.file.value_stats_cols = std::vector<std::string>{};
  entry.file.external_path = "s3://b/x";
  entry.file.first_row_id = 9;
  entry.file.write_cols = std::vector<std::string>{"a", "b"};
  EXPECT_EQ(DecodeManifest(*EncodeManifest({entry, ManifestEntry()}, "zstd"))->front(), entry);

  IndexManifestEntry index;
  index.index_type = "DELETION_VECTORS";
  index.file_name = "index-1";
  index.deletion_vectors = {{"data-1.parquet", 1, 22, std::nullopt}, {"d", 2, 3, 4}};
  EXPECT_EQ(*DecodeIndexManifest(*EncodeIndexManifest({index}, "none")),
            std::vector<IndexManifestEntry>{index});

  Committable committable{7, {entry}, {ManifestEntry()}, {index}};
  committable.kind = CommitKind::kOverwrite;  // it removes a file
  EXPECT_EQ(*DecodeCommittable(EncodeCommittable(committable)), committable);
  EXPECT_FALSE(DecodeCommittable("DLP1"));
  EXPECT_FALSE(DecodeCommittable("DLP1" + EncodeCommittable(committable)));
}

TEST(ManifestTest, DamagedManifestsNeverCrash) {
  const PaimonTable table = Sample("part");
  const Snapshot snapshot = **table.LatestSnapshot();
  const std::string name = table.ReadManifestList(snapshot.delta_manifest_list)->front().file_name;
  const std::string raw = *EncodeManifest(*table.ReadManifest(name), "none");
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = raw;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    (void)DecodeManifest(damaged);
    (void)DecodeManifestList(damaged);
    (void)DecodeIndexManifest(damaged);
  }
}

TEST(FileNamesTest, OwnedNamesAreRecognised) {
  const TablePath path{"", "db", "t"};
  const std::string owner = FileOwner("p", "s", path);
  EXPECT_EQ(owner, FileOwner("p", "s", path));
  EXPECT_NE(owner, FileOwner("p", "s2", path));
  EXPECT_NE(FileOwner("ab", "c", path), FileOwner("a", "bc", path));
  FileNames names(owner, 300, 2);
  const std::string first = names.Next("data", ".parquet");
  names.SetFirstCut(301);
  const std::string second = names.Next("manifest-list", "");
  EXPECT_NE(first, second);
  EXPECT_EQ(ParseOwnedName(first, owner)->first_cut, 300U);
  EXPECT_EQ(ParseOwnedName(second, owner)->first_cut, 301U);
  EXPECT_EQ(ParseOwnedName(second, owner)->attempt, 2U);
  EXPECT_EQ(ParseOwnedName("." + first + ".tmp", owner)->first_cut, 300U);
  EXPECT_FALSE(ParseOwnedName(first, FileOwner("p", "s2", path)));
  EXPECT_FALSE(ParseOwnedName("data-17c2f3e4-3431-4995-a821-344c36ab6989-0.parquet", owner));
  EXPECT_FALSE(ParseOwnedName("data-" + owner, owner));
}

TEST(PartitionTest, NamesAreEscapedAsPaimonDoes) {
  EXPECT_EQ(EscapePathName("a b/c=d:e%é{}"), "a b%2Fc%3Dd%3Ae%25é%7B%7D");
  EXPECT_EQ(BucketDirectory("d.db/t", "k=v/", -2), "d.db/t/k=v/bucket-postpone");
}

}  // namespace
}  // namespace driftless::paimon
