#include "schema/coordinator/other_stream.h"

#include <algorithm>

namespace driftless {
namespace {

bool Contradicts(const TableState& state, const StatementChange& change) {
  const bool creates =
      !change.parts.empty() && change.parts.front().kind() == EventKind::kCreateTable;
  if (!creates || state.merge.is_merged() || !state.merge.Has(change.table)) return false;
  const TableSchema& known = state.merge.schema();
  const TableSchema& told = *change.after();
  if (known.incarnation != told.incarnation) return false;
  const bool is_of_other_stream =
      std::any_of(state.decided.begin(), state.decided.end(), [&](const auto& entry) {
        return entry.first.first == change.table && entry.first.second != change.point.stream;
      });
  return is_of_other_stream &&
         !std::equal(
             known.columns.begin(), known.columns.end(), told.columns.begin(), told.columns.end(),
             [](const Column& a, const Column& b) { return a.id == b.id && a.name == b.name; });
}

}  // namespace

std::optional<PartDecision> RefuseOtherStream(const TableState& state,
                                              const StatementChange& change, Behavior behavior) {
  if (!Contradicts(state, change)) return std::nullopt;
  PartDecision part;
  part.part = change.parts.front().part;
  part.event = EventKind::kCreateTable;
  part.detail = Describe(change.parts.front());
  part.behavior = behavior;
  part.verdict.kind = VerdictKind::kFail;
  part.verdict.rule = "streams of one table";
  part.verdict.reason = "another stream shows table " + change.table.ToString() +
                        " with other columns: read the one only, or route them apart";
  return part;
}

}  // namespace driftless
