#include "schema/events/schema_change.h"

#include <array>

#include "schema/base/check.h"

namespace driftless {
namespace {

constexpr std::array<std::string_view, kEventKindCount> kTags = {
    "create.table",        "drop.table",           "truncate.table",      "add.column",
    "drop.column",         "rename.column",        "alter.column.type",   "relax.nullability",
    "tighten.nullability", "alter.column.comment", "alter.table.comment", "alter.column.position",
    "rename.table",        "key.change",           "default.change"};

std::string NameOf(const TableSchemaPtr& schema, ColumnId id) {
  const Column* column = schema ? schema->Find(id) : nullptr;
  return column ? column->name : "#" + std::to_string(id);
}

std::string Names(const TableSchemaPtr& schema, const std::vector<ColumnId>& ids) {
  std::string text;
  for (ColumnId id : ids) {
    if (!text.empty()) text += ", ";
    text += NameOf(schema, id);
  }
  return text;
}

std::string PlaceText(const TableSchemaPtr& schema, const ColumnPlace& place) {
  switch (place.kind) {
    case ColumnPlace::Kind::kLast: return "";
    case ColumnPlace::Kind::kFirst: return " first";
    case ColumnPlace::Kind::kBefore: return " before " + NameOf(schema, place.anchor);
    case ColumnPlace::Kind::kAfter: return " after " + NameOf(schema, place.anchor);
  }
  return "";
}

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

// Joins what `describe` says of each item with ", ".
template <typename Items, typename Describe>
std::string Join(const Items& items, Describe describe) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += describe(item);
  }
  return text;
}

}  // namespace

std::string_view Tag(EventKind kind) { return kTags[static_cast<size_t>(kind)]; }

std::optional<EventKind> ParseEventTag(std::string_view tag) {
  for (size_t i = 0; i < kTags.size(); ++i) {
    if (kTags[i] == tag) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

EventKind KindOf(const ChangeDetail& detail) {
  return std::visit(Overloaded{
                        [](const CreateTable&) { return EventKind::kCreateTable; },
                        [](const DropTable&) { return EventKind::kDropTable; },
                        [](const TruncateTable&) { return EventKind::kTruncateTable; },
                        [](const AddColumns&) { return EventKind::kAddColumn; },
                        [](const DropColumns&) { return EventKind::kDropColumn; },
                        [](const RenameColumns&) { return EventKind::kRenameColumn; },
                        [](const AlterColumnTypes&) { return EventKind::kAlterColumnType; },
                        [](const RelaxNullability&) { return EventKind::kRelaxNullability; },
                        [](const TightenNullability&) { return EventKind::kTightenNullability; },
                        [](const AlterColumnComments&) { return EventKind::kAlterColumnComment; },
                        [](const AlterTableComment&) { return EventKind::kAlterTableComment; },
                        [](const MoveColumns&) { return EventKind::kAlterColumnPosition; },
                        [](const RenameTable&) { return EventKind::kRenameTable; },
                        [](const KeyChange&) { return EventKind::kKeyChange; },
                        [](const DefaultChange&) { return EventKind::kDefaultChange; },
                    },
                    detail);
}

std::string Describe(const SchemaChange& change) {
  const TableSchemaPtr& before = change.before;
  const TableSchemaPtr& after = change.after;
  const auto table = [&] { return (after ? after : before)->path.ToString(); };
  return std::visit(
      Overloaded{
          [&](const CreateTable&) {
            return "create table " + table() + " with " + std::to_string(after->columns.size()) +
                   " columns";
          },
          [&](const DropTable&) { return "drop table " + table(); },
          [&](const TruncateTable&) { return "truncate table " + table(); },
          [&](const AddColumns& add) {
            return "add column " + Join(add.items, [&](const AddColumns::Item& item) {
                     return item.column.name + " " + item.column.type.ToString() +
                            PlaceText(after, item.place);
                   });
          },
          [&](const DropColumns& drop) {
            std::string text = Names(before, drop.columns);
            for (const DropColumns::LostInput& lost : drop.lost) {
              text += (text.empty() ? "" : ", ") + lost.column + ", which " + lost.expression +
                      " needs";
            }
            return "drop column " + text;
          },
          [&](const RenameColumns& rename) {
            return "rename column " + Join(rename.items, [](const RenameColumns::Item& item) {
                     return item.from + " to " + item.to;
                   });
          },
          [&](const AlterColumnTypes& alter) {
            return "change type of " + Join(alter.items, [&](const AlterColumnTypes::Item& item) {
                     return NameOf(after, item.column) + " from " +
                            item.from.ToStringIgnoringNullability() + " to " +
                            item.to.ToStringIgnoringNullability();
                   });
          },
          [&](const RelaxNullability& relax) {
            return "allow NULL in " + Names(after, relax.columns);
          },
          [&](const TightenNullability& tighten) {
            return "forbid NULL in " + Names(after, tighten.columns);
          },
          [&](const AlterColumnComments& comments) {
            return "change comment of " +
                   Join(comments.items, [&](const AlterColumnComments::Item& item) {
                     return NameOf(after, item.column);
                   });
          },
          [&](const AlterTableComment&) { return "change comment of table " + table(); },
          [&](const MoveColumns& move) {
            return "move column " + Join(move.items, [&](const MoveColumns::Item& item) {
                     const std::string place = PlaceText(after, item.place);
                     return NameOf(after, item.column) + (place.empty() ? " last" : place);
                   });
          },
          [&](const RenameTable& rename) {
            const std::string to =
                rename.to.table.empty() ? "a name that is not captured" : rename.to.ToString();
            return "rename table " + before->path.ToString() + " to " + to;
          },
          [&](const KeyChange& key) {
            return "change primary key from (" + Names(before, key.from) + ") to (" +
                   Names(after, key.to) + ")";
          },
          [&](const DefaultChange& change_default) {
            return "change default of " + Names(after, change_default.columns);
          },
      },
      change.detail);
}

}  // namespace driftless
