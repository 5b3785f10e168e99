#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

// What MaxCompute does with each event: the user's matrix, row by row.
constexpr std::array<Cell, 11> kCells = {{
    {"add.column", CellKind::kApply, CellKind::kApply, ""},
    {"drop.column", CellKind::kApply, CellKind::kApply, ""},
    {"rename.column", CellKind::kApply, CellKind::kApply, ""},
    {"alter.column.type", CellKind::kApply, CellKind::kApply, ""},
    {"relax.nullability", CellKind::kApply, CellKind::kApply, "carried to the sink table"},
    {"tighten.nullability", CellKind::kNever, CellKind::kNever, ""},
    {"create.table", CellKind::kApply, CellKind::kApply,
     "an existing table's schema and primary key must be equal or an error is raised"},
    {"drop.table", CellKind::kApply, CellKind::kApply, ""},
    {"truncate.table", CellKind::kApply, CellKind::kApply, ""},
    {"alter.column.comment", CellKind::kNever, CellKind::kNever, ""},
    {"alter.table.comment", CellKind::kNever, CellKind::kNever, ""},
}};

// Beyond the matrix: off until `capability.extensions` names them.
constexpr std::array<Extension, 2> kExtensions = {{
    {"alter.column.comment", "", "CHANGE COLUMN ... COMMENT"},
    {"alter.table.comment", "", "SET COMMENT"},
}};

}  // namespace

constinit const CapabilityMatrix kMaxComputeMatrix = {
    .sink = "maxcompute",
    .cells = kCells,
    .extensions = kExtensions,
    .column_names_ignore_case = true,
    .existing_table_must_match = true,
};

}  // namespace driftless
