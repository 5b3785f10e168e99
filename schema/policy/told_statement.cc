#include "schema/policy/told_statement.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace driftless {
namespace {

// The source's table with the columns that rows have.
std::shared_ptr<TableSchema> AsRowsHaveIt(const TableSchema& source, const EvolvedSchema& rows) {
  auto table = std::make_shared<TableSchema>(source);
  table->columns.clear();
  table->primary_key.clear();
  for (const EvolvedColumn& column : rows.columns) {
    const Column* const own = source.Find(column.source);
    Column& made = table->columns.emplace_back(own == nullptr ? Column() : *own);
    made.id = column.source != 0 ? column.source : column.former;
    made.name = column.sink.name;
    if (own != nullptr && own->type.EqualsIgnoringNullability(column.sink.type)) continue;
    made.type = column.sink.type;
    made.source = SourceAttributes();  // its type is not the source's
  }
  for (const std::string& name : rows.primary_key) {
    if (const Column* key = table->FindName(name)) table->primary_key.push_back(key->id);
  }
  return table;
}

// Whether rows have other columns than the source's table.
bool Differs(const TableSchema& rows, const TableSchema& source) {
  return rows.columns.size() != source.columns.size() ||
         std::any_of(rows.columns.begin(), rows.columns.end(), [&](const Column& column) {
           const Column* const own = source.Find(column.id);
           return own == nullptr || own->name != column.name ||
                  !own->type.EqualsIgnoringNullability(column.type);
         });
}

bool IsOfColumns(const StatementChange& change) {
  return std::none_of(change.parts.begin(), change.parts.end(), [](const SchemaChange& part) {
    return part.before == nullptr || part.after == nullptr ||
           part.kind() == EventKind::kTruncateTable || part.kind() == EventKind::kRenameTable;
  });
}

}  // namespace

bool IsKeptFromReaders(const PartDecision& part, const StatementChange& change) {
  const bool is_internal = part.verdict.never && !change.from_snapshot;
  return part.verdict.kind == VerdictKind::kSkip && !is_internal;
}

std::optional<StatementChange> StatementForReaders(const StatementChange& change,
                                                   const EvolvedSchema& before,
                                                   const EvolvedSchema& after,
                                                   std::span<const PartDecision> parts) {
  if (change.parts.empty() || !IsOfColumns(change)) return std::nullopt;
  const std::shared_ptr<TableSchema> was = AsRowsHaveIt(*change.before(), before);
  const std::shared_ptr<TableSchema> is = AsRowsHaveIt(*change.after(), after);
  const auto keeps = [&](EventKind event) {
    return std::any_of(parts.begin(), parts.end(), [&](const PartDecision& part) {
      return part.event == event && IsKeptFromReaders(part, change);
    });
  };
  const bool keeps_some = std::any_of(parts.begin(), parts.end(), [&](const PartDecision& part) {
    return IsKeptFromReaders(part, change);
  });
  if (!keeps_some && !Differs(*was, *change.before()) && !Differs(*is, *change.after())) {
    return std::nullopt;
  }
  if (keeps(EventKind::kAlterTableComment)) is->comment = was->comment;
  for (Column& column : is->columns) {
    const Column* const former = was->Find(column.id);
    if (former == nullptr) continue;
    if (keeps(EventKind::kAlterColumnComment)) column.comment = former->comment;
    if (keeps(EventKind::kRelaxNullability)) {
      column.type = column.type.WithNullability(former->type.nullable());
    }
  }
  StatementChange told = change;
  told.statement = nullptr;
  told.parts.clear();
  if (was->columns == is->columns && was->primary_key == is->primary_key &&
      was->comment == is->comment) {
    return told;
  }
  told.parts.push_back(change.parts.front());
  told.parts.front().before = was;
  told.parts.front().after = is;
  return told;
}

}  // namespace driftless
