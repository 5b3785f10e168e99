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

const Cell* CapabilityMatrix::Find(EventKind event, bool not_null) const {
  const std::string_view tag = Tag(event);
  const std::string fine = std::string(tag) + (not_null ? ".not_null" : ".nullable");
  const Cell* coarse = nullptr;
  for (const Cell& cell : cells) {
    if (cell.event == fine) return &cell;
    if (cell.event == tag) coarse = &cell;
  }
  return coarse;
}

const Extension* CapabilityMatrix::FindExtension(EventKind event) const {
  for (const Extension& extension : extensions) {
    if (extension.event == Tag(event)) return &extension;
  }
  return nullptr;
}

std::string CellText(const CapabilityMatrix& matrix, const Cell& cell, CellKind kind) {
  return std::string(matrix.sink) + "/" + std::string(cell.event) + " = " +
         std::string(ToString(kind));
}

}  // namespace driftless
