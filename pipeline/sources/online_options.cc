#include "pipeline/sources/online_options.h"

#include <algorithm>

namespace driftless {
namespace {

constexpr std::string_view kShadows = "online-schema-change.shadow-tables";
constexpr std::string_view kLeftovers = "online-schema-change.leftover-tables";

Result<void> Add(const OptionValues& values, std::string_view key,
                 std::vector<std::string>* patterns) {
  for (std::string& pattern : values.List(key)) {
    if (std::count(pattern.begin(), pattern.end(), '*') != 1 || pattern.size() < 2) {
      return MakeError(ErrorKind::kInvalidConfig,
                       std::string(key) + ": \"" + pattern +
                           "\" must hold one * for the table's name, and something beside it")
          .At(values.At(key).line, values.At(key).column);
    }
    patterns->push_back(std::move(pattern));
  }
  return {};
}

}  // namespace

OptionSpec ShadowTablesOption() {
  return {.key = kShadows,
          .type = OptionType::kSequence,
          .doc =
              "Names of tables that an online schema change fills and then renames to the real "
              "table, where one * stands for the real table's name; beside _*_gho, _*_new and "
              "__osc_new_*, which are always known. Their rows are not new rows.",
          .change = OnChange::kNewState};
}

OptionSpec LeftoverTablesOption() {
  return {.key = kLeftovers,
          .type = OptionType::kSequence,
          .doc =
              "Names of the other tables of an online schema change, as where the real table "
              "goes, where one * stands for its name; beside _*_del, _*_old, _*_ghc, "
              "__osc_old_* and __osc_chg_*. They never reach a sink.",
          .change = OnChange::kNewState};
}

Result<OnlineSchemaChange::Patterns> ReadOnlinePatterns(const OptionValues& values) {
  OnlineSchemaChange::Patterns patterns;
  DRIFTLESS_TRY(Add(values, kShadows, &patterns.shadows));
  DRIFTLESS_TRY(Add(values, kLeftovers, &patterns.leftovers));
  return patterns;
}

}  // namespace driftless
