#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/matrix/capability_matrix.h"
#include "schema/policy/policy.h"

// The part of a decision that needs no table: lists, rules, cell and behaviour, in the policy's
// order.
namespace driftless {

// What is to be tried with an event before the planner is asked.
enum class Wish : uint8_t {
  kTry,         // send it as it is, constraints adapted where the behaviour says so
  kTryRewrite,  // send it in the sink's other form
  kSkip,
  kNever,   // a skip without divergence, at INFO
  kIgnore,  // the sink keeps no schema
  kFail,
};

struct Ruling {
  Wish wish = Wish::kFail;
  Behavior behavior = Behavior::kLenient;
  std::string rule;    // "behavior LENIENT", the rule's text, a list
  std::string cell;    // "fluss/drop.column = skip"; empty: none was looked at
  std::string reason;  // for skip, never, ignore and fail; else the cell's note, which may be empty
  bool hold = false;   // a rule's verdict is `hold`
  bool never_fails = false;  // what the planner cannot do is a skip under every behaviour
  bool by_person = false;    // somebody decided about this very part

  // EVOLVE and EXCEPTION rather fail than invent a value; not against a person's decision.
  bool IsStrict() const {
    return !by_person && (behavior == Behavior::kEvolve || behavior == Behavior::kException);
  }
};

// What an event concerns, for rules that name a column.
struct RulingSubject {
  std::string sink;
  const TablePath* sink_table = nullptr;
  EventKind event = EventKind::kAddColumn;
  std::vector<std::string> columns;  // names at the source, old and new
  bool not_null = false;             // add.column: of the added column
};

const PolicyRule* MatchRule(const SinkPolicy& policy, const RulingSubject& subject);

// Whether the lists let the event pass; if not, the ruling is a skip.
std::optional<Ruling> FilterRuling(const SinkPolicy& policy, const RulingSubject& subject);

// Rule, cell and behaviour.
Ruling Rule(const SinkPolicy& policy, const CapabilityMatrix& matrix, const RulingSubject& subject);

// What becomes of an event that the planner knows to be impossible: cell `fail`.
Ruling Impossible(const Ruling& ruling, const CapabilityMatrix& matrix,
                  const RulingSubject& subject, const std::string& why);

// LENIENT and TRY_EVOLVE adapt position and NOT NULL of an added column; Hologres always does.
bool AdaptsConstraints(const Ruling& ruling, const CapabilityMatrix& matrix);

// `lenient.style: flink-cdc` under LENIENT, at a sink that keeps a schema.
bool IsFlinkCdcStyle(const SinkPolicy& policy, const CapabilityMatrix& matrix,
                     const Ruling& ruling);

}  // namespace driftless
