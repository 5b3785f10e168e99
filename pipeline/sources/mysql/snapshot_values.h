#pragma once

#include <string>
#include <string_view>

#include "schema/events/change_batch_builder.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// How a snapshot reads one column: what it selects, and how the answer's text becomes the value
// that the binary log's decoder would give.
class SnapshotColumn {
 public:
  explicit SnapshotColumn(const Column& column);

  // The expression of the select list.
  const std::string& expression() const { return expression_; }
  // Appends one value; false where the text is none of the type.
  bool Append(std::string_view text, ColumnBuilder* out);

 private:
  enum class Kind : uint8_t {
    kBoolean,
    kBit1,
    kInteger,
    kFloat,
    kDouble,
    kDecimal,
    kBytes,
    kGeometry,
    kDate,
    kTime,
    kTimestamp,
    kSet,
    kVector,
  };
  void AppendZeroDate(ColumnBuilder* out) const;
  bool AppendTimestamp(std::string_view text, ColumnBuilder* out) const;

  Kind kind_ = Kind::kBytes;
  LogicalType type_;
  std::string expression_;
};

}  // namespace driftless::mysql
