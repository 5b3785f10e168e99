// Tables whose partition spec was changed: files of several specs side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doubles/iceberg_rig.h"

namespace driftless::iceberg {
namespace {

using ::testing::HasSubstr;
using testing::IcebergRig;

const std::vector<PartitionField> kBuckets = {{1, 1000, "id_bucket", "bucket[3]"}};
const std::vector<PartitionField> kNotes = {{2, 1001, "note_trunc", "truncate[6]"}};
const std::vector<PartitionField> kVoid = {{1, 1000, "id_bucket", "void"}};

IcebergRig::Shape ShapeOf(bool has_key, bool partitioned, int format_version) {
  IcebergRig::Shape shape;
  shape.has_key = has_key;
  shape.partitioned = partitioned;
  shape.format_version = format_version;
  return shape;
}

// Every file stands under the spec of its own partition values.
void CheckPlaces(const IcebergRig& rig) {
  const LoadedTable table = rig.Table();
  const LiveFiles live = rig.Live();
  std::map<std::string, std::pair<int32_t, PartitionTuple>> places;
  for (const ManifestEntry& entry : live.data) {
    places[entry.file.path] = {entry.spec_id, entry.file.partition};
    EXPECT_EQ(entry.file.partition.size(), table.metadata.FindSpec(entry.spec_id)->fields.size());
  }
  for (const ManifestEntry& entry : live.deletes) {
    EXPECT_EQ(entry.file.partition.size(), table.metadata.FindSpec(entry.spec_id)->fields.size());
    if (entry.file.content != FileContent::kPositionDeletes) continue;
    // A position delete holds for files of its own spec and partition alone.
    const auto index = *DeleteIndex::Load(table, table.metadata.schema(), {entry});
    for (const auto& [path, positions] : index.positions) {
      if (!places.contains(path)) continue;
      EXPECT_EQ(places[path], std::pair(entry.spec_id, entry.file.partition)) << path;
    }
  }
}

size_t FilesUnder(const IcebergRig& rig, int32_t spec_id) {
  return static_cast<size_t>(std::ranges::count(rig.Live().data, spec_id, &ManifestEntry::spec_id));
}

class EvolvedSpecs : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Formats, EvolvedSpecs, ::testing::Values(2, 3));

// Rows leave files of every spec, and each file is compacted under its own.
TEST_P(EvolvedSpecs, RowsOfATableWithoutKey) {
  IcebergRig rig(std::make_shared<MemoryStore>(), ShapeOf(false, false, GetParam()));
  for (const auto* fields : {&kBuckets, &kNotes, static_cast<decltype(&kNotes)>(nullptr)}) {
    for (int commit = 0; commit < 6; ++commit) {
      rig.CommitRandom(30, 60);
      ASSERT_EQ(rig.Read(), rig.Expected());
      CheckPlaces(rig);
    }
    if (fields != nullptr) rig.Evolve(*fields);
  }
  const auto lineage = GetParam() == 3 ? rig.Lineage() : decltype(rig.Lineage())();
  EXPECT_EQ(FilesUnder(rig, 0), 6u);
  EXPECT_GT(rig.Compact().files_removed, 15);
  EXPECT_EQ(FilesUnder(rig, 0), 1u);
  EXPECT_EQ(FilesUnder(rig, 1), 3u);
  CheckPlaces(rig);
  EXPECT_EQ(rig.Read(), rig.Expected());
  if (GetParam() == 3) {
    EXPECT_EQ(rig.Lineage(), lineage);
  }
  for (int round = 0; round < 5; ++round) {
    for (int commit = 0; commit < 4; ++commit) rig.CommitRandom(30, 60);
    rig.Compact();
    CheckPlaces(rig);
    ASSERT_EQ(rig.Read(), rig.Expected());
  }
  EXPECT_EQ(rig.Compact().files_removed, 0) << "nothing is left to do";
}

// Deletes without partitions hold for the files of all specs: their keys stay while there are any.
TEST_P(EvolvedSpecs, KeysOfATableThatLostItsPartitions) {
  for (const auto& fields : {std::vector<PartitionField>(), kVoid}) {
    IcebergRig::Shape shape = ShapeOf(true, true, GetParam());
    // Files that are large for the table stay as they are, and with them the rows that deletes hit.
    if (fields.empty()) shape.properties["write.target-file-size-bytes"] = "600";
    IcebergRig rig(std::make_shared<MemoryStore>(), shape);
    for (int commit = 0; commit < 6; ++commit) rig.CommitRandom(30, 600);
    rig.Evolve(fields);
    for (int round = 0; round < 4; ++round) {
      for (int commit = 0; commit < 6; ++commit) {
        rig.CommitRandom(30, 600);
      }
      ASSERT_EQ(rig.Read(), rig.Expected());
      EXPECT_GT(rig.Compact().files_removed, 0);
      CheckPlaces(rig);
      ASSERT_EQ(rig.Read(), rig.Expected()) << "round " << round;
      const size_t files = rig.Live().data.size() + rig.Live().deletes.size();
      EXPECT_LE(files, fields.empty() ? 100u : 24u);
    }
    EXPECT_EQ(rig.Compact().files_removed, 0) << "nothing is left to do";
  }
}

// Somebody writes under the old spec between our commits: deletes that stand around its files must
// not come to hold for them.
TEST_P(EvolvedSpecs, FilesOfTheOldSpecThatCameLater) {
  IcebergRig rig(std::make_shared<MemoryStore>(), ShapeOf(true, true, GetParam()));
  rig.CommitRandom(30, 60);
  rig.Evolve({});
  for (int round = 0; round < 4; ++round) {
    for (const bool theirs : {false, false, true, false, false, false}) {
      if (theirs) {
        rig.CommitUnderSpec(0, 5, 60);
      } else {
        rig.CommitRandom(30, 60);
      }
      ASSERT_EQ(rig.Read(), rig.Expected());
    }
    rig.Compact();
    CheckPlaces(rig);
    ASSERT_EQ(rig.Read(), rig.Expected()) << "round " << round;
  }
}

// Deletes by key of a spec with partitions would leave the rows of other specs where they are.
TEST_P(EvolvedSpecs, KeysThatDeletesWouldNotReachAreRefused) {
  IcebergRig rig(std::make_shared<MemoryStore>(), ShapeOf(true, false, GetParam()));
  rig.Evolve({{1, 1000, "id_bucket", "bucket[4]"}});
  rig.CommitRandom(30, 60);  // nothing is there that would have to be reached
  EXPECT_EQ(rig.Read(), rig.Expected());
  IcebergRig other(std::make_shared<MemoryStore>(), ShapeOf(true, false, GetParam()));
  other.CommitRandom(30, 60);
  other.Evolve(kBuckets);
  const auto writer = other.OpenWriter();
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(writer.error().ToString(), HasSubstr("rewrite"));
}

// The row moves to no other partition because its update does not repeat the column.
TEST_P(EvolvedSpecs, AValueThatIsNotRepeatedStillPartitionsTheRow) {
  IcebergRig rig(std::make_shared<MemoryStore>(), ShapeOf(false, true, GetParam()));
  ChangeBatchBuilder builder(rig.source(), 0);
  builder.BeginRow(Op::kInsert, Point{0, 0, 1, 0, 0}, 0);
  builder.after(0).AppendInt(5);
  builder.after(1).AppendBytes("a");
  builder.EndRow();
  const CommitToken first = rig.Seal(builder.Seal());
  ASSERT_TRUE(rig.Committer().Commit({&first, 1}));
  builder.BeginRow(Op::kUpdate, Point{0, 0, 2, 0, 0}, 0);
  builder.before(0).AppendInt(5);
  builder.before(1).AppendBytes("a");
  builder.after(1).AppendBytes("b");
  builder.EndRow();
  const CommitToken second = rig.Seal(builder.Seal());
  ASSERT_TRUE(rig.Committer().Commit({&second, 1}));
  EXPECT_EQ(rig.Read(), std::vector<std::string>{"5 b"});
  const LiveFiles live = rig.Live();
  ASSERT_EQ(live.data.size(), 2u);
  EXPECT_EQ(live.data[0].file.partition, live.data[1].file.partition);
  EXPECT_TRUE(live.data[0].file.partition[0].has_value());
}

}  // namespace
}  // namespace driftless::iceberg
