#include <algorithm>

#include "config/expr/lexer.h"
#include "config/sql/alter_table.h"
#include "config/sql/schema_check.h"

namespace driftless::flink {
namespace {

std::string ExceptionClass(std::string_view name) {
  return "org.apache.flink.table.catalog.exceptions." + std::string(name);
}

std::string SpecText(const OptionList& values) {
  std::string text;
  for (const auto& [key, value] : values) text += (text.empty() ? "" : ", ") + key + "=" + value;
  return "CatalogPartitionSpec{{" + text + "}}";
}

OptionList Sorted(OptionList values) {
  std::sort(values.begin(), values.end());
  return values;
}

auto FindPartition(TableEntry* table, const OptionList& values) {
  const OptionList wanted = Sorted(values);
  return std::find_if(table->partitions.begin(), table->partitions.end(),
                      [&](const OptionList& each) { return Sorted(each) == wanted; });
}

Result<void> CheckLiterals(const std::vector<PartitionSpec>& partitions) {
  for (const PartitionSpec& partition : partitions) {
    if (partition.not_literal.empty()) continue;
    return SqlError("java.lang.IllegalArgumentException",
                    "not a literal: " + partition.not_literal);
  }
  return {};
}

}  // namespace

Result<void> TableAlteration::AddPartitions() {
  DRIFTLESS_TRY(CheckLiterals(s_.partitions));
  TableEntry* table = session_.FindPermanent(name_);
  const std::string object = name_.database + "." + name_.object;
  if (table == nullptr) {
    return SqlError(
        ExceptionClass("TableNotExistException"),
        "Table (or view) " + object + " does not exist in Catalog " + name_.catalog + ".");
  }
  const std::string of_table = " of table " + object + " in catalog " + name_.catalog;
  if (table->partition_keys.empty()) {
    return SqlError(ExceptionClass("TableNotPartitionedException"),
                    "Table " + object + " in catalog " + name_.catalog + " is not partitioned.");
  }
  for (const PartitionSpec& partition : s_.partitions) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : partition.values) keys.push_back(key);
    std::vector<std::string> wanted = table->partition_keys;
    std::sort(keys.begin(), keys.end());
    std::sort(wanted.begin(), wanted.end());
    if (keys != wanted) {
      return SqlError(ExceptionClass("PartitionSpecInvalidException"),
                      "PartitionSpec " + SpecText(partition.values) +
                          " does not match partition keys [" + Join(table->partition_keys) + "]" +
                          of_table + ".");
    }
    if (FindPartition(table, partition.values) != table->partitions.end()) {
      if (s_.cascade) continue;  // IF NOT EXISTS
      return SqlError(ExceptionClass("PartitionAlreadyExistsException"),
                      "Partition " + SpecText(partition.values) + of_table + " already exists.");
    }
    table->partitions.push_back(partition.values);
    ++session_.changes_;  // kept even if a later partition fails
  }
  return {};
}

Result<void> TableAlteration::DropPartitions() {
  DRIFTLESS_TRY(CheckLiterals(s_.partitions));
  TableEntry* table = session_.FindPermanent(name_);
  for (const PartitionSpec& partition : s_.partitions) {
    if (table != nullptr) {
      const auto found = FindPartition(table, partition.values);
      if (found != table->partitions.end()) {
        table->partitions.erase(found);
        ++session_.changes_;
        continue;
      }
    }
    if (s_.cascade) continue;  // IF EXISTS
    return SqlError(ExceptionClass("PartitionNotExistException"),
                    "Partition " + SpecText(partition.values) + " of table " + name_.database +
                        "." + name_.object + " in catalog " + name_.catalog + " does not exist.");
  }
  return {};
}

}  // namespace driftless::flink
