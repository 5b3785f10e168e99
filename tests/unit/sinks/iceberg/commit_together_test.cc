// Cuts of several tables in one transaction of a catalog whose word is not enough.
#include <gtest/gtest.h>

#include "tests/doubles/iceberg_rig.h"

namespace driftless::iceberg {
namespace {

using testing::IcebergRig;

// Commits tables together, and may do less than it says.
class Boastful : public Catalog {
 public:
  explicit Boastful(Catalog* inner) : inner_(inner) {}

  size_t really = 99;              // how many tables of a transaction it commits
  bool is_sure = false;            // what it says of itself
  int failing_looks = 0;           // so many loads after a transaction have no answer
  std::vector<size_t> sizes = {};  // of the commits that it got

  Result<std::string> Connect() override { return inner_->Connect(); }
  std::string identity() const override { return inner_->identity(); }
  bool CommitsTogether() const override { return true; }
  bool IsSureOfTogether() const override { return is_sure; }
  Result<std::optional<LoadedTable>> Load(const TablePath& table) override {
    if (!sizes.empty() && failing_looks > 0) {
      --failing_looks;
      return MakeError(ErrorKind::kUnavailable, "no answer");
    }
    return inner_->Load(table);
  }
  Result<void> Create(const TablePath& table, const NewTable& created) override {
    return inner_->Create(table, created);
  }
  std::vector<Result<void>> Commit(std::span<const CatalogCommit> commits) override {
    sizes.push_back(commits.size());
    std::vector<Result<void>> results(commits.size());
    if (commits.size() == 1) return inner_->Commit(commits);
    for (const auto& result : inner_->Commit(commits.first(std::min(really, commits.size())))) {
      EXPECT_TRUE(result) << result.error().ToString();
    }
    return results;
  }

 private:
  Catalog* inner_;
};

struct TwoTables {
  TwoTables() {
    for (IcebergRig* rig : {&t, &u}) tokens.push_back(rig->SealRandom(20, 40));
  }
  Result<void> Commit() {
    CommitSettings settings;
    settings.catalog = &catalog;
    settings.clock = &t.clock;
    settings.wait_ms = [](int64_t) {};
    settings.threads = 1;
    return IcebergCommitter(settings).Commit(tokens);
  }
  void ExpectOnce(const IcebergRig& rig) {
    EXPECT_EQ(rig.Read(), rig.Expected());
    EXPECT_EQ(rig.Table().metadata.snapshots.size(), 1u);
    EXPECT_EQ(rig.Stored(), rig.Reachable()) << "leftovers";
  }

  static IcebergRig::Shape Named(const char* table) {
    IcebergRig::Shape shape;
    shape.table = table;
    return shape;
  }
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  IcebergRig t{store, Named("t")};
  IcebergRig u{store, Named("u")};
  Boastful catalog{t.catalog.get()};
  std::vector<CommitToken> tokens;
};

TEST(CommitTogether, OneTransactionForAll) {
  TwoTables tables;
  ASSERT_TRUE(tables.Commit());
  EXPECT_EQ(tables.catalog.sizes, std::vector<size_t>{2});
  tables.ExpectOnce(tables.t);
  tables.ExpectOnce(tables.u);
}

// What a transaction left out although it said that it was done is committed afterwards.
TEST(CommitTogether, ATableThatWasLeftOutGoesAlone) {
  for (const size_t really : {0U, 1U}) {
    TwoTables tables;
    tables.catalog.really = really;
    ASSERT_TRUE(tables.Commit());
    EXPECT_EQ(tables.catalog.sizes.size(), 3 - really) << "the rest, one by one";
    tables.ExpectOnce(tables.t);
    tables.ExpectOnce(tables.u);
  }
}

// A look without an answer says nothing: it is repeated, and nothing is committed twice or deleted.
TEST(CommitTogether, ALookThatFailsIsRepeated) {
  for (const size_t really : {0U, 1U, 2U}) {
    for (const int failing : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(really) + " " + std::to_string(failing));
      TwoTables tables;
      tables.catalog.really = really;
      tables.catalog.failing_looks = failing;
      ASSERT_TRUE(tables.Commit());
      for (const IcebergRig* rig : {&tables.t, &tables.u}) {
        EXPECT_EQ(rig->Read(), rig->Expected());
        EXPECT_EQ(rig->Table().metadata.snapshots.size(), 1u);
        // What may have been committed, and was not, is left to the next start.
        ASSERT_TRUE(rig->Committer().CleanUp({"pipe", "lake", rig->path}, {}));
        EXPECT_TRUE(std::ranges::includes(rig->Stored(), rig->Reachable()));
      }
    }
  }
}

// Whoever says of itself that its word holds is not asked again.
TEST(CommitTogether, AWordThatHoldsIsBelieved) {
  TwoTables tables;
  tables.catalog.is_sure = true;
  tables.catalog.failing_looks = 1;
  ASSERT_TRUE(tables.Commit());
  EXPECT_EQ(tables.catalog.failing_looks, 1) << "somebody looked";
  tables.ExpectOnce(tables.t);
  tables.ExpectOnce(tables.u);
}

}  // namespace
}  // namespace driftless::iceberg
