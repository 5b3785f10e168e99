#include "sinks/lake/step_mark.h"

#include <algorithm>
#include <charconv>

#include "schema/base/check.h"
#include "schema/plan/recognise.h"

namespace driftless::lake {
namespace {

bool HasColumnsOf(const SinkTable& actual, const SinkTable& wanted) {
  return std::ranges::all_of(wanted.columns, [&](const SinkColumn& column) {
    const SinkColumn* found = actual.FindName(column.name);
    return found != nullptr && found->type == column.type;
  });
}

}  // namespace

std::string StepMark(const std::string& change_id, size_t step) {
  return change_id + "#" + std::to_string(step);
}

bool HasStepMark(const SchemaPlan& plan, size_t step, const SinkTable& actual) {
  for (const std::string& id : actual.change_ids) {
    if (!id.starts_with(plan.change_id + "#")) continue;
    const std::string_view number = std::string_view(id).substr(plan.change_id.size() + 1);
    size_t done = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), done);
    if (error == std::errc() && end == number.data() + number.size() && done >= step) return true;
  }
  return false;
}

StepState RecogniseCommit(const SchemaPlan& plan, size_t step, const SinkTable* actual) {
  DRIFTLESS_CHECK(step < plan.steps.size());
  const Step& wanted = plan.steps[step];
  if (actual == nullptr) return StepState::kNotBegun;
  const bool marked = HasStepMark(plan, step, *actual);
  if (wanted.creates_table) {
    return marked || HasColumnsOf(*actual, *wanted.after) ? StepState::kDone : StepState::kNotBegun;
  }
  const StepState seen = RecogniseStep(wanted, actual);
  if (seen == StepState::kDone) return StepState::kDone;
  return marked && seen != StepState::kNotBegun ? StepState::kDone : StepState::kNotBegun;
}

}  // namespace driftless::lake
