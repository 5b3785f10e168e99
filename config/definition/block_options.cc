// The declarations of the blocks that do not belong to one component: what every source and sink
// has, routes, transforms, rules.
#include "config/definition/pipeline_definition.h"

namespace driftless {

std::span<const OptionSpec> SharedSourceOptionSpecs() {
  static const std::vector<OptionSpec>* const kSpecs = new std::vector<OptionSpec>{
      {.key = "type",
       .required = true,
       .doc = "Which kind of source it is.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "name",
       .doc = "Its name in this pipeline. Default: the type.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
  };
  return *kSpecs;
}

std::span<const OptionSpec> SharedSinkOptionSpecs() {
  static const std::vector<OptionSpec>* const kSpecs = new std::vector<OptionSpec>{
      {.key = "type",
       .required = true,
       .doc = "Which kind of sink it is.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "name",
       .doc = "Its name in this pipeline, unique among the sinks and part of their state. Default: "
              "the type.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "include.schema.changes",
       .type = OptionType::kSequence,
       .doc =
           "The events (tags or families) that this sink follows; create.table is implied unless "
           "it is excluded. Empty or absent: all.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "exclude.schema.changes",
       .type = OptionType::kSequence,
       .doc = "The events (tags or families) that this sink does not follow; wins over the include "
              "list.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "capability.extensions",
       .type = OptionType::kSequence,
       .doc =
           "Events that newer servers can carry out beyond the sink's capability matrix; checked "
           "against the server's version."},
      {.key = "on-unavailable",
       .type = OptionType::kEnum,
       .default_value = "block",
       .doc = "When the sink does not answer: block waits for it (and in time the source with it), "
              "stop-sink takes it out until the next start.",
       .values = {"block", "stop-sink"}},
  };
  return *kSpecs;
}

std::span<const OptionSpec> RouteOptionSpecs() {
  static const std::vector<OptionSpec>* const kSpecs = new std::vector<OptionSpec>{
      {.key = "source-table",
       .required = true,
       .doc = "Which tables: names or regular expressions, separated by commas. A dot separates "
              "database and table, \\. is the dot of a regular expression; letter case counts.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "sink-table",
       .required = true,
       .doc = "Where their rows go: database.table, with the replace-symbol or $1 to $99 in it.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "replace-symbol",
       .doc = "Every occurrence in sink-table becomes the source table's name.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kNewState},
      {.key = "sinks",
       .type = OptionType::kList,
       .doc = "Names of the sinks that the route is for. Default: all.",
       .change = OnChange::kNewState},
      {.key = "description",
       .doc = "For readers.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kHot},
  };
  return *kSpecs;
}

std::span<const OptionSpec> TransformOptionSpecs() {
  static const std::vector<OptionSpec>* const kSpecs = new std::vector<OptionSpec>{
      {.key = "source-table",
       .required = true,
       .doc = "Which tables: names or regular expressions, separated by commas (\\, is a comma). A "
              "dot "
              "separates database and table, \\. is the dot of a regular expression; letter case "
              "does not count.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kRestart},
      {.key = "projection",
       .doc = "The output's columns, as in SELECT; \\* stands for all columns, \\* EXCLUDE (a) "
              "RENAME (b AS c) for all but a, with another name for b. Default: all.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kRestart},
      {.key = "filter",
       .doc = "Which rows, as in WHERE. Default: all.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kRestart},
      {.key = "table-api",
       .doc = "In place of projection and filter: a method chain of Flink's Table API, as "
              "addColumns(concat($(\"first\"), $(\"last\")).as(\"name\"))"
              ".dropColumns($(\"secret\")).where($(\"qty\").isGreater(0)).",
       .flink_cdc = FlinkCdc::kExtension,
       .change = OnChange::kRestart},
      {.key = "primary-keys",
       .type = OptionType::kList,
       .doc = "The output's key. Default: the source's.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "partition-keys",
       .type = OptionType::kList,
       .doc = "The output's partition columns. Default: the source's.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kIncompatible},
      {.key = "table-options",
       .doc = "Options of tables that are created, as k1=v1,k2=v2.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "table-options.delimiter",
       .default_value = ",",
       .doc = "What separates the entries of table-options.",
       .flink_cdc = FlinkCdc::kSame},
      {.key = "converter-after-transform",
       .type = OptionType::kEnum,
       .doc = "SOFT_DELETE turns a delete into an insert of the old row.",
       .values = {"SOFT_DELETE"},
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kRestart},
      {.key = "description",
       .doc = "For readers.",
       .flink_cdc = FlinkCdc::kSame,
       .change = OnChange::kHot},
  };
  return *kSpecs;
}

std::span<const OptionSpec> RuleOptionSpecs() {
  static const std::vector<OptionSpec>* const kSpecs = new std::vector<OptionSpec>{
      {.key = "sink", .type = OptionType::kList, .doc = "Names of sinks. Default: every sink."},
      {.key = "table",
       .doc = "Which sink tables: names or regular expressions, as `tables` of a source. Default: "
              "every table."},
      {.key = "event",
       .type = OptionType::kList,
       .doc = "Tags or families of events. Default: every event.",
       .aliases = {"events"}},
      {.key = "column", .doc = "The column's name. Default: every column."},
      {.key = "behavior",
       .type = OptionType::kEnum,
       .doc = "The behaviour that holds instead of the pipeline's.",
       .aliases = {"behaviour"},
       .values = {"LENIENT", "EVOLVE", "TRY_EVOLVE", "IGNORE", "EXCEPTION"}},
      {.key = "verdict",
       .type = OptionType::kEnum,
       .doc = "What is decided, as far as the sink can carry it out.",
       .values = {"apply", "skip", "hold", "fail"}},
      {.key = "description", .doc = "For readers.", .change = OnChange::kHot},
  };
  return *kSpecs;
}

}  // namespace driftless
