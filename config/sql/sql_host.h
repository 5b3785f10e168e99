#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/sql/row_job.h"
#include "schema/base/result.h"

namespace driftless::flink {

// What a session needs of the outside to move rows: implemented where pipelines run.
class SqlHost {
 public:
  virtual ~SqlHost() = default;

  // Starts what one INSERT or one statement set asks for; all of it or nothing. `settings` are the
  // session's. Errors: kInvalidConfig and kUnsupported where a pipeline cannot carry a job out;
  // nothing has been started then.
  virtual Result<void> Submit(const std::vector<RowJob>& jobs,
                              const std::map<std::string, std::string>& settings) = 0;

  // Whether the job of this number has been started and has not ended.
  virtual bool Runs(uint64_t number) = 0;
  // Lets jobs that run go on as these ones of their numbers, where they stand and with the settings
  // that they were started with: what is different for a sink's table is a schema change there.
  // Errors: as Submit's, and where such a change would stop a job; all go on as they were then.
  virtual Result<void> Change(const std::vector<RowJob>& jobs) = 0;
};

}  // namespace driftless::flink
