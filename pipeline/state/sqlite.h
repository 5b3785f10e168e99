#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace driftless {

// One prepared statement. Bind in order, then Step; columns are read in order too. One thread.
class SqliteStatement {
 public:
  SqliteStatement() = default;
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&& other) noexcept;
  ~SqliteStatement();

  SqliteStatement& Bind(std::string_view text);
  SqliteStatement& Bind(const std::string& text) { return Bind(std::string_view(text)); }
  SqliteStatement& Bind(const char* text) { return Bind(std::string_view(text)); }
  SqliteStatement& Bind(int64_t number);
  SqliteStatement& Bind(uint64_t number) { return Bind(static_cast<int64_t>(number)); }
  SqliteStatement& Bind(uint32_t number) { return Bind(static_cast<int64_t>(number)); }
  SqliteStatement& Bind(int number) { return Bind(static_cast<int64_t>(number)); }
  SqliteStatement& BindBlob(std::string_view bytes);
  SqliteStatement& BindNull();

  // True while there is a row. Errors carry SQLite's words.
  Result<bool> Step();
  // Steps a statement that returns no rows.
  Result<void> Run();

  bool IsNull(int column) const;
  int64_t Int(int column) const;
  std::string Text(int column) const;  // text and blobs alike

 private:
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
};

// One connection. Not thread-safe: its owner serialises.
class SqliteDatabase {
 public:
  SqliteDatabase() = default;
  SqliteDatabase(SqliteDatabase&& other) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&& other) noexcept;
  ~SqliteDatabase();

  enum class Create : uint8_t { kNo, kIfMissing };
  // WAL, synchronous=FULL, and ten seconds of patience with other processes.
  static Result<SqliteDatabase> Open(const std::string& path, Create create);

  Result<void> Execute(const char* sql);  // one or more statements without parameters
  Result<SqliteStatement> Prepare(std::string_view sql) const;
  int64_t last_insert_id() const;
  int64_t changed_rows() const;  // by the last statement

 private:
  Error LastError(std::string_view doing) const;
  sqlite3* database_ = nullptr;
  std::string path_;
};

}  // namespace driftless
