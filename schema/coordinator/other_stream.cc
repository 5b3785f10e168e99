#include "schema/coordinator/other_stream.h"

#include <algorithm>
#include <string>

namespace driftless {
namespace {

std::string NameOf(const TableSchemaPtr& schema, ColumnId id) {
  const Column* column = schema == nullptr ? nullptr : schema->Find(id);
  return column == nullptr ? "" : column->name;
}

// A column that both know under one number and that has another name there, whether the statement
// finds it so or makes it so. One that the statement renames may have either name: the other stream
// may have told of that already.
const Column* OtherName(const TableSchema& known, const StatementChange& change) {
  const auto found =
      std::find_if(known.columns.begin(), known.columns.end(), [&](const Column& column) {
        const std::string before = NameOf(change.before(), column.id);
        const std::string after = NameOf(change.after(), column.id);
        return (!before.empty() || !after.empty()) && before != column.name && after != column.name;
      });
  return found == known.columns.end() ? nullptr : &*found;
}

// A name that the statement brings and that has another number here.
const Column* OtherNumber(const TableSchema& known, const StatementChange& change) {
  if (change.after() == nullptr) return nullptr;
  for (const Column& column : change.after()->columns) {
    const Column* same = known.FindName(column.name);
    if (same == nullptr || same->id == column.id) continue;
    if (!NameOf(change.before(), column.id).empty()) continue;
    // The statement may take the name from the column that has it.
    if (NameOf(change.before(), same->id) == column.name) continue;
    return same;
  }
  return nullptr;
}

bool SameColumns(const TableSchema& a, const TableSchema& b) {
  return std::equal(
      a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
      [](const Column& x, const Column& y) { return x.id == y.id && x.name == y.name; });
}

// What contradicts, in words; empty: nothing does.
std::string Contradiction(const TableState& state, const StatementChange& change) {
  if (change.parts.empty() || state.merge.is_merged() || !state.merge.Has(change.table)) return "";
  const TableSchema& known = state.merge.schema();
  const TableSchemaPtr told = change.after() != nullptr ? change.after() : change.before();
  if (told == nullptr || known.incarnation != told->incarnation) return "";
  const bool is_of_other_stream =
      std::any_of(state.decided.begin(), state.decided.end(), [&](const auto& entry) {
        return entry.first.first == change.table && entry.first.second != change.point.stream;
      });
  if (!is_of_other_stream) return "";
  if (change.parts.front().kind() == EventKind::kCreateTable) {
    return SameColumns(known, *told) ? "" : "with other columns";
  }
  const Column* column = OtherName(known, change);
  if (column == nullptr) column = OtherNumber(known, change);
  return column == nullptr ? "" : "with another column in the place of " + column->name;
}

}  // namespace

std::optional<PartDecision> RefuseOtherStream(const TableState& state,
                                              const StatementChange& change, Behavior behavior) {
  const std::string what = Contradiction(state, change);
  if (what.empty()) return std::nullopt;
  PartDecision part;
  part.part = change.parts.front().part;
  part.event = change.parts.front().kind();
  part.detail = Describe(change.parts.front());
  part.behavior = behavior;
  part.verdict.kind = VerdictKind::kFail;
  part.verdict.rule = "streams of one table";
  part.verdict.reason = "another stream shows table " + change.table.ToString() + " " + what +
                        ": read the one only, or route them apart";
  return part;
}

}  // namespace driftless
