#pragma once

#include "sinks/iceberg/catalog.h"

namespace driftless::iceberg {

// Makes of a step that changes a table the schema that the table gets: columns keep their ids
// through renames and type changes, new ones get the next. Columns that the step does not know
// (somebody else's) stay behind their neighbours. Errors: kRefused where the table is not what the
// step expects.
Result<MetadataChange> SchemaAfter(const TableMetadata& metadata, const Step& step);

// As the catalogs of the reference implementation: a property "table-default.K" of the catalog
// gives K to tables that are created without it, "table-override.K" to all.
void AddCatalogDefaults(const std::map<std::string, std::string>& catalog,
                        std::map<std::string, std::string>* table);

// What a step that creates a table creates. `partition` and `sort`: expressions as in the options
// partition.key and sort.key.
Result<NewTable> TableOf(const SinkTable& table, const std::vector<std::string>& partition,
                         const std::vector<std::string>& sort);

}  // namespace driftless::iceberg
