#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/catalog_rows.h"
#include "sinks/iceberg/metadata_files.h"
#include "sinks/iceberg/table_access.h"

namespace driftless::iceberg {
namespace {

constexpr std::string_view kSqlite = "jdbc:sqlite:";
constexpr std::string_view kPostgres = "jdbc:postgresql:";

std::string PropertyOf(const FileProperties& properties, const std::string& key,
                       std::string_view fallback = "") {
  const auto found = properties.find(key);
  return found == properties.end() ? std::string(fallback) : found->second;
}

std::string FileOf(const FileProperties& properties) {
  std::string file = PropertyOf(properties, "uri").substr(kSqlite.size());
  // "jdbc:sqlite:file:/x?mode=..." is SQLite's own form of a name.
  if (file.starts_with("file:")) file = file.substr(5);
  return file.substr(0, file.find('?'));
}

// ".../table/metadata/00003-x.metadata.json" to 3; names of others may have no number.
int64_t VersionOf(std::string_view location) {
  const std::string_view name = location.substr(location.rfind('/') + 1);
  int64_t version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  return error == std::errc() && end != name.data() + name.size() && *end == '-' ? version : 0;
}

// What is before the folder that holds the metadata file.
std::string TableFolderOf(const std::string& metadata_location) {
  const size_t folder = metadata_location.rfind('/');
  return metadata_location.substr(0, metadata_location.rfind('/', folder - 1));
}

class JdbcCatalog : public Catalog {
 public:
  JdbcCatalog(FileProperties properties, std::unique_ptr<CatalogDatabase> database,
              const Clock* clock)
      : properties_(std::move(properties)),
        clock_(clock),
        rows_(std::move(database), PropertyOf(properties_, "catalog-name", "iceberg")),
        access_(clock) {}

  Result<std::string> Connect() override {
    DRIFTLESS_TRY(rows_.Open());
    return std::string("Apache Iceberg (jdbc catalog)");
  }
  std::string identity() const override {
    std::string uri = PropertyOf(properties_, "uri");
    // Behind it there may be a password.
    if (uri.starts_with(kPostgres)) uri.resize(std::min(uri.find('?'), uri.size()));
    return uri + " " + PropertyOf(properties_, "catalog-name", "iceberg");
  }

  Result<std::optional<LoadedTable>> Load(const TablePath& table) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<std::string> location,
                               rows_.Find(SpaceOf(table), table.table));
    if (!location) return std::optional<LoadedTable>();
    LoadedTable loaded;
    loaded.metadata_location = *location;
    DRIFTLESS_ASSIGN_OR_RETURN(const TableFiles where, Files(TableFolderOf(*location)));
    DRIFTLESS_ASSIGN_OR_RETURN(loaded.metadata, ReadMetadataFile(where, *location));
    DRIFTLESS_ASSIGN_OR_RETURN(loaded.files, Files(loaded.metadata.location));
    return std::optional(std::move(loaded));
  }

