#include "sinks/iceberg/metadata_files.h"

#include <gtest/gtest.h>

#include "tests/doubles/iceberg_rig.h"

namespace driftless::iceberg {
namespace {

using testing::IcebergRig;

// The names of the table's metadata files that end so.
std::vector<std::string> FilesWith(const IcebergRig& rig, std::string_view suffix) {
  std::vector<std::string> paths;
  const auto objects = *rig.store->List("db/t/metadata", ObjectStore::Depth::kDirect);
  for (const ListedObject& object : objects) {
    if (object.path.ends_with(suffix)) paths.push_back(object.path);
  }
  return paths;
}

void Set(const IcebergRig& rig, const std::string& key, const std::string& value) {
  const LoadedTable table = rig.Table();
  MetadataChange change;
  change.set_properties[key] = value;
  const CatalogCommit commit{rig.path, &table, &change};
  const auto done = rig.catalog->Commit({&commit, 1});
  ASSERT_TRUE(done[0]) << done[0].error().ToString();
}

TEST(MetadataFiles, CompressedOnesAreReadAndWritten) {
  IcebergRig::Shape shape;
  shape.properties["write.metadata.compression-codec"] = "GZIP";
  IcebergRig rig(std::make_shared<MemoryStore>(), shape);
  for (int commit = 0; commit < 3; ++commit) rig.CommitRandom(20, 40);
  EXPECT_EQ(rig.Read(), rig.Expected());
  const std::vector<std::string> files = FilesWith(rig, ".gz.metadata.json");
  EXPECT_EQ(files.size(), 4u);
  EXPECT_EQ(files, FilesWith(rig, ".metadata.json"));
  for (const std::string& file : files) EXPECT_TRUE(rig.store->Read(file)->starts_with("\x1f\x8b"));
}

// One number is one file, whatever its name ends in; an old hint does not hide the newer ones.
TEST(MetadataFiles, ATableMayTurnToThem) {
  IcebergRig rig(std::make_shared<MemoryStore>(), {});
  rig.CommitRandom(20, 40);
  EXPECT_TRUE(FilesWith(rig, ".gz.metadata.json").empty());
  Set(rig, "write.metadata.compression-codec", "gzip");
  EXPECT_EQ(FilesWith(rig, "/v3.gz.metadata.json").size(), 1u);
  for (const char* hint : {"2", "3", "1", "77", "x"}) {
    ASSERT_TRUE(rig.store->PutHint("db/t/metadata/version-hint.text", hint));
    EXPECT_TRUE(rig.Table().metadata_location.ends_with("/v3.gz.metadata.json")) << hint;
  }
  rig.CommitRandom(20, 40);
  Set(rig, "write.metadata.compression-codec", "none");
  EXPECT_TRUE(rig.Table().metadata_location.ends_with("/v5.metadata.json"));
  rig.CommitRandom(20, 40);
  EXPECT_EQ(rig.Read(), rig.Expected());
}

TEST(MetadataFiles, DamageAndUnknownCodecsAreSaid) {
  IcebergRig::Shape shape;
  shape.properties["write.metadata.compression-codec"] = "gzip";
  const IcebergRig rig(std::make_shared<MemoryStore>(), shape);
  const LoadedTable table = rig.Table();
  const std::string path = *table.files.Path(table.metadata_location);
  const std::string whole = *rig.store->Read(path);
  for (const std::string& bytes :
       {whole.substr(0, whole.size() / 2), std::string("{}"), std::string()}) {
    ASSERT_TRUE(rig.store->Put(path, bytes));
    const auto read = ReadMetadataFile(table.files, table.metadata_location);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt);
  }
  TableMetadata odd = table.metadata;
  odd.properties["write.metadata.compression-codec"] = "lzo";
  ASSERT_FALSE(MetadataBytes(odd));
  EXPECT_EQ(MetadataBytes(odd).error().kind(), ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace driftless::iceberg
