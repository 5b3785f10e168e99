#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless::iceberg {

// The database behind a JdbcCatalog. Statements have their values as ?1, ?2 and so on. One thread
// at a time. Errors: kUnavailable: busy or not reachable, nothing has happened; kNotFound,
// kPermission, kCorrupt, kResourceExhausted; kAlreadyExists: a row with this key is there.
class CatalogDatabase {
 public:
  struct Answer {
    std::vector<std::string> values;  // the first column; "" for NULL
    int64_t changed = 0;              // rows
  };

  virtual ~CatalogDatabase() = default;
  // Connects where there is no connection; `is_new`: whether one was made. Does nothing else.
  virtual Result<void> Open(bool* is_new) = 0;
  virtual Result<Answer> Run(const std::string& sql, const std::vector<std::string>& values) = 0;
  // Begins a transaction that sees and keeps what others do until its end.
  virtual Result<void> Begin() = 0;
  // Errors: kCommitUnknown too.
  virtual Result<void> Commit() = 0;
  // Takes back what was not committed, if anything.
  virtual void RollBack() = 0;
  // Lists the column names of a table, through Run.
  virtual std::string ColumnsSql(std::string_view table) const = 0;
};

// `file`: as SQLite opens it.
std::unique_ptr<CatalogDatabase> MakeSqliteDatabase(std::string file);

// `url`: postgresql://host:port/database?sslmode=require, as in a JDBC address without "jdbc:".
// Errors: kInvalidConfig.
Result<std::unique_ptr<CatalogDatabase>> MakePostgresDatabase(std::string_view url,
                                                              const std::string& user,
                                                              const std::string& password);

}  // namespace driftless::iceberg
