#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/rest_messages.h"
#include "sinks/iceberg/rest_session.h"
#include "sinks/iceberg/table_access.h"
#include "sinks/lake/in_parallel.h"

namespace driftless::iceberg {
namespace {

using Repeat = RestSession::Repeat;

constexpr int kThreads = 8;
constexpr int kCreateTries = 5;
constexpr std::string_view kTransaction = "POST /v1/{prefix}/transactions/commit";

std::string PropertyOf(const Properties& properties, const std::string& key) {
  const auto found = properties.find(key);
  return found == properties.end() ? std::string() : found->second;
}

class RestCatalog : public Catalog {
 public:
  RestCatalog(Properties properties, const Clock* clock)
      : session_(std::make_shared<RestSession>(properties, clock)),
        access_(clock),
        identity_(PropertyOf(properties, "uri") + " " + PropertyOf(properties, "warehouse")),
        base_namespace_(SplitNamespace(PropertyOf(properties, "base-namespace"))) {
    while (identity_.ends_with(' ')) identity_.pop_back();
  }

  Result<std::string> Connect() override {
    DRIFTLESS_TRY(session_->Configure());
    return std::string("Apache Iceberg (REST catalog)");
  }
  std::string identity() const override { return identity_; }
  Result<Properties> EffectiveProperties(Properties) override {
    return session_->EffectiveProperties();  // made of the same ones
  }

  Result<std::optional<LoadedTable>> Load(const TablePath& table) override {
    DRIFTLESS_ASSIGN_OR_RETURN(std::optional<LoadAnswer> answer, Ask(*session_, NameOf(table)));
    if (!answer) return std::optional<LoadedTable>();
    LoadedTable loaded;
    DRIFTLESS_ASSIGN_OR_RETURN(const Properties own, session_->EffectiveProperties());
    const auto ask = [session = session_, name = NameOf(table)]() -> Result<FileProperties> {
      DRIFTLESS_ASSIGN_OR_RETURN(std::optional<LoadAnswer> again, Ask(*session, name));
      if (!again) return MakeError(ErrorKind::kNotFound, "table " + name.name + " is gone");
      return std::move(again->config);
    };
    DRIFTLESS_ASSIGN_OR_RETURN(loaded.files,
                               access_.Open(answer->metadata.location, own, answer->config, ask));
    loaded.metadata = std::move(answer->metadata);
    loaded.metadata_location = std::move(answer->metadata_location);
    return std::optional(std::move(loaded));
  }

  // A creation of unknown outcome is repeated: if it took effect, the table is there already, and
  // our mark in its properties tells the caller whose it is.
  Result<void> Create(const TablePath& table, const NewTable& created) override {
    const RestTableName name = NameOf(table);
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, session_->NamespacePath(name.levels));
    const std::string body = CreateTableBody(name.name, created);
    for (int tries = 1;; ++tries) {
      Result<HttpResponse> response = session_->Call("POST", path + "/tables", body, Repeat::kOnce);
      if (response && response->status == 404 && tries == 1) {
        DRIFTLESS_TRY(CreateNamespace(name.levels));
        continue;
      }
      if (response && response->status / 100 == 2) return {};
      if (response) return RestError(*response, "creating table " + table.ToString());
      if (response.error().kind() != ErrorKind::kCommitUnknown || tries == kCreateTries) {
        return response.error();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100 << tries));
    }
  }

  std::vector<Result<void>> Commit(std::span<const CatalogCommit> commits) override {
    std::vector<Result<void>> results(commits.size());
    if (const Result<void> synced = SyncFiles(commits); !synced) {
      results.assign(commits.size(), synced);
      return results;
    }
    if (commits.size() > 1 && session_->Offers(std::string(kTransaction))) {
      Result<void> done = CommitTogether(commits);
      // Where one table is in conflict, the others need not wait for it.
      if (done || done.error().kind() != ErrorKind::kConflict) {
        results.assign(commits.size(), done);
        return results;
      }
    }
    lake::InParallel(commits.size(), kThreads,
                     [&](size_t i) { results[i] = CommitOne(commits[i]); });
    return results;
  }

