#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "schema/events/change_batch.h"
#include "sinks/lake/parquet_encoder.h"

// Single values as bytes (Iceberg table specification, appendix D "Binary single-value
// serialization"), and what is made of them: bounds, partition values, bucket hashes.
namespace driftless::iceberg {

// Appends a value that is not null. Errors are impossible for the types that Driftless writes;
// nested types give nothing.
void AppendSingleValue(const LogicalType& type, const ColumnView& view, int64_t row,
                       std::string* out);

// Compares two values of one type: <0, 0, >0.
int CompareSingleValues(const LogicalType& type, std::string_view a, std::string_view b);

// Minimal big-endian two's complement, at least one byte; and back (at most 16 bytes).
std::string DecimalBytes(__int128 unscaled);
__int128 DecimalFromBytes(std::string_view bytes);

// Cuts of texts (by code points) and bytes to `length`. The upper one is raised behind the cut;
// nullopt where nothing is greater.
std::string TruncateLower(const LogicalType& type, std::string_view value, size_t length);
std::optional<std::string> TruncateUpper(const LogicalType& type, std::string_view value,
                                         size_t length);

// The bounds of a column as a manifest stores them.
struct StoredBounds {
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};
// `truncate`: 0 stores whole values.
StoredBounds ToStoredBounds(const LogicalType& type, const lake::ColumnBounds& bounds,
                            size_t truncate);

// Murmur3, 32 bits, x86, seed 0 (appendix B).
int32_t Murmur3(std::string_view bytes);
// The hash of a value that is not null.
int32_t BucketHash(const LogicalType& type, const ColumnView& view, int64_t row);

}  // namespace driftless::iceberg
