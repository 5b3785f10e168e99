#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

// What Paimon does with each event: the user's matrix, row by row.
constexpr std::array<Cell, 11> kCells = {{
    {"add.column", CellKind::kApply, CellKind::kApply, "adds the column to the sink table"},
    {"drop.column", CellKind::kApply, CellKind::kApply, "drops the column of the sink table"},
    {"rename.column", CellKind::kApply, CellKind::kApply, "renames the column of the sink table"},
    {"alter.column.type", CellKind::kApply, CellKind::kApply, "changes the column's data type"},
    {"relax.nullability", CellKind::kApply, CellKind::kApply,
     "Paimon allows NOT NULL to become NULLABLE"},
    {"tighten.nullability", CellKind::kNever, CellKind::kNever,
     "the framework and Paimon both forbid tightening; no event is produced"},
    {"create.table", CellKind::kApply, CellKind::kApply,
     "creates the table; an existing table's schema is checked for compatibility"},
    {"drop.table", CellKind::kSkip, CellKind::kFail, ""},
    {"truncate.table", CellKind::kSkip, CellKind::kFail, ""},
    {"alter.column.comment", CellKind::kNever, CellKind::kNever,
     "comments given at create table and add column are carried; later changes are not"},
    {"alter.table.comment", CellKind::kNever, CellKind::kNever,
     "the comment given at create table is carried; later changes are not"},
}};

// Beyond the matrix: off until `capability.extensions` names them.
constexpr std::array<Extension, 1> kExtensions = {{
    {"alter.column.position", "", "moves the column in the table's schema"},
}};

}  // namespace

constinit const CapabilityMatrix kPaimonMatrix = {
    .sink = "paimon",
    .cells = kCells,
    .extensions = kExtensions,
};

}  // namespace driftless
