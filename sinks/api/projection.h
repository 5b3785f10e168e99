#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/plan/schema_plan.h"
#include "schema/policy/policy.h"

namespace driftless {

// What one sink column receives from rows of one source schema version.
struct ProjectedColumn {
  enum class From : uint8_t {
    kSource,   // the column `source_index` of the batch, cast where `needs_cast`
    kNull,
    kAbsent,   // leave the sink's value as it is (partial update), else NULL
    kDefault,  // the sink column's default, or the type's zero value
  };
  From from = From::kNull;
  int source_index = -1;
  bool needs_cast = false;  // the source type differs from the sink's
  LogicalType source_type;
  LogicalType sink_type;
};

// Maps rows of one source schema version to rows of a sink's evolved schema, by column identity.
// Total: every sink column has an entry, in the evolved schema's order.
class Projection {
 public:
  // Built once per (sink table, source version); pure.
  static Projection Make(const TableSchema& source, const EvolvedSchema& sink,
                         OnCastFailure on_cast_failure, OnNullViolation on_null_violation);

  const std::vector<ProjectedColumn>& columns() const { return columns_; }
  // Source columns that no sink column takes (a skipped add): counted as a divergence.
  const std::vector<ColumnId>& dropped() const { return dropped_; }
  bool is_identity() const { return is_identity_; }  // same columns, order and types
  OnCastFailure on_cast_failure() const { return on_cast_failure_; }
  OnNullViolation on_null_violation() const { return on_null_violation_; }

 private:
  std::vector<ProjectedColumn> columns_;
  std::vector<ColumnId> dropped_;
  bool is_identity_ = false;
  OnCastFailure on_cast_failure_ = OnCastFailure::kFail;
  OnNullViolation on_null_violation_ = OnNullViolation::kFail;
};

}  // namespace driftless
