#pragma once

#include <string>
#include <vector>

#include "pipeline/script/script.h"

namespace driftless {

// One expectation that did not come true, or the directive at which a script could not go on.
struct ScriptFailure {
  int line = 0;
  std::string text;  // several lines: what was expected and what is
};

struct ScriptReport {
  int expectations = 0;  // that were looked at
  std::vector<ScriptFailure> failures;
  std::string folder;  // state and warehouse; gone unless it was to be kept
  bool ok() const { return failures.empty(); }
};

struct ScriptRunOptions {
  bool keep_folder = false;
};

// Plays a script against the real runtime, coordinator and policy: the source is the script, the
// sinks are in memory (or, where the script says so, lakes in a folder of its own). Every
// expectation first lets the pipeline come to rest. Errors: what keeps a script from beginning (no
// folder can be made).
Result<ScriptReport> RunScript(Script script, const ScriptRunOptions& options);

}  // namespace driftless
