#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/base/result.h"

namespace driftless::flink {

enum class CompatVerdict : uint8_t { kFull, kPartial, kUnknown, kIncompatible };
// "fully compatible" and so on.
std::string_view NameOf(CompatVerdict verdict);

// One thing that was found. Warnings are no part of the verdict.
struct CompatFinding {
  CompatVerdict verdict = CompatVerdict::kFull;
  bool is_warning = false;
  std::string rule;       // R1 .. R15, as the README of the command's reference lists them
  std::string statement;  // "INSERT INTO s", "query 1"; empty: the whole job
  std::string subject;    // a table or an operator
  std::string reason;
  std::vector<std::string> dropped;  // states that start anew
  std::vector<std::string> kept;
};

struct CompatReport {
  CompatVerdict verdict = CompatVerdict::kFull;
  std::vector<CompatFinding> findings;
  std::vector<std::string> not_checked;  // options that differ and were not looked at
};

struct CompatOptions {
  bool ignore_filter = false;  // table.optimizer.state-compatibility.ignore-filter
  bool ignore_sink = true;     // table.optimizer.state-compatibility.ignore-sink
  std::string old_version;     // of the engine that wrote the state; empty: the same
  std::string new_version;
};

// One statement of a script, where it stands.
struct CompatStatement {
  std::string text;
  int line = 1;
};

// Whether the job of the new statements keeps the state of the old one's. Errors: kInvalidInput and
// kParse for a script that is not right, with its name ("old", "new") and line.
Result<CompatReport> CheckCompatibility(const std::vector<CompatStatement>& old_script,
                                        const std::vector<CompatStatement>& new_script,
                                        const CompatOptions& options);

}  // namespace driftless::flink
