#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sources/mysql/binlog/table_map.h"
#include "pipeline/sources/mysql/binlog/transcoder.h"
#include "schema/events/change_batch_builder.h"

namespace driftless::mysql {

// What a column's bytes in a row image become.
enum class ValueKind : uint8_t {
  kInteger,   // into 1, 2, 4 or 8 bytes, sign or zeros extended
  kBoolean,   // any integer, or BIT(1): zero or not
  kUnsigned,  // BIGINT UNSIGNED into a decimal
  kYear,
  kFloat,
  kRoundedFloat,  // FLOAT(M,D) into a double of D digits, as SQL shows it
  kDouble,
  kDecimal,
  kDecimalText,
  kBits,  // as they are: the highest byte first
  kDate,
  kDateTime,
  kTimestamp,
  kTime,
  kOldTimestamp,
  kOldDateTime,
  kOldTime,
  kHiresTimestamp,
  kHiresDateTime,
  kHiresTime,
  kText,
  kBytes,
  kPaddedBytes,  // BINARY(n): the log leaves zeros at the end out
  kEnum,
  kSet,
  kJson,
  kGeometry,
  kVector,
  kUuid,
  kInet4,
  kInet6,
};

// How one column is read. Made once per table map and schema version.
struct ColumnPlan {
  ValueKind kind = ValueKind::kInteger;
  uint8_t width = 0;  // bytes of the value; 0: `prefix` bytes of length come before it
  uint8_t prefix = 0;
  bool is_unsigned = false;
  bool is_nullable = true;     // in the schema: zero dates become NULL, else the epoch
  bool is_compressed = false;  // MariaDB's COMPRESSED
  bool is_key = false;
  bool is_json = false;
  int digits = 0;     // of a fraction; precision of a decimal
  int scale = 0;      // of a decimal, of a rounded float
  size_t length = 0;  // kPaddedBytes
  std::vector<std::string> members;
  std::unique_ptr<Transcoder> transcoder;  // kText
};

// The plan for the column; an error says why there is none (kConflict: log and schema do not fit,
// kUnsupported).
Result<ColumnPlan> PlanColumn(const WireColumn& wire, const Column& column);

// Values of one plan into a builder. Keeps its buffers between values.
class ValueReader {
 public:
  // `at` has `size` bytes: what `width` or the length said. False: fault() says why, and the column
  // has nothing of it but perhaps elements of an open list.
  bool Append(ColumnPlan* plan, const uint8_t* at, size_t size, ColumnBuilder* column);
  // A JSON value as the differences leave it.
  bool AppendPatchedJson(std::string_view document, std::string_view differences,
                         ColumnBuilder* column);
  const char* fault() const { return fault_; }

 private:
  bool Fail(const char* fault) {
    fault_ = fault;
    return false;
  }
  bool AppendSized(ColumnPlan* plan, std::string_view bytes, ColumnBuilder* column);
  bool AppendTime(const ColumnPlan& plan, const uint8_t* at, ColumnBuilder* column);
  bool AppendSet(const ColumnPlan& plan, uint64_t bits, ColumnBuilder* column);
  bool AppendGeometry(std::string_view bytes, ColumnBuilder* column);
  bool AppendVector(std::string_view bytes, ColumnBuilder* column);

  std::string scratch_;
  std::string inflated_;
  const char* fault_ = "";
};

}  // namespace driftless::mysql
