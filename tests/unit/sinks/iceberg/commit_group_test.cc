#include "sinks/iceberg/commit_group.h"

#include <gtest/gtest.h>

namespace driftless::iceberg {
namespace {

CommitToken Token(const std::string& table, CutId cut) {
  return {{"pipe", "lake", {"", "db", table}, cut, 1}, table + "#" + std::to_string(cut)};
}

TEST(CommitGroups, TheFirstTakesTheRestOfItsCutAlong) {
  CommitGroups groups;
  for (const char* table : {"a", "b", "c"}) groups.Sealed(Token(table, 1));
  groups.Sealed(Token("a", 2));
  std::vector<size_t> sizes;
  const auto commit = [&](std::span<const CommitToken> tokens) -> Result<void> {
    sizes.push_back(tokens.size());
    return {};
  };
  for (const char* table : {"b", "a", "c"}) EXPECT_TRUE(groups.Run(Token(table, 1), commit));
  EXPECT_TRUE(groups.Run(Token("a", 2), commit));
  // One of a former process, of which nothing is known.
  EXPECT_TRUE(groups.Run(Token("z", 1), commit));
  EXPECT_EQ(sizes, (std::vector<size_t>{3, 1, 1}));
}

TEST(CommitGroups, WhereOneFailsEachIsCommittedAlone) {
  CommitGroups groups;
  for (const char* table : {"a", "b"}) groups.Sealed(Token(table, 1));
  std::vector<size_t> sizes;
  const auto commit = [&](std::span<const CommitToken> tokens) -> Result<void> {
    sizes.push_back(tokens.size());
    if (tokens.size() > 1 || tokens[0].identity.table.table == "b") {
      return MakeError(ErrorKind::kCommitUnknown, "no answer");
    }
    return {};
  };
  EXPECT_TRUE(groups.Run(Token("a", 1), commit));
  EXPECT_FALSE(groups.Run(Token("b", 1), commit));
  EXPECT_FALSE(groups.Run(Token("b", 1), commit)) << "as often as the runtime asks";
  EXPECT_EQ(sizes, (std::vector<size_t>{2, 1, 1, 1}));
}

}  // namespace
}  // namespace driftless::iceberg
