#include "schema/ddl/mysql/dialect.h"

#include "schema/base/letter_case.h"

namespace driftless::mysql {
namespace {

void AddMode(std::string_view name, SqlMode* mode) {
  const std::string lower = LowerCase(name);
  if (lower == "ansi_quotes") mode->ansi_quotes = true;
  if (lower == "no_backslash_escapes") mode->no_backslash_escapes = true;
  if (lower == "real_as_float") mode->real_as_float = true;
  if (lower == "ansi") mode->ansi_quotes = mode->real_as_float = true;
  if (lower == "oracle") mode->ansi_quotes = mode->oracle = true;
  if (lower == "db2" || lower == "maxdb" || lower == "mssql" || lower == "postgresql") {
    mode->ansi_quotes = true;
  }
}

}  // namespace

Result<Dialect> ParseDialect(std::string_view text) {
  const std::string lower = LowerCase(text);
  if (lower == "mysql") return Dialect::kMySql;
  if (lower == "mariadb") return Dialect::kMariaDb;
  return MakeError(ErrorKind::kInvalidConfig, "unknown dialect \"" + std::string(text) + "\"")
      .Hint("Known dialects are mysql and mariadb.");
}

SqlMode ParseSqlMode(std::string_view names) {
  SqlMode mode;
  while (!names.empty()) {
    const size_t comma = names.find(',');
    std::string_view name = names.substr(0, comma);
    while (!name.empty() && (name.front() == ' ' || name.front() == '\'')) name.remove_prefix(1);
    while (!name.empty() && (name.back() == ' ' || name.back() == '\'')) name.remove_suffix(1);
    AddMode(name, &mode);
    if (comma == std::string_view::npos) break;
    names.remove_prefix(comma + 1);
  }
  return mode;
}

SqlMode SqlModeFromBits(uint64_t bits) {
  SqlMode mode;
  mode.real_as_float = (bits & 0x1) != 0;
  mode.ansi_quotes = (bits & 0x4) != 0;
  mode.oracle = (bits & 0x200) != 0;
  mode.no_backslash_escapes = (bits & 0x100000) != 0;
  return mode;
}

}  // namespace driftless::mysql
