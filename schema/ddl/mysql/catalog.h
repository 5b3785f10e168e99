#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/ddl/mysql/charset.h"
#include "schema/ddl/mysql/dialect.h"
#include "schema/events/schema_change.h"

namespace driftless::mysql {

// Rows that a statement brought, removed or changed without any row event (policy, section 11).
// Type changes are not listed: their part says it.
struct RowsWithoutEvents {
  TablePath table;
  std::string what;            // "TRUNCATE PARTITION p1", "CONVERT TO CHARACTER SET utf8mb4"
  bool is_conversion = false;  // stored values were converted; no row came or went
};

// What one statement did to the tracked tables.
struct StatementEffect {
  enum class Kind : uint8_t {
    kSchema,       // about tables or databases, even if nothing changed
    kTransaction,  // BEGIN, COMMIT, XA ...
    kRows,         // INSERT, UPDATE ...: in a row log no such text should be
    kUse,          // USE: `database` is the new default
    kOther,        // about other objects: views, routines, users, SET ...
  };
  Kind kind = Kind::kSchema;
  // In the order in which the server carried them out; every table at most once, but for RENAME
  // TABLE a TO tmp, b TO a, tmp TO b, where the pairs stand one by one. Points, statement text and
  // times are for the caller to fill in. Empty: no table's schema changed.
  std::vector<StatementChange> changes;
  std::vector<RowsWithoutEvents> rows_without_events;
  std::string database;  // kUse
};

// The schemas of all tables of one MySQL or MariaDB server, kept up by its DDL. Rules: MySQL 8.4
// Reference Manual, 15.1; behaviour verified on MySQL 9.7.4 and MariaDB 10.11.19.
// One thread.
class DdlCatalog {
 public:
  struct TableEntry;  // table_entry.h

  explicit DdlCatalog(ServerSettings settings);
  ~DdlCatalog();
  DdlCatalog(DdlCatalog&&) noexcept;
  DdlCatalog& operator=(DdlCatalog&&) noexcept;

  const ServerSettings& settings() const { return settings_; }

  // Understands one statement and carries it out on the tracked schemas. Nothing of a statement
  // that fails is applied. Errors, all with line and column where the text has the cause:
  //   kParse     the text is no statement of this dialect
  //   kNotFound  it changes a table that is not tracked
  //   kRefused   the server would refuse it (unknown column, duplicate name, ...): the text does
  //   not
  //              fit the tracked schemas
  //   kUnsupported  the columns of CREATE TABLE ... AS SELECT cannot be derived from the text
  Result<StatementEffect> Apply(std::string_view sql, const StatementContext& context);

  // The same answer without any effect: for dry runs.
  Result<StatementEffect> Preview(std::string_view sql, const StatementContext& context) const;

  // The tracked schema, or null.
  TableSchemaPtr Find(const TablePath& table) const;
  // All tracked tables, ordered by name.
  std::vector<TableSchemaPtr> Tables() const;

  // Puts a table in as it is, replacing one of its name: for snapshots and restarts. Its indexes
  // and constraints are unknown then; statements about them are believed.
  void Load(TableSchemaPtr table);
  void Forget(const TablePath& table);
  // Replaces the schema of the tracked table `schema.path`, whose columns still have their present
  // ids, and then gives columns the ids that `ids` names for them, in the key, indexes and
  // constraints too. For who knows identities better than single statements tell (online schema
  // changes).
  void Rebind(TableSchema schema, const std::map<ColumnId, ColumnId>& ids);
  // Defaults of a database; one that was never named is created with the server's on first use.
  void SetDatabase(const std::string& name, const Charset& defaults);
  // Incarnations are numbered in the order of creation. A restart sets the number where it was, so
  // that a statement that is read again gives the same one.
  uint64_t next_incarnation() const { return next_incarnation_; }
  void SetNextIncarnation(uint64_t next) { next_incarnation_ = next; }

  // The tracked tables that a text may concern which did not parse (policy, 5.7): those for which
  // their name occurs in it as a word, outside of comments and strings. Where the text cannot even
  // be split into words, every occurrence of the name's letters counts.
  std::vector<TablePath> TablesNamedIn(std::string_view sql, const StatementContext& context) const;

 private:
  friend class StatementRun;
  struct Database {
    std::string name;
    Charset defaults;
  };
  using TableKey = std::pair<std::string, std::string>;

  TableKey KeyOf(std::string_view database, std::string_view table) const;

  ServerSettings settings_;
  std::map<TableKey, std::shared_ptr<const TableEntry>> tables_;
  std::map<TableKey, bool> relations_;    // views (true) and sequences (false)
  std::map<TableKey, bool> temporaries_;  // only with track_temporary_tables
  std::map<std::string, Database> databases_;
  uint64_t next_incarnation_ = 1;
};

}  // namespace driftless::mysql
