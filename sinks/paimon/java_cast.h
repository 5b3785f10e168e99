#pragma once

#include <string>
#include <vector>

#include "schema/events/change_batch_builder.h"
#include "schema/types/time.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {

// A type with the field ids of its ROW members, so that old values are matched by id, not by name.
struct TypeTree {
  LogicalType type;
  int32_t id = -1;  // of a ROW member or a column
  std::vector<TypeTree>
      children;  // ARRAY: element; MAP: key, value; MULTISET: element; ROW: members

  static TypeTree Of(const PaimonField& field);
};

// How Paimon's readers turn a value of an old file into the column's present type (Apache Paimon,
// `CastExecutors` and `CastExecutor` rules, which are Java's own conversions): narrowing integers
// wrap, floating point saturates, decimals that overflow become NULL, text is parsed and a text
// that does not parse is an error, texts are cut or padded to the new length.
class JavaCast {
 public:
  // Errors: kUnsupported when Paimon has no cast between the two.
  static Result<JavaCast> Make(const TypeTree& from, const TypeTree& to, const TimeZone& zone);

  // Nothing to do: the values are the same.
  bool is_identity() const { return identity_; }
  // Appends the value at `row` of `view` to `out`. Errors: kInvalidInput for text that does not
  // parse.
  Result<void> Append(const ColumnView& view, int64_t row, ColumnBuilder* out) const;

 private:
  Result<void> AppendScalar(const ColumnView& view, int64_t row, ColumnBuilder* out) const;
  Result<void> FromText(std::string_view text, ColumnBuilder* out) const;
  void AppendText(std::string_view text, ColumnBuilder* out) const;
  void AppendLong(int64_t value, ColumnBuilder* out) const;
  void AppendFloating(double value, ColumnBuilder* out) const;
  void AppendDecimal(__int128 value, int from_scale, ColumnBuilder* out) const;
  Result<void> AppendMoment(const ColumnView& view, int64_t row, ColumnBuilder* out) const;

  TypeTree from_;
  TypeTree to_;
  TimeZone zone_;
  bool identity_ = false;
  std::vector<JavaCast> children_;    // by `to` child
  std::vector<int> source_children_;  // ROW: index of the member in `from`, -1: none
};

// Copies a value as it is.
void AppendSame(const LogicalType& type, const ColumnView& view, int64_t row, ColumnBuilder* out);

}  // namespace driftless::paimon
