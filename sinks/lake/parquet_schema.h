#pragma once

#include <memory>
#include <vector>

#include "sinks/lake/parquet_encoder.h"

namespace parquet::schema {
class Node;
}

// Parquet's own types for our columns. Included by .cc files of this folder only.
namespace driftless::lake {

// How a value in memory becomes a value in Parquet.
enum class LeafForm : uint8_t {
  kBoolean,
  kInt8,
  kInt16,
  kInt32,  // INT, DATE
  kInt64,  // BIGINT, microseconds as they are, nanoseconds as they are
  kFloat,
  kDouble,
  kDecimal32,
  kDecimal64,
  kDecimalBytes,
  kTimeMillisOfMicros,
  kTimeMillisOfNanos,
  kTimeMicrosOfNanos,
  kMillisOfMicros,
  kInt96OfNanos,
  kBytes,
};

// A column and what lies below it, with the levels that shredding needs.
struct SchemaNode {
  LogicalType type;
  bool nullable = true;
  int16_t present_level = 0;  // definition level of a value that is there
  int16_t repeat_level = 0;   // lists: repetition level of further elements
  int leaf = -1;              // index among the file's leaves
  LeafForm form = LeafForm::kBytes;
  int32_t fixed_length = 0;  // kDecimalBytes
  std::vector<SchemaNode> children;
};

struct BuiltColumn {
  std::shared_ptr<::parquet::schema::Node> node;
  SchemaNode shape;
};

// Errors: kUnsupported for types that Parquet cannot hold here.
Result<BuiltColumn> BuildColumn(const ParquetColumn& column, const ParquetDialect& dialect,
                                int* next_leaf);

// Bytes of a FIXED_LEN_BYTE_ARRAY that holds `precision` digits (Parquet specification, DECIMAL).
int32_t DecimalByteLength(int32_t precision);

}  // namespace driftless::lake
