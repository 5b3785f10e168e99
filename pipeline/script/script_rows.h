#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/script/script.h"
#include "schema/events/change_batch.h"
#include "schema/events/change_batch_builder.h"

namespace driftless {

// Reads the body of a `rows` directive into changes of the table: "+I {...}", "-U {...}" followed
// by
// "+U {...}", "+U {...}" alone, "-D {...}", "+R {...}" (a row of a snapshot). Values are JSON by
// column name, in the texts of schema/types/value_text.h; bytes as "0x..." or as text. Columns that
// are not named are NULL in +I and +R, and not sent in the others.
// Errors: kInvalidInput with the script's line: no such column, a value that does not fit.
Result<ChangeBatchPtr> ReadRows(const ScriptDirective& directive, const TableSchemaPtr& schema,
                                StreamId stream);

// A JSON object as texts: numbers as written, strings unescaped, null, objects and arrays as JSON.
struct JsonField {
  std::string name;
  std::string text;
  bool is_null = false;
};
// Errors: kParse.
Result<std::vector<JsonField>> ParseJsonRow(std::string_view json);

}  // namespace driftless
