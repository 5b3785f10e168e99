#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/options/option.h"
#include "schema/base/result.h"
#include "schema/model/table.h"

namespace driftless {
class ObjectStore;
}

namespace driftless::paimon {

// A sink block of type paimon, checked. The option keys are Flink CDC's.
struct PaimonOptions {
  std::map<std::string, std::string> catalog_properties;           // without "catalog.properties."
  std::string warehouse;                                           // catalog.properties.warehouse
  std::string commit_user_prefix;                                  // commit.user-prefix
  std::map<std::string, std::vector<std::string>> partition_keys;  // "db.table" -> columns
  std::map<std::string, std::string> table_properties;             // without "table.properties."

  // What `partition.key` says for a sink table, or null.
  const std::vector<std::string>* PartitionKeysOf(const TablePath& table) const;
};

// Every option of the sink block, declared once.
std::span<const OptionSpec> PaimonOptionSpecs();

// Errors: kInvalidConfig with the option's key, for table properties that Driftless cannot honour.
// The warehouse may be missing here: a planner needs none.
Result<PaimonOptions> ReadPaimonOptions(const OptionValues& values);

// Whether Driftless can write a table with these options so that every reader sees it rightly.
// Errors: kUnsupported that names the option. For `table.properties.*` and for tables that exist.
Result<void> CheckTableOptions(const std::map<std::string, std::string>& options);

// The warehouse that the options name. Nothing is contacted yet.
Result<std::shared_ptr<ObjectStore>> OpenWarehouse(const PaimonOptions& options);

}  // namespace driftless::paimon
