#pragma once

#include "config/definition/pipeline_options.h"

namespace driftless {

// Sends log lines to standard error, as text for people or as one JSON object a line
// ({"time", "level", "message"}).
void SetUpLogging(LogFormat format, LogLevel level);

}  // namespace driftless
