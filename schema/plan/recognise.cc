#include "schema/plan/recognise.h"

#include <algorithm>

namespace driftless {
namespace {

// Counts, over the differences that a step makes, how many `actual` shows and how many it lacks.
struct Tally {
  int done = 0;
  int open = 0;
};

bool SameDefinition(const SinkColumn& a, const SinkColumn& b) {
  return a.type == b.type && a.comment == b.comment;
}

// The order of those columns of `table` that `other` has too, as names.
std::vector<std::string> SharedOrder(const SinkTable& table, const SinkTable& other) {
  std::vector<std::string> names;
  for (const SinkColumn& column : table.columns) {
    if (other.FindName(column.name) != nullptr) names.push_back(column.name);
  }
  return names;
}

void CompareColumns(const SinkTable& before, const SinkTable& after, const SinkTable& actual,
                    Tally* tally) {
  for (const SinkColumn& column : before.columns) {
    if (after.FindName(column.name) != nullptr) continue;
    ++(actual.FindName(column.name) == nullptr ? tally->done : tally->open);
  }
  for (const SinkColumn& column : after.columns) {
    const SinkColumn* old = before.FindName(column.name);
    const SinkColumn* now = actual.FindName(column.name);
    if (old == nullptr) {
      ++(now != nullptr ? tally->done : tally->open);
    } else if (!SameDefinition(*old, column)) {
      ++(now != nullptr && SameDefinition(*now, column) ? tally->done : tally->open);
    }
  }
}

// Swaps and moves show in the order alone.
void CompareOrder(const SinkTable& before, const SinkTable& after, const SinkTable& actual,
                  Tally* tally) {
  if (SharedOrder(before, after) == SharedOrder(after, before)) return;
  ++(SharedOrder(actual, after) == SharedOrder(after, actual) ? tally->done : tally->open);
}

}  // namespace

StepState RecogniseStep(const Step& step, const SinkTable* actual) {
  if (!step.after) return actual == nullptr ? StepState::kDone : StepState::kNotBegun;
  if (step.creates_table) return actual == nullptr ? StepState::kNotBegun : StepState::kDone;
  if (actual == nullptr) return StepState::kNotBegun;
  Tally tally;
  CompareColumns(step.before, *step.after, *actual, &tally);
  if (tally.done == 0) CompareOrder(step.before, *step.after, *actual, &tally);
  if (step.before.comment != step.after->comment) {
    ++(actual->comment == step.after->comment ? tally.done : tally.open);
  }
  if (tally.done == 0 && tally.open == 0) return StepState::kCannotTell;
  if (tally.open == 0) return StepState::kDone;
  return tally.done == 0 ? StepState::kNotBegun : StepState::kRunning;
}

}  // namespace driftless
