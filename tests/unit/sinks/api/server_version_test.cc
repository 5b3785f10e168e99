#include "sinks/api/server_version.h"

#include <gtest/gtest.h>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

TEST(ServerVersionTest, ComparesByNumbers) {
  EXPECT_TRUE(IsOlderVersion("3.3.1-857dd73", "3.3.2"));
  EXPECT_FALSE(IsOlderVersion("3.3.2-857dd73", "3.3.2"));
  EXPECT_FALSE(IsOlderVersion("3.10.0", "3.3.2"));
  EXPECT_TRUE(IsOlderVersion("2.5", "2.5.7"));
}

TEST(ServerVersionTest, ExtensionsNeedANewEnoughServer) {
  SinkInfo info;
  info.product = "StarRocks";
  info.version = "3.2.11-abc";
  const auto check = [&](const char* extension) {
    return CheckExtensions(kStarRocksMatrix, {extension}, info);
  };
  EXPECT_TRUE(check("alter.column.type").has_value());
  const auto refused = check("rename.column");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(),
            "capability.extensions: rename.column needs StarRocks 3.3.2, and the server is "
            "3.2.11-abc");
  info.version = "3.3.2";
  EXPECT_TRUE(check("rename.column").has_value());
  info.version.clear();  // a server that does not say
  EXPECT_TRUE(check("rename.column").has_value());
}

}  // namespace
}  // namespace driftless
