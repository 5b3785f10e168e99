#pragma once

#include <string>
#include <vector>

#include "sinks/lake/parquet_encoder.h"
#include "sinks/paimon/data_file.h"
#include "sinks/paimon/key_layout.h"
#include "sinks/paimon/metadata.h"

// The statistics of a data file that stand in its manifest entry.
namespace driftless::paimon {

// Lower and upper bound of one key column, each a serialised row of that one field.
struct KeyBounds {
  std::string low;
  std::string high;
};

// Widens the bounds of all key columns by the rows [begin, end): exact for every type, texts cut to
// 128 characters. Rows are sorted by key.
Result<void> WidenKeyBounds(const KeyLayout& layout, const FileRows& rows, size_t begin, size_t end,
                            std::vector<KeyBounds>* bounds);
Result<SimpleStats> KeyStats(const KeyLayout& layout, const std::vector<KeyBounds>& bounds);

// Statistics of the value columns from the footer's bounds, in Paimon's dense form: only columns
// whose bounds can be trusted are listed; texts are cut to 16 characters, the upper bound rounded
// up.
void FillValueStats(const PaimonSchema& schema, const lake::ParquetSummary& summary,
                    DataFileMeta* meta);

}  // namespace driftless::paimon
