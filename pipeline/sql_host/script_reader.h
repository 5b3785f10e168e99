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
// outside of '..', `..` and comments; the last one needs none. Blank statements are left out.
std::vector<ScriptStatement> ReadSqlScript(std::string_view script);

}  // namespace driftless
