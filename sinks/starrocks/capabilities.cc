#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

// What StarRocks does with each event: the user's matrix, row by row.
constexpr std::array<Cell, 11> kCells = {{
    {"add.column", CellKind::kApply, CellKind::kApply, ""},
    {"drop.column", CellKind::kApply, CellKind::kApply, ""},
    {"rename.column", CellKind::kSkip, CellKind::kFail,
     "RENAME COLUMN is planned for StarRocks 3.3+; not supported by the current matrix"},
    {"alter.column.type", CellKind::kSkip, CellKind::kFail, ""},
    {"relax.nullability", CellKind::kSkip, CellKind::kSkip, "silently skipped"},
    {"tighten.nullability", CellKind::kNever, CellKind::kNever, ""},
    {"create.table", CellKind::kApply, CellKind::kApply, ""},
    {"drop.table", CellKind::kApply, CellKind::kApply, ""},
    {"truncate.table", CellKind::kApply, CellKind::kApply, ""},
    {"alter.column.comment", CellKind::kNever, CellKind::kNever, ""},
    {"alter.table.comment", CellKind::kNever, CellKind::kNever, ""},
}};

// Beyond the matrix: off until `capability.extensions` names them.
constexpr std::array<Extension, 3> kExtensions = {{
    {"rename.column", "3.3.2", "RENAME COLUMN"},
    {"alter.column.type", "2.5", "MODIFY COLUMN, where StarRocks can convert the rows"},
    {"alter.table.comment", "3.1", "ALTER TABLE ... COMMENT"},
}};

}  // namespace

constinit const CapabilityMatrix kStarRocksMatrix = {
    .sink = "starrocks",
    .cells = kCells,
    .extensions = kExtensions,
    .column_names_ignore_case = true,
};

}  // namespace driftless
