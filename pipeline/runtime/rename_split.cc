#include "pipeline/runtime/rename_split.h"

#include <algorithm>

namespace driftless {

RenameSplit SplitRename(const StatementChange& change, const RenameTable& rename) {
  const auto part =
      std::find_if(change.parts.begin(), change.parts.end(), [&](const SchemaChange& candidate) {
        return std::get_if<RenameTable>(&candidate.detail) == &rename;
      });
  auto left = std::make_shared<StatementChange>(change);
  left->parts = {*part};
  auto schema = std::make_shared<TableSchema>(*change.parts.back().after);
  schema->path = rename.to;
  auto appears = std::make_shared<StatementChange>(change);
  appears->table = rename.to;
  appears->parts = {{part->part, CreateTable{}, nullptr, std::move(schema)}};
  return {std::move(left), std::move(appears)};
}

}  // namespace driftless
