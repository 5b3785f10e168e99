#include <vector>

#include "sinks/api/component.h"
#include "sinks/api/registry.h"
#include "sinks/iceberg/sink.h"
#include "sinks/paimon/options.h"
#include "sinks/paimon/sink.h"

namespace driftless {

std::span<const SinkComponent> AllSinks() {
  // An explicit list, in the order of the matrix: a new sink is one folder and one line here.
  static const auto* const kSinks = new std::vector<SinkComponent>{
      {.type = "paimon",
       .summary = "Apache Paimon tables in a file system or object store",
       .matrix = &kPaimonMatrix,
       .options = paimon::PaimonOptionSpecs(),
       .make_planner = MakePaimonPlanner,
       .make_sink = MakePaimonSink,
       .make_reader = MakePaimonTableReader},
      {.type = "fluss",
       .summary = "Apache Fluss: primary key and log tables",
       .matrix = &kFlussMatrix,
       .options = FlussOptions(),
       .make_planner = MakeFlussPlanner},
      {.type = "starrocks",
       .summary = "StarRocks: primary key tables",
       .matrix = &kStarRocksMatrix,
       .options = StarRocksOptions(),
       .make_planner = MakeStarRocksPlanner,
       .make_sink = MakeStarRocksSink,
       .make_reader = MakeStarRocksReader,
       .check = CheckStarRocksSink},
      {.type = "iceberg",
       .summary = "Apache Iceberg tables",
       .matrix = &kIcebergMatrix,
       .options = IcebergOptions(),
       .make_planner = MakeIcebergPlanner,
       .make_sink = MakeIcebergSink,
       .make_reader = MakeIcebergTableReader},
      {.type = "hologres",
       .summary = "Hologres tables",
       .matrix = &kHologresMatrix,
       .options = HologresOptions(),
       .make_planner = MakeHologresPlanner,
       .adapt_policy = AdaptHologresPolicy},
      {.type = "selectdb",
       .aliases = {"doris"},
       .summary = "SelectDB and Apache Doris: unique and duplicate key tables",
       .matrix = &kSelectDbMatrix,
       .options = SelectDbOptions(),
       .make_planner = MakeSelectDbPlanner,
       .make_sink = MakeSelectDbSink,
       .make_reader = MakeSelectDbReader,
       .check = CheckSelectDbSink},
      {.type = "maxcompute",
       .summary = "MaxCompute: delta and append tables",
       .matrix = &kMaxComputeMatrix,
       .options = MaxComputeOptions(),
       .make_planner = MakeMaxComputePlanner},
      {.type = "kafka",
       .summary = "Kafka topics: Debezium, Canal and Maxwell JSON, or rows in compacted topics",
       .matrix = &kKafkaMatrix,
       .options = KafkaOptions(),
       .make_planner = MakeKafkaPlanner,
       .make_sink = MakeKafkaSink,
       .check = CheckKafkaSink},
      {.type = "print",
       .aliases = {"values"},
       .summary = "One readable line per change, to the screen or a file",
       .matrix = &kPrintMatrix,
       .options = PrintOptions(),
       .make_planner = MakePrintPlanner,
       .make_sink = MakePrintSink},
      {.type = "blackhole",
       .summary = "Takes everything and keeps nothing: for measuring",
       .matrix = &kBlackholeMatrix,
       .make_planner = MakeBlackholePlanner,
       .make_sink = MakeBlackholeSink},
  };
  return *kSinks;
}

}  // namespace driftless
