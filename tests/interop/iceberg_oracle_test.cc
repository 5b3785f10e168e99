#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "sinks/clients/objectstore/local_store.h"
#include "tests/doubles/iceberg_rig.h"
#include "tests/interop/peer.h"

namespace driftless {
namespace {

using testing::IcebergRig;

// What maintenance made of a table, read by the reference implementation. The parameter: keyed and
// partitioned, and whether files are large enough to stay, so that deletes become positions.
class IcebergOracleTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Shapes, IcebergOracleTest, ::testing::Values(0, 1, 6, 7));

class OnDisk {
 public:
  explicit OnDisk(const std::string& name)
      : warehouse_(std::filesystem::temp_directory_path() /
                   ("driftless-interop-" + std::to_string(getpid()) + "-iceberg-" + name)) {
    std::filesystem::remove_all(warehouse_);
    std::filesystem::create_directories(warehouse_);
  }
  ~OnDisk() {
    if (!::testing::Test::HasFailure()) std::filesystem::remove_all(warehouse_);
  }
  std::shared_ptr<ObjectStore> Store() const { return OpenLocalStore(warehouse_); }

  std::string Ask(const std::string& verb) const {
    const PeerOutput output =
        RunPeer("./oracle iceberg " + verb + " --hadoop " + warehouse_.string() + " db.t");
    EXPECT_EQ(output.status, 0) << output.text;
    return output.text;
  }
  // The reference implementation finds the table whole, and in it the rig's rows.
  void ExpectReadBack(const IcebergRig& rig) const {
    Ask("check");
    std::istringstream lines(Ask("rows"));
    std::vector<std::string> rows;
    for (std::string line; std::getline(lines, line);) rows.push_back(line);
    std::vector<std::string> expected;
    for (const std::string& row : rig.Expected()) {
      const size_t space = row.find(' ');
      expected.push_back("{\"id\":" + row.substr(0, space) + ",\"note\":\"" +
                         row.substr(space + 1) + "\"}");
    }
    std::ranges::sort(rows);
    std::ranges::sort(expected);
    EXPECT_EQ(rows, expected);
  }

 private:
  std::filesystem::path warehouse_;
};

TEST_P(IcebergOracleTest, ReadsWhatWeCompactedMergedAndExpired) {
  if (!IsPeerInstalled("oracle/iceberg")) GTEST_SKIP() << "the Java oracle is not installed";
  const OnDisk disk(std::to_string(GetParam()));
  IcebergRig::Shape shape;
  shape.has_key = (GetParam() & 1) == 0;
  shape.partitioned = (GetParam() & 2) != 0;
  shape.properties["write.target-file-size-bytes"] = (GetParam() & 4) != 0 ? "2000" : "200000";
  shape.properties["history.expire.max-snapshot-age-ms"] = "9000";
  shape.properties["commit.manifest.min-count-to-merge"] = "7";
  IcebergRig rig(disk.Store(), shape);
  for (int commit = 1; commit <= 26; ++commit) {
    rig.CommitRandom(40, 300);
    if (commit % 6 == 0) rig.Compact();
    if (commit % 6 == 0) rig.Expire();
  }
  disk.ExpectReadBack(rig);
}

// A table whose partition spec changes, and whose files are sorted: rows leave files of every spec,
// some of them by keys that hold for all specs.
TEST(IcebergOracle, ReadsFilesOfSeveralSpecsAndASortOrder) {
  if (!IsPeerInstalled("oracle/iceberg")) GTEST_SKIP() << "the Java oracle is not installed";
  for (const bool has_key : {true, false}) {
    const OnDisk disk(has_key ? "specs-key" : "specs");
    IcebergRig::Shape shape;
    shape.has_key = has_key;
    shape.partitioned = true;
    shape.format_version = has_key ? 2 : 3;
    if (!has_key) shape.properties["write.metadata.compression-codec"] = "gzip";
    shape.sort = {{2, "truncate[6]", true, false}, {1, "identity", false, true}};
    IcebergRig rig(disk.Store(), shape);
    for (int commit = 1; commit <= 21; ++commit) {
      rig.CommitRandom(40, 100);
      if (commit == 7) rig.Evolve({});
      if (commit == 14 && !has_key) rig.Evolve({{2, 1001, "note_trunc", "truncate[6]"}});
      if (commit == 5 || commit == 11 || commit == 18) rig.Compact();
    }
    disk.ExpectReadBack(rig);
    if (has_key) continue;
    const std::string table = disk.Ask("table");
    EXPECT_NE(table.find(R"("source-id":2,"direction":"desc","null-order":"nulls-last")"),
              std::string::npos)
        << table;
    const std::string files = disk.Ask("files");
    EXPECT_NE(files.find("\"sortOrderId\":1"), std::string::npos) << files;
  }
}

}  // namespace
}  // namespace driftless
