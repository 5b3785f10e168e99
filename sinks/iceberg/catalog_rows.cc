#include "sinks/iceberg/catalog_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace driftless::iceberg {
namespace {

// The reference implementation's own statements create these (JdbcUtil).
constexpr std::pair<const char*, const char*> kTables[] = {
    {"iceberg_tables",
     "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL,"
     " table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,"
     " metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),"
     " iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name))"},
    {"iceberg_namespace_properties",
     "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL,"
     " namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255), property_value VARCHAR(1000),"
     " PRIMARY KEY (catalog_name, namespace, property_key))"}};

constexpr const char* kWhich =
    " WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3";

// Rolls back what was not committed.
class Transaction {
 public:
  explicit Transaction(CatalogDatabase* database) : database_(database) {}
  ~Transaction() { database_->RollBack(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

 private:
  CatalogDatabase* database_;
};

}  // namespace

Result<void> CatalogRows::Open() {
  const std::lock_guard lock(mutex_);
  return OpenLocked();
}

Result<void> CatalogRows::OpenLocked() {
  bool is_new = false;
  DRIFTLESS_TRY(database_->Open(&is_new));
  is_ready_ &= !is_new;
  if (is_ready_) return {};
  for (const auto& [name, sql] : kTables) {
    // Who may not create tables may still use those that are there.
    DRIFTLESS_ASSIGN_OR_RETURN(const auto known, database_->Run(database_->ColumnsSql(name), {}));
    if (!known.values.empty()) continue;
    auto made = database_->Run(sql, {});
    // Somebody else makes it at this moment.
    if (!made && made.error().kind() != ErrorKind::kAlreadyExists) return made.error();
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const auto columns,
                             database_->Run(database_->ColumnsSql("iceberg_tables"), {}));
  has_type_ = std::ranges::find(columns.values, "iceberg_type") != columns.values.end();
  is_ready_ = true;
  return {};
}

Result<std::optional<std::string>> CatalogRows::FirstLocked(
    const std::string& sql, const std::vector<std::string>& values) {
  DRIFTLESS_ASSIGN_OR_RETURN(CatalogDatabase::Answer found, database_->Run(sql, values));
  if (found.values.empty()) return std::optional<std::string>();
  return std::optional(std::move(found.values.front()));
}

Result<std::optional<std::string>> CatalogRows::Find(const std::string& space,
                                                     const std::string& table) {
  const std::lock_guard lock(mutex_);
  DRIFTLESS_TRY(OpenLocked());
  std::string sql = std::string("SELECT metadata_location FROM iceberg_tables") + kWhich;
  if (has_type_) sql += " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";
  return FirstLocked(sql, {catalog_, space, table});
}

Result<std::optional<std::string>> CatalogRows::NamespaceProperty(const std::string& space,
                                                                  const std::string& key) {
  const std::lock_guard lock(mutex_);
  DRIFTLESS_TRY(OpenLocked());
  return FirstLocked(
      "SELECT property_value FROM iceberg_namespace_properties"
      " WHERE catalog_name = ?1 AND namespace = ?2 AND property_key = ?3",
      {catalog_, space, key});
}

Result<void> CatalogRows::Add(const std::string& space, const std::string& table,
                              const std::string& metadata) {
  const std::lock_guard lock(mutex_);
  DRIFTLESS_TRY(OpenLocked());
  const Transaction transaction(database_.get());
  DRIFTLESS_TRY(database_->Begin());
  DRIFTLESS_ASSIGN_OR_RETURN(
      const std::optional<std::string> there,
      FirstLocked(std::string("SELECT table_name FROM iceberg_tables") + kWhich,
                  {catalog_, space, table}));
  if (there) {
    return MakeError(ErrorKind::kAlreadyExists, "table " + space + "." + table + " is there");
  }
  DRIFTLESS_TRY(
      database_->Run("INSERT INTO iceberg_namespace_properties (catalog_name, namespace,"
                     " property_key, property_value) SELECT ?1, ?2, 'exists', 'true' WHERE NOT"
                     " EXISTS (SELECT 1 FROM iceberg_namespace_properties WHERE catalog_name = ?1"
                     " AND namespace = ?2) ON CONFLICT DO NOTHING",
                     {catalog_, space}));
  const std::string type = has_type_ ? ", iceberg_type" : "";
  DRIFTLESS_TRY(
      database_->Run("INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name,"
                     " metadata_location" +
                         type + ") VALUES (?1, ?2, ?3, ?4" + (has_type_ ? ", 'TABLE')" : ")"),
                     {catalog_, space, table, metadata}));
  return database_->Commit();
}

Result<std::vector<Result<void>>> CatalogRows::Replace(std::span<const Move> moves) {
  const std::lock_guard lock(mutex_);
  DRIFTLESS_TRY(OpenLocked());
  const Transaction transaction(database_.get());
  DRIFTLESS_TRY(database_->Begin());
  // Everybody in one order: two transactions over the same tables never wait for each other.
  std::vector<size_t> order(moves.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return std::tie(moves[i].space, moves[i].table); });
  std::vector<Result<void>> results(moves.size());
  for (const size_t i : order) {
    const Move& move = moves[i];
    DRIFTLESS_ASSIGN_OR_RETURN(
        const auto done,
        database_->Run("UPDATE iceberg_tables SET metadata_location = ?4,"
                       " previous_metadata_location = ?5 WHERE catalog_name = ?1 AND"
                       " table_namespace = ?2 AND table_name = ?3 AND metadata_location = ?5",
                       {catalog_, move.space, move.table, move.to, move.from}));
    if (done.changed != 1) {
      results[i] = MakeError(ErrorKind::kConflict, "another writer was faster");
    }
  }
  DRIFTLESS_TRY(database_->Commit());
  return results;
}

}  // namespace driftless::iceberg
