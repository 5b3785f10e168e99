#pragma once

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
};

}  // namespace driftless::flink
