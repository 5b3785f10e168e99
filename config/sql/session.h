#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/relation/relation.h"
#include "config/sql/catalog.h"
#include "config/sql/row_job.h"
#include "schema/base/result.h"
#include "schema/types/time.h"

namespace driftless::flink {

class SqlHost;

// What a user function's class says of itself; nothing where the class is unknown.
struct FunctionSignature {
  LogicalType argument;
  LogicalType result;
};
using FunctionLoader = std::function<std::optional<FunctionSignature>(std::string_view class_name)>;

// Whose words a session uses: those of Flink's SQL client, or those of executeSql(..).print() of a
// TableEnvironment, which says OK, and what caused an error behind "Caused by: ".
enum class Front : uint8_t { kClient, kTableEnvironment };

// One Flink SQL session: catalogs, settings, and the execution of statements on them. Not
// thread-safe. A moved-in loader tells the types of user functions; without one, functions of
// classes cannot be used in expressions.
class Session {
 public:
  explicit Session(FunctionLoader loader = {}, Front front = Front::kClient);

  // Executes one statement, with or without its final ";". Returns what Flink's client prints, a
  // line feed at the end. Errors: "<exception class>: <message>" as Flink's client shows them;
  // nothing has changed then, but partitions added before the one that failed.
  Result<std::string> Execute(std::string_view sql);

  // Where rows go that are put into a table with the connector `print`: one text a row, as Flink's
  // connector writes it. Without it they go nowhere.
  void SetPrint(std::function<void(std::string_view)> print) { print_ = std::move(print); }

  // Who carries out INSERTs that read tables of connectors. It outlives the session; without one
  // they are refused. An ALTER of a table or view that such an INSERT names changes the INSERT that
  // runs, or is refused.
  void SetHost(SqlHost* host) {
    host_ = host;
    running_.clear();
  }

  // How often an Execute changed something that a later statement can see.
  uint64_t changes() const { return changes_; }

  // The type of a user function for these arguments; nothing where there is no such function.
  Result<std::optional<LogicalType>> UserFunctionType(
      const Path& path, const std::vector<LogicalType>& arguments) const {
    return UserFunction(path, arguments);
  }
  // The full name of a catalog function; empty for functions of the system and unknown ones.
  Path FunctionPath(const Path& path) const;

  // The table of a full or partial name; null where there is none.
  const TableEntry* FindTable(const Path& name) const;
  // `catalog`.`database`.`table`
  std::string FullName(const Path& name) const;
  // The three parts of a full or partial name, whether the object is there or not.
  Result<ObjectName> Resolve(const Path& name) const { return Qualify(name); }
  // All tables, without views; a temporary one in place of the permanent one of its name.
  std::map<ObjectName, const TableEntry*> Tables() const;
  // The tables and views of the current database, by name.
  std::map<ObjectName, const TableEntry*> TablesAndViews() const;

  // The rows of a query whose tables are all in memory; nothing where the statement is no query.
  // Errors: those of Execute, and kUnsupported with the engine to run it on.
  Result<std::optional<Relation>> TryQuery(std::string_view sql) const;
  // A temporary view of rows that are there; `has_rows` false: of columns only.
  Result<void> AddTemporaryView(const Path& name, const Relation& rows, bool has_rows);

 private:
  friend class TableCreation;
  friend class TableAlteration;
  friend class Listing;
  friend class TableTracker;

