#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "pipeline/script/script.h"
#include "pipeline/sources/source.h"
#include "schema/ddl/mysql/dialect.h"

namespace driftless {

// Plays the `ddl` and `rows` directives of a script up to, not including, directive `end`, as a
// database would: every run reads from the start of the script, keeps up its schemas, and sends
// what lies behind the position it is given. A point's offset is the line in the script. Ends
// there, as a bounded source does.
struct ScriptSourceOptions {
  std::shared_ptr<const Script> script;
  size_t end = 0;
  mysql::ServerSettings server;
  // Called at the end instead of ending: the `crash` directive. Null: none.
  std::function<void()> crash;
};
std::unique_ptr<Source> MakeScriptSource(ScriptSourceOptions options);

}  // namespace driftless
