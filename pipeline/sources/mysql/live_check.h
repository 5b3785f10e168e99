#pragma once

#include "pipeline/sources/mysql/source_options.h"
#include "pipeline/sources/source.h"

namespace driftless::mysql {

// Everything about a server that a pipeline would come upon later: settings, privileges, tables;
// each with what to do about it (`driftless validate --live`). Changes nothing at the server.
Result<LiveReport> ExamineServer(const SourceOptions& options);

}  // namespace driftless::mysql
