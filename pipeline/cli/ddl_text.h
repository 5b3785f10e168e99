#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/cli/dry_run.h"
#include "schema/events/schema_change.h"

namespace driftless {

// DDL text that a user gives to `driftless plan`, in one dialect, on tables that it tracks.
class DdlText {
 public:
  virtual ~DdlText() = default;
  // A table that is there already; replaces one of its name.
  virtual Result<void> Load(const TableSchemaPtr& schema) = 0;
  virtual void SetNextIncarnation(uint64_t next) = 0;
  virtual std::vector<TableSchemaPtr> Tables() const = 0;

  using Visit = std::function<Result<void>(const std::string& statement,
                                           const std::vector<StatementChange>& changes,
                                           const std::vector<RowsWithoutEvent>& rows)>;
  // Carries out every statement of the script and hands its effect to `visit`. Errors: with line
  // and column; kNotFound where a statement names a table that is not tracked.
  virtual Result<void> Run(const std::string& script, const Visit& visit) = 0;
};

// `dialect`: mysql, mariadb or flink. Names without a database stand in `database`. Errors:
// kUnsupported, kInvalidConfig.
Result<std::unique_ptr<DdlText>> MakeDdlText(const std::string& dialect,
                                             const std::string& database);

}  // namespace driftless
