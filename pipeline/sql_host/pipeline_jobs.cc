#include "pipeline/sql_host/pipeline_jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "config/definition/pipeline_definition.h"
#include "config/upgrade/diff.h"
#include "pipeline/sql_host/child_process.h"
#include "pipeline/sql_host/pipeline_text.h"
#include "schema/base/clock.h"

namespace driftless {
namespace {

// A name that is one part of a path.
std::string FileName(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

// The file may hold passwords: it is its owner's alone.
Result<void> WriteFile(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool written = file >= 0;
  while (written && !text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    written = count > 0;
    if (written) text.remove_prefix(static_cast<size_t>(count));
  }
  const int error = errno;
  if (file >= 0) close(file);
  if (written) return {};
  return MakeError(ErrorKind::kPermission, "cannot write " + path + ": " + std::strerror(error));
}

// The last lines of a log.
std::string EndOf(const std::string& log) {
  constexpr size_t kLines = 10;
  std::ifstream file(log, std::ios::binary);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line + "\n");
    if (lines.size() > kLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace

PipelineJobs::~PipelineJobs() {
  Stop();
  Wait();
}

Result<PipelineJobs::Prepared> PipelineJobs::Prepare(
    const flink::RowJob& job, const std::map<std::string, std::string>& settings,
    const std::string& name) const {
  Prepared prepared;
  prepared.number = job.number;
  prepared.settings = settings;
  prepared.name = name;
  prepared.state = (std::filesystem::path(folder_) / FileName(name)).string();
  prepared.file = (std::filesystem::path(folder_) / (FileName(name) + ".yaml")).string();
  if (keeps_logs_) prepared.log = prepared.state + ".log";
  prepared.is_bounded = IsBounded(job, settings);
  prepared.is_once = !job.script.empty();
  prepared.sink = job.sink.Summary();
  DRIFTLESS_ASSIGN_OR_RETURN(prepared.text, PipelineText(job, settings, name, *catalog_));
  Problems problems;
  const auto definition = ParsePipeline(prepared.text, prepared.file, *catalog_,
                                        ReferenceResolver::OfProcess(), &problems);
  if (!definition) return problems.ToError(prepared.file);
  for (const Problem& problem : problems.Sorted()) {
    fmt::print(stderr, "{}\n", problem.ToString(prepared.file));
  }
  DRIFTLESS_TRY(CheckRestart(prepared, *definition));
  return prepared;
}

// What ran under this name before must be able to go on as it is now.
Result<void> PipelineJobs::CheckRestart(const Prepared& prepared,
                                        const PipelineDefinition& now) const {
  const auto text = ReadPipelineFile(prepared.file);
  if (!text || *text == prepared.text) return {};
  ReferenceResolver resolver = ReferenceResolver::OfProcess();
  resolver.missing_is_warning = true;
  Problems ignored;
  const auto before = ParsePipeline(*text, prepared.file, *catalog_, resolver, &ignored);
  if (!before) return {};
  std::string reasons;
  for (const ConfigChange& change : DiffPipelines(*before, now)) {
    if (change.effect < UpgradeEffect::kNewState) continue;
    reasons += fmt::format("{}{} {} ({}: {})", reasons.empty() ? "" : "; ", change.where,
                           change.what, ToString(change.effect), change.meaning);
  }
  if (reasons.empty()) return {};
  return MakeError(ErrorKind::kInvalidConfig,
                   "pipeline " + prepared.name + " cannot go on where it stood: " + reasons)
      .Hint("Give it another name (SET 'pipeline.name' = '..'), or begin anew without " +
            prepared.file + " and its state.");
}

// A table has one writer at a time: two pipelines would undo each other's commits.
Result<void> PipelineJobs::CheckAlone(const std::vector<flink::RowJob>& jobs) const {
  std::set<std::string> sinks;
  for (const auto& [process, running] : running_) sinks.insert(running.sink);
  for (const flink::RowJob& job : jobs) {
    if (sinks.insert(job.sink.Summary()).second) continue;
    return MakeError(ErrorKind::kUnsupported,
                     "two INSERTs at the same time into table " + job.sink.Summary())
        .Hint("A pipeline file takes rows of several tables into one (route).");
  }
  return {};
}

Result<void> PipelineJobs::Submit(const std::vector<flink::RowJob>& jobs,
                                  const std::map<std::string, std::string>& settings) {
  Look();
  DRIFTLESS_TRY(CheckAlone(jobs));
  std::vector<Prepared> all;
  std::set<std::string> names = names_;
  for (const flink::RowJob& job : jobs) {
    const auto given = settings.find("pipeline.name");
    std::string stem =
        given != settings.end() ? given->second : "insert-into_" + job.sink.Summary();
    // The same rows once more are more rows.
    if (!job.script.empty()) stem += "-" + std::to_string(SystemClock()->NowMillis());
    std::string name = stem;
    for (int number = 2; !names.insert(name).second; ++number) {
      name = stem + "-" + std::to_string(number);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(Prepared prepared, Prepare(job, settings, name));
    all.push_back(std::move(prepared));
  }
  std::error_code code;
  std::filesystem::create_directories(folder_, code);
  if (code) {
    return MakeError(ErrorKind::kPermission, "cannot create " + folder_ + ": " + code.message());
  }
  for (const Prepared& prepared : all) DRIFTLESS_TRY(WriteFile(prepared.file, prepared.text));
  names_ = std::move(names);
  std::vector<pid_t> once;
  for (const Prepared& prepared : all) {
    DRIFTLESS_ASSIGN_OR_RETURN(const pid_t process, Start(prepared));
    if (prepared.is_once) once.push_back(process);
  }
  for (const pid_t process : once) DRIFTLESS_TRY(WaitFor(process));
  return {};
}

Result<void> PipelineJobs::WaitFor(pid_t process) {
  const std::string name = running_.at(process).name;
  if (Ended(process, WaitForChild(process))) return {};
  return MakeError(ErrorKind::kUnavailable, "pipeline " + name + " has failed")
      .Hint("What it said stands above.");
}

Result<pid_t> PipelineJobs::Start(const Prepared& prepared) {
  std::vector<std::string> words = {program_, "run", prepared.file, "--state", prepared.state};
  if (prepared.is_bounded) words.emplace_back("--until-end");
  DRIFTLESS_ASSIGN_OR_RETURN(const pid_t process, StartChild(std::move(words), prepared.log));
  running_[process] = prepared;
  fmt::print(stderr, "pipeline {} runs: {}, state in {}{}\n", prepared.name, prepared.file,
             prepared.state, prepared.log.empty() ? "" : ", log in " + prepared.log);
  return process;
}

// ---- changes of pipelines that run -------------------------------------------------------------

bool PipelineJobs::Runs(uint64_t number) {
  Look();
  return std::any_of(running_.begin(), running_.end(),
                     [&](const auto& each) { return each.second.number == number; });
}

// What would stop the pipeline at its next start is told before.
Result<void> PipelineJobs::CheckPlan(const Prepared& prepared) const {
  if (!std::filesystem::exists(prepared.state)) return {};  // nothing has been written yet
  const std::string file = prepared.file + ".next";
  DRIFTLESS_TRY(WriteFile(file, prepared.text));
  const auto plan = RunChild({program_, "plan", file, "--state", prepared.state});
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (!plan) return plan.error();
  constexpr int kRowsMayStop = 4;
  if (plan->exit_code == 0 || plan->exit_code == kRowsMayStop) {
    fmt::print(stderr, "{}", plan->text);
    return {};
  }
  return MakeError(ErrorKind::kConflict, "pipeline " + prepared.name +
                                             " runs, and this statement would stop it:\n" +
                                             plan->text)
      .Hint(
          "Nothing was changed. End the session and start the INSERT with another "
          "'pipeline.schema.change.behavior', or change the table in another way.");
}

Result<void> PipelineJobs::Change(const std::vector<flink::RowJob>& jobs) {
  Look();
  struct Exchange {
    pid_t process = 0;
    Prepared former;
    Prepared next;
    bool has_stopped = false;
  };
  std::vector<Exchange> all;
  for (const flink::RowJob& job : jobs) {
    for (const auto& [process, former] : running_) {
      if (former.number != job.number) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(Prepared next, Prepare(job, former.settings, former.name));
      if (next.text != former.text) all.push_back({process, former, std::move(next)});
    }
  }
  for (const Exchange& each : all) kill(each.process, SIGTERM);
  Result<void> outcome;
  const auto keep_first = [&](Result<void> result) {
    if (outcome && !result) outcome = std::move(result);
  };
  for (Exchange& each : all) {
    Result<void> stopped = WaitFor(each.process);
    each.has_stopped = stopped.has_value();
    keep_first(std::move(stopped));
  }
  for (const Exchange& each : all) {
    if (outcome) keep_first(CheckPlan(each.next));
  }
  const bool is_planned = outcome.has_value();
  for (const Exchange& each : all) {
    if (!each.has_stopped) continue;  // it has failed, and would again
    const Prepared& begins = is_planned ? each.next : each.former;
    keep_first(WriteFile(begins.file, begins.text));
    const auto started = Start(begins);
    if (!started) keep_first(started.error());
  }
  return outcome;
}

// False: it failed.
bool PipelineJobs::Ended(pid_t process, int status) {
  const auto found = running_.find(process);
  if (found == running_.end()) return true;
  const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const Prepared& ended = found->second;
  fmt::print(stderr, "pipeline {} {}\n", ended.name, good ? "has ended" : "has FAILED");
  if (!good && !ended.log.empty()) fmt::print(stderr, "{}", EndOf(ended.log));
  failed_ = failed_ || !good;
  if (good && ended.is_once) {
    std::error_code ignored;
    std::filesystem::remove_all(ended.state, ignored);
    std::filesystem::remove(ended.file, ignored);
    if (!ended.log.empty()) std::filesystem::remove(ended.log, ignored);
  }
  running_.erase(found);
  return good;
}

void PipelineJobs::Look() {
  for (auto each = running_.begin(); each != running_.end();) {
    const pid_t process = (each++)->first;
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == process) Ended(process, status);
  }
}

bool PipelineJobs::Wait() {
  while (!running_.empty()) {
    const pid_t process = running_.begin()->first;
    Ended(process, WaitForChild(process));
  }
  return !failed_;
}

void PipelineJobs::Stop() {
  for (const auto& [process, running] : running_) kill(process, SIGTERM);
}

std::vector<std::string> PipelineJobs::Names() const {
  std::vector<std::string> names;
  for (const auto& [process, running] : running_) names.push_back(running.name);
  return names;
}

}  // namespace driftless
