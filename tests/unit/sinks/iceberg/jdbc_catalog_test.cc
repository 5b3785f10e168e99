#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "sinks/iceberg/catalog.h"

namespace driftless::iceberg {
namespace {

class JdbcCatalogTest : public testing::Test {
 protected:
  JdbcCatalogTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~JdbcCatalogTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Catalog> Open(const std::string& name = "c") const {
    return *MakeJdbcCatalog({{"uri", "jdbc:sqlite:" + folder_ + "/catalog.db"},
                             {"warehouse", folder_ + "/warehouse"},
                             {"catalog-name", name}},
                            SystemClock());
  }
  static NewTable Table() {
    NewTable created;
    created.schema.fields = {{1, "id", LogicalType::BigInt().NotNull(), "\"long\"", "", "", ""}};
    return created;
  }

  const std::string folder_ = testing::TempDir() + "jdbc_catalog_test." + std::to_string(getpid());
  const TablePath path_{"", "db", "t"};
};

TEST_F(JdbcCatalogTest, TablesAreCreatedLoadedAndChanged) {
  const auto catalog = Open();
  ASSERT_TRUE(catalog->Connect());
  EXPECT_FALSE(catalog->Load(path_)->has_value());
  ASSERT_TRUE(catalog->Create(path_, Table()));
  EXPECT_EQ(catalog->Create(path_, Table()).error().kind(), ErrorKind::kAlreadyExists);
  const LoadedTable first = **catalog->Load(path_);
  EXPECT_THAT(first.metadata_location, testing::HasSubstr("/warehouse/db/t/metadata/00000-"));
  MetadataChange change;
  change.set_properties["k"] = "v";
  const CatalogCommit commit{path_, &first, &change};
  ASSERT_TRUE(catalog->Commit({&commit, 1}).front());
  // Another process sees it; a commit on the old state is too late and leaves no file.
  const auto other = Open();
  const LoadedTable second = **other->Load(path_);
  EXPECT_EQ(second.metadata.Property("k", ""), "v");
  EXPECT_THAT(second.metadata_location, testing::HasSubstr("/metadata/00001-"));
  EXPECT_EQ(second.metadata.metadata_log.back().file, first.metadata_location);
  EXPECT_EQ(other->Commit({&commit, 1}).front().error().kind(), ErrorKind::kConflict);
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder_ + "/warehouse/db/t/metadata")) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 2);
  EXPECT_FALSE(Open("another")->Load(path_)->has_value()) << "catalogs of one database are apart";
}

TEST_F(JdbcCatalogTest, WritersOfManyProcessesLoseNothing) {
  ASSERT_TRUE(Open()->Create(path_, Table()));
  const auto write = [&](int writer) {
    const auto catalog = Open();
    for (int i = 0; i < 20;) {
      const auto loaded = catalog->Load(path_);
      ASSERT_TRUE(loaded) << loaded.error().ToString();
      ASSERT_TRUE(*loaded);
      const LoadedTable& base = **loaded;
      MetadataChange change;
      change.set_properties[std::to_string(writer) + "." + std::to_string(i)] = "";
      const CatalogCommit commit{path_, &base, &change};
      if (catalog->Commit({&commit, 1}).front()) ++i;
    }
  };
  {
    std::jthread one([&] { write(1); });
    std::jthread two([&] { write(2); });
  }
  EXPECT_EQ((**Open()->Load(path_)).metadata.properties.size(), 40U);
}

TEST_F(JdbcCatalogTest, AFolderThatIsNotThereIsSaid) {
  const auto catalog = *MakeJdbcCatalog(
      {{"uri", "jdbc:sqlite:" + folder_ + "/no/catalog.db"}, {"warehouse", folder_}},
      SystemClock());
  const auto connected = catalog->Connect();
  ASSERT_FALSE(connected);
  EXPECT_THAT(connected.error().ToString(), testing::HasSubstr("catalog.properties.uri"));
}

TEST(JdbcCatalogOptions, AddressesThatAreNotUnderstoodAreSaid) {
  const auto error = [](const std::string& uri) {
    const auto made = MakeJdbcCatalog({{"uri", uri}, {"warehouse", "/w"}}, SystemClock());
    return made ? std::string() : made.error().ToString();
  };
  EXPECT_EQ(error("jdbc:postgresql://h:1,[::1]:2/db?sslmode=require&ApplicationName=a"), "");
  EXPECT_EQ(error("jdbc:postgresql:db"), "");
  EXPECT_THAT(error("jdbc:postgresql://h"), testing::HasSubstr("no database is named"));
  EXPECT_THAT(error("jdbc:postgresql://h/"), testing::HasSubstr("no database is named"));
  EXPECT_THAT(error("jdbc:postgresql://h/db?targetServerType=any"),
              testing::HasSubstr("targetServerType is not known"));
  EXPECT_THAT(error("jdbc:mysql://h/db"), testing::HasSubstr("jdbc:postgresql://"));
}

TEST(JdbcCatalogOptions, APasswordIsNoPartOfTheIdentity) {
  const auto catalog = MakeJdbcCatalog(
      {{"uri", "jdbc:postgresql://h/db?user=u&password=pw"}, {"warehouse", "/w"}}, SystemClock());
  ASSERT_TRUE(catalog);
  EXPECT_THAT((*catalog)->identity(), testing::Not(testing::HasSubstr("pw")));
}

}  // namespace
}  // namespace driftless::iceberg
