#include "pipeline/script/script_runner.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "pipeline/script/script_checks.h"
#include "pipeline/script/script_pipeline.h"

namespace driftless {
namespace {

using Kind = ScriptDirective::Kind;

// Starts after which a pipeline that still does not come to rest is given up.
constexpr int kRunsMax = 25;

class ScriptRunner {
 public:
  ScriptRunner(Script script, std::string folder)
      : script_(std::make_shared<const Script>(std::move(script))),
        pipeline_(script_, std::move(folder)) {}

  ScriptReport Run() {
    for (size_t i = 0; i < script_->directives.size(); ++i) {
      auto done = Do(script_->directives[i], i);
      if (!done) {
        Fail(LineOf(done.error(), script_->directives[i].line), done.error().ToString());
        break;
      }
      if (gives_up_) break;
    }
    if (!gives_up_ && report_.ok()) Finish();
    return std::move(report_);
  }

 private:
  static int LineOf(const Error& error, int otherwise) {
    return error.line() > 0 ? error.line() : otherwise;
  }
  void Fail(int line, std::string text) { report_.failures.push_back({line, std::move(text)}); }

  Result<void> Do(const ScriptDirective& directive, size_t index) {
    switch (directive.kind) {
      case Kind::kDdl:
      case Kind::kRows: pending_ = true; return {};
      case Kind::kPipeline: return Configure(directive, index);
      case Kind::kRestart: pending_ = true; return Settle(index);
      case Kind::kCrash: return Crash(directive, index);
      case Kind::kRefuse: return Refuse(directive, index);
      case Kind::kApprove: return Answer(directive, index, "approve");
      case Kind::kReject: return Answer(directive, index, "reject");
      case Kind::kRetry: return Answer(directive, index, "retry");
      case Kind::kSkip: return Answer(directive, index, "skip");
      case Kind::kVerdicts:
      case Kind::kSchema:
      case Kind::kResult:
      case Kind::kDivergences:
      case Kind::kHeld: return Expect(directive, index);
      case Kind::kFails: return ExpectFailure(directive, index);
    }
    return {};
  }

  // A configuration that is refused is a failure like any other: `fails` may expect it.
  Result<void> Configure(const ScriptDirective& directive, size_t index) {
    if (!failure_seen_) DRIFTLESS_TRY(Settle(index));
    if (failure_ && !failure_seen_) return UnexpectedFailure();
    failure_.reset();
    failure_seen_ = false;
    auto configured = pipeline_.Configure(directive);
    if (configured) {
      pending_ = true;  // it must at least start
    } else {
      failure_ = std::move(configured).error();
    }
    return {};
  }

  // Lets the pipeline run until it rests with everything before directive `end` read.
  Result<void> Settle(size_t end, bool crash_at_end = false) {
    if (failure_) return UnexpectedFailure();
    if (!pending_ && !crash_at_end) return {};
    pending_ = false;
    for (int run = 0; run < kRunsMax; ++run) {
      DRIFTLESS_ASSIGN_OR_RETURN(const RunOutcome outcome, pipeline_.RunOnce(end, crash_at_end));
      switch (outcome.kind) {
        case RunOutcome::Kind::kFinished:
        case RunOutcome::Kind::kStopped: {
          DRIFTLESS_ASSIGN_OR_RETURN(const bool rests, pipeline_.Rests());
          if (rests) return {};
          continue;
        }
        case RunOutcome::Kind::kFailed: failure_ = outcome.error; return {};
        case RunOutcome::Kind::kRestart: continue;
        case RunOutcome::Kind::kAborted:
          if (!crash_at_end) continue;  // a fault of the script: start again and go on
          pending_ = true;
          return {};
      }
    }
    return MakeError(ErrorKind::kTimedOut, "the pipeline did not come to rest in " +
                                               std::to_string(kRunsMax) + " starts");
  }

  Error UnexpectedFailure() {
    gives_up_ = true;
    return MakeError(ErrorKind::kRefused, "the pipeline stopped: " + failure_->ToString());
  }

  Result<void> Crash(const ScriptDirective& directive, size_t index) {
    if (directive.words.empty()) return Settle(index, /*crash_at_end=*/true);
    const auto word = [&](size_t i) {
      return i < directive.words.size() ? directive.words[i] : std::string();
    };
    MemoryStore::Fault fault;
    const bool known =
        (word(0) == "before" || word(0) == "after") && (word(1) == "step" || word(1) == "commit");
    if (!known) {
      return MakeError(ErrorKind::kParse, "write: crash, or crash before|after step|commit")
          .At(directive.line, 1);
    }
    fault.kind = word(0) == "before" ? MemoryStore::Fault::Kind::kCrashBefore
                                     : MemoryStore::Fault::Kind::kCrashAfter;
    fault.at = word(1) == "step" ? MemoryStore::Fault::At::kStep : MemoryStore::Fault::At::kCommit;
    return Arm(directive, index, std::move(fault));
  }

