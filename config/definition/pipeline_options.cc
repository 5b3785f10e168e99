#include "config/definition/pipeline_options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <type_traits>
#include <vector>

#include "config/definition/event_words.h"
#include "config/definition/time_zone.h"
#include "schema/base/check.h"

namespace driftless {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kMiB = 1 << 20;

// One option: its declaration, and how it fills the struct (null: it fills nothing).
struct Binding {
  OptionSpec spec;
  void (*fill)(const OptionValues& values, std::string_view key, PipelineOptions* options,
               Problems* problems) = nullptr;
};

template <typename T>
struct EnumOf {
  using Type = T;
};
template <typename T>
struct EnumOf<std::optional<T>> {
  using Type = T;
};

template <auto Member>
void Text(const OptionValues& values, std::string_view key, PipelineOptions* options, Problems*) {
  if (auto value = values.String(key)) options->*Member = *std::move(value);
}
template <auto Member>
void Number(const OptionValues& values, std::string_view key, PipelineOptions* options, Problems*) {
  if (auto value = values.Int(key)) options->*Member = static_cast<int>(*value);
}
template <auto Member>
void Duration(const OptionValues& values, std::string_view key, PipelineOptions* options,
              Problems*) {
  if (auto value = values.DurationMs(key)) options->*Member = *value;
}
template <auto Member>
void Bytes(const OptionValues& values, std::string_view key, PipelineOptions* options, Problems*) {
  if (auto value = values.Bytes(key)) options->*Member = *value;
}
// The words of the declaration stand in the order of the enumeration.
template <auto Member>
void Word(const OptionValues& values, std::string_view key, PipelineOptions* options, Problems*) {
  using Enum = typename EnumOf<
      std::remove_reference_t<decltype(std::declval<PipelineOptions>().*Member)>>::Type;
  const std::optional<std::string> word = values.Enum(key);
  if (!word) return;
  for (const OptionSpec& spec : values.specs()) {
    if (spec.key != key) continue;
    for (size_t i = 0; i < spec.values.size(); ++i) {
      if (spec.values[i] == *word) options->*Member = static_cast<Enum>(i);
    }
  }
}

void FillBehavior(const OptionValues& values, std::string_view key, PipelineOptions* options,
                  Problems*) {
  options->behavior_is_set = values.IsSet(key);
  if (auto word = values.Enum(key)) options->behavior = *ParseBehavior(*word);
}

void FillTimeZone(const OptionValues& values, std::string_view key, PipelineOptions* options,
                  Problems* problems) {
  Result<std::string> zone = ResolveTimeZone(values.String(key).value_or("systemDefault"));
  if (zone) {
    options->local_time_zone = *std::move(zone);
  } else {
    problems->AddError(values.At(key), zone.error());
  }
}

void FillApproval(const OptionValues& values, std::string_view key, PipelineOptions* options,
                  Problems* problems) {
  if (const OptionValues::Value* value = values.Find(key)) {
    options->approval = ReadEventWords(key, *value, problems);
  }
}

void FillHttpAddress(const OptionValues& values, std::string_view key, PipelineOptions* options,
                     Problems* problems) {
  const std::string text = values.String(key).value_or("off");
  if (text == "off") return;
  const size_t colon = text.rfind(':');
  int port = -1;
  const char* end = text.data() + text.size();
  if (colon != std::string::npos && colon > 0) {
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (parsed.ec != std::errc() || parsed.ptr != end) port = -1;
  }
  if (port < 0 || port > 65535) {
    problems->AddError(values.At(key), fmt::format("\"{}\": \"{}\" is no address", key, text),
                       "Write host:port, such as 127.0.0.1:9464 or 0.0.0.0:9464, or off.");
    return;
  }
  options->http_address = text;
}

constexpr std::string_view kNoFlink =
    "There is no Flink job whose operators would need identities.";

const std::vector<Binding>& Bindings() {
  using O = PipelineOptions;
  static const std::vector<Binding>* const kBindings = new std::vector<Binding>{
      {{.key = "name",
        .doc = "The pipeline's name: part of its identity at the sinks and of its state. Default: "
               "the file's name without its ending.",
        .flink_cdc = FlinkCdc::kSame,
        .change = OnChange::kNewState},
       Text<&O::name>},
      {{.key = "parallelism",
        .type = OptionType::kInt,
        .doc = "How many writers a sink uses for one table at most. Default: one per core.",
        .min = 1,
        .max = 1024,
        .flink_cdc = FlinkCdc::kSame},
       Number<&O::parallelism>},
      {{.key = "execution.runtime-mode",
        .type = OptionType::kEnum,
        .default_value = "STREAMING",
        .doc =
            "BATCH ends the pipeline when its sources have delivered what they had at the start.",
        .values = {"STREAMING", "BATCH"},
        .flink_cdc = FlinkCdc::kSame},
       Word<&O::runtime_mode>},
      {{.key = "route-mode",
        .type = OptionType::kEnum,
        .default_value = "ALL_MATCH",
        .doc = "Whether a table goes to the sink table of every route that matches it, or of the "
               "first one only.",
        .values = {"ALL_MATCH", "FIRST_MATCH"},
        .flink_cdc = FlinkCdc::kSame,
        .change = OnChange::kNewState},
       Word<&O::route_mode>},
      {{.key = "local-time-zone",
        .default_value = "systemDefault",
        .doc =
            "The time zone in which instants and local times are turned into each other: an IANA "
            "name, an offset in whole hours, or systemDefault.",
        .flink_cdc = FlinkCdc::kSame,
        .change = OnChange::kIncompatible},
       FillTimeZone},

      {{.key = "schema.change.behavior",
        .type = OptionType::kEnum,
        .default_value = "LENIENT",
        .doc = "What happens with schema changes: LENIENT adapts or skips what a sink cannot do, "
               "EVOLVE follows exactly or stops, TRY_EVOLVE follows where it can and converts rows "
               "otherwise, IGNORE creates tables only, EXCEPTION stops at every change.",
        .values = {"LENIENT", "EVOLVE", "TRY_EVOLVE", "IGNORE", "EXCEPTION"},
        .flink_cdc = FlinkCdc::kSame},
       FillBehavior},
      {{.key = "schema.change.lenient.style",
        .type = OptionType::kEnum,
        .default_value = "matrix",
        .doc =
            "matrix follows each sink's capability matrix; flink-cdc gives what LENIENT means in "
            "Apache Flink CDC: drop keeps the column, rename adds one, drop and truncate of tables "
            "are withheld unless the sink has its own exclude list.",
        .values = {"matrix", "flink-cdc"}},
       Word<&O::lenient_style>},
      {{.key = "schema.change.rules",
        .type = OptionType::kBlock,
        .doc =
            "A list of rules that narrow the policy: each matches by sink, table, event and column "
            "and sets a behavior or a verdict. The most specific rule decides."}},
      {{.key = "schema.change.approval",
        .type = OptionType::kSequence,
        .doc =
            "Events (tags or families) that wait for `driftless approve` or `driftless reject`."},
       FillApproval},
      {{.key = "approval.timeout",
        .type = OptionType::kDuration,
        .default_value = "12 h",
        .doc = "How long an event waits for its approval.",
        .aliases = {"schema.change.approval.timeout"},
        .min = 1000,
        .max = 366LL * 24 * 60 * kMinuteMs},
       Duration<&O::approval_timeout_ms>},
      {{.key = "approval.on-timeout",
        .type = OptionType::kEnum,
        .default_value = "fail",
        .doc = "What happens to an event that nobody approved in time.",
        .aliases = {"schema.change.approval.on-timeout"},
        .values = {"fail", "reject"}},
       Word<&O::approval_on_timeout>},
      {{.key = "on-cast-failure",
        .type = OptionType::kEnum,
        .doc =
            "What becomes of a value that does not fit the sink's column after a skipped type "
            "change. Default: fail under EVOLVE, null under LENIENT and TRY_EVOLVE. A value of a "
            "key, partition or bucket column always fails.",
        .values = {"fail", "null", "dead-letter"}},
       Word<&O::on_cast_failure>},
      {{.key = "on-null-violation",
        .type = OptionType::kEnum,
        .doc =
            "What becomes of a NULL for a NOT NULL column of the sink. Default: fail; dead-letter "
            "under TRY_EVOLVE.",
        .values = {"fail", "dead-letter", "default-value"}},
       Word<&O::on_null_violation>},
      {{.key = "on-absent",
        .type = OptionType::kEnum,
        .default_value = "fail",
        .doc = "What a sink that needs whole rows does with a value that the source did not send. "
               "lookup is refused by sinks that cannot read a row by its key.",
        .values = {"fail", "lookup", "null"}},
       Word<&O::on_absent>},
      {{.key = "on-unparsed-ddl",
        .type = OptionType::kEnum,
        .default_value = "park",
        .doc =
            "What happens at a statement that cannot be understood: park holds the tables that it "
            "names until `driftless decide`, fail stops the pipeline, ignore trusts the next row's "
            "own description.",
        .values = {"park", "fail", "ignore"}},
       Word<&O::on_unparsed_ddl>},
      {{.key = "rows-without-events",
        .type = OptionType::kEnum,
        .default_value = "warn",
        .doc = "What happens when a statement changes rows and no row event says so (partitions "
               "dropped or exchanged, tables swapped): warn records a divergence, fail stops the "
               "pipeline, resync (MySQL and MariaDB) sends a truncate.table, on which the policy "
               "decides like on any other, and reads the table again behind it.",
        .values = {"warn", "fail", "resync"}},
       Word<&O::rows_without_events>},
      {{.key = "create.nullability",
        .type = OptionType::kEnum,
        .default_value = "source",
        .doc =
            "relaxed creates all columns outside the key nullable, so that no later NULL can stop "
            "the pipeline.",
        .values = {"source", "relaxed"}},
       Word<&O::create_nullability>},
      {{.key = "table.rename",
        .type = OptionType::kEnum,
        .default_value = "new-table",
        .doc = "Whether a renamed table is a new table at the sink, or goes on into the old one.",
        .values = {"new-table", "follow"}},
       Word<&O::table_rename>},
      {{.key = "drop.skip",
        .type = OptionType::kEnum,
        .doc = "After a skipped drop.column: null writes NULL into the column, keep leaves the old "
               "value where the sink updates single columns. Default: null; keep after a reject.",
        .values = {"null", "keep"}},
       Word<&O::drop_skip>},
      {{.key = "rename.skip",
        .type = OptionType::kEnum,
        .default_value = "follow",
        .doc = "After a skipped rename.column: follow keeps writing the values under the old name, "
               "null writes NULL.",
        .values = {"follow", "null"}},
       Word<&O::rename_skip>},

      {{.key = "checkpoint.interval",
        .type = OptionType::kDuration,
        .default_value = "10 s",
        .doc = "How often a sink commits what it has received; the first rows of a run after a "
               "second at most.",
        .aliases = {"execution.checkpointing.interval"},
        .min = 100,
        .max = 24 * 60 * kMinuteMs,
        .change = OnChange::kHot},
       Duration<&O::checkpoint_interval_ms>},
      {{.key = "memory.budget",
        .type = OptionType::kBytes,
        .default_value = "192 mb",
        .doc = "The bound on everything that the pipeline holds in memory: open batches, queues, "
               "parked items, writer buffers.",
        .min = 16 * kMiB},
       Bytes<&O::memory_budget_bytes>},
      {{.key = "parking.memory-bytes-max",
        .type = OptionType::kBytes,
        .default_value = "64 mb",
        .doc =
            "How much of parked tables stays in memory before it is written to the state folder.",
        .min = 0},
       Bytes<&O::parking_memory_bytes_max>},
      {{.key = "parking.disk-bytes-max",
        .type = OptionType::kBytes,
        .default_value = "10 gb",
        .doc = "How much of parked tables may lie in the state folder.",
        .min = 0},
       Bytes<&O::parking_disk_bytes_max>},
      {{.key = "parking.on-full",
        .type = OptionType::kEnum,
        .default_value = "block",
        .doc = "What happens when that is used up: block stops reading the source, fail stops the "
               "pipeline.",
        .values = {"block", "fail"}},
       Word<&O::parking_on_full>},
      {{.key = "stop.timeout",
        .type = OptionType::kDuration,
        .default_value = "60 s",
        .doc = "How long a clean stop may take to commit what is under way.",
        .min = 0,
        .max = 24 * 60 * kMinuteMs,
        .change = OnChange::kHot},
       Duration<&O::stop_timeout_ms>},
      {{.key = "state.dir",
        .doc = "The folder of the pipeline's state; --state on the command line wins.",
        .change = OnChange::kNewState},
       Text<&O::state_dir>},
      {{.key = "audit.retention",
        .type = OptionType::kDuration,
        .default_value = "90 d",
        .doc = "How long verdicts are kept; those of an open divergence are always kept.",
        .min = 60 * kMinuteMs,
        .change = OnChange::kHot},
       Duration<&O::audit_retention_ms>},
      {{.key = "http.address",
        .default_value = "127.0.0.1:9464",
        .doc = "Where /metrics and /healthz are served, as host:port; off: nowhere.",
        .aliases = {"metrics.address"}},
       FillHttpAddress},
      {{.key = "log.format",
        .type = OptionType::kEnum,
        .default_value = "text",
        .doc = "Log lines for people or as JSON.",
        .values = {"text", "json"}},
       Word<&O::log_format>},
      {{.key = "log.level",
        .type = OptionType::kEnum,
        .default_value = "info",
        .doc = "The least important lines that are logged.",
        .values = {"debug", "info", "warn", "error"},
        .change = OnChange::kHot},
       Word<&O::log_level>},

      {{.key = "operator.uid.prefix",
        .doc = "Ignored.",
        .flink_cdc = FlinkCdc::kIgnored,
        .flink_cdc_note = kNoFlink,
        .change = OnChange::kHot}},
      {{.key = "schema.operator.uid",
        .doc = "Ignored.",
        .flink_cdc = FlinkCdc::kIgnored,
        .flink_cdc_note = kNoFlink,
        .change = OnChange::kHot}},
      {{.key = "schema-operator.rpc-timeout",
        .type = OptionType::kDuration,
        .doc = "Ignored.",
        .flink_cdc = FlinkCdc::kIgnored,
        .flink_cdc_note = "A schema change may take as long as its sink needs; only its own table "
                          "waits.",
        .change = OnChange::kHot}},
      {{.key = "sink.partitioning.strategy",
        .type = OptionType::kEnum,
        .doc = "Ignored.",
        .values = {"SINK_DEFINED", "PRIMARY_KEY", "TABLE_ID"},
        .flink_cdc = FlinkCdc::kIgnored,
        .flink_cdc_note = "Every sink assigns rows to its writers itself, always in key order.",
        .change = OnChange::kHot}},
      {{.key = "transform.decimal.precision.mode",
        .type = OptionType::kEnum,
        .doc = "Ignored.",
        .values = {"UP_TO_19", "UP_TO_38"},
        .flink_cdc = FlinkCdc::kIgnored,
        .flink_cdc_note = "DECIMAL arithmetic always has 38 digits.",
        .change = OnChange::kHot}},
      {{.key = "user-defined-function",
        .type = OptionType::kBlock,
        .doc = "Ignored.",
        .flink_cdc = FlinkCdc::kIgnored,
        .flink_cdc_note =
            "Functions in Java or Python cannot be loaded; a transform that calls one is "
            "an error.",
        .change = OnChange::kHot}},
      {{.key = "model",
        .type = OptionType::kBlock,
        .doc = "Ignored.",
        .flink_cdc = FlinkCdc::kIgnored,
        .flink_cdc_note =
            "AI models are not called from transforms; a transform that calls one is an "
            "error.",
        .change = OnChange::kHot}},
      {{.key = "dirty-data.collector",
        .type = OptionType::kBlock,
        .doc = "Ignored.",
        .flink_cdc = FlinkCdc::kIgnored,
        .flink_cdc_note =
            "Records that cannot be decoded follow the source's on-bad-record option.",
        .change = OnChange::kHot}},
      {{.key = "transform.allow.trimming.pk-columns",
        .type = OptionType::kBool,
        .doc = "Ignored.",
        .flink_cdc = FlinkCdc::kIgnored,
        .flink_cdc_note =
            "A transform states its key in primary-keys; it may leave key columns out.",
        .change = OnChange::kHot}},
  };
  return *kBindings;
}

}  // namespace

std::span<const OptionSpec> PipelineOptionSpecs() {
  static const std::vector<OptionSpec>* const kSpecs = [] {
    auto* specs = new std::vector<OptionSpec>();
    for (const Binding& binding : Bindings()) specs->push_back(binding.spec);
    return specs;
  }();
  return *kSpecs;
}

PipelineOptions FillPipelineOptions(const OptionValues& values, Problems* problems) {
  PipelineOptions options;
  for (const Binding& binding : Bindings()) {
    if (binding.fill != nullptr) binding.fill(values, binding.spec.key, &options, problems);
  }
  return options;
}

}  // namespace driftless
