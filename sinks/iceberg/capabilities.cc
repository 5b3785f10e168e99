#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

// What Iceberg does with each event: the user's matrix, row by row.
constexpr std::array<Cell, 11> kCells = {{
    {"add.column", CellKind::kApply, CellKind::kApply,
     "positions FIRST LAST BEFORE AFTER are honoured"},
    {"drop.column", CellKind::kApply, CellKind::kApply, ""},
    {"rename.column", CellKind::kApply, CellKind::kApply, ""},
    {"alter.column.type", CellKind::kApply, CellKind::kApply, ""},
    {"relax.nullability", CellKind::kSkip, CellKind::kSkip, "not supported yet"},
    {"tighten.nullability", CellKind::kNever, CellKind::kNever, ""},
    {"create.table", CellKind::kApply, CellKind::kApply, "creates the table and its namespace"},
    {"drop.table", CellKind::kSkip, CellKind::kFail, ""},
    {"truncate.table", CellKind::kSkip, CellKind::kFail, ""},
    {"alter.column.comment", CellKind::kNever, CellKind::kNever, ""},
    {"alter.table.comment", CellKind::kNever, CellKind::kNever, ""},
}};

// Beyond the matrix: off until `capability.extensions` names them.
constexpr std::array<Extension, 3> kExtensions = {{
    {"relax.nullability", "", "makes the field optional"},
    {"alter.column.comment", "", "sets the field's doc"},
    {"alter.column.position", "", "moves the field"},
}};

}  // namespace

constinit const CapabilityMatrix kIcebergMatrix = {
    .sink = "iceberg",
    .cells = kCells,
    .extensions = kExtensions,
};

}  // namespace driftless
