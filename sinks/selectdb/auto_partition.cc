#include "sinks/selectdb/auto_partition.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "config/definition/selector.h"
#include "schema/base/letter_case.h"

namespace driftless::selectdb {
namespace {

constexpr std::string_view kOption = "table.create.auto-partition.properties.*";
// What date_trunc takes in a partition expression (Doris documentation, "Auto Partition").
constexpr std::array<std::string_view, 6> kUnits = {"year", "quarter", "month",
                                                    "week", "day",     "hour"};

struct Rules {
  std::optional<TableSelector> include;
  std::optional<TableSelector> exclude;
  std::map<std::string, std::string> texts;

  std::string Text(const TablePath& table, std::string_view word) const {
    const std::string own = table.database + "." + table.table + "." + std::string(word);
    if (const auto found = texts.find(own); found != texts.end()) return found->second;
    const auto shared = texts.find("default-" + std::string(word));
    return shared == texts.end() ? "" : shared->second;
  }

  std::optional<olap::RangePartition> Of(const SinkTable& table) const {
    if (exclude && exclude->Matches(table.path)) return std::nullopt;
    if (include && !include->Matches(table.path)) return std::nullopt;
    const std::string name = Text(table.path, "partition-key");
    const auto column = std::find_if(
        table.columns.begin(), table.columns.end(),
        [&](const SinkColumn& candidate) { return EqualsIgnoringCase(candidate.name, name); });
    if (column == table.columns.end()) return std::nullopt;
    const bool is_time = column->type.kind() == TypeKind::kDate || column->type.IsTimestamp();
    if (!is_time) return std::nullopt;
    return olap::RangePartition{column->name, LowerCase(Text(table.path, "partition-unit"))};
  }
};

Result<std::optional<TableSelector>> ReadSelector(const std::map<std::string, std::string>& texts,
                                                  const std::string& word) {
  const auto found = texts.find(word);
  if (found == texts.end() || found->second.empty()) return std::optional<TableSelector>();
  DRIFTLESS_ASSIGN_OR_RETURN(TableSelector selector, TableSelector::Parse(found->second));
  return std::optional(std::move(selector));
}

bool IsKnown(std::string_view name) {
  return name == "include" || name == "exclude" || name == "default-partition-key" ||
         name == "default-partition-unit" || name.ends_with(".partition-key") ||
         name.ends_with(".partition-unit");
}

Result<olap::AutoPartitionOf> Read(const std::map<std::string, std::string>& texts) {
  auto rules = std::make_shared<Rules>();
  rules->texts = texts;
  for (const auto& [name, value] : texts) {
    if (!IsKnown(name)) {
      return MakeError(ErrorKind::kInvalidConfig, name + " is not known")
          .Hint(
              "Known: include, exclude, default-partition-key, default-partition-unit, "
              "<database>.<table>.partition-key, <database>.<table>.partition-unit.");
    }
    if (!name.ends_with("partition-unit")) continue;
    if (std::find(kUnits.begin(), kUnits.end(), LowerCase(value)) == kUnits.end()) {
      return MakeError(ErrorKind::kInvalidConfig, name + ": " + value + " is no unit of partitions")
          .Hint("Known: year, quarter, month, week, day, hour.");
    }
  }
  // Each key needs a unit, its own or the default one.
  const bool has_unit = texts.count("default-partition-unit") > 0;
  for (const auto& [name, value] : texts) {
    if (!name.ends_with("partition-key") || has_unit) continue;
    const std::string unit = name.substr(0, name.size() - 3) + "unit";
    if (texts.count(unit) == 0) {
      return MakeError(ErrorKind::kInvalidConfig, name + " stands without " + unit);
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(rules->include, ReadSelector(texts, "include"));
  DRIFTLESS_ASSIGN_OR_RETURN(rules->exclude, ReadSelector(texts, "exclude"));
  return olap::AutoPartitionOf([rules](const SinkTable& table) { return rules->Of(table); });
}

}  // namespace

Result<olap::AutoPartitionOf> ReadAutoPartitions(const OptionValues& values) {
  const std::map<std::string, std::string> texts = values.Map(kOption);
  if (texts.empty()) return olap::AutoPartitionOf();
  auto rules = Read(texts);
  if (rules) return rules;
  const Location at = values.At(kOption);
  return std::move(rules)
      .error()
      .Context("table.create.auto-partition.properties")
      .At(at.line, at.column);
}

}  // namespace driftless::selectdb
