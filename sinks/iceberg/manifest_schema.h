#pragma once

#include <string>
#include <vector>

#include "sinks/iceberg/manifest.h"

// The Avro schemas of manifests and manifest lists, in the order and with the names and ids that
// the reference implementation writes.
namespace driftless::iceberg {

// `partition_types`: of the spec's fields. Errors: kUnsupported for types without Avro form.
Result<std::string> ManifestSchema(const PartitionSpec& spec,
                                   const std::vector<LogicalType>& partition_types,
                                   int format_version);
std::string ManifestListSchema(int format_version);

// A name as Avro allows it: letters, digits and underscores, no digit in front.
std::string AvroName(std::string_view name);

}  // namespace driftless::iceberg
