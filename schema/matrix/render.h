#pragma once

#include <span>
#include <string>

#include "schema/matrix/capability_matrix.h"

namespace driftless {

// The matrices as people and programs read them. All end with a newline.

// Columns sink,event,lenient,evolve,note: the form of the specification's own file.
std::string RenderCsv(std::span<const CapabilityMatrix* const> matrices);
// Aligned columns; behind each sink the extensions that it has beyond the matrix.
std::string RenderText(std::span<const CapabilityMatrix* const> matrices);
std::string RenderMarkdown(std::span<const CapabilityMatrix* const> matrices);
// [{"sink", "event", "lenient", "evolve", "note"}]; extensions have "extension": true and
// "min_version" besides, and no verdicts of their own.
std::string RenderJson(std::span<const CapabilityMatrix* const> matrices);

}  // namespace driftless
