#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace driftless {

struct ScriptStatement {
  std::string text;
  int line = 1;  // of its first line in the script
};

// The statements of a script. As in Flink's client, lines are collected until they end with ";"
// outside of '..', `..` and comments and the grammar wants no more; the last one needs no ";".
// Blank statements are left out.
std::vector<ScriptStatement> ReadSqlScript(std::string_view script);

// Whether the lines that were collected so far are a whole statement in this sense.
bool IsWholeStatement(std::string_view lines);

}  // namespace driftless
