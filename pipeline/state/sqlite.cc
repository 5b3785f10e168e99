#include "pipeline/state/sqlite.h"

#include <sqlite3.h>

#include <cstring>
#include <utility>

#include "schema/base/check.h"

namespace driftless {
namespace {

// SQLite's result codes (sqlite.org/rescode.html) as kinds of ours.
ErrorKind KindOf(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM: return ErrorKind::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorKind::kCorrupt;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH: return ErrorKind::kPermission;
    case SQLITE_CANTOPEN: return ErrorKind::kNotFound;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorKind::kConflict;
    case SQLITE_IOERR: return ErrorKind::kResourceExhausted;
    default: return ErrorKind::kInternal;
  }
}

}  // namespace

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), next_(other.next_) {}

SqliteStatement& SqliteStatement::operator=(SqliteStatement&& other) noexcept {
  std::swap(statement_, other.statement_);
  std::swap(next_, other.next_);
  return *this;
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

SqliteStatement& SqliteStatement::Bind(std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(statement_, next_++, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

SqliteStatement& SqliteStatement::Bind(int64_t number) {
  sqlite3_bind_int64(statement_, next_++, number);
  return *this;
}

SqliteStatement& SqliteStatement::BindBlob(std::string_view bytes) {
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  sqlite3_bind_blob64(statement_, next_++, data, bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

SqliteStatement& SqliteStatement::BindNull() {
  sqlite3_bind_null(statement_, next_++);
  return *this;
}

Result<bool> SqliteStatement::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return MakeError(KindOf(code), std::string("the state database says: ") +
                                     sqlite3_errmsg(sqlite3_db_handle(statement_)));
}

Result<void> SqliteStatement::Run() {
  DRIFTLESS_ASSIGN_OR_RETURN(const bool row, Step());
  DRIFTLESS_CHECK(!row);
  return {};
}

bool SqliteStatement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int64_t SqliteStatement::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::string SqliteStatement::Text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<size_t>(size)};
}

SqliteDatabase::SqliteDatabase(SqliteDatabase&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)), path_(std::move(other.path_)) {}

SqliteDatabase& SqliteDatabase::operator=(SqliteDatabase&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(path_, other.path_);
  return *this;
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(database_); }

Result<SqliteDatabase> SqliteDatabase::Open(const std::string& path, Create create) {
  SqliteDatabase database;
  database.path_ = path;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                    (create == Create::kIfMissing ? SQLITE_OPEN_CREATE : 0);
  if (sqlite3_open_v2(path.c_str(), &database.database_, flags, nullptr) != SQLITE_OK) {
    return database.LastError("cannot open it");
  }
  sqlite3_extended_result_codes(database.database_, 1);
  sqlite3_busy_timeout(database.database_, 10'000);
  DRIFTLESS_TRY(database.Execute("PRAGMA journal_mode=WAL"));
  DRIFTLESS_TRY(database.Execute("PRAGMA synchronous=FULL"));
  return database;
}

Result<void> SqliteDatabase::Execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return LastError(sql);
  return {};
}

Result<SqliteStatement> SqliteDatabase::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK) {
    return LastError(sql);
  }
  return SqliteStatement(statement);
}

int64_t SqliteDatabase::last_insert_id() const { return sqlite3_last_insert_rowid(database_); }

int64_t SqliteDatabase::changed_rows() const { return sqlite3_changes64(database_); }

Error SqliteDatabase::LastError(std::string_view doing) const {
  const int code = database_ == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(database_);
  const char* words = database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_);
  const int system = database_ == nullptr ? 0 : sqlite3_system_errno(database_);
  Error error =
      MakeError(KindOf(code), "state database " + path_ + ": " + words +
                                  (system != 0 ? std::string(": ") + std::strerror(system) : "") +
                                  " (" + std::string(doing) + ")");
  if ((code & 0xff) != SQLITE_FULL && (code & 0xff) != SQLITE_IOERR) return error;
  return std::move(error).Hint(
      "Is the disk full? Nothing that was committed is lost: make room and start again.");
}

}  // namespace driftless
