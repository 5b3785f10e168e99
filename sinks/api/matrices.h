#pragma once

#include "schema/matrix/capability_matrix.h"

// The capability matrices, as data beside each sink (sinks/<sink>/capabilities.cc).
namespace driftless {

extern const CapabilityMatrix kPaimonMatrix;
extern const CapabilityMatrix kFlussMatrix;
extern const CapabilityMatrix kStarRocksMatrix;
extern const CapabilityMatrix kIcebergMatrix;
extern const CapabilityMatrix kHologresMatrix;
extern const CapabilityMatrix kSelectDbMatrix;
extern const CapabilityMatrix kMaxComputeMatrix;
extern const CapabilityMatrix kKafkaMatrix;

}  // namespace driftless
