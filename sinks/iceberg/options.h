#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/options/option.h"
#include "sinks/iceberg/catalog.h"

namespace driftless::iceberg {

struct IcebergOptions {
  std::map<std::string, std::string> catalog_properties;
  std::map<std::string, std::string> table_properties;
  std::map<std::string, std::vector<std::string>> partition_keys;  // by "db.table": expressions
  std::map<std::string, std::vector<std::string>> sort_keys;       // the same
  bool compacts = false;
  int64_t compaction_interval = 10;  // commits of a table
};

// Errors: kInvalidConfig.
Result<IcebergOptions> ReadIcebergOptions(const OptionValues& values);

// The catalog that the properties name. Errors: kInvalidConfig; kUnsupported for the types that
// this build does not have.
Result<std::unique_ptr<Catalog>> OpenCatalog(const IcebergOptions& options, const Clock* clock);

}  // namespace driftless::iceberg
