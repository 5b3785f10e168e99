#include <gtest/gtest.h>

#include "sinks/clients/objectstore/object_store.h"
#include "tests/doubles/store_contract.h"
#include "tests/interop/peer.h"

namespace driftless {
namespace {

// One server program of tests/peers/s3.
class S3StoreTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string server = GetParam();
    bool installed = false;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(PeersDirectory() / "dist" / "s3", error)) {
      installed = installed || entry.path().filename().string().starts_with(server + "-");
    }
    if (!installed) GTEST_SKIP() << "the peer s3 (" << server << ") is not installed";
    command_ = "S3_SERVER=" + server + " PEERS_INSTANCE=store-test-" + server + " ./s3 ";
    const PeerOutput started = RunPeer(command_ + "start");
    ASSERT_EQ(started.status, 0) << started.text;
    variables_ = PeerVariables(started.text);
  }
  void TearDown() override {
    if (!command_.empty()) RunPeer(command_ + "wipe");
  }
  Result<std::shared_ptr<ObjectStore>> Open(const std::string& prefix,
                                            const std::string& secret = "") {
    return OpenObjectStore(
        "s3://" + variables_["S3_BUCKET"] + "/" + prefix,
        {{"s3.endpoint", variables_["S3_ENDPOINT"]},
         {"s3.access-key", variables_["AWS_ACCESS_KEY_ID"]},
         {"s3.secret-key", secret.empty() ? variables_["AWS_SECRET_ACCESS_KEY"] : secret},
         {"s3.path.style.access", "true"},
         {"s3.endpoint.region", "us-east-1"}});
  }

  std::string command_;
  std::map<std::string, std::string> variables_;
};
INSTANTIATE_TEST_SUITE_P(Servers, S3StoreTest, testing::Values("moto", "versitygw"));

TEST_P(S3StoreTest, KeepsTheContract) {
  const auto store = Open("some/prefix");
  ASSERT_TRUE(store) << store.error().ToString();
  CheckStoreContract(store->get());
}

TEST_P(S3StoreTest, LongListingsAreReadToTheirEnd) {
  const auto store = *Open("many");
  for (int i = 0; i < 1005; ++i) ASSERT_TRUE(store->Put("d/" + std::to_string(i), ""));
  EXPECT_EQ(store->List("d", ObjectStore::Depth::kDirect)->size(), 1005U);
}

TEST_P(S3StoreTest, AWrongSecretIsRefused) {
  if (GetParam() == "moto") GTEST_SKIP() << "moto accepts any secret";
  const auto store = *Open("x", "wrong");
  const Result<void> put = store->Put("a", "b");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().kind(), ErrorKind::kPermission);
}

}  // namespace
}  // namespace driftless
