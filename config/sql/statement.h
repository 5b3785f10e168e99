#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/expr/expr.h"

namespace driftless::flink {

using Path = std::vector<std::string>;
using OptionList = std::vector<std::pair<std::string, std::string>>;

enum class ColumnKind : uint8_t { kPhysical, kComputed, kMetadata };

struct NameAt {
  std::string name;
  int line = 0;
  int column = 0;
};

struct KeySpec {
  bool unique = false;
  std::string name;  // empty: not given
  std::vector<NameAt> columns;
  std::optional<bool> enforced;
};

struct ColumnSpec {
  Path name;
  ColumnKind kind = ColumnKind::kPhysical;
  LogicalType type;
  Expr expr;
  std::optional<std::string> metadata_key;
  bool is_virtual = false;
  std::optional<std::string> comment;
  enum class Place : uint8_t { kNone, kFirst, kAfter } place = Place::kNone;
  Path after;
};

struct WatermarkSpec {
  Path column;
  int line = 0;
  int column_number = 0;
  Expr expr;
};

struct Distribution {
  std::string kind;  // HASH, RANGE or empty
  std::vector<std::string> keys;
  std::optional<int64_t> buckets;
};

struct SchemaSpec {
  std::vector<ColumnSpec> columns;
  std::vector<KeySpec> keys;
  std::vector<WatermarkSpec> watermarks;
};

struct LikeOption {
  std::string mode;     // INCLUDING, EXCLUDING, OVERWRITING
  std::string feature;  // ALL, OPTIONS, ...
};

struct PartitionSpec {
  OptionList values;        // in the order written
  std::string not_literal;  // the first value that is neither string nor number
  OptionList options;
};

enum class Verb : uint8_t {
  kCreateTable,
  kCreateView,
  kCreateDatabase,
  kCreateCatalog,
  kCreateFunction,
  kCreateModel,
  kCreateMaterialized,
  kDropTable,
  kDropView,
  kDropDatabase,
  kDropCatalog,
  kDropFunction,
  kDropModel,
  kDropMaterialized,
  kAlterTableRename,
  kAlterTableRenameColumn,
  kAlterTableSet,
  kAlterTableReset,
  kAlterTableAdd,
  kAlterTableModify,
  kAlterTableDropColumns,
  kAlterTableDropKey,
  kAlterTableDropConstraint,
  kAlterTableDropWatermark,
  kAlterTableDropDistribution,
  kAlterTableAddDistribution,
  kAlterTableModifyDistribution,
  kAlterTableAddPartitions,
  kAlterTableDropPartitions,
  kAlterViewRename,
  kAlterViewAs,
  kAlterDatabase,
  kAlterCatalogSet,
  kAlterCatalogReset,
  kAlterCatalogComment,
  kAlterFunction,
  kAlterMaterialized,  // `word`: SUSPEND, SET, AS, ...
  kAlterModelSet,
  kAlterModelReset,
  kAlterModelRename,
  kUseCatalog,
  kUseDatabase,
  kUseModules,
  kLoadModule,
  kUnloadModule,
  kDescribeTable,
  kDescribeCatalog,
  kDescribeFunction,
  kDescribeModel,
  kShow,
  kShowCreate,
  kSet,
  kReset,
  kTruncate,
  kQuery,
  kInsert,
  kChangeRows,    // UPDATE and DELETE
  kExplain,       // `query`: what is explained
  kStatementSet,  // EXECUTE STATEMENT SET: `keys` are its statements
  kBeginStatementSet,
  kEndStatementSet,
  kOther,  // understood, but nothing here can run it: `word` names it
};

// One parsed statement. Which fields matter depends on the verb.
struct Statement {
  Verb verb = Verb::kOther;
  std::string word;  // kShow: TABLES, VIEWS, ...; kShowCreate: TABLE, VIEW, CATALOG
  Path name;
  Path new_name;
  bool temporary = false;
  bool system = false;
  bool if_exists = false;  // also IF NOT EXISTS
  bool extended = false;
  bool cascade = false;
  bool not_like = false;
  bool ignore_case = false;
  std::optional<std::string> like;
  std::optional<std::string> comment;
  SchemaSpec schema;  // kCreateModel: what goes in
  SchemaSpec output;  // kCreateModel
  std::optional<Distribution> distribution;
  std::vector<std::string> partition_keys;
  OptionList options;
  std::vector<std::string> keys;  // RESET
  std::vector<Path> columns;      // DROP, lists of names; INSERT INTO t (a, b)
  std::vector<PartitionSpec> partitions;
  Path like_table;
  std::vector<LikeOption> like_options;
  bool materialized = false;            // kAlterTable..: of a materialized table
  bool or_alter = false;                // kCreateMaterialized
  std::optional<Expr> freshness;        // kCreateMaterialized
  std::optional<bool> refreshes_fully;  // kCreateMaterialized
  std::string class_name;
  std::string language;
  size_t query_at = 0;  // AS query: where it begins in the text
  std::string query;
};

}  // namespace driftless::flink
