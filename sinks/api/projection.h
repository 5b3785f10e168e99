#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/plan/schema_plan.h"
#include "schema/policy/policy.h"
#include "schema/types/casts.h"
#include "schema/types/time.h"

namespace driftless {

// What one sink column receives from rows of one source schema version.
struct ProjectedColumn {
  enum class From : uint8_t {
    kSource,  // the column `source_index` of the batch, cast where `needs_cast`
    kNull,
    kAbsent,   // leave the sink's value as it is (partial update), else NULL
    kDefault,  // the constant `fill`: the sink column's default, or the type's zero value
  };
  From from = From::kNull;
  int source_index = -1;
  bool needs_cast = false;  // the bytes of a source value are not a sink value as they are
  // A key, partition or bucket column: a value that does not fit always fails, since another value
  // would put the row elsewhere.
  bool is_strict = false;
  bool is_key = false;    // of the primary key: NULL always fails
  bool not_null = false;  // at the sink
  LogicalType source_type;
  LogicalType sink_type;
  std::string name;                        // at the sink
  std::shared_ptr<const ColumnCast> cast;  // where needs_cast
  // One row: what kDefault writes, and what replaces a NULL under OnNullViolation::kDefaultValue.
  std::shared_ptr<const OwnedColumn> fill;  // null unless From::kDefault or not_null
};

struct ProjectionPolicy {
  OnCastFailure on_cast_failure = OnCastFailure::kFail;
  OnNullViolation on_null_violation = OnNullViolation::kFail;
  OnAbsent on_absent = OnAbsent::kFail;
  bool partial_update = false;  // SinkTraits::partial_update
  TimeZone local_zone;          // `pipeline.local-time-zone`
};

// Maps rows of one source schema version to rows of a sink's evolved schema, by column identity.
// Total: every sink column has an entry, in the evolved schema's order. Immutable; several threads
// may use one.
class Projection {
 public:
  // Built once per (sink table, source version); pure. `sink` is in the column ids of this source.
  static Projection Make(const TableSchema& source, const EvolvedSchema& sink,
                         const ProjectionPolicy& policy);
  static Projection Make(const TableSchema& source, const EvolvedSchema& sink,
                         OnCastFailure on_cast_failure, OnNullViolation on_null_violation);

  const std::vector<ProjectedColumn>& columns() const { return columns_; }
  // Source columns that no sink column takes (a skipped add): counted as a divergence.
  const std::vector<ColumnId>& dropped() const { return dropped_; }
  bool is_identity() const { return is_identity_; }  // same columns and order, nothing to cast
  const ProjectionPolicy& policy() const { return policy_; }
  OnCastFailure on_cast_failure() const { return policy_.on_cast_failure; }
  OnNullViolation on_null_violation() const { return policy_.on_null_violation; }
  const TablePath& sink_table() const { return sink_table_; }

 private:
  std::vector<ProjectedColumn> columns_;
  std::vector<ColumnId> dropped_;
  bool is_identity_ = false;
  ProjectionPolicy policy_;
  TablePath sink_table_;
};

}  // namespace driftless
