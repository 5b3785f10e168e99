#pragma once

#include <memory>
#include <span>

#include "config/options/option.h"
#include "schema/matrix/capability_matrix.h"
#include "schema/plan/schema_plan.h"
#include "sinks/api/component.h"

// What the sink folders give to the one list of sinks (sinks/all_sinks.cc).
namespace driftless {

struct SinkPolicy;

// sinks/<sink>/capabilities.cc
extern const CapabilityMatrix kPaimonMatrix;
extern const CapabilityMatrix kFlussMatrix;
extern const CapabilityMatrix kStarRocksMatrix;
extern const CapabilityMatrix kIcebergMatrix;
extern const CapabilityMatrix kHologresMatrix;
extern const CapabilityMatrix kSelectDbMatrix;
extern const CapabilityMatrix kMaxComputeMatrix;
extern const CapabilityMatrix kKafkaMatrix;
extern const CapabilityMatrix kPrintMatrix;
extern const CapabilityMatrix kBlackholeMatrix;

// sinks/<sink>/options.cc
std::span<const OptionSpec> FlussOptions();
std::span<const OptionSpec> StarRocksOptions();
std::span<const OptionSpec> IcebergOptions();
std::span<const OptionSpec> HologresOptions();
std::span<const OptionSpec> SelectDbOptions();
std::span<const OptionSpec> MaxComputeOptions();
std::span<const OptionSpec> KafkaOptions();
std::span<const OptionSpec> PrintOptions();

void AdaptHologresPolicy(const OptionValues& options, SinkPolicy* policy);

// sinks/<sink>/schema_plan.cc, for the sinks whose own statements do not exist in this build.
// (Paimon's model serves the simulator, which needs no warehouse for it.)
Result<std::unique_ptr<SchemaPlanner>> MakePaimonModelPlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakePaimonPlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakeFlussPlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakeStarRocksPlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakeIcebergPlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakeHologresPlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakeSelectDbPlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakeMaxComputePlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakeKafkaPlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakePrintPlanner(const OptionValues& options);
Result<std::unique_ptr<SchemaPlanner>> MakeBlackholePlanner(const OptionValues& options);

// sinks/<sink>/sink.cc
Result<std::unique_ptr<Sink>> MakePrintSink(const OptionValues& options,
                                            const SinkEnvironment& environment);
Result<std::unique_ptr<Sink>> MakeBlackholeSink(const OptionValues& options,
                                                const SinkEnvironment& environment);
Result<std::unique_ptr<Sink>> MakeKafkaSink(const OptionValues& options,
                                            const SinkEnvironment& environment);
void CheckKafkaSink(const OptionValues& options, Problems* problems);
Result<std::unique_ptr<Sink>> MakeStarRocksSink(const OptionValues& options,
                                                const SinkEnvironment& environment);
Result<std::unique_ptr<TableReader>> MakeStarRocksReader(const OptionValues& options,
                                                         const SinkEnvironment& environment);
void CheckStarRocksSink(const OptionValues& options, Problems* problems);
Result<std::unique_ptr<Sink>> MakeSelectDbSink(const OptionValues& options,
                                               const SinkEnvironment& environment);
Result<std::unique_ptr<TableReader>> MakeSelectDbReader(const OptionValues& options,
                                                        const SinkEnvironment& environment);
void CheckSelectDbSink(const OptionValues& options, Problems* problems);

}  // namespace driftless
