#pragma once

#include <string>
#include <string_view>

#include "schema/ddl/mysql/statement.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// A type as the server keeps it: aliases resolved, lengths filled in, charset inherited.
struct ResolvedType {
  ColumnType type;   // base, length, decimals and charset are final
  std::string text;  // as information_schema.COLUMNS.COLUMN_TYPE prints it
  Charset charset;   // empty where the type has none
};

// Gives the type its final form. `table_defaults` is what a character column without a charset of
// its own gets; `collation` is the attribute COLLATE or empty. `name` is for messages. Errors:
// kRefused where the server refuses it (DECIMAL(5,9), VARCHAR(70000), unknown collation).
Result<ResolvedType> ResolveType(const ColumnType& type, std::string_view collation,
                                 const Charset& table_defaults, std::string_view name,
                                 const ServerSettings& settings);

// The type that a column of it has in Driftless, nullable: Flink CDC's mapping. See README.md for
// the types that Flink CDC refuses.
LogicalType MapType(const ColumnType& resolved, const ServerSettings& settings);

// Fills type, and of `source` what belongs to the type. Nullability of column->type stays.
void SetColumnType(const ResolvedType& resolved, const ServerSettings& settings, Column* column);

// A column's type text as a server or Debezium prints it ("int(10) unsigned", "ENUM('a','b')").
// Errors: kParse, kRefused.
Result<ResolvedType> ParseTypeText(std::string_view text, const Charset& table_defaults,
                                   const ServerSettings& settings);

// The one of TINY-, "", MEDIUM- and LONGTEXT (or BLOB) that holds so many bytes.
BaseType TextTypeForBytes(uint64_t bytes, bool is_blob);

bool IsCharacterType(BaseType base);  // has a charset: CHAR, VARCHAR, TEXTs, ENUM, SET
bool IsTextType(BaseType base);       // TINYTEXT to LONGTEXT
bool IsBlobType(BaseType base);       // TINYBLOB to LONGBLOB

}  // namespace driftless::mysql
