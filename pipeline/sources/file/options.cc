#include "pipeline/sources/file/options.h"

#include "pipeline/sources/captured_tables.h"
#include "pipeline/sources/debezium/format_options.h"
#include "pipeline/sources/online_options.h"
#include "pipeline/sources/registry.h"

namespace driftless {

std::span<const OptionSpec> FileSourceOptionSpecs() {
  static const auto* const kOptions = new std::vector<OptionSpec>(debezium::WithFormatOptions({
      {.key = "path",
       .type = OptionType::kList,
       .required = true,
       .doc = "Files, or patterns with * ? and [..], read one after the other: entries in this "
              "order, the files of a pattern in the order of their names. gzip and zstd are seen.",
       .aliases = {"paths"},
       .change = OnChange::kNewState},
      {.key = "format",
       .type = OptionType::kEnum,
       .default_value = "debezium-json",
       .doc = "How records are written, one a line.",
       .values = {"debezium-json", "canal-json", "maxwell-json", "json"},
       .change = OnChange::kIncompatible},
      {.key = "tables",
       .type = OptionType::kList,
       .doc = "Tables to capture, as database.table; each part is a regular expression and \\. its "
              "any-character dot. Default: every table in the files.",
       .change = OnChange::kNewState},
      {.key = "follow",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "true waits for more at the end of the last file, and takes new files of the "
              "patterns, a truncated and a replaced file."},
      {.key = "poll-interval",
       .type = OptionType::kDuration,
       .default_value = "100 ms",
       .doc = "How often a followed file is looked at when it has nothing new.",
       .min = 1,
       .max = 60000},
      {.key = "on-bad-record",
       .type = OptionType::kEnum,
       .default_value = "fail",
       .doc = "What happens to a record that cannot be decoded: fail stops the pipeline before it; "
              "dead-letter keeps it in the dead-letter file and goes on.",
       .values = {"fail", "dead-letter"}},
      {.key = "on-unparsed-ddl",
       .type = OptionType::kEnum,
       .doc = "What happens to a statement on a captured table that is not understood for certain: "
              "park lets its tables wait until `driftless decide` while others go on; fail stops "
              "before it; ignore goes on with the columns that the record itself gives. Default: "
              "the pipeline's on-unparsed-ddl.",
       .values = {"park", "fail", "ignore"}},
      ShadowTablesOption(),
      LeftoverTablesOption(),
      {.key = "line-bytes-max",
       .type = OptionType::kBytes,
       .default_value = "64 mb",
       .doc = "The longest line that is taken for a record.",
       .min = 1024,
       .max = 1 << 30},
      {.key = "treat-tinyint1-as-boolean.enabled",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "true makes MySQL's TINYINT(1) a BOOLEAN, where every value but 0 is true.",
       .change = OnChange::kIncompatible},
      {.key = "debezium-json.decimal-mode",
       .type = OptionType::kEnum,
       .default_value = "precise",
       .doc = "The connector's decimal.handling.mode, for records without embedded schema: precise "
              "(base64) or string. JSON numbers (double) are understood in both.",
       .values = {"precise", "string"},
       .change = OnChange::kIncompatible},
      {.key = "debezium-json.binary-mode",
       .type = OptionType::kEnum,
       .default_value = "base64",
       .doc = "The connector's binary.handling.mode: base64 (bytes, base64 and base64-url-safe) or "
              "hex.",
       .values = {"base64", "hex"},
       .change = OnChange::kIncompatible},
      {.key = "debezium-json.time-precision-mode",
       .type = OptionType::kEnum,
       .default_value = "adaptive",
       .doc = "The connector's time.precision.mode, for records without embedded schema. ISO text "
              "(isostring) is understood in all of them.",
       .values = {"adaptive", "connect", "microseconds", "nanoseconds"},
       .change = OnChange::kIncompatible},
      {.key = "debezium-json.unavailable-value",
       .default_value = "__debezium_unavailable_value",
       .doc = "The connector's unavailable.value.placeholder: stands for values that the database "
              "did not send.",
       .change = OnChange::kIncompatible},
      {.key = "json.table",
       .doc = "The table of plain JSON rows, as database.table, where their fields do not name it.",
       .change = OnChange::kNewState},
  }));
  return *kOptions;
}

namespace {

Result<void> ReadPlainTable(const OptionValues& values, debezium::StreamOptions* stream) {
  const Location at = values.At("json.table");
  stream->plain.table = values.String("json.table").value_or("");
  if (stream->records != debezium::RecordFormat::kJson) {
    return {};
  }
  if (stream->plain.table.empty() == stream->plain.table_fields.empty()) {
    return MakeError(ErrorKind::kInvalidConfig,
                     "format json needs either json.table or json.decode.parser-table-id.fields")
        .At(at.line, at.column);
  }
  return {};
}

}  // namespace

Result<FileSourceOptions> ReadFileSourceOptions(const OptionValues& values) {
  FileSourceOptions options;
  options.patterns = values.List("path");
  if (options.patterns.empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "`path` names no file")
        .At(values.At("path").line, values.At("path").column);
  }
  options.follow = values.Bool("follow").value_or(false);
  options.poll_interval_ms = values.DurationMs("poll-interval").value_or(100);
  options.line_bytes_max = static_cast<size_t>(values.Bytes("line-bytes-max").value_or(64 << 20));
  debezium::StreamOptions& stream = options.stream;
  DRIFTLESS_TRY(debezium::ReadFormatOptions(values, FileSourceOptionSpecs(), "format", &stream));
  DRIFTLESS_TRY(ReadPlainTable(values, &stream));
  if (values.Enum("on-bad-record") == "dead-letter") {
    stream.on_bad_record = debezium::OnBadRecord::kDeadLetter;
  }
  const auto on_unparsed = values.Enum("on-unparsed-ddl");
  if (on_unparsed == "park") stream.on_unparsed_ddl = OnUnparsedDdl::kPark;
  if (on_unparsed == "fail") stream.on_unparsed_ddl = OnUnparsedDdl::kFail;
  if (on_unparsed == "ignore") stream.on_unparsed_ddl = OnUnparsedDdl::kIgnore;
  DRIFTLESS_ASSIGN_OR_RETURN(stream.online, ReadOnlinePatterns(values));
  stream.tinyint1_is_boolean = values.Bool("treat-tinyint1-as-boolean.enabled").value_or(false);
  if (values.Enum("debezium-json.decimal-mode") == "string") {
    stream.format.decimal_mode = debezium::DecimalMode::kString;
  }
  if (values.Enum("debezium-json.binary-mode") == "hex") {
    stream.format.binary_mode = debezium::BinaryMode::kHex;
  }
  const auto time = values.Enum("debezium-json.time-precision-mode");
  stream.format.time_mode = time == "connect"        ? debezium::TimePrecisionMode::kConnect
                            : time == "microseconds" ? debezium::TimePrecisionMode::kMicroseconds
                            : time == "nanoseconds"  ? debezium::TimePrecisionMode::kNanoseconds
                                                     : debezium::TimePrecisionMode::kAdaptive;
  if (const auto value = values.String("debezium-json.unavailable-value"); value) {
    stream.format.unavailable_value = *value;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(stream.tables, ReadCapturedTables(values));
  return options;
}

void CheckFileSource(const OptionValues& values, Problems* problems) {
  if (const auto options = ReadFileSourceOptions(values); !options) {
    problems->AddError(values.At("path"), options.error());
  }
}

}  // namespace driftless
