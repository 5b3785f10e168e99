#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/sql/session.h"
#include "schema/events/schema_change.h"

namespace driftless::flink {

// What Flink SQL statements mean for the schemas of tables: `driftless plan --dialect flink` and
// sources of scripts.
// A table is its physical columns, as they are stored; computed and metadata columns, watermarks
// and options change no schema. Names with a database belong to (database, table), whatever
// catalog they stand in, as the sources name them. Columns keep their identities through renames.
class TableTracker {
 public:
  // Names without a database stand in this one. Errors: none of a sane name.
  static Result<TableTracker> Make(const std::string& default_database);

  // A table that is there already; replaces one of its name. Errors: a type that Flink SQL cannot
  // write.
  Result<void> Load(const TableSchemaPtr& schema);
  void SetNextIncarnation(uint64_t next) { next_incarnation_ = next; }
  // A table in a database that is not there is an error from now on, as it is in Flink.
  void RequireDatabases() { makes_databases_ = false; }

  // Executes one statement. Databases of tables that are created need not be. Changes in the order
  // of the tables' names; points, texts and times are for the caller to fill in. Errors: as
  // Session's; kUnsupported for a second table of one name and database, in another catalog.
  Result<std::vector<StatementChange>> Apply(std::string_view sql);

  std::vector<TableSchemaPtr> Tables() const;  // ordered by name
  // The table of a full or partial name; null where there is none or a temporary one hides it.
  TableSchemaPtr Find(const Path& name) const;

 private:
  Result<void> MakeDatabase(const ObjectName& name);
  Result<void> CheckUnique(const ObjectName& name) const;
  Result<std::vector<StatementChange>> Changes(const Statement& statement, const ObjectName& name);
  TableSchema Described(const ObjectName& name, const TableEntry& entry, const TableSchema* before,
                        const Statement& statement) const;

  Session session_;
  std::map<ObjectName, TableSchemaPtr> tables_;
  uint64_t next_incarnation_ = 1;
  bool makes_databases_ = true;
};

}  // namespace driftless::flink
