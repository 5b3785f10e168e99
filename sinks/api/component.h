#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/options/option.h"
#include "config/yaml/problems.h"
#include "sinks/api/sink.h"
#include "sinks/api/table_reader.h"

namespace driftless {

struct SinkPolicy;

// What a sink did to a table beside the pipeline's own work; for metrics.
struct MaintenanceReport {
  TablePath table;
  std::string_view work;      // "compaction", "expiry"
  int64_t files_removed = 0;  // by a compaction, from the newest snapshot
  int64_t files_added = 0;
  int64_t snapshots_removed = 0;
  double seconds = 0;
};

// What the pipeline tells a sink about itself.
struct SinkEnvironment {
  std::string pipeline_name;
  std::string sink_name;
  std::string local_time_zone;  // IANA name
  const Clock* clock = nullptr;
  // Takes what goes wrong beside the pipeline's own work (a compaction that failed) and is tried
  // again later. May be called on any thread; may be null.
  std::function<void(const Error&)> warn;
  // Takes what maintenance did, each time that it did something. May be called on any thread; may
  // be null.
  std::function<void(const MaintenanceReport&)> maintained;
};

// One kind of sink: everything that the rest of the product knows before a pipeline exists.
struct SinkComponent {
  std::string_view type;                  // "paimon"
  std::vector<std::string_view> aliases;  // "doris" for selectdb
  std::string_view summary;               // one line
  const CapabilityMatrix* matrix = nullptr;
  std::span<const OptionSpec> options;
  // The planner alone, without a connection. Never null.
  Result<std::unique_ptr<SchemaPlanner>> (*make_planner)(const OptionValues&) = nullptr;
  // Null while this build has only the matrix of the sink: `run` refuses such a pipeline, `plan`
  // gives verdicts without statements.
  Result<std::unique_ptr<Sink>> (*make_sink)(const OptionValues&, const SinkEnvironment&) = nullptr;
  // Reads tables back, for `driftless peek` and tests. Null where this build cannot.
  Result<std::unique_ptr<TableReader>> (*make_reader)(const OptionValues&,
                                                      const SinkEnvironment&) = nullptr;
  // Checks that concern more than one option, or the text of one; for `driftless validate`. May be
  // null.
  void (*check)(const OptionValues&, Problems*) = nullptr;
  // What the sink's own options change in its policy. May be null.
  void (*adapt_policy)(const OptionValues&, SinkPolicy*) = nullptr;
};

// The one list of sinks (sinks/all_sinks.cc), in the order of the matrix.
std::span<const SinkComponent> AllSinks();

}  // namespace driftless
