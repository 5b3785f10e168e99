#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/location.h"
#include "schema/base/error.h"

namespace driftless {

// One thing that is wrong, or doubtful, in the user's file.
struct Problem {
  enum class Severity : uint8_t { kError, kWarning };
  Severity severity = Severity::kError;
  Location at;
  std::string message;
  std::string hint;  // what to do; may be empty

  // "pipeline.yaml:3:7: error: message" and, on a line of its own, "  hint: ...".
  std::string ToString(std::string_view file) const;
};

// Collects everything that is wrong with a file, so that the user sees all of it at once.
class Problems {
 public:
  void AddError(Location at, std::string message, std::string hint = {});
  void AddWarning(Location at, std::string message, std::string hint = {});
  // An error of another part: its own line and column win over `at`.
  void AddError(Location at, const Error& error);

  bool has_errors() const { return error_count_ > 0; }
  size_t error_count() const { return error_count_; }
  // In the order of the file; those without a place come last.
  std::vector<Problem> Sorted() const;
  // All errors as one, for callers that only pass it on. Call only when has_errors().
  Error ToError(std::string_view file) const;

 private:
  std::vector<Problem> problems_;
  size_t error_count_ = 0;
};

}  // namespace driftless
