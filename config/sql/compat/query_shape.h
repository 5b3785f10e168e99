#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/sql/query.h"
#include "config/sql/session.h"

namespace driftless::flink {

enum class OperatorKind : uint8_t {
  kJoin,
  kAggregate,
  kWindowAggregate,
  kOver,
  kFirstRow,       // deduplication that keeps the first row by processing time: keys only
  kDeduplication,  // any other
  kTopN,
  kLimit,
  kSort,
};
std::string_view NameOf(OperatorKind kind);

// An aggregate of a group.
struct ShapeAggregate {
  std::string text;      // as people read it: SUM(b)
  std::string expanded;  // function and argument, followed down
  bool distinct = false;
};

// A stateful operator.
struct ShapeOperator {
  OperatorKind kind = OperatorKind::kAggregate;
  std::vector<std::string> keys;  // group, partition and order keys, window, join condition
  std::vector<ShapeAggregate> aggregates;
  std::vector<std::string> input;  // the row that it keeps; empty where it keeps none
};

struct ShapeFilter {
  std::string condition;
  size_t operators_before = 0;  // how many stateful operators the list had when it came
};

// One query, down to the tables.
struct QueryShape {
  std::vector<ShapeOperator> operators;  // in the order of the data
  std::vector<ShapeFilter> filters;
  std::vector<size_t> unions;                           // numbers of inputs
  std::map<std::string, std::set<std::string>> tables;  // full name -> columns that are used

  bool stateful() const { return !operators.empty(); }
};

// Errors: kUnsupported for what a shape cannot tell (the verdict is unknown then), and those of
// names that are not there.
Result<QueryShape> ShapeOf(const Session& session, const Query& query);

}  // namespace driftless::flink
