#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/policy/decide.h"
#include "schema/types/casts.h"

// Many source tables into one sink table (policy, section 7). The merged table is a table of its
// own with its own column identities; every shard binds its columns to them. What happens to the
// merged table is a function of the shards' states, so that it does not matter which of them comes
// first.
namespace driftless {

// What a shard's statement means for the merged table.
struct MergedStatement {
  // On the merged schema, with merged identities; no parts: nothing to decide.
  std::shared_ptr<StatementChange> change;
  // Parts that are settled by the merge itself: "other shards still have it", a shard that joins.
  std::vector<PartDecision> settled;
  std::vector<BegunDivergence> begun;
  std::vector<EndedDivergence> ended;
};

class ShardMerge {
 public:
  // Takes the statement in. With one shard that has been alone from the start it passes unchanged.
  // `rename`: whether a renamed source table goes on feeding the sink table under its new name.
  MergedStatement Apply(const std::shared_ptr<const StatementChange>& change, LatticeStyle style,
                        Behavior behavior, TableRename rename = TableRename::kNewTable);

  // Several shards feed the table, or did.
  bool is_merged() const { return merged_; }
  size_t shard_count() const { return shards_.size(); }
  bool Has(const TablePath& source) const { return shards_.count(source) > 0; }
  bool HasIncarnation(uint64_t incarnation) const;
  const TableSchema& schema() const { return schema_; }

  // `evolved`, which names merged identities, in the identities of each shard.
  std::map<TablePath, EvolvedSchemaPtr> BySource(const EvolvedSchema& evolved) const;

  // Text for the state database. Errors of the inverse: kCorrupt.
  std::string Serialize() const;
  static Result<ShardMerge> Parse(std::string_view text);

 private:
  struct Shard {
    TableSchemaPtr schema;
    std::map<ColumnId, ColumnId> binding;  // the shard's column to the merged one
  };
  struct ColumnFacts {
    std::vector<LogicalType> types;  // every type that some shard gave it: it never narrows
    bool dropped_once = false;       // some shard has dropped it by a statement
  };
  class Run;  // one statement on its way through

  ColumnId FindByName(const std::string& name) const;

  bool merged_ = false;
  TableSchema schema_;  // of the merged table
  std::map<TablePath, Shard> shards_;
  std::map<ColumnId, ColumnFacts> facts_;  // by merged identity
};

}  // namespace driftless
