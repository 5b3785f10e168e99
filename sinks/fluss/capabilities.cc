#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

// What Fluss does with each event: the user's matrix, row by row.
constexpr std::array<Cell, 11> kCells = {{
    {"add.column", CellKind::kApply, CellKind::kApply, "only at the end (LAST)"},
    {"drop.column", CellKind::kSkip, CellKind::kFail, ""},
    {"rename.column", CellKind::kSkip, CellKind::kFail, ""},
    {"alter.column.type", CellKind::kSkip, CellKind::kFail, ""},
    {"relax.nullability", CellKind::kSkip, CellKind::kSkip,
     "type changes are unsupported and a nullability change is silently skipped too"},
    {"tighten.nullability", CellKind::kNever, CellKind::kNever,
     "the framework forbids tightening; no event is produced"},
    {"create.table", CellKind::kApply, CellKind::kApply, "creates the table and its database"},
    {"drop.table", CellKind::kApply, CellKind::kApply, ""},
    {"truncate.table", CellKind::kSkip, CellKind::kFail, ""},
    {"alter.column.comment", CellKind::kNever, CellKind::kNever, ""},
    {"alter.table.comment", CellKind::kNever, CellKind::kNever, ""},
}};

}  // namespace

constinit const CapabilityMatrix kFlussMatrix = {
    .sink = "fluss",
    .cells = kCells,
    .extensions = {},
};

}  // namespace driftless
