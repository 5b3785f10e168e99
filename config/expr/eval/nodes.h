#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/expr/eval/node.h"
#include "schema/base/result.h"

// Makers of nodes. Those that return a Result say no to types that do not go together.
namespace driftless::flink {

enum class CastMode : uint8_t { kStrict, kTry };  // kTry: NULL instead of a failure

// `from` as a value of `to`, by Flink SQL's CAST; `from` itself where nothing need be done.
Result<NodePtr> MakeCast(NodePtr from, const LogicalType& to, CastMode mode, const TimeZone& zone);

// + - * / % of two numbers, which are cast to what the result needs.
Result<NodePtr> MakeArithmetic(std::string_view op, NodePtr a, NodePtr b, const LogicalType& result,
                               const TimeZone& zone);
Result<NodePtr> MakeNegative(NodePtr value);

enum class Comparison : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
// Three-valued; both are brought to one type first.
Result<NodePtr> MakeComparison(Comparison op, NodePtr a, NodePtr b, const TimeZone& zone);
// IS [NOT] DISTINCT FROM, from what MakeComparison(kEqual) made.
NodePtr MakeDistinct(NodePtr equal, NodePtr a, NodePtr b, bool distinct);

NodePtr MakeAnd(NodePtr a, NodePtr b);
NodePtr MakeOr(NodePtr a, NodePtr b);
NodePtr MakeNot(NodePtr value);
// IS [NOT] NULL | TRUE | FALSE | UNKNOWN, the words after IS.
NodePtr MakeIs(std::string_view test, NodePtr value);

// CASE: conditions[i] true gives values[i], else the last value. All values have `type`.
NodePtr MakeCase(std::vector<NodePtr> conditions, std::vector<NodePtr> values,
                 const LogicalType& type);
// The first that is not null.
NodePtr MakeCoalesce(std::vector<NodePtr> values, const LogicalType& type);
// `value`, but NULL where `equal` is true.
NodePtr MakeNullIf(NodePtr value, NodePtr equal, const LogicalType& type);

NodePtr MakeTextLiteral(const LogicalType& type, std::string_view text);
NodePtr MakeIntLiteral(const LogicalType& type, int64_t value);  // BOOLEAN, integers, times
NodePtr MakeDoubleLiteral(const LogicalType& type, double value);
NodePtr MakeDecimalLiteral(const LogicalType& type, __int128 value);
NodePtr MakeNullLiteral(const LogicalType& type);

// ARRAY[..], MAP[..], ROW(..), x[i], a.b. `values` have the element's, the entry's or the fields'
// types.
NodePtr MakeArray(std::vector<NodePtr> values, const LogicalType& type);
// Of entries, each a ROW of key and value. Keys that hold other values are not compared.
NodePtr MakeMap(std::vector<NodePtr> entries, const LogicalType& type);
NodePtr MakeRow(std::vector<NodePtr> values, const LogicalType& type);
NodePtr MakeField(NodePtr row, size_t field, const LogicalType& type);
Result<NodePtr> MakeItem(NodePtr from, NodePtr index, const LogicalType& type,
                         const TimeZone& zone);

// An integer of any width, a float of either, a truth value: by the node's type.
int64_t ReadInteger(const Node& node, int64_t row);
double ReadFloating(const Node& node, int64_t row);
void WriteInteger(const LogicalType& type, OwnedColumn* out, int64_t row, int64_t value);
// Java's text of a double or float: "1.0", "1.0E10", "NaN".
void AppendJavaDouble(double value, bool is_float, std::string* out);

}  // namespace driftless::flink
