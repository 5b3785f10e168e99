#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

// What Hologres does with each event: the user's matrix, row by row.
constexpr std::array<Cell, 12> kCells = {{
    {"add.column.nullable", CellKind::kApply, CellKind::kApply,
     "appended at the end; data of the new column flows"},
    {"add.column.not_null", CellKind::kApply, CellKind::kApply,
     "appended at the end as NULLABLE; rows before the change read NULL"},
    {"drop.column", CellKind::kSkip, CellKind::kFail, ""},
    {"rename.column", CellKind::kRewrite, CellKind::kApply,
     "LENIENT: append the renamed column and fill the old one with NULL; EVOLVE: rename in "
     "place"},
    {"alter.column.type", CellKind::kSkip, CellKind::kFail,
     "use sink.type-normalize-strategy to survive type changes"},
    {"relax.nullability", CellKind::kSkip, CellKind::kSkip, "silently skipped"},
    {"tighten.nullability", CellKind::kNever, CellKind::kNever, ""},
    {"create.table", CellKind::kApply, CellKind::kApply,
     "the source text has no row for this event; the product creates tables"},
    {"drop.table", CellKind::kApply, CellKind::kApply, ""},
    {"truncate.table", CellKind::kApply, CellKind::kApply, ""},
    {"alter.column.comment", CellKind::kNever, CellKind::kNever, ""},
    {"alter.table.comment", CellKind::kNever, CellKind::kNever, ""},
}};

// Beyond the matrix: off until `capability.extensions` names them.
constexpr std::array<Extension, 1> kExtensions = {{
    {"alter.column.type", "3.0", "widens CHAR and VARCHAR only"},
}};

}  // namespace

constinit const CapabilityMatrix kHologresMatrix = {
    .sink = "hologres",
    .cells = kCells,
    .extensions = kExtensions,
    .supports_try_evolve = false,
    .adapts_constraints_always = true,
};

}  // namespace driftless
