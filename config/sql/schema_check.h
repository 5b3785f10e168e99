#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/expr/typing.h"
#include "config/sql/catalog.h"
#include "schema/base/result.h"

namespace driftless::flink {

// Flink's checks of a whole schema after CREATE and ALTER (DefaultSchemaResolver): types of
// computed columns, metadata keys, watermark, primary key, partition and distribution keys. Fills
// the types of computed columns. Errors: in Flink's words.
Result<void> ResolveTable(const Scope& functions, TableEntry* table);

// Constraints that are wrong whatever the catalog says: UNIQUE, ENFORCED, two primary keys.
Result<void> CheckConstraints(const std::vector<KeySpec>& keys);

// "DISTRIBUTED BY HASH(`a`) INTO 2 BUCKETS"
std::string DistributionText(const Distribution& distribution);

// "PK_a_b"
std::string DefaultKeyName(const std::vector<std::string>& columns);

// "a, b"
std::string Join(const std::vector<std::string>& items, std::string_view quote = {});

// The names of columns that may be keys.
std::vector<std::string> PhysicalNames(const TableEntry& table);

}  // namespace driftless::flink
