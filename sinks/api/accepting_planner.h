#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "schema/matrix/capability_matrix.h"
#include "schema/plan/schema_plan.h"

namespace driftless {

// For sinks that keep no schema of their own and take every change as it comes (print, blackhole):
// their evolved schema is the source's schema, one step per statement.
// `sink` names the sink in reasons.
std::unique_ptr<SchemaPlanner> MakeAcceptingPlanner(std::string_view sink);

// Their matrix: everything is applied.
inline constexpr std::array<Cell, 12> kAcceptingCells = {{
    {"create.table", CellKind::kApply, CellKind::kApply, ""},
    {"drop.table", CellKind::kApply, CellKind::kApply, ""},
    {"truncate.table", CellKind::kApply, CellKind::kApply, ""},
    {"add.column", CellKind::kApply, CellKind::kApply, ""},
    {"drop.column", CellKind::kApply, CellKind::kApply, ""},
    {"rename.column", CellKind::kApply, CellKind::kApply, ""},
    {"alter.column.type", CellKind::kApply, CellKind::kApply, ""},
    {"relax.nullability", CellKind::kApply, CellKind::kApply, ""},
    {"tighten.nullability", CellKind::kNever, CellKind::kNever,
     "the framework forbids tightening; no event is produced"},
    {"alter.column.comment", CellKind::kApply, CellKind::kApply, ""},
    {"alter.table.comment", CellKind::kApply, CellKind::kApply, ""},
    {"alter.column.position", CellKind::kApply, CellKind::kApply, ""},
}};

}  // namespace driftless
