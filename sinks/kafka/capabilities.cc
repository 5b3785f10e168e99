#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

// What Kafka does with each event: the user's matrix, row by row.
constexpr std::array<Cell, 9> kCells = {{
    {"create.table", CellKind::kApply, CellKind::kApply,
     "creates the topic; compacted in upsert mode"},
    {"add.column", CellKind::kIgnore, CellKind::kIgnore,
     "Kafka keeps no schema; the event is silently ignored"},
    {"drop.column", CellKind::kIgnore, CellKind::kIgnore, ""},
    {"rename.column", CellKind::kIgnore, CellKind::kIgnore, ""},
    {"alter.column.type", CellKind::kIgnore, CellKind::kIgnore, ""},
    {"drop.table", CellKind::kIgnore, CellKind::kIgnore, ""},
    {"truncate.table", CellKind::kIgnore, CellKind::kIgnore, ""},
    {"alter.column.comment", CellKind::kIgnore, CellKind::kIgnore, ""},
    {"alter.table.comment", CellKind::kIgnore, CellKind::kIgnore, ""},
}};

}  // namespace

constinit const CapabilityMatrix kKafkaMatrix = {
    .sink = "kafka",
    .cells = kCells,
    .extensions = {},
    .keeps_schema = false,
};

}  // namespace driftless
