// Walks the list of sinks: whatever is registered must be documented, decided and total.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "schema/policy/policy.h"
#include "sinks/api/component.h"

namespace driftless {
namespace {

class SinkRegistryTest : public testing::TestWithParam<const SinkComponent*> {};

std::vector<const SinkComponent*> Components() {
  std::vector<const SinkComponent*> components;
  for (const SinkComponent& component : AllSinks()) components.push_back(&component);
  return components;
}

INSTANTIATE_TEST_SUITE_P(Sinks, SinkRegistryTest, testing::ValuesIn(Components()),
                         [](const auto& param) { return std::string(param.param->type); });

TEST_P(SinkRegistryTest, TypeAndSummaryArePresent) {
  EXPECT_FALSE(GetParam()->type.empty());
  EXPECT_FALSE(GetParam()->summary.empty());
  ASSERT_NE(GetParam()->make_planner, nullptr);
}

TEST_P(SinkRegistryTest, EveryOptionIsDocumentedOnce) {
  std::set<std::string_view> keys;
  for (const OptionSpec& option : GetParam()->options) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key << " is declared twice";
    EXPECT_FALSE(option.doc.empty()) << option.key << " has no text";
    if (option.type == OptionType::kEnum) {
      EXPECT_FALSE(option.values.empty()) << option.key << " names no values";
    }
    for (std::string_view alias : option.aliases) {
      EXPECT_TRUE(keys.insert(alias).second) << alias << " is declared twice";
    }
  }
}

TEST_P(SinkRegistryTest, EveryEventOfTheMatrixIsKnownAndDecidedOnce) {
  if (GetParam()->matrix == nullptr) return;
  std::set<std::string_view> events;
  for (const Cell& cell : GetParam()->matrix->cells) {
    EXPECT_TRUE(events.insert(cell.event).second) << cell.event << " stands twice";
    std::string_view tag = cell.event;
    for (std::string_view finer : {".nullable", ".not_null"}) {
      if (tag.ends_with(finer)) tag.remove_suffix(finer.size());
    }
    EXPECT_TRUE(ParseEventTag(tag).has_value()) << cell.event << " is no event";
  }
  for (int i = 0; i <= static_cast<int>(EventKind::kAlterTableComment); ++i) {
    const std::string tag(Tag(static_cast<EventKind>(i)));
    bool found = false;
    for (std::string_view event : events) found |= event == tag || event.starts_with(tag + ".");
    // Kafka keeps no schema: what it has no cell for is ignored (policy, section 3).
    EXPECT_TRUE(found || GetParam()->type == "kafka") << tag << " has no cell";
  }
}

TEST_P(SinkRegistryTest, EveryTypeIsMappedOrRefusedWithAReason) {
  // A planner may need options that only a user can give; those are not this test's business.
  const auto planner = GetParam()->make_planner(OptionValues(GetParam()->options, {}));
  if (!planner.has_value()) GTEST_SKIP() << planner.error().ToString();
  const std::vector<LogicalType> types = {
      LogicalType::Boolean(),
      LogicalType::TinyInt(),
      LogicalType::SmallInt(),
      LogicalType::Int(),
      LogicalType::BigInt(),
      LogicalType::Float(),
      LogicalType::Double(),
      LogicalType::Decimal(1, 0),
      LogicalType::Decimal(38, 38),
      LogicalType::Char(1),
      LogicalType::Char(255),
      LogicalType::VarChar(1),
      LogicalType::VarChar(65535),
      LogicalType::String(),
      LogicalType::Binary(16),
      LogicalType::VarBinary(100),
      LogicalType::Bytes(),
      LogicalType::Date(),
      LogicalType::Time(0),
      LogicalType::Time(6),
      LogicalType::Time(9),
      LogicalType::Timestamp(0),
      LogicalType::Timestamp(6),
      LogicalType::Timestamp(9),
      LogicalType::TimestampLtz(3),
      LogicalType::TimestampLtz(9),
      LogicalType::TimestampTz(6),
      LogicalType::Array(LogicalType::Int()),
      LogicalType::Map(LogicalType::String().NotNull(), LogicalType::BigInt()),
      LogicalType::Multiset(LogicalType::String()),
      LogicalType::Row({{"a", LogicalType::Int(), ""}}),
      LogicalType::Variant()};
  for (const LogicalType& type : types) {
    for (const bool is_key : {false, true}) {
      const Result<LogicalType> mapped =
          (*planner)->MapType(is_key ? type.NotNull() : type, is_key);
      if (!mapped.has_value()) {
        EXPECT_EQ(mapped.error().kind(), ErrorKind::kUnsupported) << type.ToString();
        EXPECT_FALSE(mapped.error().message().empty()) << type.ToString();
        continue;
      }
      // A key column may be bounded where the source's is not; values that do not fit are found
      // before the load. Any other column must hold all that its source can.
      if (is_key) continue;
      EXPECT_TRUE((*planner)->Holds(*mapped, type))
          << mapped->ToString() << " for " << type.ToString();
    }
  }
}

}  // namespace
}  // namespace driftless
