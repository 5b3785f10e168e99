#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/events/schema_change.h"

namespace driftless {

// What a sink does with an event kind in general; the policy's words (schema-change policy, 2).
enum class CellKind : uint8_t { kApply, kRewrite, kSkip, kFail, kIgnore, kNever };

std::string_view ToString(CellKind kind);

// One row of a matrix: what LENIENT and EVOLVE do with one event.
struct Cell {
  // The matrix's own name of the event: an event tag, or a finer one such as
  // "add.column.not_null" where a sink distinguishes.
  std::string_view event;
  CellKind lenient;
  CellKind evolve;
  std::string_view note;
};

// A capability that newer servers have beyond the matrix; off unless the user switches it on.
struct Extension {
  std::string_view event;        // what the user writes in capability.extensions
  std::string_view min_version;  // of the server
  std::string_view note;
};

// A sink's matrix: data, defined in sinks/<sink>/capabilities.cc, living as long as the process.
struct CapabilityMatrix {
  std::string_view sink;
  std::span<const Cell> cells;
  std::span<const Extension> extensions;
  bool supports_try_evolve = true;
  // EVOLVE too adapts position and NOT NULL of an added column (Hologres).
  bool adapts_constraints_always = false;
  // Two column names that differ in letter case only are one name at this sink.
  bool column_names_ignore_case = false;
  // The sink keeps no schema (Kafka): there is nothing to follow.
  bool keeps_schema = true;
  // False for sinks that are there to look and to measure (print, blackhole): they are no part of
  // the table that `driftless matrix` shows without a name.
  bool listed = true;
  // An existing table that differs is an error under every behaviour (MaxCompute).
  bool existing_table_must_match = false;

  // The row of an event: of several, the finest. `not_null` matters for add.column alone, where a
  // sink tells nullable columns from others. Null: the matrix has no row for it.
  const Cell* Find(EventKind event, bool not_null) const;
  // The extension that the user may switch on for the event, or null.
  const Extension* FindExtension(EventKind event) const;
};

// "fluss/drop.column = skip": how audit log and errors name a cell.
std::string CellText(const CapabilityMatrix& matrix, const Cell& cell, CellKind kind);

}  // namespace driftless
