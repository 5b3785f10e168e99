#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schema/ddl/mysql/charset.h"
#include "schema/ddl/mysql/lexer.h"

// What one statement says, before any table is looked at. Offsets are bytes in the statement's
// text.
namespace driftless::mysql {

struct Name {
  std::string text;
  size_t at = 0;
  bool empty() const { return text.empty(); }
};

// A table as written; `database` is empty where the default one is meant.
struct TableName {
  std::string database;
  std::string table;
  size_t at = 0;
};

enum class BaseType : uint8_t {
  kTinyInt,
  kSmallInt,
  kMediumInt,
  kInt,
  kBigInt,
  kDecimal,
  kFloat,
  kDouble,
  kBit,
  kChar,
  kVarChar,
  kBinary,
  kVarBinary,
  kTinyText,
  kText,
  kMediumText,
  kLongText,
  kTinyBlob,
  kBlob,
  kMediumBlob,
  kLongBlob,
  kEnum,
  kSet,
  kJson,
  kDate,
  kTime,
  kDateTime,
  kTimestamp,
  kYear,
  kGeometry,
  kVector,
  kUuid,
  kInet4,
  kInet6,
  kXml,
};

// A column's type as written.
struct ColumnType {
  BaseType base = BaseType::kInt;
  int64_t length = -1;    // (M), (p) of times, (n) of VECTOR; -1: not given
  int64_t decimals = -1;  // D of (M,D); -1: not given
  bool is_unsigned = false;
  bool zerofill = false;
  std::vector<std::string> members;  // ENUM, SET
  std::string geometry;              // "point" and so on
  Charset charset;                   // empty: the table's
  bool binary_attribute = false;     // BINARY after a character type: the charset's _bin collation
  bool compressed = false;           // MariaDB
  bool is_bool = false;              // BOOL, BOOLEAN
  size_t at = 0;
};

struct ColumnDefault {
  enum class Kind : uint8_t {
    kNone,
    kNull,
    kString,
    kNumber,
    kBits,
    kHex,
    kBool,
    kNow,
    kExpression
  };
  Kind kind = Kind::kNone;
  std::string text;  // decoded; kNow: the fraction's digits or empty; kExpression: SQL text
  size_t at = 0;
};

struct ColumnPosition {
  enum class Kind : uint8_t { kNone, kFirst, kAfter };
  Kind kind = Kind::kNone;
  Name after;
};

struct ForeignReference {
  TableName table;
  std::vector<Name> columns;
};

struct ColumnSpec {
  Name name;
  ColumnType type;
  std::optional<bool> nullable;  // NULL, NOT NULL, or neither
  ColumnDefault default_value;
  std::string on_update;  // "CURRENT_TIMESTAMP(3)", empty: none
  bool auto_increment = false;
  bool primary = false;
  bool unique = false;
  bool invisible = false;
  bool generated = false;
  bool stored = false;
  std::vector<std::string> generated_from;  // every name in the expression, lower case
  bool row_start = false;                   // MariaDB: GENERATED ALWAYS AS ROW START, END
  bool row_end = false;
  std::string comment;
  std::string collation;  // the attribute COLLATE, empty: none
  size_t collation_at = 0;
  std::vector<std::string> checks;  // names of inline CHECK constraints; "" is unnamed
};

struct KeySpec {
  enum class Kind : uint8_t {
    kPrimary,
    kUnique,
    kIndex,
    kFulltext,
    kSpatial,
    kVector,
    kForeign,
    kCheck
  };
  Kind kind = Kind::kIndex;
  Name name;  // may be empty
  bool if_not_exists = false;
  struct Part {
    Name column;  // empty: an expression
    int64_t prefix = -1;
  };
  std::vector<Part> parts;
  ForeignReference references;
  std::vector<std::string> check_columns;  // names in the CHECK expression, lower case
  size_t at = 0;
};

struct TableOptions {
  std::optional<Charset> charset;   // DEFAULT CHARACTER SET, COLLATE
  bool charset_is_default = false;  // CHARACTER SET DEFAULT: the database's
  std::optional<std::string> collation;
  size_t charset_at = 0;
  std::optional<std::string> comment;
  std::string engine;
  bool system_versioning = false;
};

struct Partitioning {
  std::vector<std::string> names;
  bool present = false;
};

struct CreateTableStatement {
  TableName name;
  bool or_replace = false;
  bool temporary = false;
  bool if_not_exists = false;
  std::optional<TableName> like;
  std::vector<ColumnSpec> columns;
  std::vector<KeySpec> keys;
  std::vector<Name> period_columns;  // MariaDB: PERIOD FOR x (a, b): both become NOT NULL
  bool period_is_system_time = false;
  TableOptions options;
  Partitioning partitioning;
  std::vector<Token> query;  // the SELECT of CREATE TABLE ... AS SELECT, to the end
};

struct AddColumnSpec {
  ColumnSpec column;
  ColumnPosition position;
  bool if_not_exists = false;
};
struct DropColumnSpec {
  Name column;
  bool if_exists = false;
};
// CHANGE and MODIFY; for MODIFY `from` is the column's own name.
struct ChangeColumnSpec {
  Name from;
  ColumnSpec column;
  ColumnPosition position;
  bool if_exists = false;
};
struct RenameColumnSpec {
  Name from;
  Name to;
  bool if_exists = false;
};
struct AlterDefaultSpec {
  Name column;
  ColumnDefault value;  // kNone: DROP DEFAULT
  bool if_exists = false;
};
struct AlterVisibilitySpec {
  Name column;
  bool invisible = false;
};
struct AddKeySpec {
  KeySpec key;
};
struct DropKeySpec {
  enum class Kind : uint8_t { kPrimary, kIndex, kForeign, kCheck, kConstraint };
  Kind kind = Kind::kIndex;
  Name name;
  bool if_exists = false;
};
struct RenameKeySpec {
  Name from;
  Name to;
  bool if_exists = false;
};
struct AlterKeySpec {  // visibility of an index, ENFORCED of a check
  Name name;
  bool is_index = true;
  bool if_exists = false;
};
struct RenameTableSpec {
  TableName to;
};
struct ConvertCharsetSpec {
  Charset charset;  // empty: DEFAULT, the database's
  std::string collation;
  size_t at = 0;
};
struct SetOptionsSpec {
  TableOptions options;
};
struct SystemVersioningSpec {  // MariaDB: ADD, DROP SYSTEM VERSIONING
  bool add = true;
};
struct PeriodSpec {  // MariaDB: ADD, DROP PERIOD FOR
  bool add = true;
  bool is_system_time = false;
  std::vector<Name> columns;
};
struct PartitionSpec {
  enum class Kind : uint8_t {
    kPartitionBy,
    kRemove,
    kAdd,
    kDrop,
    kTruncate,
    kExchange,
    kReorganize,
    kMaintain,
    kDiscardTablespace,
    kImportTablespace,
    kConvertToTable,
    kConvertToPartition,
  };
  Kind kind = Kind::kMaintain;
  std::vector<std::string> names;  // empty: ALL
  std::vector<std::string> new_names;
  bool if_exists = false;  // or IF NOT EXISTS
  TableName table;         // EXCHANGE, CONVERT
  size_t at = 0;
};
struct TablespaceSpec {
  bool import = false;
};
// ALGORITHM, LOCK: no effect on the schema, but combinations are refused.
struct ExecutionSpec {
  bool is_lock = false;
  std::string value;  // upper case
  size_t at = 0;
};

using AlterSpec =
    std::variant<AddColumnSpec, DropColumnSpec, ChangeColumnSpec, RenameColumnSpec,
                 AlterDefaultSpec, AlterVisibilitySpec, AddKeySpec, DropKeySpec, RenameKeySpec,
                 AlterKeySpec, RenameTableSpec, ConvertCharsetSpec, SetOptionsSpec,
                 SystemVersioningSpec, PeriodSpec, PartitionSpec, TablespaceSpec, ExecutionSpec>;

struct AlterTableStatement {
  TableName name;
  bool if_exists = false;
  std::vector<AlterSpec> specs;
};

struct DropTablesStatement {
  std::vector<TableName> names;
  bool temporary = false;
  bool if_exists = false;
};

struct RenameTablesStatement {
  struct Pair {
    TableName from;
    TableName to;
  };
  std::vector<Pair> pairs;
  bool if_exists = false;
};

struct TruncateTableStatement {
  TableName name;
};

struct DatabaseStatement {
  enum class Kind : uint8_t { kCreate, kAlter, kDrop };
  Kind kind = Kind::kCreate;
  std::string name;  // empty: the default database (ALTER)
  size_t at = 0;
  bool if_exists = false;  // or IF NOT EXISTS
  bool or_replace = false;
  std::optional<Charset> charset;
  std::optional<std::string> collation;
};

struct CreateIndexStatement {
  TableName table;
  KeySpec key;
  bool or_replace = false;
};

struct DropIndexStatement {
  TableName table;
  Name name;
  bool if_exists = false;
};

// Something that shares the tables' name space and is not a table: a view or a sequence.
struct RelationStatement {
  enum class Kind : uint8_t { kCreate, kDrop };
  Kind kind = Kind::kCreate;
  bool is_view = true;
  std::vector<TableName> names;
};

struct UseStatement {
  std::string database;
};

// Recognised, without effect on any table's schema.
struct IgnoredStatement {
  enum class Kind : uint8_t {
    kTransaction,  // BEGIN, COMMIT, XA ...
    kRows,         // INSERT, UPDATE, DELETE ...: in a row log no such text should be
    kOther,        // users, routines, SET, FLUSH ...
  };
  Kind kind = Kind::kOther;
};

using Statement = std::variant<CreateTableStatement, AlterTableStatement, DropTablesStatement,
                               RenameTablesStatement, TruncateTableStatement, DatabaseStatement,
                               CreateIndexStatement, DropIndexStatement, RelationStatement,
                               UseStatement, IgnoredStatement>;

}  // namespace driftless::mysql
