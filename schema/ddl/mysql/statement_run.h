#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/ddl/change_parts.h"
#include "schema/ddl/mysql/column_types.h"
#include "schema/ddl/mysql/statement.h"
#include "schema/ddl/mysql/table_entry.h"

namespace driftless::mysql {

// One statement on its way through the catalog: reads the catalog, keeps what the statement would
// change beside it, and writes that back at the end if all went well. Spread over statement_run.cc
// (simple statements), create_table.cc and alter_table.cc.
class StatementRun {
 public:
  using Entry = DdlCatalog::TableEntry;
  using EntryPtr = std::shared_ptr<const Entry>;
  using Key = DdlCatalog::TableKey;

  StatementRun(const DdlCatalog& catalog, std::string_view sql, const StatementContext& context);

  Result<void> Run(const Statement& statement);
  StatementEffect TakeEffect() { return std::move(effect_); }
  void Keep(DdlCatalog* catalog);

  // What create_table.cc and alter_table.cc use.
  const ServerSettings& settings() const { return catalog_.settings_; }
  Error Refuse(size_t at, std::string message) const {
    return Fail(ErrorKind::kRefused, at, std::move(message));
  }
  Error Fail(ErrorKind kind, size_t at, std::string message) const;
  Result<TablePath> PathOf(const TableName& name) const;
  EntryPtr Find(const TablePath& path) const;
  Result<EntryPtr> Require(const TableName& name) const;
  Charset DatabaseDefaults(std::string_view database) const;

 private:
  Result<void> Visit(const CreateTableStatement& create);
  Result<void> Visit(const AlterTableStatement& alter);
  Result<void> Visit(const DropTablesStatement& drop);
  Result<void> Visit(const RenameTablesStatement& rename);
  Result<void> Visit(const TruncateTableStatement& truncate);
  Result<void> Visit(const DatabaseStatement& database);
  Result<void> Visit(const CreateIndexStatement& create);
  Result<void> Visit(const DropIndexStatement& drop);
  Result<void> Visit(const RelationStatement& relation);
  Result<void> Visit(const UseStatement& use);
  Result<void> Visit(const IgnoredStatement& ignored);

  Key KeyOf(const TablePath& path) const;
  std::string DatabaseKey(std::string_view name) const;
  bool IsTemporary(const TablePath& path) const;
  bool IsRelation(const TablePath& path) const;
  void Put(const TablePath& path, EntryPtr entry);  // null: gone
  Result<void> DropDatabase(const DatabaseStatement& database);
  Result<void> RenamePair(const RenameTablesStatement& rename,
                          const RenameTablesStatement::Pair& pair);
  // Adds a change of the table, unless it has no part; goes on with its last change where that is
  // the last change of all (OR REPLACE).
  void AddChange(const TablePath& table, std::vector<SchemaChange> parts);
  void AddDrop(const TablePath& path, const EntryPtr& entry);

  Result<EntryPtr> BuildTable(const CreateTableStatement& create, const TablePath& path);
  Result<void> AddQueryColumns(const CreateTableStatement& create, TableSchema* schema) const;
  Result<EntryPtr> BuildLike(const TableName& like, const TablePath& path);
  Result<void> AlterPartitions(const AlterTableStatement& alter, const TablePath& path,
                               const EntryPtr& entry, Entry* next);

  const DdlCatalog& catalog_;
  std::string_view sql_;
  const StatementContext& context_;
  StatementEffect effect_;
  std::map<Key, EntryPtr> tables_;                // null: dropped
  std::map<Key, std::optional<bool>> relations_;  // none: dropped
  std::map<Key, bool> temporaries_;               // false: dropped
  std::map<std::string, std::optional<DdlCatalog::Database>> databases_;
  uint64_t next_incarnation_;
};

}  // namespace driftless::mysql
