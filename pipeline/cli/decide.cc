#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "pipeline/cli/commands.h"
#include "pipeline/state/state_store.h"

// `approve`, `reject`, `decide` and `acknowledge`: a request in the state database, which the
// pipeline takes up at once where it runs, and at its next start otherwise.
namespace driftless {
namespace {

struct DecideFlags {
  std::string state;
  uint64_t decision = 0;
  std::string choice;
  std::string file;
};

std::string Who() {
  const char* name = getlogin();
  return name == nullptr ? fmt::format("cli (uid {})", getuid()) : fmt::format("cli ({})", name);
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return MakeError(ErrorKind::kNotFound, "cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// A wrong number is told at once, not when the pipeline reads it.
Result<void> CheckDivergence(const StateStore& state, const DecideFlags& flags) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<Divergence> open, state.Divergences(false));
  for (const Divergence& divergence : open) {
    if (divergence.id != flags.decision) continue;
    if (divergence.of_old_rows) return {};
    return MakeError(ErrorKind::kConflict,
                     fmt::format("divergence {} goes on and cannot be acknowledged: {}",
                                 flags.decision, divergence.text));
  }
  return MakeError(ErrorKind::kNotFound, fmt::format("no divergence {} is open", flags.decision))
      .Hint(fmt::format("`driftless divergences --state {}` lists them.", flags.state));
}

Result<void> CheckDecision(const StateStore& state, const DecideFlags& flags) {
  AuditQuery query;
  query.decision = flags.decision;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<AuditRecord> records, state.Audit(query));
  const std::string hint = fmt::format("`driftless audit --state {}` lists them.", flags.state);
  if (records.empty()) {
    return MakeError(ErrorKind::kNotFound, fmt::format("there is no decision {}", flags.decision))
        .Hint(hint);
  }
  const AuditResult standing = records.back().result;
  const bool is_approval = flags.choice == "approve" || flags.choice == "reject";
  if (is_approval && standing != AuditResult::kHeld) {
    return MakeError(ErrorKind::kConflict, fmt::format("decision {} is not held, it is {}",
                                                       flags.decision, ToString(standing)))
        .Hint(hint);
  }
  if (standing == AuditResult::kDone || standing == AuditResult::kSkipped ||
      standing == AuditResult::kRejected) {
    return MakeError(ErrorKind::kConflict,
                     fmt::format("decision {} is over: {}", flags.decision, ToString(standing)))
        .Hint(hint);
  }
  return {};
}

// Waits for the running pipeline's answer; it looks several times a second.
Result<void> AwaitAnswer(const StateStore& state, int64_t number) {
  for (int i = 0; i < 100; ++i) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<StoredRequest> request, state.Request(number));
    if (request.has_value() && request->handled_ms.has_value()) {
      if (request->answer.starts_with("refused")) {
        return MakeError(ErrorKind::kRefused, request->answer);
      }
      fmt::print("taken up by the running pipeline\n");
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  fmt::print("recorded; the running pipeline has not taken it up yet\n");
  return {};
}

Result<void> Decide(const DecideFlags& flags) {
  StoredRequest request;
  request.decision = flags.decision;
  request.choice = flags.choice;
  request.by = Who();
  request.time_ms = SystemClock()->NowMillis();
  if (flags.choice == "schema" && flags.file.empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "`decide ID schema` needs a file")
        .Hint("It gives the table as it is after the statement, as CREATE TABLE.");
  }
  if (!flags.file.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(request.content, ReadFile(flags.file));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::unique_ptr<StateStore> state,
                             StateStore::OpenShared(flags.state));
  DRIFTLESS_TRY(flags.choice == kAcknowledge ? CheckDivergence(*state, flags)
                                             : CheckDecision(*state, flags));
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t number, state->AddRequest(request));
  const std::string holder = StateLock::Holder(flags.state);
  if (holder.empty()) {
    fmt::print("recorded; the pipeline takes it up at its next start\n");
    return {};
  }
  return AwaitAnswer(*state, number);
}

CLI::App* AddDecision(CLI::App* app, const char* name, const char* what,
                      const std::shared_ptr<DecideFlags>& flags, int* exit_code,
                      const char* id = "Number of the decision, as `audit` shows it") {
  CLI::App* command = app->add_subcommand(name, what);
  command->add_option("id", flags->decision, id)->required();
  command->add_option("--state", flags->state, "Folder of the pipeline's state")->required();
  command->callback([flags, exit_code] {
    const Result<void> decided = Decide(*flags);
    if (!decided) fmt::print(stderr, "error: {}\n", decided.error().ToString());
    *exit_code = decided ? 0 : 1;
  });
  return command;
}

}  // namespace

void AddAcknowledgeCommand(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<DecideFlags>();
  flags->choice = kAcknowledge;
  AddDecision(app, "acknowledge",
              "Say that a divergence about rows from before is known or was healed by hand.", flags,
              exit_code, "Number of the divergence, as `divergences` shows it");
}

void AddApproveCommand(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<DecideFlags>();
  flags->choice = "approve";
  AddDecision(app, "approve", "Let a held schema change go on.", flags, exit_code);
}

void AddRejectCommand(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<DecideFlags>();
  flags->choice = "reject";
  AddDecision(app, "reject", "Refuse a held schema change; it is skipped.", flags, exit_code);
}

void AddDecideCommand(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<DecideFlags>();
  CLI::App* command = AddDecision(
      app, "decide", "Say how to go on after a schema change that stopped the pipeline.", flags,
      exit_code);
  command->add_option("choice", flags->choice, "skip, retry or schema")
      ->required()
      ->check(CLI::IsMember({"skip", "retry", "schema"}));
  command->add_option("file", flags->file, "schema: CREATE TABLE as it is after the statement");
}

}  // namespace driftless
