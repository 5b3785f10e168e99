#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless::mysql {

enum class Dialect : uint8_t { kMySql, kMariaDb };

// "mysql" or "mariadb". Errors: kInvalidConfig.
Result<Dialect> ParseDialect(std::string_view text);

// The parts of sql_mode that change how DDL is read (MySQL 8.4 Reference Manual, 7.1.11).
struct SqlMode {
  bool ansi_quotes = false;           // "x" quotes an identifier
  bool no_backslash_escapes = false;  // \ is an ordinary character in strings
  bool real_as_float = false;         // REAL is FLOAT
  bool oracle = false;                // MariaDB: DATE is DATETIME, BLOB is LONGBLOB
  friend bool operator==(const SqlMode&, const SqlMode&) = default;
};

// A comma list of mode names as in `SET sql_mode`; modes that do not matter here are accepted.
SqlMode ParseSqlMode(std::string_view names);
// The bits of the binary log's status variable Q_SQL_MODE_CODE, the same as of @@sql_mode + 0.
SqlMode SqlModeFromBits(uint64_t bits);

// lower_case_table_names: how names of databases and tables compare (Reference Manual, 11.2.3).
enum class TableNameCase : uint8_t {
  kSensitive = 0,    // 0: as written
  kLower = 1,        // 1: stored in lower case
  kInsensitive = 2,  // 2: stored as written, compared without case
};

// What does not change while a server runs. The defaults are those of the newest servers that
// Driftless is tested with.
struct ServerSettings {
  Dialect dialect = Dialect::kMySql;
  // 80036 is MySQL 8.0.36, 101119 MariaDB 10.11.19; 0 means kDefaultMySql or kDefaultMariaDb. It
  // decides which /*!NNNNN ... */ comments are code, which words are reserved and which collation a
  // character set has by default.
  int version = 0;
  TableNameCase table_name_case = TableNameCase::kSensitive;
  std::string charset = "utf8mb4";  // character_set_server: of databases that name none
  std::string collation;            // empty: the charset's default
  bool explicit_defaults_for_timestamp = true;
  // TINYINT(1) is BOOLEAN: Flink CDC's treat-tinyint1-as-boolean.enabled.
  bool tinyint1_is_boolean = true;
  // Comments of tables and columns are left out: Flink CDC's include-comments.enabled: false.
  bool without_comments = false;
  // Session-local CREATE TEMPORARY TABLE hides a table of the same name. For scripts of one session
  // only: in a binary log statements of many sessions are interleaved, and temporary tables are not
  // in it.
  bool track_temporary_tables = false;

  static constexpr int kDefaultMySql = 90704;
  static constexpr int kDefaultMariaDb = 101119;

  bool IsMariaDb() const { return dialect == Dialect::kMariaDb; }
  int Version() const {
    if (version != 0) return version;
    return IsMariaDb() ? kDefaultMariaDb : kDefaultMySql;
  }
  // Integer types show no width: MySQL from 8.0.19 on.
  bool HidesIntegerWidth() const { return !IsMariaDb() && Version() >= 80019; }
};

// What the session of one statement had.
struct StatementContext {
  std::string default_database;  // empty: none
  SqlMode sql_mode;
};

}  // namespace driftless::mysql
