#include "pipeline/sources/debezium/format_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "config/definition/regex.h"

namespace driftless::debezium {
namespace {

Error InvalidAt(const OptionValues& values, std::string_view key, std::string message) {
  const Location at = values.At(key);
  return MakeError(ErrorKind::kInvalidConfig, std::move(message)).At(at.line, at.column);
}

// "id BIGINT, name VARCHAR(10), price DECIMAL(10, 2)": commas outside of brackets part the fields.
Result<std::map<std::string, LogicalType>> ParseFixedTypes(const OptionValues& values) {
  constexpr std::string_view kKey = "json.infer-schema.fixed-types";
  std::map<std::string, LogicalType> types;
  const std::string text = values.String(kKey).value_or("");
  for (size_t at = 0; at < text.size();) {
    int depth = 0;
    size_t end = at;
    for (; end < text.size() && (depth > 0 || text[end] != ','); ++end) {
      depth += text[end] == '(' || text[end] == '<' ? 1 : 0;
      depth -= text[end] == ')' || text[end] == '>' ? 1 : 0;
    }
    std::string field = text.substr(at, end - at);
    at = end + 1;
    field.erase(0, field.find_first_not_of(' '));
    const size_t space = field.find(' ');
    if (space == std::string::npos) {
      return InvalidAt(values, kKey, "\"" + field + "\" is not a field and its type");
    }
    auto type = ParseLogicalType(field.substr(space + 1));
    if (!type) return InvalidAt(values, kKey, type.error().message());
    types.emplace(field.substr(0, space), std::move(*type));
  }
  return types;
}

Result<void> ReadInclude(const OptionValues& values, StreamOptions* options) {
  for (const std::string_view key : {"canal-json.database.include", "canal-json.table.include"}) {
    const auto text = values.String(key);
    if (!text) continue;
    auto regex = CompileRegex(*text, LetterCase::kSensitive);
    if (!regex) return InvalidAt(values, key, regex.error().message());
    (key == "canal-json.database.include" ? options->databases : options->table_names) =
        std::move(*regex);
  }
  return {};
}

}  // namespace

std::vector<OptionSpec> FormatOptionSpecs() {
  return {
      {.key = "canal-json.database.include",
       .doc = "A regular expression that the databases of canal-json must match as a whole.",
       .change = OnChange::kNewState},
      {.key = "canal-json.table.include",
       .doc = "A regular expression that the tables' names of canal-json must match as a whole.",
       .change = OnChange::kNewState},
      {.key = "canal-json.time-zone",
       .doc = "The time zone of the Canal server, in which it writes MySQL's TIMESTAMP. Default: "
              "the pipeline's local-time-zone.",
       .change = OnChange::kIncompatible},
      {.key = "json.timestamp-format.standard",
       .type = OptionType::kEnum,
       .default_value = "SQL",
       .doc = "How plain JSON writes timestamps of json.infer-schema.fixed-types. Both forms are "
              "understood whatever it says.",
       .values = {"SQL", "ISO-8601"}},
      {.key = "json.infer-schema.primitive-as-string",
       .type = OptionType::kBool,
       .default_value = "false",
       .doc = "true makes every simple value of plain JSON a STRING.",
       .change = OnChange::kIncompatible},
      {.key = "json.infer-schema.fixed-types",
       .doc = "Types of fields of plain JSON that are not inferred: id BIGINT, name VARCHAR(10).",
       .change = OnChange::kIncompatible},
      {.key = "json.decode.parser-table-id.fields",
       .type = OptionType::kList,
       .doc = "Fields of plain JSON whose values, joined by dots, make the table name: db,table. "
              "Default: the topic's name; a name without a dot is a table of database \"default\".",
       .change = OnChange::kNewState},
  };
}

std::vector<OptionSpec> WithFormatOptions(std::vector<OptionSpec> own) {
  for (OptionSpec& spec : FormatOptionSpecs()) own.push_back(std::move(spec));
  return own;
}

Result<void> ReadFormatOptions(const OptionValues& values, std::span<const OptionSpec> all,
                               std::string_view format_key, StreamOptions* options) {
  const std::string format = values.Enum(format_key).value_or("debezium-json");
  constexpr std::array<std::string_view, 4> kFormats = {"debezium-json", "canal-json",
                                                        "maxwell-json", "json"};
  for (const OptionSpec& spec : all) {
    const std::string_view of = spec.key.substr(0, spec.key.find('.'));
    const bool is_formats = std::find(kFormats.begin(), kFormats.end(), of) != kFormats.end();
    if (!is_formats || of == format || !values.IsSet(spec.key)) continue;
    return InvalidAt(
        values, spec.key,
        std::string(spec.key) + " has no effect: " + std::string(format_key) + " is " + format);
  }
  options->records = format == "canal-json"     ? RecordFormat::kCanalJson
                     : format == "maxwell-json" ? RecordFormat::kMaxwellJson
                     : format == "json"         ? RecordFormat::kJson
                                                : RecordFormat::kDebeziumJson;
  if (options->records == RecordFormat::kCanalJson) {
    options->format.wire = Wire::kCanal;
  } else if (options->records != RecordFormat::kDebeziumJson) {
    options->format.wire = Wire::kTyped;
  }
  DRIFTLESS_TRY(ReadInclude(values, options));
  if (const auto zone = values.String("canal-json.time-zone")) {
    auto loaded = TimeZone::Load(*zone);
    if (!loaded) return InvalidAt(values, "canal-json.time-zone", loaded.error().message());
    options->time_zone = *zone;
  }
  options->inference.primitives_are_text =
      values.Bool("json.infer-schema.primitive-as-string").value_or(false);
  DRIFTLESS_ASSIGN_OR_RETURN(options->inference.fixed_types, ParseFixedTypes(values));
  for (const std::string& entry : values.List("json.decode.parser-table-id.fields")) {
    for (size_t at = 0; at < entry.size();) {
      const size_t end = std::min(entry.find(',', at), entry.size());
      std::string field = entry.substr(at, end - at);
      at = end + 1;
      field.erase(0, field.find_first_not_of(' '));
      if (!field.empty()) options->plain.table_fields.push_back(std::move(field));
    }
  }
  return {};
}

}  // namespace driftless::debezium