  Result<void> Refuse(const ScriptDirective& directive, size_t index) {
    MemoryStore::Fault fault;
    fault.message = directive.words[0];
    if (directive.words.size() > 1)
      fault.times = static_cast<int>(std::strtol(directive.words[1].c_str(), nullptr, 10));
    if (fault.times < 1) {
      return MakeError(ErrorKind::kParse, "TIMES is a number from 1 on").At(directive.line, 1);
    }
    return Arm(directive, index, std::move(fault));
  }

  Result<void> Arm(const ScriptDirective& directive, size_t index, MemoryStore::Fault fault) {
    DRIFTLESS_TRY(Settle(index));
    if (failure_) return UnexpectedFailure();
    return pipeline_.Arm(std::move(fault), directive.line);
  }

  // A decision on what is held or has stopped the pipeline.
  Result<void> Answer(const ScriptDirective& directive, size_t index, std::string_view choice) {
    if (!failure_seen_) DRIFTLESS_TRY(Settle(index));
    if (failure_ && !failure_seen_) return UnexpectedFailure();
    failure_.reset();
    failure_seen_ = false;
    pending_ = true;
    return pipeline_.Answer(directive, choice);
  }

  Result<void> Expect(const ScriptDirective& directive, size_t index) {
    // What was recorded before a failure can be looked at once the failure was expected.
    if (!failure_seen_) {
      DRIFTLESS_TRY(Settle(index));
      if (failure_) return UnexpectedFailure();
    }
    ++report_.expectations;
    DRIFTLESS_ASSIGN_OR_RETURN(std::string difference, Difference(directive));
    if (!difference.empty()) Fail(directive.line, std::move(difference));
    return {};
  }

  Result<std::string> Difference(const ScriptDirective& directive) {
    switch (directive.kind) {
      case Kind::kVerdicts: {
        DRIFTLESS_ASSIGN_OR_RETURN(const auto records, pipeline_.NewVerdicts());
        return CheckVerdicts(directive.body, records);
      }
      case Kind::kHeld: {
        DRIFTLESS_ASSIGN_OR_RETURN(const auto holds, pipeline_.Holds());
        return CheckHolds(directive.body, holds);
      }
      case Kind::kDivergences: {
        DRIFTLESS_ASSIGN_OR_RETURN(const auto divergences, pipeline_.Divergences());
        return CheckDivergences(directive.body, divergences);
      }
      case Kind::kSchema: {
        DRIFTLESS_ASSIGN_OR_RETURN(const auto table, pipeline_.Schema(directive));
        return CheckSchema(directive.body, table ? &*table : nullptr);
      }
      default: {
        DRIFTLESS_ASSIGN_OR_RETURN(const auto rows, pipeline_.Rows(directive));
        return CheckRows(directive.body, rows);
      }
    }
  }

  Result<void> ExpectFailure(const ScriptDirective& directive, size_t index) {
    if (!failure_) DRIFTLESS_TRY(Settle(index));
    ++report_.expectations;
    if (!failure_) {
      Fail(directive.line, "expected that the pipeline stops; it went on");
      return {};
    }
    const std::string text = failure_->ToString();
    if (!directive.words.empty() && text.find(directive.words[0]) == std::string::npos) {
      Fail(directive.line,
           "expected a failure that says \"" + directive.words[0] + "\"\nis:\n  " + text);
    }
    failure_seen_ = true;
    return {};
  }

  void Finish() {
    const int last_line = script_->directives.empty() ? 1 : script_->directives.back().line;
    if (!failure_seen_) {
      const auto settled = Settle(script_->directives.size());
      if (!settled) return Fail(LineOf(settled.error(), last_line), settled.error().ToString());
      if (failure_) {
        return Fail(last_line, "the pipeline stopped: " + failure_->ToString());
      }
    }
    if (const auto unused = pipeline_.UnusedFault()) {
      Fail(*unused, "this never happened: the sink was not called again");
    }
  }

  const std::shared_ptr<const Script> script_;
  ScriptPipeline pipeline_;
  ScriptReport report_;
  bool pending_ = false;  // something has not been played yet
  std::optional<Error> failure_;
  bool failure_seen_ = false;  // `fails` has looked at it
  bool gives_up_ = false;
};

Result<std::string> MakeFolder() {
  std::error_code code;
  std::string pattern = std::filesystem::temp_directory_path(code).string() + "/driftless-XXXXXX";
  if (code || ::mkdtemp(pattern.data()) == nullptr) {
    return MakeError(ErrorKind::kPermission, "cannot make a folder like " + pattern)
        .Hint("TMPDIR names where temporary folders go.");
  }
  return pattern;
}

}  // namespace

Result<ScriptReport> RunScript(Script script, const ScriptRunOptions& options) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string folder, MakeFolder());
  ScriptReport report = ScriptRunner(std::move(script), folder).Run();
  if (options.keep_folder) {
    report.folder = folder;
  } else {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  return report;
}

}  // namespace driftless
