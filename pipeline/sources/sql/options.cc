#include "pipeline/sources/sql/options.h"

#include <vector>

#include "pipeline/sources/captured_tables.h"
#include "pipeline/sources/registry.h"

namespace driftless {

std::span<const OptionSpec> SqlSourceOptionSpecs() {
  static const auto* const kOptions = new std::vector<OptionSpec>{
      {.key = "path",
       .doc =
           "The script: Flink SQL statements, each ended by ; at the end of a line. CREATE, ALTER, "
           "DROP and TRUNCATE TABLE are schema changes; INSERT .. VALUES, UPDATE and DELETE are "
           "rows.",
       .aliases = {"file"},
       .change = OnChange::kNewState},
      {.key = "script",
       .doc = "The text of the script itself, in place of path.",
       .change = OnChange::kRestart},
      {.key = "tables",
       .type = OptionType::kList,
       .doc = "Tables to capture, as database.table; each part is a regular expression and \\. its "
              "any-character dot. Default: every table of the script.",
       .change = OnChange::kNewState},
  };
  return *kOptions;
}

Result<SqlSourceOptions> ReadSqlSourceOptions(const OptionValues& values) {
  SqlSourceOptions options;
  options.path = values.String("path").value_or("");
  options.script = values.String("script").value_or("");
  if (options.path.empty() == options.script.empty()) {
    const Location at = values.At(options.path.empty() ? "path" : "script");
    return MakeError(ErrorKind::kInvalidConfig, options.path.empty()
                                                    ? "the source needs `path` or `script`"
                                                    : "`path` and `script` exclude each other")
        .At(at.line, at.column);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(options.tables, ReadCapturedTables(values));
  return options;
}

void CheckSqlSource(const OptionValues& values, Problems* problems) {
  if (const auto options = ReadSqlSourceOptions(values); !options) {
    problems->AddError(values.At("path"), options.error());
  }
}

}  // namespace driftless
