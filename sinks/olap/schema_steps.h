#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sinks/api/component.h"
#include "sinks/olap/dialect.h"
#include "sinks/olap/olap_options.h"
#include "sinks/olap/statements.h"

namespace driftless::olap {

// Looks at tables and changes them by statements, one step at a time. Thread-safe for different
// tables.
class SchemaSteps {
 public:
  SchemaSteps(const Dialect* dialect, const OlapOptions& options, const SchemaPlanner* planner,
              std::unique_ptr<Statements> statements);

  Result<std::string> Version();
  Result<std::optional<SinkTable>> Read(const TablePath& table);

  // Carries the step out and waits until the server shows it. Where its job (or somebody else's)
  // takes longer than a moment, kUnavailable with the job's progress: call it again, it goes on
  // where it was. After the job's time-out: kRefused.
  Result<void> Execute(const SchemaPlan& plan, StepIndex index);

 private:
  struct Job {
    int64_t id = -1;
    std::string state;  // "RUNNING"; empty: there is none
    std::string message;
    std::string progress;
    bool is_over() const { return state.empty() || state == "FINISHED" || state == "CANCELLED"; }
    std::string ToString() const;
  };
  Result<Job> NewestJob(const TablePath& table);
  Result<bool> IsDone(const SchemaPlan& plan, StepIndex index);
  Result<void> Create(const SchemaPlan& plan, StepIndex index);
  Result<void> Alter(const SchemaPlan& plan, StepIndex index, StatementKind kind);
  Result<void> WaitFor(const SchemaPlan& plan, StepIndex index, int64_t after_job);
  Error StillRunning(const SchemaPlan& plan, StepIndex index, const std::string& what);

  const Dialect& dialect_;
  const CreateOptions create_;
  const int64_t job_timeout_ms_;
  const SchemaPlanner& planner_;
  const std::unique_ptr<Statements> sql_;
  std::mutex mutex_;
  std::string version_;
  std::map<std::string, int64_t> begun_ms_;  // by change and step
};

}  // namespace driftless::olap
