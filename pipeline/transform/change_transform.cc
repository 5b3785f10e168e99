#include "pipeline/transform/change_transform.h"

#include <algorithm>
#include <utility>

#include "schema/base/check.h"
#include "schema/model/schema_diff.h"

namespace driftless {
namespace {

const SchemaChange* FindPart(const StatementChange& change, EventKind kind) {
  for (const SchemaChange& part : change.parts) {
    if (part.kind() == kind) return &part;
  }
  return nullptr;
}

bool SameLost(const DropColumns::LostInput& a, const DropColumns::LostInput& b) {
  return a.column == b.column && a.expression == b.expression && a.feeds == b.feeds;
}

// What the texts lost by this very statement, as a part of its own in front of everything, so that
// its verdict is its own too.
void AddLost(const TableTransform& before, const TableTransform& after,
             std::vector<SchemaChange>* parts) {
  std::vector<DropColumns::LostInput> lost;
  for (const DropColumns::LostInput& now : after.lost()) {
    const bool known =
        std::any_of(before.lost().begin(), before.lost().end(),
                    [&](const DropColumns::LostInput& then) { return SameLost(now, then); });
    if (!known) lost.push_back(now);
  }
  if (lost.empty()) return;
  for (SchemaChange& part : *parts) ++part.part;
  DropColumns drop;
  drop.lost = std::move(lost);
  SchemaChange part;
  part.detail = std::move(drop);
  part.before = before.output();
  part.after = before.output();
  parts->insert(parts->begin(), std::move(part));
}

}  // namespace

StatementChangePtr TransformChange(const StatementChange& change, const TableTransform* before,
                                   const TableTransform* after) {
  auto result = std::make_shared<StatementChange>(change);
  result->parts.clear();
  const auto keep = [&](const SchemaChange& part, TableSchemaPtr from, TableSchemaPtr to) {
    result->parts.push_back({part.part, part.detail, std::move(from), std::move(to)});
  };
  if (const SchemaChange* create = FindPart(change, EventKind::kCreateTable)) {
    DRIFTLESS_CHECK(after != nullptr);
    keep(*create, nullptr, after->output());
    return result;
  }
  if (const SchemaChange* drop = FindPart(change, EventKind::kDropTable)) {
    keep(*drop, before == nullptr ? drop->before : before->output(), nullptr);
    return result;
  }
  DRIFTLESS_CHECK(before != nullptr);
  for (const EventKind kind : {EventKind::kTruncateTable, EventKind::kRenameTable}) {
    const SchemaChange* part = FindPart(change, kind);
    if (part == nullptr) continue;
    TableSchemaPtr to = before->output();
    if (const auto* rename = std::get_if<RenameTable>(&part->detail)) {
      auto renamed = std::make_shared<TableSchema>(*to);
      renamed->path = rename->to;
      to = std::move(renamed);
    }
    keep(*part, before->output(), std::move(to));
    return result;
  }
  DRIFTLESS_CHECK(after != nullptr);
  result->parts = DiffByIdentity(before->output(), *after->output());
  AddLost(*before, *after, &result->parts);
  // The last part leads to what the rows behind it carry.
  if (!result->parts.empty()) result->parts.back().after = after->output();
  return result->parts.empty() ? nullptr : StatementChangePtr(std::move(result));
}

StatementChangePtr RenameChange(const StatementChange& change, const TableTransform* before,
                                const TableSchemaPtr& output_before, const TableTransform* after,
                                const TableSchemaPtr& output_after) {
  auto result = std::make_shared<StatementChange>(change);
  result->parts = DiffByIdentity(output_before, *output_after);
  if (before != nullptr && after != nullptr) AddLost(*before, *after, &result->parts);
  result->parts.back().after = output_after;  // the other name is a part at least
  return result;
}

StatementChangePtr SwitchChange(const TableSchemaPtr& before, const TableSchemaPtr& after,
                                const Point& point) {
  std::vector<SchemaChange> parts = DiffByIdentity(before, *after);
  if (parts.empty()) return nullptr;
  auto result = std::make_shared<StatementChange>();
  result->table = after->path;
  result->point = point;
  result->statement = std::make_shared<const std::string>("(the transform was changed)");
  parts.back().after = after;
  result->parts = std::move(parts);
  return result;
}

}  // namespace driftless
