#pragma once

#include <cstdint>

#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/mysql/server_facts.h"
#include "pipeline/sources/mysql/source_options.h"

namespace driftless::mysql {

// Where the log begins, as the options say. Every transaction before it is seen by views that begin
// later.
Result<LogPosition> StartPosition(const SourceOptions& options, const ServerFacts& facts,
                                  Connection* connection);

// Where the first transaction begins that was committed at `time_ms` or later; the log's end where
// there is none, its beginning where it does not go back so far.
Result<LogPosition> PositionAtTime(const SourceOptions& options, const ServerFacts& facts,
                                   int64_t time_ms);

// A place that is given by file and offset, with the GTIDs of all that stands before it: without
// them a new connection by GTID would get all of that once more. Errors: kInvalidConfig where no
// transaction begins there.
Result<LogPosition> WithGtids(const SourceOptions& options, const ServerFacts& facts,
                              LogPosition place);

// The same place in the log of the server that is there now: by GTID, where it is another one than
// before (a failover), and then behind all points of the former's. Errors: kNotFound without GTIDs.
Result<LogPosition> AtServer(LogPosition position, const ServerFacts& now);

// Whether the server still has its log from this place on. Errors: those of the connection.
Result<bool> HasLogFrom(const SourceOptions& options, const ServerFacts& facts,
                        const LogPosition& place);

}  // namespace driftless::mysql
