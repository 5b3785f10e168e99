#pragma once

#include "config/options/option.h"
#include "schema/ddl/online_schema_change.h"

namespace driftless {

// The options by which sources of MySQL streams know the tables of online schema changes.
OptionSpec ShadowTablesOption();
OptionSpec LeftoverTablesOption();

// The known tools' patterns and the user's own. Errors: kInvalidConfig, with the place.
Result<OnlineSchemaChange::Patterns> ReadOnlinePatterns(const OptionValues& values);

}  // namespace driftless
