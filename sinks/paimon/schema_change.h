#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/plan/schema_plan.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {

// The table option in which a schema file names the change that made it: "<change id>#<step>".
inline constexpr std::string_view kChangeOption = "driftless.change";

// One change inside a schema commit; columns are named as the table names them.
struct ColumnChange {
  enum class Kind : uint8_t {
    kAdd,              // name, type, comment, place
    kDrop,             // name
    kRename,           // renames, all at the same moment
    kSetType,          // name, type (its nullability is not looked at)
    kRelax,            // name
    kMove,             // name, place
    kSetComment,       // name, comment
    kSetTableComment,  // comment
  };
  Kind kind = Kind::kAdd;
  std::string name;
  LogicalType type;
  std::string comment;
  // kAdd, kMove: behind this column; empty: first. Not set: last.
  std::optional<std::string> after;
  std::vector<std::pair<std::string, std::string>> renames;
  friend bool operator==(const ColumnChange&, const ColumnChange&) = default;
};

// What a plan's step carries in its payload: a whole new table, or changes.
struct SchemaCommit {
  std::string change;  // goes into kChangeOption
  std::optional<PaimonSchema> create;
  std::vector<ColumnChange> changes;
};
std::string EncodeSchemaCommit(const SchemaCommit& commit);
Result<SchemaCommit> DecodeSchemaCommit(std::string_view payload);

// For people: "add column `qty` INT after `sku`".
std::string Describe(const ColumnChange& change);

// A new field with the next free ids.
PaimonField MakeField(std::string name, const LogicalType& type, std::string comment,
                      int32_t* highest_field_id);

// Carries the changes out on a schema. A column that is missing under its name is looked up without
// regard to letter case; an add of what is there already and a drop of what is gone do nothing.
// Errors: kRefused with what Paimon's SchemaManager would say.
Result<void> ApplyChanges(const std::vector<ColumnChange>& changes, PaimonSchema* schema);

}  // namespace driftless::paimon
