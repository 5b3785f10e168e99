#pragma once

#include <memory>

#include "sinks/api/component.h"
#include "sinks/api/table_reader.h"
#include "sinks/clients/objectstore/object_store.h"
#include "sinks/paimon/options.h"

namespace driftless::paimon {

// The sink over a store that the caller chose: tests and the simulator use one in memory.
Result<std::unique_ptr<Sink>> MakePaimonSinkOver(std::shared_ptr<ObjectStore> warehouse,
                                                 PaimonOptions options,
                                                 const SinkEnvironment& environment);

}  // namespace driftless::paimon

namespace driftless {

// For the list of sinks.
Result<std::unique_ptr<Sink>> MakePaimonSink(const OptionValues& options,
                                             const SinkEnvironment& environment);
Result<std::unique_ptr<TableReader>> MakePaimonTableReader(const OptionValues& options,
                                                           const SinkEnvironment& environment);

}  // namespace driftless