  bool CommitsTogether() const override { return session_->Offers(std::string(kTransaction)); }
  // The reference server (Iceberg's RESTCatalogAdapter) answers 204 and drops the change of a
  // table that somebody else has just committed to.
  bool IsSureOfTogether() const override { return false; }

 private:
  static std::vector<std::string> SplitNamespace(std::string_view text) {
    std::vector<std::string> levels;
    while (!text.empty()) {
      const size_t dot = text.find('.');
      levels.emplace_back(text.substr(0, dot));
      if (dot == std::string_view::npos) break;
      text.remove_prefix(dot + 1);
    }
    return levels;
  }

  RestTableName NameOf(const TablePath& table) const {
    RestTableName name{base_namespace_, table.table};
    name.levels.push_back(table.database);
    return name;
  }

  static Result<std::string> PathOf(RestSession& session, const RestTableName& name) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, session.NamespacePath(name.levels));
    return path + "/tables/" + UrlEncode(name.name);
  }

  static Result<std::optional<LoadAnswer>> Ask(RestSession& session, const RestTableName& name) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, PathOf(session, name));
    DRIFTLESS_ASSIGN_OR_RETURN(const HttpResponse response,
                               session.Call("GET", path, "", Repeat::kRepeatable));
    if (response.status != 200) {
      Error error = RestError(response, "loading table " + name.name);
      if (error.kind() == ErrorKind::kNotFound) return std::optional<LoadAnswer>();
      return error;
    }
    auto answer = ParseLoadAnswer(response.body);
    if (!answer) return std::move(answer).error().Context("table " + name.name);
    return std::optional(*std::move(answer));
  }

  Result<void> CreateNamespace(const std::vector<std::string>& levels) {
    for (size_t depth = 1; depth <= levels.size(); ++depth) {
      const std::vector<std::string> path(levels.begin(),
                                          levels.begin() + static_cast<ptrdiff_t>(depth));
      DRIFTLESS_ASSIGN_OR_RETURN(
          const HttpResponse response,
          session_->Call("POST", "namespaces", CreateNamespaceBody(path), Repeat::kRepeatable));
      // 409: it is there.
      if (response.status / 100 != 2 && response.status != 409) {
        return RestError(response, "creating namespace " + path.back());
      }
    }
    return {};
  }

  // What a snapshot names must survive a power cut before the catalog names the snapshot.
  static Result<void> SyncFiles(std::span<const CatalogCommit> commits) {
    std::set<ObjectStore*> stores;
    for (const CatalogCommit& commit : commits) stores.insert(commit.base->files.store());
    for (ObjectStore* store : stores) DRIFTLESS_TRY(store->SyncAll());
    return {};
  }

  std::string BodyOf(const CatalogCommit& commit) const {
    return CommitBody(NameOf(commit.table), commit.base->metadata, *commit.change);
  }

  static Result<void> Outcome(const Result<HttpResponse>& response, const std::string& what) {
    if (!response) return response.error();
    if (response->status / 100 == 2) return {};
    const Error error = RestError(*response, what);
    if (response->status == 409) return MakeError(ErrorKind::kConflict, error.message());
    if (error.kind() == ErrorKind::kNotFound) {
      return MakeError(ErrorKind::kConflict, error.message());  // gone: the next look tells
    }
    return error;
  }

  Result<void> CommitOne(const CatalogCommit& commit) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, PathOf(*session_, NameOf(commit.table)));
    return Outcome(session_->Call("POST", path, BodyOf(commit), Repeat::kOnce),
                   "commit to table " + commit.table.ToString());
  }

  Result<void> CommitTogether(std::span<const CatalogCommit> commits) {
    std::vector<std::string> bodies;
    for (const CatalogCommit& commit : commits) bodies.push_back(BodyOf(commit));
    return Outcome(
        session_->Call("POST", "transactions/commit", TransactionBody(bodies), Repeat::kOnce),
        "commit to " + std::to_string(commits.size()) + " tables");
  }

  std::shared_ptr<RestSession> session_;
  TableAccess access_;
  std::string identity_;
  std::vector<std::string> base_namespace_;
};

}  // namespace

std::unique_ptr<Catalog> MakeRestCatalog(std::map<std::string, std::string> properties,
                                         const Clock* clock) {
  return std::make_unique<RestCatalog>(std::move(properties), clock);
}

}  // namespace driftless::iceberg
