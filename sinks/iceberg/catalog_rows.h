#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sinks/iceberg/catalog_database.h"

namespace driftless::iceberg {

// The rows of a JdbcCatalog (tables iceberg_tables and iceberg_namespace_properties, schema
// versions 0 and 1). Thread-safe. Errors: the database's (catalog_database.h).
class CatalogRows {
 public:
  CatalogRows(std::unique_ptr<CatalogDatabase> database, std::string catalog)
      : database_(std::move(database)), catalog_(std::move(catalog)) {}

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
  Result<std::optional<std::string>> FirstLocked(const std::string& sql,
                                                 const std::vector<std::string>& values);

  std::mutex mutex_;
  std::unique_ptr<CatalogDatabase> database_;
  const std::string catalog_;
  bool is_ready_ = false;  // the tables are there
  bool has_type_ = true;   // schema version 1
};

}  // namespace driftless::iceberg
