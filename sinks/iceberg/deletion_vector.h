#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "sinks/iceberg/data_file.h"

// Deletion vectors of format version 3: which rows of one data file are gone, as a bitmap in a
// Puffin file (Puffin specification, "deletion-vector-v1 blob type").
namespace driftless::iceberg {

// The positions of a blob, ascending. Errors: kCorrupt.
Result<std::vector<int64_t>> DecodeDeletionVector(std::string_view blob);
// `positions` are ascending.
std::string EncodeDeletionVector(std::span<const int64_t> positions);

// A Puffin file with one vector for each data file; the entries that manifests get for them, in the
// same order, with `path` and `partition` left to the caller. The positions are ascending.
std::string EncodeDeletionVectors(std::span<const DeletedRows> deleted,
                                  std::vector<DataFile>* entries);

// Writes such a file. Positions are sorted here, once each.
Result<std::vector<DataFile>> WriteDeletionVectors(const FilePlace& place,
                                                   std::vector<DeletedRows> deleted,
                                                   const PartitionTuple& partition);

}  // namespace driftless::iceberg
