#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/base/result.h"

struct sqlite3;

namespace driftless::iceberg {

// The rows of a JdbcCatalog in an SQLite database (tables iceberg_tables and
// iceberg_namespace_properties, schema versions 0 and 1). Thread-safe. Errors: kUnavailable: the
// database is busy; kNotFound, kPermission, kCorrupt.
class SqliteCatalogRows {
 public:
  SqliteCatalogRows(std::string file, std::string catalog)
      : file_(std::move(file)), catalog_(std::move(catalog)) {}
  ~SqliteCatalogRows();
  SqliteCatalogRows(const SqliteCatalogRows&) = delete;
  SqliteCatalogRows& operator=(const SqliteCatalogRows&) = delete;

  // Opens the database; makes the tables where they are missing.
  Result<void> Open();
  // Where the table's metadata lies; nullopt: no such table.
  Result<std::optional<std::string>> Find(const std::string& space, const std::string& table);
  // A property of the namespace.
  Result<std::optional<std::string>> NamespaceProperty(const std::string& space,
                                                       const std::string& key);
  // Adds the table, and its namespace where it is new. Errors: kAlreadyExists; kCommitUnknown.
  Result<void> Add(const std::string& space, const std::string& table, const std::string& metadata);

  struct Move {
    std::string space;
    std::string table;
    std::string from;
    std::string to;
  };
  // Replaces metadata locations in one transaction: success, or kConflict where the location is
  // another one than `from`. An error as a whole: nothing has happened, or kCommitUnknown.
  Result<std::vector<Result<void>>> Replace(std::span<const Move> moves);

 private:
  Result<void> OpenLocked();
  Result<std::vector<std::string>> Query(const std::string& sql,
                                         const std::vector<std::string>& values);
  Result<int64_t> Change(const std::string& sql, const std::vector<std::string>& values);
  Result<void> CommitLocked();
  Error LastError(const std::string& what) const;

  const std::string file_;
  const std::string catalog_;
  std::mutex mutex_;
  sqlite3* database_ = nullptr;
  bool has_type_ = true;  // schema version 1
};

}  // namespace driftless::iceberg
