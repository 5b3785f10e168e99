#include <sqlite3.h>

#include <memory>
#include <utility>

#include "sinks/iceberg/catalog_database.h"

namespace driftless::iceberg {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

class SqliteDatabase : public CatalogDatabase {
 public:
  explicit SqliteDatabase(std::string file) : file_(std::move(file)) {}
  ~SqliteDatabase() override { sqlite3_close_v2(database_); }
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  Result<void> Open(bool* is_new) override {
    *is_new = database_ == nullptr;
    if (!*is_new) return {};
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(file_.c_str(), &database_, kFlags, nullptr) != SQLITE_OK) {
      Error error = LastError("opening it");
      sqlite3_close_v2(std::exchange(database_, nullptr));
      return error;
    }
    sqlite3_busy_timeout(database_, 10'000);
    return {};
  }

  Result<Answer> Run(const std::string& sql, const std::vector<std::string>& values) override {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
      return LastError(sql);
    }
    const Statement statement(prepared);
    for (size_t i = 0; i < values.size(); ++i) {
      sqlite3_bind_text64(prepared, static_cast<int>(i) + 1, values[i].data(), values[i].size(),
                          SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    Answer answer;
    while (true) {
      const int code = sqlite3_step(prepared);
      if (code == SQLITE_DONE) break;
      if (code != SQLITE_ROW) return LastError(sql);
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(prepared, 0));
      answer.values.emplace_back(text == nullptr ? "" : text);
    }
    answer.changed = sqlite3_changes64(database_);
    return answer;
  }

  Result<void> Begin() override {
    DRIFTLESS_TRY(Run("BEGIN IMMEDIATE", {}));
    return {};
  }

  // A commit that fails has done nothing, unless the disk failed under it.
  Result<void> Commit() override {
    const int code = sqlite3_exec(database_, "COMMIT", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return {};
    Error error = LastError("committing");
    if ((code & 0xff) != SQLITE_IOERR) return error;
    return MakeError(ErrorKind::kCommitUnknown, error.message());
  }

  void RollBack() override {
    if (database_ != nullptr && sqlite3_get_autocommit(database_) == 0) {
      sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
    }
  }

  std::string ColumnsSql(std::string_view table) const override {
    return "SELECT name FROM pragma_table_info('" + std::string(table) + "')";
  }

 private:
  Error LastError(const std::string& what) const {
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

  const std::string file_;
  sqlite3* database_ = nullptr;
};

}  // namespace

std::unique_ptr<CatalogDatabase> MakeSqliteDatabase(std::string file) {
  return std::make_unique<SqliteDatabase>(std::move(file));
}

}  // namespace driftless::iceberg
