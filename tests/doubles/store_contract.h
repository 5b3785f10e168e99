#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "sinks/clients/objectstore/object_store.h"

namespace driftless {

// What every object store promises (sinks/clients/objectstore/object_store.h).
inline void CheckStoreContract(ObjectStore* store) {
  ASSERT_TRUE(store->Probe()) << store->Probe().error().ToString();
  EXPECT_TRUE(store->List("", ObjectStore::Depth::kAll)->empty()) << "the probe left something";

  EXPECT_EQ(store->Read("a/none").error().kind(), ErrorKind::kNotFound);
  EXPECT_FALSE(*store->Exists("a/none"));
  EXPECT_TRUE(store->List("a", ObjectStore::Depth::kDirect)->empty());
  EXPECT_TRUE(store->Delete("a/none"));

  const std::string odd = "d b.db/k=v%2F ä/x+y&z";
  std::string bytes("\0<>&\"\xff bytes", 12);
  ASSERT_TRUE(store->Put(odd, bytes));
  EXPECT_EQ(*store->Read(odd), bytes);
  ASSERT_TRUE(store->Put(odd, "new"));
  EXPECT_EQ(*store->Read(odd), "new");
  ASSERT_TRUE(store->Put("a/empty", ""));
  EXPECT_EQ(*store->Read("a/empty"), "");

  ASSERT_TRUE(store->Put("a/range", "0123456789"));
  EXPECT_EQ(*store->ReadRange("a/range", 3, 4), "3456");
  EXPECT_EQ(*store->ReadRange("a/range", 10, 0), "");
  EXPECT_EQ(store->ReadRange("a/range", 8, 4).error().kind(), ErrorKind::kInvalidInput);
  EXPECT_EQ(store->ReadRange("a/none", 0, 4).error().kind(), ErrorKind::kNotFound);

  const auto info = *store->Stat("a/range");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->size, 10);
  EXPECT_FALSE(info->is_directory);
  EXPECT_TRUE((*store->Stat("a"))->is_directory);

  ASSERT_TRUE(store->CreateExclusive("a/once", "first"));
  EXPECT_EQ(store->CreateExclusive("a/once", "second").error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_EQ(*store->Read("a/once"), "first");
  const std::vector<NewObject> objects = {{"a/b/1", "x"}, {"a/once", "y"}, {"c/2", "z"}};
  const std::vector<Result<void>> created = store->CreateExclusive(objects);
  ASSERT_EQ(created.size(), 3U);
  EXPECT_TRUE(created[0] && created[2]);
  EXPECT_EQ(created[1].error().kind(), ErrorKind::kAlreadyExists);

  const auto paths = [&](const std::string& directory, ObjectStore::Depth depth) {
    std::vector<std::string> names;
    const std::vector<ListedObject> listed = *store->List(directory, depth);
    for (const ListedObject& entry : listed) {
      names.push_back(entry.path + (entry.is_directory ? "/" : ""));
    }
    return names;
  };
  EXPECT_THAT(paths("a", ObjectStore::Depth::kDirect),
              testing::ElementsAre("a/b/", "a/empty", "a/once", "a/range"));
  EXPECT_THAT(paths("", ObjectStore::Depth::kAll),
              testing::ElementsAre("a/b/1", "a/empty", "a/once", "a/range", "c/2", odd));
  EXPECT_THAT(paths("", ObjectStore::Depth::kDirect), testing::ElementsAre("a/", "c/", "d b.db/"));

  // Longer than two parts of an S3 upload.
  std::string large;
  for (int i = 0; large.size() < (17U << 20); ++i) {
    large += std::to_string(i);
    large.append(10'000, static_cast<char>('a' + i % 26));
  }
  {
    auto writer = *store->OpenWriter("w/large");
    ASSERT_TRUE(writer->Append(large.substr(0, 3)));
    ASSERT_TRUE(writer->Append(large.substr(3)));
    EXPECT_EQ(writer->size(), static_cast<int64_t>(large.size()));
    EXPECT_FALSE(*store->Exists("w/large")) << "visible before Finish";
    ASSERT_TRUE(writer->Finish());
  }
  EXPECT_TRUE(*store->Read("w/large") == large);
  {
    auto writer = *store->OpenWriter("w/small");
    ASSERT_TRUE(writer->Finish());
    auto abandoned = *store->OpenWriter("w/abandoned");
    ASSERT_TRUE(abandoned->Append(large));
  }
  EXPECT_THAT(paths("w", ObjectStore::Depth::kDirect), testing::ElementsAre("w/large", "w/small"));
  EXPECT_TRUE(store->SyncAll());

  // Of many that create the same object, one succeeds.
  std::vector<std::thread> threads;
  std::vector<int> won(4, 0);
  for (size_t i = 0; i < won.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 3; ++n) {
        const std::string path = "race/" + std::to_string(n);
        if (store->CreateExclusive(path, std::to_string(i))) ++won[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won[0] + won[1] + won[2] + won[3], 3);

  for (const std::string& path : paths("", ObjectStore::Depth::kAll)) {
    ASSERT_TRUE(store->Delete(path));
  }
  EXPECT_TRUE(store->List("", ObjectStore::Depth::kAll)->empty());
}

}  // namespace driftless
