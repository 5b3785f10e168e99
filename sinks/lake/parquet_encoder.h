#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/base/result.h"
#include "sinks/clients/objectstore/object_store.h"
#include "sinks/lake/row_ref.h"

namespace driftless::lake {

// The values of a data page before they are compressed. A reader holds one page of each column: a
// merge of many files has many of them.
inline constexpr int64_t kParquetPageBytes = 64 << 10;

// How a lake stores what Parquet leaves open.
struct ParquetDialect {
  std::string root_name;           // of the message
  bool nanos_as_int96 = false;     // else INT64 NANOS
  bool millis_timestamps = false;  // precision up to 3 as INT64 MILLIS, else MICROS
  bool time_as_millis = false;     // TIME as INT32 MILLIS, else INT64 MICROS
  bool time_adjusted_to_utc = false;
};

// One top-level column of a file.
struct ParquetColumn {
  enum class Source : uint8_t { kImage, kSequence, kRowKind };
  std::string name;
  LogicalType type;  // nullability included
  int32_t field_id = -1;
  // Ids of everything inside a nested type, depth first: list elements, map keys and values,
  // members.
  std::vector<int32_t> nested_ids;
  Source source = Source::kImage;
  int image_column = -1;  // kImage: index into RowImage::columns; -1: always null
};

struct EncodeSettings {
  std::string compression = "zstd";  // zstd, snappy, lz4, gzip, none
  int zstd_level = 1;
  bool plain_only = false;  // dictionary and plain encodings only, for readers that know no others
};

// Rows in file order, by reference.
struct EncodeInput {
  std::span<const RowImage> images;
  std::span<const RowRef> rows;
  std::span<const int64_t> sequences;  // beside rows; empty where no column is kSequence
};

// Bounds of one flat column over a whole file, from the footer's statistics. Fixed-width values are
// in the file's physical form; nested columns and INT96 have none.
struct ColumnBounds {
  std::optional<int64_t> null_count;
  bool has_bounds = false;
  std::variant<int64_t, double, std::string> min;
  std::variant<int64_t, double, std::string> max;  // std::string: bytes, or big-endian decimal
};

struct ParquetSummary {
  int64_t bytes = 0;
  int64_t rows = 0;
  std::vector<ColumnBounds> columns;  // beside the ParquetColumns
  // Compressed bytes of every flat column, beside them; 0 for nested ones.
  std::vector<int64_t> column_bytes;
  std::vector<int64_t> row_group_offsets;  // where each row group begins, ascending
};

// Encodes rows by reference into one Parquet file, column by column: values are gathered in chunks
// that stay in the cache, and nothing is built per row. Encodings are chosen per column from a
// sample of the first rows: dictionaries only where values repeat (they cost 2.6 times the CPU
// elsewhere), deltas for integers, decimals up to 18 digits, dates and timestamps.
class ParquetEncoder {
 public:
  // `first` is only sampled. The encoder is open only while a file is written.
  static Result<std::unique_ptr<ParquetEncoder>> Open(std::unique_ptr<ObjectWriter> target,
                                                      const ParquetDialect& dialect,
                                                      std::vector<ParquetColumn> columns,
                                                      const EncodeSettings& settings,
                                                      const EncodeInput& first);
  virtual ~ParquetEncoder() = default;

  // Appends the rows as one row group. A null in a NOT NULL column is an error (kInvalidInput, with
  // the column's name), except in rows that retract, whose unknown values become the type's zero.
  virtual Result<void> WriteRowGroup(const EncodeInput& input) = 0;
  virtual int64_t bytes_written() const = 0;
  virtual Result<ParquetSummary> Finish() = 0;
};

}  // namespace driftless::lake
