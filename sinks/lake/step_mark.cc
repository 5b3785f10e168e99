#include "sinks/lake/step_mark.h"

#include <charconv>

namespace driftless::lake {

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

}  // namespace driftless::lake
