#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/definition/component_catalog.h"
#include "config/sql/sql_host.h"

namespace driftless {

struct PipelineDefinition;

// Runs the INSERTs of a session as pipelines: each is written to FOLDER/NAME.yaml and run by a
// `driftless run` of its own, with its state in FOLDER/NAME, so that the same INSERT goes on where
// it stood. Rows in memory are written before Submit returns, and leave nothing of their pipeline.
// The others end with this process: it stops them when it goes. One thread.
class PipelineJobs : public flink::SqlHost {
 public:
  // `program`: the path of the binary that runs a pipeline. `catalog` lives as long as this.
  PipelineJobs(std::string folder, std::string program, const ComponentCatalog* catalog)
      : folder_(std::move(folder)), program_(std::move(program)), catalog_(catalog) {}
  ~PipelineJobs() override;
  PipelineJobs(const PipelineJobs&) = delete;
  PipelineJobs& operator=(const PipelineJobs&) = delete;

  // The names come from the setting pipeline.name, or from the sinks as Flink forms them:
  // insert-into_catalog.database.table. Warnings of pipelines go to standard error.
  Result<void> Submit(const std::vector<flink::RowJob>& jobs,
                      const std::map<std::string, std::string>& settings) override;

  bool Runs(uint64_t number) override;
  // Stops the pipelines that are others then, prints what `driftless plan` says of the change, and
  // starts them again. Where the plan says that a pipeline would stop, nothing is changed.
  Result<void> Change(const std::vector<flink::RowJob>& jobs) override;

  // Lets what pipelines say go to FOLDER/NAME.log from here on: at a terminal it would stand
  // between the lines that are typed.
  void KeepLogs() { keeps_logs_ = true; }

  bool empty() const { return running_.empty(); }
  std::vector<std::string> Names() const;  // of those that run
  // Waits until all have ended. False: one of them failed.
  bool Wait();
  // Tells all to commit and to stop; to stop at once when told again.
  void Stop();
  // Looks which have ended, without waiting.
  void Look();

 private:
  // A pipeline as it runs or is to run.
  struct Prepared {
    uint64_t number = 0;  // of the job
    std::map<std::string, std::string> settings;
    std::string name;
    std::string sink;  // the table
    std::string file;
    std::string text;
    std::string state;
    std::string log;  // a file; empty: this process's output
    bool is_bounded = false;
    bool is_once = false;  // of rows in memory: nothing to go on with
  };
  Result<Prepared> Prepare(const flink::RowJob& job,
                           const std::map<std::string, std::string>& settings,
                           const std::string& name) const;
  Result<void> CheckRestart(const Prepared& prepared, const PipelineDefinition& now) const;
  Result<void> CheckAlone(const std::vector<flink::RowJob>& jobs) const;
  Result<void> CheckPlan(const Prepared& prepared) const;
  Result<pid_t> Start(const Prepared& prepared);
  Result<void> WaitFor(pid_t process);
  bool Ended(pid_t process, int status);

  const std::string folder_;
  const std::string program_;
  const ComponentCatalog* const catalog_;
  std::map<pid_t, Prepared> running_;
  std::set<std::string> names_;  // used in this session
  bool failed_ = false;
  bool keeps_logs_ = false;
};

}  // namespace driftless
