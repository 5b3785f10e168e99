#include <algorithm>
#include <charconv>
#include <utility>

#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/metadata_files.h"

namespace driftless::iceberg {
namespace {

constexpr std::string_view kSuffixes[] = {kPlainMetadata, kGzipMetadata};

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
    DRIFTLESS_ASSIGN_OR_RETURN(const Version current, CurrentVersion(table));
    if (current.number == 0) return std::optional<LoadedTable>();
    LoadedTable loaded;
    loaded.files = files_;
    loaded.metadata_location = files_.Uri(current.path);
    DRIFTLESS_ASSIGN_OR_RETURN(loaded.metadata, ReadMetadataFile(files_, loaded.metadata_location));
    return std::optional(std::move(loaded));
  }

  Result<void> Create(const TablePath& table, const NewTable& created) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const Version current, CurrentVersion(table));
    if (current.number > 0) {
      return MakeError(ErrorKind::kAlreadyExists,
                       "table " + table.ToString() + " is there already");
    }
    const TableMetadata metadata =
        MetadataOf(created, files_.Uri(Directory(table)), clock_->NowMillis());
    DRIFTLESS_TRY(files_.store()->MakeDirectory(Directory(table) + "/metadata"));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view suffix, MetadataSuffix(metadata));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, MetadataBytes(metadata));
    DRIFTLESS_TRY(files_.store()->CreateExclusive(VersionPath(table, 1, suffix), bytes));
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
      TableMetadata next = ApplyChange(commit.base->metadata, commit.base->metadata_location,
                                       *commit.change, clock_->NowMillis());
      const auto suffix = MetadataSuffix(next);
      auto bytes = MetadataBytes(next);
      if (!suffix || !bytes) {
        results[i] = bytes.error();
        continue;
      }
      written.push_back(std::move(next));
      which.push_back(i);
      versions.push_back(*version + 1);
      objects.push_back({VersionPath(commit.table, *version + 1, *suffix), *std::move(bytes)});
    }
    if (objects.empty()) return results;
    std::vector<Result<void>> created = files_.store()->CreateExclusive(objects);
    for (size_t k = 0; k < which.size(); ++k) {
      const CatalogCommit& commit = commits[which[k]];
      results[which[k]] = Outcome(std::move(created[k]));
      if (results[which[k]]) results[which[k]] = CheckNotBypassed(commit, objects[k].path);
      if (!results[which[k]]) continue;
      PutHint(commit.table, versions[k]);
      DropOldMetadata(files_, commit.base->metadata, written[k]);
    }
    return results;
  }

 private:
  struct Version {
    int64_t number = 0;  // 0: there is no table
    std::string path;
  };

  static std::string VersionPath(const TablePath& table, int64_t version, std::string_view suffix) {
    return Directory(table) + "/metadata/v" + std::to_string(version) + std::string(suffix);
  }

  static Result<int64_t> VersionOf(std::string_view location) {
    const std::string_view name = location.substr(location.rfind('/') + 1);
    for (const std::string_view suffix : kSuffixes) {
      int64_t version = 0;
      if (!name.starts_with('v') || !name.ends_with(suffix)) continue;
      const auto [end, error] =
          std::from_chars(name.data() + 1, name.data() + name.size() - suffix.size(), version);
      if (error == std::errc() && end == name.data() + name.size() - suffix.size()) return version;
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
  Result<void> CheckNotBypassed(const CatalogCommit& commit, const std::string& created) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string base, files_.Path(commit.base->metadata_location));
    const Result<bool> exists = files_.store()->Exists(base);
    if (exists && *exists) return {};
    if (!exists) return MakeError(ErrorKind::kCommitUnknown, exists.error().message());
    (void)files_.store()->Delete(created);
    return MakeError(ErrorKind::kConflict, "other writers were faster, many times");
  }

  // Its file, whatever its name ends in; number 0: it is not there.
  Result<Version> FindVersion(const TablePath& table, int64_t number) {
    for (const std::string_view suffix : kSuffixes) {
      std::string path = VersionPath(table, number, suffix);
      DRIFTLESS_ASSIGN_OR_RETURN(const bool exists, files_.store()->Exists(path));
      if (exists) return Version{number, std::move(path)};
    }
    return Version();
  }

  // The hint says where to begin, and may be stale.
  Result<Version> CurrentVersion(const TablePath& table) {
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
    DRIFTLESS_ASSIGN_OR_RETURN(Version found, FindVersion(table, version));
    if (found.number == 0) return ListedVersion(table);
    while (true) {
      DRIFTLESS_ASSIGN_OR_RETURN(Version next, FindVersion(table, found.number + 1));
      if (next.number == 0) return found;
      found = std::move(next);
    }
  }

  Result<Version> ListedVersion(const TablePath& table) {
    DRIFTLESS_ASSIGN_OR_RETURN(
        const std::vector<ListedObject> found,
        files_.store()->List(Directory(table) + "/metadata", ObjectStore::Depth::kDirect));
    Version highest;
    for (const ListedObject& object : found) {
      const Result<int64_t> version = VersionOf(object.path);
      if (version && *version > highest.number) highest = {*version, object.path};
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
