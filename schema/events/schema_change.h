#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/events/point.h"
#include "schema/model/table.h"

namespace driftless {

// The kinds of the policy's section 1, in its order. The first twelve have tags that users write;
// the last three are internal: decided and recorded, never in an include or exclude list.
enum class EventKind : uint8_t {
  kCreateTable,
  kDropTable,
  kTruncateTable,
  kAddColumn,
  kDropColumn,
  kRenameColumn,
  kAlterColumnType,
  kRelaxNullability,
  kTightenNullability,
  kAlterColumnComment,
  kAlterTableComment,
  kAlterColumnPosition,
  kRenameTable,
  kKeyChange,
  kDefaultChange,
};
inline constexpr int kEventKindCount = 15;

// "add.column" and so on; ParseEventTag is its inverse (families are not tags).
std::string_view Tag(EventKind kind);
std::optional<EventKind> ParseEventTag(std::string_view tag);

// Where a column goes. kBefore exists because Flink CDC has it; parsers give FIRST, AFTER or LAST.
struct ColumnPlace {
  enum class Kind : uint8_t { kLast, kFirst, kBefore, kAfter };
  Kind kind = Kind::kLast;
  ColumnId anchor = 0;  // kBefore, kAfter
  friend bool operator==(const ColumnPlace&, const ColumnPlace&) = default;
};

// One struct per kind. Columns are named by identity; look names up in before or after.
struct CreateTable {};  // the table is `after`
struct DropTable {};
struct TruncateTable {};
struct AddColumns {
  struct Item {
    Column column;  // final definition, id set
    ColumnPlace place;
  };
  std::vector<Item> items;  // in statement order; an anchor may be an earlier item
};
struct DropColumns {
  std::vector<ColumnId> columns;
  // A source column is gone that the text of a transform names (policy, section 12). What it feeds
  // stays in the schema and is NULL from here on.
  struct LostInput {
    std::string column;      // its name at the source
    std::string expression;  // as written
    ColumnId feeds = 0;      // the output column; 0: a filter or a key, which cannot do without it
  };
  std::vector<LostInput> lost;
};
struct RenameColumns {
  struct Item {
    ColumnId column;
    std::string from;
    std::string to;
  };
  std::vector<Item> items;  // all at the same moment: swaps work
};
struct AlterColumnTypes {
  struct Item {
    ColumnId column;
    LogicalType from;
    LogicalType to;
    std::string from_text;  // the source's own text of the types
    std::string to_text;
  };
  std::vector<Item> items;
};
struct RelaxNullability {
  std::vector<ColumnId> columns;
};
struct TightenNullability {
  std::vector<ColumnId> columns;
};
struct AlterColumnComments {
  struct Item {
    ColumnId column;
    std::string from;
    std::string to;
  };
  std::vector<Item> items;
};
struct AlterTableComment {
  std::string from;
  std::string to;
};
struct MoveColumns {
  struct Item {
    ColumnId column;
    ColumnPlace place;
  };
  std::vector<Item> items;
};
struct RenameTable {
  TablePath to;
};
struct KeyChange {
  std::vector<ColumnId> from;  // ids in before
  std::vector<ColumnId> to;    // ids in after
};
struct DefaultChange {
  std::vector<ColumnId> columns;
};

// Visit exhaustively: a new kind must not compile until everyone has decided.
using ChangeDetail =
    std::variant<CreateTable, DropTable, TruncateTable, AddColumns, DropColumns, RenameColumns,
                 AlterColumnTypes, RelaxNullability, TightenNullability, AlterColumnComments,
                 AlterTableComment, MoveColumns, RenameTable, KeyChange, DefaultChange>;

EventKind KindOf(const ChangeDetail& detail);

// One part of one statement on one table. `before` and `after` are the schemas around this part
// alone, so that parts can be planned, skipped and replayed one by one.
struct SchemaChange {
  uint32_t part = 0;  // 0-based, inside the statement, per table
  ChangeDetail detail;
  TableSchemaPtr before;  // null for kCreateTable
  TableSchemaPtr after;   // null for kDropTable

  EventKind kind() const { return KindOf(detail); }
};

// Everything that one statement does to one table: what travels through the pipeline, in source
// order with the batches. Parts stand in the order of the policy's section 1.
struct StatementChange {
  TablePath table;
  Point point;
  int64_t commit_time_ms = 0;                    // 0 where the source does not say
  std::shared_ptr<const std::string> statement;  // DDL text; null when inferred from rows
  bool from_snapshot = false;  // a record of a snapshot: never drops or truncates anything
  bool inferred = false;       // derived from row shapes, no DDL text was there
  std::vector<SchemaChange> parts;

  TableSchemaPtr before() const { return parts.empty() ? nullptr : parts.front().before; }
  TableSchemaPtr after() const { return parts.empty() ? nullptr : parts.back().after; }
};

// One line for people: "add column qty INT NOT NULL after sku".
std::string Describe(const SchemaChange& change);

}  // namespace driftless