  Result<std::string> Run(const Statement& s, std::string_view sql);
  Result<std::string> RunTables(const Statement& s, std::string_view sql);
  Result<std::string> RunRows(const Statement& s, std::string_view sql);
  Result<std::string> RunQuery(const Statement& s, std::string_view sql);
  Result<TimeZone> Zone() const;
  Result<std::string> RunInsert(const Statement& s, std::string_view sql);
  Result<Relation> RunInMemory(const Query& query) const;
  Result<void> Carry(const Query& query, const ObjectName& sink,
                     const std::vector<std::string>& columns);
  Result<void> SubmitInsert(RowInsert insert);
  Result<void> Submit(std::vector<RowInsert> inserts);
  Result<std::string> RunBesidePipelines(const Statement& s, std::string_view sql);
  Result<void> AlterRunning(const Statement& s);
  Result<std::string> CreateTableAs(const Statement& s, std::string_view sql);
  Result<std::string> RunStatementSet(const Statement& s);
  Result<std::string> Explain(const Statement& s, std::string_view sql) const;
  Result<void> CheckSink(const ObjectName& name, const TableEntry& table) const;
  // Puts rows into a table: here where its connector is `print` or `blackhole`, else by a pipeline.
  Result<void> Fill(const ObjectName& name, const TableEntry& table,
                    const std::vector<std::string>& columns, const Relation& rows);
  Result<std::string> RunCatalogs(const Statement& s);
  Result<std::string> RunFunctions(const Statement& s);
  Result<std::string> RunModels(const Statement& s);
  Result<std::string> RunMaterialized(const Statement& s, std::string_view sql);
  Result<std::string> CreateMaterialized(const Statement& s, std::string_view sql);
  Result<std::string> DropMaterialized(const Statement& s);
  Result<std::string> AlterMaterialized(const Statement& s, std::string_view sql);
  Result<void> StoreMaterialized(const Statement& s, const ObjectName& name,
                                 const ResolvedQuery& query);
  Error AsFrontSays(const Error& error) const;
  bool IsEnvironment() const { return front_ == Front::kTableEnvironment; }
  Result<std::string> RunSettings(const Statement& s);

  Result<void> DropTableOrView(const Statement& s);
  Result<TableEntry> ViewOf(const Statement& s, std::string_view sql) const;
  Result<void> CreateView(const Statement& s, std::string_view sql);
  Result<void> AlterView(const Statement& s, std::string_view sql);
  Result<void> CreateDatabase(const Statement& s);
  Result<void> DropDatabase(const Statement& s);
  Result<void> AlterDatabase(const Statement& s);
  Result<void> CreateCatalog(const Statement& s);
  Result<void> DropCatalog(const Statement& s);
  Result<void> AlterCatalog(const Statement& s);
  Result<void> Use(const Statement& s);
  Result<void> CreateFunction(const Statement& s);
  Result<void> DropFunction(const Statement& s);
  Result<void> AlterFunction(const Statement& s);
  Result<void> CreateModel(const Statement& s, const ObjectName& name);
  Result<void> DropModel(const Statement& s, const ObjectName& name);
  Result<void> AlterModel(const Statement& s, const ObjectName& name);
  Result<void> Truncate(const Statement& s);

  Result<ObjectName> Qualify(const Path& name) const;
  Result<ObjectName> QualifyDatabase(const Path& name, std::string_view verb) const;
  Database* FindDatabase(const ObjectName& name);
  const Database* FindDatabase(const ObjectName& name) const;
  TableEntry* FindPermanent(const ObjectName& name);
  const TableEntry* FindAny(const ObjectName& name, bool* temporary = nullptr) const;
  const ModelEntry* FindModel(const ObjectName& name, bool* temporary) const;
  std::string CatalogNames() const;
  bool IsBatch() const;

  // Types of user functions for expressions.
  Result<std::optional<LogicalType>> UserFunction(const Path& path,
                                                  const std::vector<LogicalType>& arguments) const;
  // The entry behind a function name as written; fills whether it is temporary and of the system.
  const FunctionEntry* FindFunction(const Path& path, bool* temporary, bool* system) const;

  FunctionLoader loader_;
  Front front_;
  std::map<std::string, Catalog> catalogs_;
  std::string catalog_ = "default_catalog";
  std::string database_ = "default_database";
  std::map<ObjectName, TableEntry> temporary_tables_;
  std::map<ObjectName, FunctionEntry> temporary_functions_;
  std::map<std::string, FunctionEntry> system_functions_;
  std::map<ObjectName, ModelEntry> temporary_models_;
  std::map<std::string, std::string> settings_;
  std::vector<std::string> modules_ = {"core"};
  uint64_t changes_ = 0;
  std::function<void(std::string_view)> print_;
  SqlHost* host_ = nullptr;
  std::vector<RowInsert> running_;  // INSERTs that the host carries out, as far as is known
  uint64_t last_job_ = 0;
  std::vector<RowInsert>* set_inserts_ = nullptr;  // while a statement set is put together
  bool in_statement_set_ = false;
  std::vector<std::string> statement_set_;  // the INSERTs that END runs
};

}  // namespace driftless::flink
