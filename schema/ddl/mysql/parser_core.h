#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "schema/ddl/mysql/lexer.h"
#include "schema/ddl/mysql/statement.h"

namespace driftless::mysql {

// The recursive-descent parser, spread over parser.cc (statements), parse_create.cc,
// parse_alter.cc, parse_column.cc and parse_key.cc. Functions that parse return false after the
// first error, which error() then holds; what they fill is worthless then.
class Parser {
 public:
  Parser(std::string_view sql, const ServerSettings& settings, const SqlMode& mode);

  bool ParseOne(Statement* out);
  Error TakeError();

 private:
  // Tokens.
  const Token& Peek(size_t ahead = 0);
  bool At(std::string_view word, size_t ahead = 0) { return Peek(ahead).Is(word); }
  bool AtAny(std::initializer_list<std::string_view> words);
  Token Take();
  bool Accept(std::string_view word);
  bool AcceptWords(std::initializer_list<std::string_view> words);  // all in a row, or none
  bool AcceptAny(std::initializer_list<std::string_view> words);
  bool Expect(std::string_view word);
  bool Fail(std::string_view expected);  // at the next token
  bool FailAt(size_t offset, std::string message);

  // Parts that many statements share.
  bool AtName(size_t ahead = 0);
  bool ParseName(Name* out, std::string_view what);
  bool ParseColumnName(Name* out);  // with table and database before it where the server allows it
  bool ParseTableName(TableName* out);
  bool ParseString(std::string* out, std::string_view what);
  bool ParseNumber(int64_t* out, std::string_view what);
  bool ParseWordOrString(std::string* out, std::string_view what);
  bool ParseIfExists(bool* out);
  bool ParseIfNotExists(bool* out);
  bool ParseCharsetName(Charset* out);
  bool ParseCollationName(std::string* out);
  bool AcceptCharsetWords();
  bool SkipParenthesised(std::vector<std::string>* names = nullptr, std::string* text = nullptr);
  bool SkipWait();  // MariaDB: WAIT n, NOWAIT
  bool SkipToEnd();
  bool ExpectEnd();

  // Statements.
  bool ParseCreate(Statement* out);
  bool ParseCreateTable(bool or_replace, bool temporary, Statement* out);
  bool ParseCreateIndex(bool or_replace, Statement* out);
  bool ParseCreateRelation(bool is_view, Statement* out);
  bool ParseAlter(Statement* out);
  bool ParseAlterTable(Statement* out);
  bool ParseDrop(Statement* out);
  bool ParseDropTables(bool temporary, Statement* out);
  bool ParseDropIndex(Statement* out);
  bool ParseRename(Statement* out);
  bool ParseTruncate(Statement* out);
  bool ParseDatabase(DatabaseStatement::Kind kind, bool or_replace, Statement* out);
  bool ParseSetStatement(Statement* out);
  bool Ignore(IgnoredStatement::Kind kind, Statement* out);

  // CREATE TABLE.
  bool ParseTableElements(CreateTableStatement* table);
  bool ParseTableElement(CreateTableStatement* table);
  bool ParseTableOptions(TableOptions* options, bool in_alter);
  bool ParseTableOption(TableOptions* options, bool in_alter, bool* found);
  bool ParsePlainOption(bool* found);
  bool ParsePartitioning(Partitioning* partitioning);
  bool ParsePartitionDefinitions(std::vector<std::string>* names);
  bool AtQuery();
  bool TakeQuery(std::vector<Token>* query);

  // Columns and keys.
  bool ParseColumnSpec(ColumnSpec* column);
  bool ParseColumnBody(ColumnSpec* column);
  bool ParseType(ColumnSpec* column);
  bool ParseIntegerType(const Token& word, ColumnType* type, bool* matched);
  bool ParseRealType(const Token& word, ColumnType* type, bool* matched);
  bool ParseCharacterType(const Token& word, ColumnType* type, bool* matched);
  bool ParseTextType(const Token& word, ColumnType* type, bool* matched);
  bool ParseOtherType(const Token& word, ColumnType* type, bool* matched);
  bool ParseOracleType(const Token& word, ColumnType* type, bool* matched);
  bool ParseLength(int64_t* length, bool required);
  bool ParsePrecision(ColumnType* type, bool allow_one);
  bool ParseNumericOptions(ColumnType* type);
  bool ParseCharsetAttributes(ColumnType* type);
  bool ParseMembers(ColumnType* type);
  bool ParseGenerated(ColumnSpec* column, bool* matched);
  bool ParseColumnAttribute(ColumnSpec* column, bool* matched);
  bool ParseRareColumnAttribute(ColumnSpec* column, bool* matched);
  bool ParseDefault(ColumnDefault* value);
  bool ParseDefaultExpression(ColumnDefault* value);
  bool ParseNow(std::string* fraction, bool* matched);
  bool ParsePosition(ColumnPosition* position);
  bool AtKeySpec();
  bool ParseKeySpec(KeySpec* key);
  bool ParseKeyParts(KeySpec* key);
  bool ParseKeyOptions();
  bool SkipKeyType();
  bool ParseReferences(ForeignReference* reference);
  bool ParseCheckTail();

  // ALTER TABLE.
  bool ParseAlterSpecs(AlterTableStatement* alter);
  bool ParseAlterSpec(AlterTableStatement* alter);
  bool ParseAdd(AlterTableStatement* alter);
  bool ParseAddColumns(AlterTableStatement* alter);
  bool ParseDropSpec(AlterTableStatement* alter);
  bool ParseChange(AlterTableStatement* alter, bool with_new_name);
  bool ParseAlterColumnOrKey(AlterTableStatement* alter);
  bool ParseRenameSpec(AlterTableStatement* alter);
  bool ParseConvert(AlterTableStatement* alter);
  bool ParseExecution(AlterTableStatement* alter, bool is_lock);
  bool ParsePartitionSpec(AlterTableStatement* alter, bool* matched);
  bool ParsePartitionNames(PartitionSpec* spec);
  bool ParsePeriod(std::vector<Name>* columns, bool* is_system_time);

  std::string_view sql_;
  ServerSettings settings_;
  SqlMode mode_;
  Lexer lexer_;
  std::deque<Token> tokens_;  // looked at, not yet taken
  Token last_;
  size_t error_at_ = 0;
  std::string error_;
};

}  // namespace driftless::mysql
