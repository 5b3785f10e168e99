#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "sinks/api/component.h"
#include "sinks/api/table_reader.h"
#include "sinks/clients/objectstore/object_store.h"
#include "sinks/paimon/options.h"

namespace driftless::paimon {

// Whether the sink compacts tables (unless they are write-only), and where: on a thread of its own,
// or inside Commit.
enum class Compaction : uint8_t { kNone, kBackground, kInCommit };

// The sink over a store that the caller chose: tests and the simulator use one in memory, no
// thread, and `wait_ms` in place of sleeping between attempts.
Result<std::unique_ptr<Sink>> MakePaimonSinkOver(std::shared_ptr<ObjectStore> warehouse,
                                                 PaimonOptions options,
                                                 const SinkEnvironment& environment,
                                                 Compaction compaction = Compaction::kNone,
                                                 std::function<void(int64_t ms)> wait_ms = nullptr);

}  // namespace driftless::paimon

namespace driftless {

// For the list of sinks.
Result<std::unique_ptr<Sink>> MakePaimonSink(const OptionValues& options,
                                             const SinkEnvironment& environment);
Result<std::unique_ptr<TableReader>> MakePaimonTableReader(const OptionValues& options,
                                                           const SinkEnvironment& environment);

}  // namespace driftless
