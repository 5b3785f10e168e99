#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless::flink {

enum class TokenKind : uint8_t { kName, kQuotedName, kString, kNumber, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;   // decoded: without quotes
  std::string upper;  // kName: in upper case; kSymbol: the symbol; else empty
  int line = 1;       // 1-based; a tab counts 1
  int column = 1;     // 1-based, in characters
  size_t begin = 0;   // bytes of the input
  size_t end = 0;
};

// Splits Flink SQL text (lexical rules of Calcite's Lex.JAVA: back-tick quotes, '' in strings,
// -- and // and /* */ comments). The list ends with one kEnd token. Errors: kParse with position,
// worded as Flink's parser words them.
Result<std::vector<Token>> Tokenize(std::string_view sql);

// An error of the SQL language: Flink's exception class and message, as the client prints them.
Error SqlError(std::string_view exception_class, std::string message);

inline constexpr std::string_view kParseException =
    "org.apache.flink.sql.parser.impl.ParseException";
inline constexpr std::string_view kValidationException =
    "org.apache.flink.table.api.ValidationException";
inline constexpr std::string_view kTableException = "org.apache.flink.table.api.TableException";
inline constexpr std::string_view kSqlValidateException =
    "org.apache.flink.sql.parser.error.SqlValidateException";
inline constexpr std::string_view kCalciteValidator =
    "org.apache.calcite.sql.validate.SqlValidatorException";
inline constexpr std::string_view kCatalogException =
    "org.apache.flink.table.catalog.exceptions.CatalogException";

}  // namespace driftless::flink
