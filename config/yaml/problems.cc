#include "config/yaml/problems.h"

#include <fmt/format.h>

#include <algorithm>

#include "schema/base/check.h"

namespace driftless {

std::string Problem::ToString(std::string_view file) const {
  std::string text(file);
  if (at.line > 0) text += fmt::format(":{}:{}", at.line, at.column);
  if (!text.empty()) text += ": ";
  text += severity == Severity::kError ? "error: " : "warning: ";
  text += message;
  if (!hint.empty()) text += "\n  hint: " + hint;
  return text;
}

void Problems::AddError(Location at, std::string message, std::string hint) {
  ++error_count_;
  problems_.push_back({Problem::Severity::kError, at, std::move(message), std::move(hint)});
}

void Problems::AddWarning(Location at, std::string message, std::string hint) {
  problems_.push_back({Problem::Severity::kWarning, at, std::move(message), std::move(hint)});
}

void Problems::AddError(Location at, const Error& error) {
  if (error.line() > 0) at = {error.line(), error.column()};
  std::string message;
  for (const std::string& context : error.context()) message += context + ": ";
  AddError(at, message + error.message(), error.hint());
}

std::vector<Problem> Problems::Sorted() const {
  std::vector<Problem> sorted = problems_;
  const auto key = [](const Problem& problem) {
    const bool nowhere = problem.at.line == 0;
    return std::tuple(nowhere, problem.at.line, problem.at.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Problem& a, const Problem& b) { return key(a) < key(b); });
  return sorted;
}

Error Problems::ToError(std::string_view file) const {
  DRIFTLESS_CHECK(has_errors());
  std::string text;
  const Problem* first = nullptr;
  const std::vector<Problem> sorted = Sorted();
  for (const Problem& problem : sorted) {
    if (problem.severity != Problem::Severity::kError) continue;
    if (first == nullptr) first = &problem;
    if (!text.empty()) text += '\n';
    text += problem.ToString(file);
  }
  if (error_count_ > 1) {
    return MakeError(ErrorKind::kInvalidConfig, fmt::format("{} errors:\n{}", error_count_, text));
  }
  Error error(ErrorKind::kInvalidConfig, first->message);
  if (!file.empty()) error.Context(std::string(file));
  return std::move(error).Hint(first->hint).At(first->at.line, first->at.column);
}

}  // namespace driftless
