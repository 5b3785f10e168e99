#include "schema/policy/policy.h"

#include <gtest/gtest.h>

namespace driftless {
namespace {

TEST(PolicyWordsTest, BehavioursAreReadInAnyLetterCase) {
  EXPECT_EQ(ParseBehavior("try_evolve"), Behavior::kTryEvolve);
  EXPECT_EQ(ParseBehavior("LENIENT"), Behavior::kLenient);
  EXPECT_EQ(ParseBehavior("Exception"), Behavior::kException);
  EXPECT_EQ(ParseBehavior("tryevolve"), std::nullopt);
  EXPECT_EQ(ToString(Behavior::kIgnore), "IGNORE");
}

TEST(PolicyWordsTest, VerdictWordsComeBack) {
  for (const auto* word : {"apply", "rewrite", "skip", "ignore", "hold", "fail"}) {
    ASSERT_TRUE(ParseVerdictKind(word).has_value()) << word;
    EXPECT_EQ(ToString(*ParseVerdictKind(word)), word);
  }
  EXPECT_FALSE(ParseVerdictKind("never").has_value());
}

TEST(PolicyWordsTest, FamiliesAreThoseOfThePolicy) {
  using K = EventKind;
  const auto named = [](std::string_view word) { return EventsNamed(word).value(); };
  EXPECT_EQ(named("create"), std::set<K>({K::kCreateTable}));
  EXPECT_EQ(named("drop"), std::set<K>({K::kDropTable, K::kDropColumn}));
  EXPECT_EQ(named("truncate"), std::set<K>({K::kTruncateTable}));
  EXPECT_EQ(named("alter"),
            std::set<K>({K::kAlterColumnType, K::kRelaxNullability, K::kAlterColumnPosition}));
  EXPECT_EQ(named("comment"), std::set<K>({K::kAlterColumnComment, K::kAlterTableComment}));
  EXPECT_EQ(named("table"), std::set<K>({K::kCreateTable, K::kDropTable, K::kTruncateTable,
                                         K::kAlterTableComment}));
  EXPECT_EQ(named("column").size(), 7u);
  EXPECT_EQ(named("all").size(), 11u);
  EXPECT_EQ(named("add.column"), std::set<K>({K::kAddColumn}));
  EXPECT_EQ(EventsNamed("tighten.nullability"), std::nullopt);
  EXPECT_EQ(EventsNamed("key.change"), std::nullopt);
  EXPECT_EQ(EventsNamed("Add.Column"), std::nullopt);
}

TEST(PolicyWordsTest, EveryWordNamesEvents) {
  for (std::string_view word : EventWords()) EXPECT_TRUE(EventsNamed(word).has_value()) << word;
  EXPECT_EQ(EventWords().size(), 21u);
  EXPECT_EQ(SinkPolicy().accepted, AllEvents());
}

}  // namespace
}  // namespace driftless
