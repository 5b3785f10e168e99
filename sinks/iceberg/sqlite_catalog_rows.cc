#include "sinks/iceberg/sqlite_catalog_rows.h"

#include <sqlite3.h>

#include <memory>
#include <utility>

namespace driftless::iceberg {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

// The reference implementation's own statements create these (JdbcUtil).
constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL,"
    " table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,"
    " metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),"
    " iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name));"
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL,"
    " namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255), property_value VARCHAR(1000),"
    " PRIMARY KEY (catalog_name, namespace, property_key))";

constexpr const char* kWhich = " WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";

// Rolls back what was not committed.
class Transaction {
 public:
  explicit Transaction(sqlite3* database) : database_(database) {}
  ~Transaction() {
    if (sqlite3_get_autocommit(database_) == 0) {
      sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
    }
  }

 private:
  sqlite3* database_;
};

}  // namespace

SqliteCatalogRows::~SqliteCatalogRows() { sqlite3_close_v2(database_); }

Error SqliteCatalogRows::LastError(const std::string& what) const {
  const int code = database_ == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database_);
  std::string message = "catalog database " + file_ + ", " + what + ": " +
                        (database_ == nullptr ? "no memory" : sqlite3_errmsg(database_));
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return MakeError(ErrorKind::kUnavailable, std::move(message));
    case SQLITE_FULL:
    case SQLITE_NOMEM: return MakeError(ErrorKind::kResourceExhausted, std::move(message));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return MakeError(ErrorKind::kCorrupt, std::move(message));
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH: return MakeError(ErrorKind::kPermission, std::move(message));
    case SQLITE_CANTOPEN:
      return MakeError(ErrorKind::kNotFound, std::move(message))
          .Hint("The folder of catalog.properties.uri must be there.");
    default: return MakeError(ErrorKind::kRefused, std::move(message));
  }
}

Result<void> SqliteCatalogRows::Open() {
  const std::lock_guard lock(mutex_);
  return OpenLocked();
}

Result<void> SqliteCatalogRows::OpenLocked() {
  if (database_ != nullptr) return {};
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const bool opened = sqlite3_open_v2(file_.c_str(), &database_, kFlags, nullptr) == SQLITE_OK;
  if (opened) sqlite3_busy_timeout(database_, 10'000);
  if (!opened || sqlite3_exec(database_, kTables, nullptr, nullptr, nullptr) != SQLITE_OK) {
    Error error = LastError("opening it");
    sqlite3_close_v2(std::exchange(database_, nullptr));
    return error;
  }
  auto columns =
      Query("SELECT name FROM pragma_table_info('iceberg_tables') WHERE name = 'iceberg_type'", {});
  if (!columns) {
    sqlite3_close_v2(std::exchange(database_, nullptr));
    return columns.error();
  }
  has_type_ = !columns->empty();
  return {};
}

Result<std::vector<std::string>> SqliteCatalogRows::Query(const std::string& sql,
                                                          const std::vector<std::string>& values) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
    return LastError(sql);
  }
  const Statement statement(prepared);
  for (size_t i = 0; i < values.size(); ++i) {
    sqlite3_bind_text64(prepared, static_cast<int>(i) + 1, values[i].data(), values[i].size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  std::vector<std::string> found;
  while (true) {
    const int code = sqlite3_step(prepared);
    if (code == SQLITE_DONE) return found;
    if (code != SQLITE_ROW) return LastError(sql);
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(prepared, 0));
    found.emplace_back(text == nullptr ? "" : text);
  }
}

Result<int64_t> SqliteCatalogRows::Change(const std::string& sql,
                                          const std::vector<std::string>& values) {
  DRIFTLESS_TRY(Query(sql, values));
  return sqlite3_changes64(database_);
}

// A commit that fails has done nothing, unless the disk failed under it.
Result<void> SqliteCatalogRows::CommitLocked() {
  const int code = sqlite3_exec(database_, "COMMIT", nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  Error error = LastError("committing");
  if ((code & 0xff) != SQLITE_IOERR) return error;
  return MakeError(ErrorKind::kCommitUnknown, error.message());
}

Result<std::optional<std::string>> SqliteCatalogRows::Find(const std::string& space,
                                                           const std::string& table) {
  const std::lock_guard lock(mutex_);
  DRIFTLESS_TRY(OpenLocked());
  std::string sql = std::string("SELECT metadata_location FROM iceberg_tables") + kWhich;
  if (has_type_) sql += " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<std::string> found, Query(sql, {catalog_, space, table}));
  if (found.empty()) return std::optional<std::string>();
  return std::optional(std::move(found.front()));
}

Result<std::optional<std::string>> SqliteCatalogRows::NamespaceProperty(const std::string& space,
                                                                        const std::string& key) {
  const std::lock_guard lock(mutex_);
  DRIFTLESS_TRY(OpenLocked());
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<std::string> found,
                             Query("SELECT property_value FROM iceberg_namespace_properties"
                                   " WHERE catalog_name = ? AND namespace = ? AND property_key = ?",
                                   {catalog_, space, key}));
  if (found.empty()) return std::optional<std::string>();
  return std::optional(std::move(found.front()));
}

Result<void> SqliteCatalogRows::Add(const std::string& space, const std::string& table,
                                    const std::string& metadata) {
  const std::lock_guard lock(mutex_);
  DRIFTLESS_TRY(OpenLocked());
  const Transaction transaction(database_);
  DRIFTLESS_TRY(Query("BEGIN IMMEDIATE", {}));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<std::string> there,
                             Query(std::string("SELECT table_name FROM iceberg_tables") + kWhich,
                                   {catalog_, space, table}));
  if (!there.empty()) {
    return MakeError(ErrorKind::kAlreadyExists, "table " + space + "." + table + " is there");
  }
  DRIFTLESS_TRY(
      Change("INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key,"
             " property_value) SELECT ?1, ?2, 'exists', 'true' WHERE NOT EXISTS (SELECT 1 FROM"
             " iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = ?2)",
             {catalog_, space}));
  const std::string type = has_type_ ? ", iceberg_type" : "";
  DRIFTLESS_TRY(
      Change("INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name,"
             " metadata_location" +
                 type + ") VALUES (?, ?, ?, ?" + (has_type_ ? ", 'TABLE')" : ")"),
             {catalog_, space, table, metadata}));
  return CommitLocked();
}

Result<std::vector<Result<void>>> SqliteCatalogRows::Replace(std::span<const Move> moves) {
  const std::lock_guard lock(mutex_);
  DRIFTLESS_TRY(OpenLocked());
  const Transaction transaction(database_);
  DRIFTLESS_TRY(Query("BEGIN IMMEDIATE", {}));
  std::vector<Result<void>> results;
  for (const Move& move : moves) {
    DRIFTLESS_ASSIGN_OR_RETURN(
        const int64_t changed,
        Change("UPDATE iceberg_tables SET metadata_location = ?4, previous_metadata_location = ?5"
               " WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3"
               " AND metadata_location = ?5",
               {catalog_, move.space, move.table, move.to, move.from}));
    Result<void> result;
    if (changed != 1) result = MakeError(ErrorKind::kConflict, "another writer was faster");
    results.push_back(std::move(result));
  }
  DRIFTLESS_TRY(CommitLocked());
  return results;
}

}  // namespace driftless::iceberg
