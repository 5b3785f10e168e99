#include "sinks/olap/schema_steps.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "schema/base/check.h"
#include "schema/base/clock.h"
#include "sinks/olap/planner.h"

namespace driftless::olap {
namespace {

// How long one call waits before it says how far the job is.
constexpr int64_t kSliceMs = 4'000;
constexpr int64_t kFirstPauseMs = 50;
constexpr int64_t kLongestPauseMs = 1'000;

int64_t NowMs() { return SystemClock()->MonotonicMicros() / 1000; }

void Pause(int64_t* pause_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(*pause_ms));
  *pause_ms = std::min(*pause_ms * 2, kLongestPauseMs);
}

// Between the end of a job and the table's own state there is a gap (Doris pull request 17012).
bool SaysBusy(const Error& error) {
  return error.message().find("is not NORMAL") != std::string::npos ||
         error.message().find("state(SCHEMA_CHANGE)") != std::string::npos;
}

}  // namespace

SchemaSteps::SchemaSteps(const Dialect* dialect, const OlapOptions& options,
                         const SchemaPlanner* planner, std::unique_ptr<Statements> statements)
    : dialect_(*dialect),
      create_(options.create),
      job_timeout_ms_(options.job_timeout_ms),
      planner_(*planner),
      sql_(std::move(statements)) {}

std::string SchemaSteps::Job::ToString() const {
  std::string text = "job " + std::to_string(id) + " is " + state;
  if (!progress.empty() && progress != "N/A") text += ", " + progress;
  if (!message.empty()) text += ": " + message;
  return text;
}

Result<std::string> SchemaSteps::Version() {
  DRIFTLESS_ASSIGN_OR_RETURN(const SqlRows rows, sql_->Query(dialect_.VersionQuery()));
  std::string text;
  if (!rows.rows.empty() && !rows.rows.front().empty()) {
    text = rows.rows.front().back().value_or("");
  }
  // "Doris version doris-3.0.4-rc01": the version begins at the first digit.
  const size_t digit = text.find_first_of("0123456789");
  if (digit != std::string::npos) text = text.substr(digit);
  const std::lock_guard<std::mutex> lock(mutex_);
  version_ = text;
  return text;
}

Result<std::optional<SinkTable>> SchemaSteps::Read(const TablePath& path) {
  Result<SqlRows> rows = sql_->Query(dialect_.ColumnsQuery(path));
  if (!rows) {
    // Doris says so in words, with the number of any other error.
    const std::string& text = rows.error().message();
    const bool is_absent = rows.error().kind() == ErrorKind::kNotFound ||
                           text.find("Unknown table") != std::string::npos ||
                           text.find("Unknown database") != std::string::npos ||
                           text.find("does not exist") != std::string::npos;
    if (is_absent) return std::optional<SinkTable>();
    return std::move(rows).error();
  }
  if (rows->rows.empty()) return std::optional<SinkTable>();
  SinkTable table;
  table.path = path;
  for (size_t i = 0; i < rows->rows.size(); ++i) {
    bool is_key = false;
    auto column = dialect_.ReadColumn(*rows, i, &is_key);
    if (!column) return std::move(column).error().Context("table " + path.ToString());
    if (is_key) table.primary_key.push_back(column->name);
    table.columns.push_back(*std::move(column));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      const SqlRows comment,
      sql_->Query("SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = " +
                  QuoteText(path.database) + " AND TABLE_NAME = " + QuoteText(path.table)));
  if (!comment.rows.empty()) table.comment = comment.Value(0, "TABLE_COMMENT").value_or("");
  return std::optional(std::move(table));
}

Result<SchemaSteps::Job> SchemaSteps::NewestJob(const TablePath& table) {
  DRIFTLESS_ASSIGN_OR_RETURN(const SqlRows rows, sql_->Query(dialect_.JobsQuery(table)));
  Job job;
  if (rows.rows.empty()) return job;
  const std::string id = rows.Value(0, "JobId").value_or("");
  std::from_chars(id.data(), id.data() + id.size(), job.id);
  job.state = rows.Value(0, "State").value_or("");
  job.message = rows.Value(0, "Msg").value_or("");
  job.progress = rows.Value(0, "Progress").value_or("");
  return job;
}

Result<bool> SchemaSteps::IsDone(const SchemaPlan& plan, StepIndex index) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<SinkTable> actual, Read(plan.sink_table));
  return planner_.Recognise(plan, index, actual ? &*actual : nullptr) == StepState::kDone;
}

