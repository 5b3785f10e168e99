#pragma once

#include <string>

#include "sinks/formats/avro/avro.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {

// For writers that fill a manifest entry by entry.
const std::string& ManifestAvroSchema();
void WriteManifestEntry(const ManifestEntry& entry, avro::Encoder* out);

}  // namespace driftless::paimon
