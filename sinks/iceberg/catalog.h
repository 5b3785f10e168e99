#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/base/clock.h"
#include "sinks/iceberg/metadata.h"
#include "sinks/iceberg/table_files.h"

namespace driftless::iceberg {

// A table as the catalog has it now.
struct LoadedTable {
  TableMetadata metadata;
  std::string metadata_location;
  TableFiles files;
  // "db/table" below the store's root, from the table's location.
  Result<std::string> Directory() const { return files.Path(metadata.location); }
};

// What a table is created with; ids in the schema count from 1 and may be given out anew.
struct NewTable {
  Schema schema;
  PartitionSpec spec;
  SortOrder sort_order;
  int format_version = 2;
  std::map<std::string, std::string> properties;
};

struct CatalogCommit {
  TablePath table;
  const LoadedTable* base = nullptr;
  const MetadataChange* change = nullptr;
};

// Where tables are found and by whom their metadata is replaced atomically. Thread-safe.
class Catalog {
 public:
  virtual ~Catalog() = default;
  // Checks that it answers; no side effect that stays. Gives what it is, for people.
  virtual Result<std::string> Connect() = 0;
  virtual std::string identity() const = 0;
  // The properties of the catalog that hold: `own`, joined with what its server says.
  virtual Result<std::map<std::string, std::string>> EffectiveProperties(
      std::map<std::string, std::string> own) {
    return own;
  }
  // nullopt: no such table.
  virtual Result<std::optional<LoadedTable>> Load(const TablePath& table) = 0;
  // Also the namespace. Errors: kAlreadyExists; kCommitUnknown.
  virtual Result<void> Create(const TablePath& table, const NewTable& created) = 0;
  // One result per commit: success; kConflict: the table is not what `base` is any more; it is to
  // be read again, and looked at whether an earlier try has come through; kCommitUnknown: it may
  // have happened; other errors promise that it has not. All files that the changes name are
  // durable before.
  virtual std::vector<Result<void>> Commit(std::span<const CatalogCommit> commits) = 0;
  // Whether several tables are committed in one transaction. Known after Connect.
  virtual bool CommitsTogether() const { return false; }
  // Whether a success of such a commit can be believed. Else each table is looked at afterwards.
  virtual bool IsSureOfTogether() const { return true; }
};

// The plain file layout "warehouse/db/table/metadata/v<N>.metadata.json" of the reference
// implementation's HadoopCatalog. Commits are exclusive creations of the next number.
std::unique_ptr<Catalog> MakeHadoopCatalog(std::shared_ptr<ObjectStore> warehouse,
                                           const Clock* clock);

// A server with the Iceberg REST catalog protocol. `properties` as the reference implementation
// names them: uri, warehouse, credential, token, s3.* and so on.
std::unique_ptr<Catalog> MakeRestCatalog(std::map<std::string, std::string> properties,
                                         const Clock* clock);

// Rows of an SQLite or PostgreSQL database that point at metadata files, in the layout of the
// reference implementation's JdbcCatalog. `properties`: uri (jdbc:sqlite:/file,
// jdbc:postgresql://host/database), jdbc.user, jdbc.password, warehouse, catalog-name, s3.* and so
// on. Errors: kInvalidConfig, kUnsupported.
Result<std::unique_ptr<Catalog>> MakeJdbcCatalog(std::map<std::string, std::string> properties,
                                                 const Clock* clock);

}  // namespace driftless::iceberg