  Result<void> Create(const TablePath& table, const NewTable& created) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<std::string> there,
                               rows_.Find(SpaceOf(table), table.table));
    if (there) {
      return MakeError(ErrorKind::kAlreadyExists, "table " + table.ToString() + " is there");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string location, NewLocation(table));
    const TableMetadata metadata = MetadataOf(created, location, clock_->NowMillis());
    DRIFTLESS_ASSIGN_OR_RETURN(const TableFiles files, Files(location));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string uri, MetadataUri(metadata, 0));
    DRIFTLESS_TRY(Put(files, uri, metadata));
    DRIFTLESS_TRY(files.store()->SyncAll());
    Result<void> added = rows_.Add(SpaceOf(table), table.table, uri);
    if (!added && added.error().kind() != ErrorKind::kCommitUnknown) (void)files.Delete(uri);
    return added;
  }

  std::vector<Result<void>> Commit(std::span<const CatalogCommit> commits) override {
    std::vector<Result<void>> results(commits.size());
    std::vector<CatalogRows::Move> moves;
    std::vector<size_t> which;
    std::vector<TableMetadata> written;
    std::set<ObjectStore*> stores;
    for (size_t i = 0; i < commits.size(); ++i) {
      const LoadedTable& base = *commits[i].base;
      TableMetadata next = ApplyChange(base.metadata, base.metadata_location, *commits[i].change,
                                       clock_->NowMillis());
      const auto named = MetadataUri(next, VersionOf(base.metadata_location) + 1);
      results[i] = named ? Put(base.files, *named, next) : Result<void>(named.error());
      if (!results[i]) continue;
      stores.insert(base.files.store());
      moves.push_back(
          {SpaceOf(commits[i].table), commits[i].table.table, base.metadata_location, *named});
      which.push_back(i);
      written.push_back(std::move(next));
    }
    if (moves.empty()) return results;
    Result<std::vector<Result<void>>> moved = Replace(stores, moves);
    for (size_t k = 0; k < which.size(); ++k) {
      const CatalogCommit& commit = commits[which[k]];
      Result<void>& result = results[which[k]];
      result = moved ? std::move((*moved)[k]) : Result<void>(moved.error());
      if (result) {
        DropOldMetadata(commit.base->files, commit.base->metadata, written[k]);
      } else if (result.error().kind() != ErrorKind::kCommitUnknown) {
        (void)commit.base->files.Delete(moves[k].to);
      }
    }
    return results;
  }

  bool CommitsTogether() const override { return true; }

 private:
  static std::string SpaceOf(const TablePath& table) { return table.database; }

  Result<TableFiles> Files(const std::string& location) {
    return access_.Open(location, properties_, {}, nullptr);
  }

  // The namespace's own place, else a folder of the warehouse, as the reference implementation has
  // it.
  Result<std::string> NewLocation(const TablePath& table) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<std::string> own,
                               rows_.NamespaceProperty(SpaceOf(table), "location"));
    std::string parent = own ? *own : PropertyOf(properties_, "warehouse") + "/" + table.database;
    return NormalUri(parent) + "/" + table.table;
  }

  static Result<std::string> MetadataUri(const TableMetadata& metadata, int64_t version) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view suffix, MetadataSuffix(metadata));
    char number[24];
    std::snprintf(number, sizeof number, "%05lld", static_cast<long long>(version));
    return metadata.location + "/metadata/" + number + "-" + RandomUuid() + std::string(suffix);
  }

  static Result<void> Put(const TableFiles& files, const std::string& uri,
                          const TableMetadata& metadata) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, files.Path(uri));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, MetadataBytes(metadata));
    return files.store()->Put(path, bytes);
  }

  // What the database is about to name must survive a power cut.
  Result<std::vector<Result<void>>> Replace(const std::set<ObjectStore*>& stores,
                                            std::span<const CatalogRows::Move> moves) {
    for (ObjectStore* store : stores) DRIFTLESS_TRY(store->SyncAll());
    return rows_.Replace(moves);
  }

  const FileProperties properties_;
  const Clock* clock_;
  CatalogRows rows_;
  TableAccess access_;
};

}  // namespace

Result<std::unique_ptr<Catalog>> MakeJdbcCatalog(std::map<std::string, std::string> properties,
                                                 const Clock* clock) {
  const std::string uri = PropertyOf(properties, "uri");
  std::unique_ptr<CatalogDatabase> database;
  if (uri.starts_with(kSqlite)) {
    database = MakeSqliteDatabase(FileOf(properties));
  } else if (uri.starts_with(kPostgres)) {
    DRIFTLESS_ASSIGN_OR_RETURN(
        database,
        MakePostgresDatabase(std::string_view(uri).substr(5), PropertyOf(properties, "jdbc.user"),
                             PropertyOf(properties, "jdbc.password")));
  } else {
    return MakeError(ErrorKind::kUnsupported,
                     "catalog.properties.uri = " + uri + " is no database that this version knows")
        .Hint("jdbc:sqlite:/path/to/catalog.db or jdbc:postgresql://host:5432/database");
  }
  std::string& warehouse = properties["warehouse"];
  if (warehouse.find("://") == std::string::npos && !warehouse.starts_with("file:")) {
    warehouse = std::filesystem::absolute(warehouse).lexically_normal().string();
  }
  return std::unique_ptr<Catalog>(
      std::make_unique<JdbcCatalog>(std::move(properties), std::move(database), clock));
}

}  // namespace driftless::iceberg
