#include "pipeline/sql_host/session_store.h"

#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "config/sql/session.h"
#include "config/sql/sql_host.h"
#include "pipeline/state/sqlite.h"

namespace driftless {
namespace {

constexpr int64_t kFormatVersion = 1;

// A journal that is played again moves no rows: what was started then ended as it is recorded.
class ReplayHost : public flink::SqlHost {
 public:
  Result<void> Submit(const std::vector<flink::RowJob>&,
                      const std::map<std::string, std::string>&) override {
    if (succeeded) return {};
    return MakeError(ErrorKind::kUnavailable, "the pipeline did not start");
  }
  bool Runs(uint64_t) override { return false; }
  Result<void> Change(const std::vector<flink::RowJob>&) override { return {}; }
  bool succeeded = true;
};

}  // namespace

struct SqlSessionStore::Impl {
  ReplayHost host;
  flink::Session session;
  SqliteDatabase database;
  bool durable = false;

  Result<void> Play() {
    DRIFTLESS_TRY(database.Execute(
        "CREATE TABLE IF NOT EXISTS sql_meta (version INTEGER NOT NULL);"
        "CREATE TABLE IF NOT EXISTS sql_journal (id INTEGER PRIMARY KEY, statement TEXT NOT NULL, "
        "succeeded INTEGER NOT NULL)"));
    DRIFTLESS_ASSIGN_OR_RETURN(auto version, database.Prepare("SELECT version FROM sql_meta"));
    DRIFTLESS_ASSIGN_OR_RETURN(const bool known, version.Step());
    if (!known) {
      DRIFTLESS_ASSIGN_OR_RETURN(auto insert, database.Prepare("INSERT INTO sql_meta VALUES (?)"));
      DRIFTLESS_TRY(insert.Bind(kFormatVersion).Run());
    } else if (version.Int(0) != kFormatVersion) {
      return MakeError(ErrorKind::kUnsupported,
                       "the SQL session has format " + std::to_string(version.Int(0)) +
                           ", this release knows " + std::to_string(kFormatVersion));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(
        auto rows,
        database.Prepare("SELECT id, statement, succeeded FROM sql_journal ORDER BY id"));
    while (true) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
      if (!more) return {};
      const std::string statement = rows.Text(1);
      host.succeeded = rows.Int(2) != 0;
      const auto outcome = session.Execute(statement);
      if (outcome.has_value() == (rows.Int(2) != 0)) continue;
      return MakeError(ErrorKind::kCorrupt,
                       "statement " + std::to_string(rows.Int(0)) +
                           " of the SQL session does not play again: " + statement)
          .Hint(outcome ? "It failed when it was written." : outcome.error().message());
    }
  }

  Result<void> Write(std::string_view sql, bool succeeded) {
    DRIFTLESS_ASSIGN_OR_RETURN(
        auto insert,
        database.Prepare("INSERT INTO sql_journal (statement, succeeded) VALUES (?, ?)"));
    return insert.Bind(sql).Bind(succeeded ? 1 : 0).Run();
  }
};

SqlSessionStore::SqlSessionStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqlSessionStore::SqlSessionStore(SqlSessionStore&&) noexcept = default;
SqlSessionStore& SqlSessionStore::operator=(SqlSessionStore&&) noexcept = default;
SqlSessionStore::~SqlSessionStore() = default;

Result<SqlSessionStore> SqlSessionStore::Open(const std::string& folder) {
  auto impl = std::make_unique<Impl>();
  if (!folder.empty()) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code) {
      return MakeError(ErrorKind::kPermission,
                       "cannot create \"" + folder + "\": " + code.message());
    }
    const std::string path = (std::filesystem::path(folder) / "sql.db").string();
    DRIFTLESS_ASSIGN_OR_RETURN(impl->database,
                               SqliteDatabase::Open(path, SqliteDatabase::Create::kIfMissing));
    impl->durable = true;
    // One writer at a time: a second call waits here, so that it plays what the first one wrote.
    DRIFTLESS_TRY(impl->database.Execute("BEGIN IMMEDIATE"));
    impl->session.SetHost(&impl->host);
    DRIFTLESS_TRY(impl->Play());
    impl->session.SetHost(nullptr);
    DRIFTLESS_TRY(impl->database.Execute("COMMIT"));
  }
  return SqlSessionStore(std::move(impl));
}

Result<std::string> SqlSessionStore::Execute(std::string_view sql) {
  const uint64_t before = impl_->session.changes();
  auto result = impl_->session.Execute(sql);
  if (impl_->durable && impl_->session.changes() != before) {
    DRIFTLESS_TRY(impl_->Write(sql, result.has_value()));
  }
  return result;
}

void SqlSessionStore::SetPrint(std::function<void(std::string_view)> print) {
  impl_->session.SetPrint(std::move(print));
}

void SqlSessionStore::SetHost(flink::SqlHost* host) { impl_->session.SetHost(host); }

std::vector<std::string> SqlSessionStore::Names() const {
  std::set<std::string> names;
  for (const auto& [name, table] : impl_->session.TablesAndViews()) {
    names.insert(name.object);
    for (const flink::Column& column : table->columns) names.insert(column.name);
  }
  for (const auto& [name, table] : impl_->session.Tables()) {
    names.insert({name.catalog, name.database});
  }
  return {names.begin(), names.end()};
}

}  // namespace driftless
