#pragma once

#include <memory>

#include "sinks/api/component.h"

namespace driftless {

// For the list of sinks.
Result<std::unique_ptr<Sink>> MakeIcebergSink(const OptionValues& options,
                                              const SinkEnvironment& environment);
Result<std::unique_ptr<TableReader>> MakeIcebergTableReader(const OptionValues& options,
                                                            const SinkEnvironment& environment);

}  // namespace driftless
