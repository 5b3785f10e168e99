#include "schema/ddl/mysql/column_types.h"
#include "schema/ddl/mysql/parser.h"

namespace driftless::mysql {

Result<ResolvedType> ParseTypeText(std::string_view text, const Charset& table_defaults,
                                   const ServerSettings& settings) {
  // A type stands in a statement only, so one is put around it.
  const std::string sql = "ALTER TABLE t MODIFY c " + std::string(text);
  DRIFTLESS_ASSIGN_OR_RETURN(const Statement statement, ParseStatement(sql, settings, {}));
  const auto* alter = std::get_if<AlterTableStatement>(&statement);
  if (alter == nullptr || alter->specs.size() != 1 ||
      !std::holds_alternative<ChangeColumnSpec>(alter->specs[0])) {
    return MakeError(ErrorKind::kParse, "\"" + std::string(text) + "\" is not a column type");
  }
  const ColumnSpec& column = std::get<ChangeColumnSpec>(alter->specs[0]).column;
  return ResolveType(column.type, column.collation, table_defaults, column.name.text, settings);
}

}  // namespace driftless::mysql
