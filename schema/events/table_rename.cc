#include "schema/events/table_rename.h"

namespace driftless {

const RenameTable* FindRename(const StatementChange& change) {
  for (const SchemaChange& part : change.parts) {
    const auto* rename = std::get_if<RenameTable>(&part.detail);
    if (rename != nullptr && IsToCapturedName(*rename) && rename->to != change.table) return rename;
  }
  return nullptr;
}

}  // namespace driftless
