#include "schema/matrix/capability_matrix.h"

namespace driftless {

std::string_view ToString(CellKind kind) {
  switch (kind) {
    case CellKind::kApply: return "apply";
    case CellKind::kRewrite: return "rewrite";
    case CellKind::kSkip: return "skip";
    case CellKind::kFail: return "fail";
    case CellKind::kIgnore: return "ignore";
    case CellKind::kNever: return "never";
  }
  return "";
}

}  // namespace driftless
