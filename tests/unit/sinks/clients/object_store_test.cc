#include "sinks/clients/objectstore/object_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sinks/clients/objectstore/local_store.h"
#include "sinks/clients/objectstore/memory_store.h"
#include "sinks/clients/objectstore/s3_signature.h"
#include "sinks/clients/objectstore/xml_text.h"
#include "tests/doubles/store_contract.h"

namespace driftless {
namespace {

class LocalStoreTest : public testing::Test {
 protected:
  LocalStoreTest() {
    std::string name = (std::filesystem::temp_directory_path() / "driftless-store-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~LocalStoreTest() override { std::filesystem::remove_all(root_); }
  std::filesystem::path root_;
};

TEST_F(LocalStoreTest, KeepsTheContract) {
  CheckStoreContract(OpenLocalStore(root_.string() + "/new/folder/").get());
}

TEST_F(LocalStoreTest, LeavesNoTemporaryFiles) {
  const auto store = OpenLocalStore(root_.string());
  ASSERT_TRUE(store->CreateExclusive("t/one", "1"));
  ASSERT_FALSE(store->CreateExclusive("t/one", "2"));
  ASSERT_TRUE(store->Put("t/hint", "1"));
  {
    auto abandoned = *store->OpenWriter("t/data");
  }
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root_ / "t")) {
    names.insert(entry.path().filename().string());
  }
  EXPECT_THAT(names, testing::ElementsAre("hint", "one"));
}

// Alone or behind other writes: the ways to durability differ, the result does not.
TEST_F(LocalStoreTest, CreatesExclusivelyWhateverWasWrittenBefore) {
  const auto store = OpenLocalStore(root_.string());
  ASSERT_TRUE(store->CreateExclusive("new/folder/one", "1"));
  ASSERT_TRUE(store->CreateExclusive("new/folder/two", "2"));
  ASSERT_TRUE(store->Put("new/folder/data", "x"));
  ASSERT_TRUE(store->CreateExclusive("new/folder/three", "3"));
  EXPECT_EQ(store->CreateExclusive("new/folder/three", "4").error().kind(),
            ErrorKind::kAlreadyExists);
  EXPECT_EQ(store->CreateExclusive("new/folder/one", "4").error().kind(),
            ErrorKind::kAlreadyExists);
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
    if (entry.is_regular_file()) all += entry.path().filename().string() + ";";
  }
  EXPECT_EQ(std::ranges::count(all, ';'), 4) << all;
  EXPECT_EQ(*store->Read("new/folder/three"), "3");
}

TEST_F(LocalStoreTest, ErrorsNameTheFileAndTheReason) {
  std::ofstream(root_ / "file") << "x";
  const auto store = OpenLocalStore(root_.string());
  const Result<void> put = store->Put("file/below", "x");
  ASSERT_FALSE(put);
  EXPECT_NE(put.error().message().find((root_ / "file").string()), std::string::npos);
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ::chmod(root_.c_str(), 0500);
  EXPECT_EQ(store->Put("x", "x").error().kind(), ErrorKind::kPermission);
  ::chmod(root_.c_str(), 0700);
}

TEST(MemoryStoreTest, KeepsTheContract) {
  MemoryStore store;
  CheckStoreContract(&store);
}

TEST(MemoryStoreTest, APowerCutForgetsWhatWasNotSynced) {
  MemoryStore store;
  ASSERT_TRUE(store.Put("synced", "1"));
  ASSERT_TRUE(store.SyncAll());
  ASSERT_TRUE(store.Put("lost", "1"));
  ASSERT_TRUE(store.Delete("synced"));
  store.Restart(false, [] { return false; });
  EXPECT_TRUE(*store.Exists("lost"));  // a process that dies takes nothing along
  store.Restart(true, [] { return false; });
  EXPECT_FALSE(*store.Exists("lost"));
  EXPECT_TRUE(*store.Exists("synced"));
  ASSERT_TRUE(store.Put("kept", "1"));
  ASSERT_TRUE(store.CreateExclusive("new", "1"));  // orders what was before it
  store.Restart(true, [] { return false; });
  EXPECT_TRUE(*store.Exists("kept"));
  EXPECT_TRUE(*store.Exists("new"));
}

TEST(MemoryStoreTest, ACrashStopsEverything) {
  MemoryStore store;
  store.SetFaults([](MemoryStore::Operation, const std::string& path) {
    return path == "b" ? MemoryStore::Fault::kCrashAfter : MemoryStore::Fault::kNone;
  });
  ASSERT_TRUE(store.Put("a", "1"));
  EXPECT_FALSE(store.Put("b", "1"));
  EXPECT_FALSE(store.Read("a"));
  store.SetFaults(nullptr);
  store.Restart(false, [] { return false; });
  const auto exists = store.Exists("b");
  ASSERT_TRUE(exists.has_value());
  EXPECT_TRUE(*exists);
}

TEST(OpenObjectStoreTest, LocationsAreUnderstood) {
  const auto root = [](std::string_view location,
                       const std::map<std::string, std::string>& properties = {}) {
    const auto store = OpenObjectStore(location, properties);
    return store ? (*store)->root() : store.error().message();
  };
  const std::map<std::string, std::string> keys = {{"s3.access-key", "a"}, {"s3.secret-key", "b"}};
  EXPECT_EQ(root("/tmp/w"), "file:/tmp/w");
  EXPECT_EQ(root("file:///tmp/w/"), "file:/tmp/w");
  EXPECT_EQ(root("file:/tmp/w"), "file:/tmp/w");
  EXPECT_EQ(root("s3://bucket/some/prefix/", keys), "s3://bucket/some/prefix/");
  EXPECT_EQ(root("s3a://bucket", keys), "s3://bucket/");
  for (const std::string_view bad :
       {"", "hdfs://x/y", "s3://", "file://host/x", "oss://bucket/x"}) {
    const auto store = OpenObjectStore(bad, keys);
    ASSERT_FALSE(store) << bad;
    EXPECT_EQ(store.error().kind(), ErrorKind::kInvalidConfig) << bad;
  }
}

// The worked examples of "Signature Calculations for the Authorization Header" in the Amazon S3 API
// Reference.
TEST(S3SignatureTest, AgreesWithTheDocumentedExamples) {
  const S3Credentials credentials{"AKIAIOSFODNN7EXAMPLE",
                                  "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  S3Request get{"GET",
                "/test.txt",
                {},
                {{"host", "examplebucket.s3.amazonaws.com"}, {"range", "bytes=0-9"}},
                ""};
  SignS3Request(credentials, "us-east-1", "20130524T000000Z", &get);
  EXPECT_EQ(get.headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  S3Request list{"GET",
                 "/",
                 {{"max-keys", "2"}, {"prefix", "J"}},
                 {{"host", "examplebucket.s3.amazonaws.com"}},
                 ""};
  SignS3Request(credentials, "us-east-1", "20130524T000000Z", &list);
  EXPECT_THAT(
      list.headers["authorization"],
      testing::EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(XmlTextTest, TakesElementsAndEntities) {
  EXPECT_EQ(XmlText("<a><Code>x&amp;y&lt;</Code></a>", "Code"), "x&y<");
  EXPECT_EQ(XmlText("<a><Code>x", "Code"), std::nullopt);
  EXPECT_EQ(XmlElements("<k>1</k><k></k>", "k").size(), 2U);
  EXPECT_EQ(UriDecode(UriEncode("a b/ä%+", false)), "a b/ä%+");
}

}  // namespace
}  // namespace driftless