Error SchemaSteps::StillRunning(const SchemaPlan& plan, StepIndex index, const std::string& what) {
  int64_t waited_ms = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waited_ms = NowMs() - begun_ms_[plan.change_id + "/" + std::to_string(index)];
  }
  if (waited_ms < job_timeout_ms_) return MakeError(ErrorKind::kUnavailable, what);
  return MakeError(ErrorKind::kRefused, what + " after " + std::to_string(waited_ms / 1000) + " s")
      .Hint(
          "Look at SHOW ALTER TABLE COLUMN; when the job has ended, `driftless decide ID retry`. "
          "A longer time is given by schema.evolution.timeout (table.schema-change.timeout).");
}

Result<void> SchemaSteps::Execute(const SchemaPlan& plan, StepIndex index) {
  DRIFTLESS_CHECK(index < plan.steps.size());
  const Statement statement = StatementOf(dialect_, plan.steps[index], create_, job_timeout_ms_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    begun_ms_.emplace(plan.change_id + "/" + std::to_string(index), NowMs());
    const std::string problem = dialect_.VersionProblem(statement.kind, version_);
    if (!version_.empty() && !problem.empty()) {
      return MakeError(ErrorKind::kRefused, problem + "; the server is " + version_);
    }
  }
  Result<void> done;
  if (CreatesTable(statement.kind)) {
    done = Create(plan, index);
  } else if (StartsJob(statement.kind)) {
    done = Alter(plan, index, statement.kind);
  } else {
    done = sql_->Execute(plan.steps[index].action);
    if (!done && SaysBusy(done.error())) {
      return StillRunning(plan, index, done.error().message());
    }
  }
  if (done || !done.error().IsRetryable()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    begun_ms_.erase(plan.change_id + "/" + std::to_string(index));
  }
  return done;
}

Result<void> SchemaSteps::Create(const SchemaPlan& plan, StepIndex index) {
  const Step& step = plan.steps[index];
  DRIFTLESS_TRY(
      sql_->Execute("CREATE DATABASE IF NOT EXISTS " + QuoteName(plan.sink_table.database)));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<SinkTable> actual, Read(plan.sink_table));
  if (actual) {
    const std::string misfit = MisfitOfTable(*actual, *step.after);
    if (misfit.empty()) return {};
    return MakeError(ErrorKind::kRefused, "table " + plan.sink_table.ToString() +
                                              " is there with another schema: " + misfit)
        .Hint("Change or drop the table at the sink, or route to another name.");
  }
  return sql_->Execute(step.action);
}

Result<void> SchemaSteps::Alter(const SchemaPlan& plan, StepIndex index, StatementKind) {
  // A job of somebody else, or ours from before a restart.
  DRIFTLESS_TRY(WaitFor(plan, index, -1));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool already, IsDone(plan, index));
  if (already) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const Job last, NewestJob(plan.sink_table));
  const int64_t until_ms = NowMs() + kSliceMs;
  int64_t pause_ms = kFirstPauseMs;
  while (true) {
    Result<void> sent = sql_->Execute(plan.steps[index].action);
    if (sent) break;
    if (!SaysBusy(sent.error())) return sent;
    if (NowMs() >= until_ms) return StillRunning(plan, index, sent.error().message());
    Pause(&pause_ms);
  }
  return WaitFor(plan, index, std::max<int64_t>(last.id, 0));
}

// `after_job` -1: until no job runs. Else until the step shows, and no job runs that is newer.
Result<void> SchemaSteps::WaitFor(const SchemaPlan& plan, StepIndex index, int64_t after_job) {
  const int64_t until_ms = NowMs() + kSliceMs;
  int64_t pause_ms = kFirstPauseMs;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Job job, NewestJob(plan.sink_table));
    if (after_job >= 0 && job.id > after_job && job.state == "CANCELLED") {
      return MakeError(ErrorKind::kRefused,
                       "the server cancelled the schema change: " +
                           (job.message.empty() ? job.ToString() : job.message));
    }
    if (job.is_over()) {
      if (after_job < 0) return {};
      DRIFTLESS_ASSIGN_OR_RETURN(const bool done, IsDone(plan, index));
      if (done) return {};
    }
    if (NowMs() >= until_ms) {
      return StillRunning(
          plan, index, job.is_over() ? "the table does not show the change yet" : job.ToString());
    }
    Pause(&pause_ms);
  }
}

}  // namespace driftless::olap
