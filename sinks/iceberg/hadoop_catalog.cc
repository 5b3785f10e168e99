#include <algorithm>
#include <charconv>
#include <utility>

#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/metadata_files.h"

namespace driftless::iceberg {
namespace {

constexpr std::string_view kSuffix = ".metadata.json";

std::string Directory(const TablePath& table) { return table.database + "/" + table.table; }

class HadoopCatalog : public Catalog {
 public:
  HadoopCatalog(std::shared_ptr<ObjectStore> warehouse, const Clock* clock)
      : files_(std::move(warehouse)), clock_(clock) {}

  Result<std::string> Connect() override {
    DRIFTLESS_TRY(files_.store()->Probe());
    return std::string("Apache Iceberg (hadoop catalog)");
  }
  std::string identity() const override { return files_.store()->root(); }

  Result<std::optional<LoadedTable>> Load(const TablePath& table) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const int64_t version, CurrentVersion(table));
    if (version == 0) return std::optional<LoadedTable>();
    LoadedTable loaded;
    loaded.files = files_;
    const std::string path = VersionPath(table, version);
    loaded.metadata_location = files_.Uri(path);
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string json, files_.store()->Read(path));
    auto metadata = ParseMetadata(json);
    if (!metadata) return std::move(metadata).error().Context(path);
    loaded.metadata = std::move(*metadata);
    return std::optional(std::move(loaded));
  }

  Result<void> Create(const TablePath& table, const NewTable& created) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const int64_t version, CurrentVersion(table));
    if (version > 0) {
      return MakeError(ErrorKind::kAlreadyExists,
                       "table " + table.ToString() + " is there already");
    }
    const TableMetadata metadata =
        MetadataOf(created, files_.Uri(Directory(table)), clock_->NowMillis());
    DRIFTLESS_TRY(files_.store()->MakeDirectory(Directory(table) + "/metadata"));
    DRIFTLESS_TRY(files_.store()->CreateExclusive(VersionPath(table, 1), MetadataToJson(metadata)));
    PutHint(table, 1);
    return {};
  }

  std::vector<Result<void>> Commit(std::span<const CatalogCommit> commits) override {
    std::vector<Result<void>> results(commits.size());
    std::vector<NewObject> objects;
    std::vector<size_t> which;
    std::vector<int64_t> versions;
    std::vector<TableMetadata> written;
    for (size_t i = 0; i < commits.size(); ++i) {
      const CatalogCommit& commit = commits[i];
      const Result<int64_t> version = VersionOf(commit.base->metadata_location);
      if (!version) {
        results[i] = version.error();
        continue;
      }
      written.push_back(ApplyChange(commit.base->metadata, commit.base->metadata_location,
                                    *commit.change, clock_->NowMillis()));
      which.push_back(i);
      versions.push_back(*version + 1);
      objects.push_back({VersionPath(commit.table, *version + 1), MetadataToJson(written.back())});
    }
    if (objects.empty()) return results;
    std::vector<Result<void>> created = files_.store()->CreateExclusive(objects);
    for (size_t k = 0; k < which.size(); ++k) {
      const CatalogCommit& commit = commits[which[k]];
      results[which[k]] = Outcome(std::move(created[k]));
      if (results[which[k]]) results[which[k]] = CheckNotBypassed(commit, versions[k]);
      if (!results[which[k]]) continue;
      PutHint(commit.table, versions[k]);
      DropOldMetadata(files_, commit.base->metadata, written[k]);
    }
    return results;
  }

 private:
  static std::string VersionPath(const TablePath& table, int64_t version) {
    return Directory(table) + "/metadata/v" + std::to_string(version) + std::string(kSuffix);
  }

  static Result<int64_t> VersionOf(std::string_view location) {
    const std::string_view name = location.substr(location.rfind('/') + 1);
    int64_t version = 0;
    if (name.starts_with('v') && name.ends_with(kSuffix)) {
      const auto [end, error] =
          std::from_chars(name.data() + 1, name.data() + name.size() - kSuffix.size(), version);
      if (error == std::errc() && end == name.data() + name.size() - kSuffix.size()) return version;
    }
    return MakeError(ErrorKind::kCorrupt,
                     "\"" + std::string(name) + "\" is no metadata file of a hadoop catalog");
  }

  static Result<void> Outcome(Result<void> created) {
    if (created || created.error().kind() != ErrorKind::kAlreadyExists) return created;
    return MakeError(ErrorKind::kConflict, "another writer was faster");
  }

  // Old metadata files are deleted in their order. If the base is gone, the number behind it was
  // free only because somebody has gone far beyond it.
  Result<void> CheckNotBypassed(const CatalogCommit& commit, int64_t version) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string base, files_.Path(commit.base->metadata_location));
    const Result<bool> exists = files_.store()->Exists(base);
    if (exists && *exists) return {};
    if (!exists) return MakeError(ErrorKind::kCommitUnknown, exists.error().message());
    (void)files_.store()->Delete(VersionPath(commit.table, version));
    return MakeError(ErrorKind::kConflict, "other writers were faster, many times");
  }

  // The hint says where to begin, and may be stale; 0: there is no table.
  Result<int64_t> CurrentVersion(const TablePath& table) {
    int64_t version = 0;
    const Result<std::string> hint =
        files_.store()->Read(Directory(table) + "/metadata/version-hint.text");
    if (hint) {
      std::string_view text = *hint;
      while (!text.empty() && text.back() <= ' ') text.remove_suffix(1);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
      if (error != std::errc() || end != text.data() + text.size()) version = 0;
    } else if (hint.error().kind() != ErrorKind::kNotFound) {
      return hint.error();
    }
    if (version == 0) return ListedVersion(table);
    DRIFTLESS_ASSIGN_OR_RETURN(const bool exists,
                               files_.store()->Exists(VersionPath(table, version)));
    if (!exists) return ListedVersion(table);
    while (true) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool next,
                                 files_.store()->Exists(VersionPath(table, version + 1)));
      if (!next) return version;
      ++version;
    }
  }

  Result<int64_t> ListedVersion(const TablePath& table) {
    DRIFTLESS_ASSIGN_OR_RETURN(
        const std::vector<ObjectInfo> found,
        files_.store()->List(Directory(table) + "/metadata", ObjectStore::Depth::kDirect));
    int64_t highest = 0;
    for (const ObjectInfo& object : found) {
      if (const Result<int64_t> version = VersionOf(object.path)) {
        highest = std::max(highest, *version);
      }
    }
    return highest;
  }

  // Readers probe beyond a stale hint.
  void PutHint(const TablePath& table, int64_t version) {
    (void)files_.store()->PutHint(Directory(table) + "/metadata/version-hint.text",
                                  std::to_string(version));
  }

  TableFiles files_;
  const Clock* clock_;
};

}  // namespace

std::unique_ptr<Catalog> MakeHadoopCatalog(std::shared_ptr<ObjectStore> warehouse,
                                           const Clock* clock) {
  return std::make_unique<HadoopCatalog>(std::move(warehouse), clock);
}

}  // namespace driftless::iceberg
