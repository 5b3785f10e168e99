#pragma once

#include <cstdint>
#include <vector>

#include "config/relation/operators.h"
#include "schema/types/owned_column.h"

// What the operators share.
namespace driftless::flink {

struct EvaluatedColumn {
  LogicalType type;
  OwnedColumn column;
};
// Errors: kInvalidInput where a row has no value, and those of types.
Result<EvaluatedColumn> Evaluate(const Relation& from, const Expr& expr,
                                 const EvalContext& context);

std::vector<size_t> AllColumns(const Relation& relation);

// Less than 0, 0 or more: the order of two values of a column that are not NULL.
int CompareValues(const LogicalType& type, const ColumnView& view, int64_t a, int64_t b);
// Brings numbers of rows into the order of the rows; equal ones stay as they stand.
void SortRows(const Relation& from, const std::vector<SortColumn>& by, std::vector<int64_t>* rows);

}  // namespace driftless::flink
