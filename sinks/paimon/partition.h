#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {

// The types of the partition columns, in partition key order.
std::vector<LogicalType> PartitionTypes(const PaimonSchema& schema);

// The folder of a partition below the table: "k1=v1/k2=v2/", or "" for an unpartitioned table.
// `partition` is the serialized BinaryRow. Values are spelled as Paimon's
// InternalRowPartitionComputer spells them (partition.legacy-name, partition.default-name) and
// escaped as its PartitionPathUtils do. Errors: kCorrupt; kUnsupported for partition columns of a
// floating, binary or nested type.
Result<std::string> PartitionPath(const PaimonSchema& schema, std::string_view partition);

// Percent-escapes what Paimon escapes in folder names.
std::string EscapePathName(std::string_view text);

}  // namespace driftless::paimon
