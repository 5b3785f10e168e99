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

TEST_P(IcebergOracleTest, ReadsWhatWeCompactedMergedAndExpired) {
  if (!IsPeerInstalled("oracle/iceberg")) GTEST_SKIP() << "the Java oracle is not installed";
  const std::filesystem::path warehouse =
      std::filesystem::temp_directory_path() /
      ("driftless-interop-" + std::to_string(getpid()) + "-iceberg-" + std::to_string(GetParam()));
  std::filesystem::remove_all(warehouse);
  std::filesystem::create_directories(warehouse);
  IcebergRig::Shape shape;
  shape.has_key = (GetParam() & 1) == 0;
  shape.partitioned = (GetParam() & 2) != 0;
  shape.properties["write.target-file-size-bytes"] = (GetParam() & 4) != 0 ? "2000" : "200000";
  shape.properties["history.expire.max-snapshot-age-ms"] = "9000";
  shape.properties["commit.manifest.min-count-to-merge"] = "7";
  IcebergRig rig(OpenLocalStore(warehouse), shape);
  for (int commit = 1; commit <= 26; ++commit) {
    rig.CommitRandom(40, 300);
    if (commit % 6 == 0) rig.Compact();
    if (commit % 6 == 0) rig.Expire();
  }
  const auto run = [&](const std::string& verb) {
    const PeerOutput output =
        RunPeer("./oracle iceberg " + verb + " --hadoop " + warehouse.string() + " db.t");
    EXPECT_EQ(output.status, 0) << output.text;
    return output.text;
  };
  run("check");
  std::istringstream lines(run("rows"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  std::vector<std::string> expected;
  for (const std::string& row : rig.Expected()) {
    const size_t space = row.find(' ');
    expected.push_back("{\"id\":" + row.substr(0, space) + ",\"note\":\"" + row.substr(space + 1) +
                       "\"}");
  }
  std::ranges::sort(rows);
  std::ranges::sort(expected);
  EXPECT_EQ(rows, expected);
  if (!::testing::Test::HasFailure()) std::filesystem::remove_all(warehouse);
}

}  // namespace
}  // namespace driftless
