#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

// What SelectDB does with each event: the user's matrix, row by row.
constexpr std::array<Cell, 11> kCells = {{
    {"add.column", CellKind::kApply, CellKind::kApply, "data of the new column flows"},
    {"drop.column", CellKind::kApply, CellKind::kApply, ""},
    {"rename.column", CellKind::kApply, CellKind::kApply, ""},
    {"alter.column.type", CellKind::kApply, CellKind::kApply,
     "MODIFY COLUMN without NULL keeps the column's nullability"},
    {"relax.nullability", CellKind::kSkip, CellKind::kSkip,
     "Doris keeps the old NOT NULL constraint because MODIFY COLUMN does not say NULL"},
    {"tighten.nullability", CellKind::kNever, CellKind::kNever, ""},
    {"create.table", CellKind::kApply, CellKind::kApply, ""},
    {"drop.table", CellKind::kApply, CellKind::kApply, ""},
    {"truncate.table", CellKind::kApply, CellKind::kApply, ""},
    {"alter.column.comment", CellKind::kNever, CellKind::kNever, ""},
    {"alter.table.comment", CellKind::kNever, CellKind::kNever, ""},
}};

// Beyond the matrix: off until `capability.extensions` names them.
constexpr std::array<Extension, 3> kExtensions = {{
    {"relax.nullability", "1.2", "MODIFY COLUMN that says NULL"},
    {"alter.column.comment", "1.2", "MODIFY COLUMN ... COMMENT"},
    {"alter.table.comment", "1.2", "MODIFY COMMENT"},
}};

}  // namespace

constinit const CapabilityMatrix kSelectDbMatrix = {
    .sink = "selectdb",
    .cells = kCells,
    .extensions = kExtensions,
    .column_names_ignore_case = true,
};

}  // namespace driftless
