#include "schema/ddl/online_schema_change.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "schema/base/letter_case.h"
#include "schema/ddl/change_parts.h"

namespace driftless {
namespace {

// Ids of columns that a shadow got after its creation begin here, so that they are never taken for
// ids of the real table, which may go on changing meanwhile; the schema alone tells them apart,
// also after a restart.
constexpr ColumnId kShadowIds = 1u << 30;

// The text that * stands for, where the name fits the pattern.
std::optional<std::string> Match(const std::string& name, const std::string& pattern) {
  const size_t star = pattern.find('*');
  if (star == std::string::npos) return std::nullopt;
  const std::string prefix = pattern.substr(0, star);
  const std::string suffix = pattern.substr(star + 1);
  if (name.size() <= prefix.size() + suffix.size()) return std::nullopt;
  if (name.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
  if (name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) return std::nullopt;
  return name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
}

template <typename Detail>
const Detail* LastPart(const StatementChange& change) {
  return change.parts.empty() ? nullptr : std::get_if<Detail>(&change.parts.back().detail);
}

template <typename Detail>
bool HasPart(const StatementChange& change) {
  return std::any_of(change.parts.begin(), change.parts.end(), [](const SchemaChange& part) {
    return std::holds_alternative<Detail>(part.detail);
  });
}

}  // namespace

OnlineSchemaChange::OnlineSchemaChange(mysql::DdlCatalog* catalog, Patterns patterns)
    : catalog_(catalog), patterns_(std::move(patterns)) {}

bool OnlineSchemaChange::IsTrackedOrWaiting(const TablePath& table) const {
  if (catalog_->Find(table) != nullptr || announced_.contains(table)) return true;
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const StatementChange& drop) { return drop.table == table; });
}

std::optional<TablePath> OnlineSchemaChange::RealTable(
    const TablePath& table, const std::vector<std::string>& patterns) const {
  for (const std::string& pattern : patterns) {
    const auto name = Match(table.table, pattern);
    if (!name) continue;
    TablePath real = table;
    real.table = *name;
    if (IsTrackedOrWaiting(real)) return real;
  }
  return std::nullopt;
}

std::optional<TablePath> OnlineSchemaChange::ShadowOf(const TablePath& real) const {
  for (const std::string& pattern : patterns_.shadows) {
    const size_t star = pattern.find('*');
    if (star == std::string::npos) continue;
    TablePath shadow = real;
    shadow.table = pattern.substr(0, star) + real.table + pattern.substr(star + 1);
    if (catalog_->Find(shadow) != nullptr) return shadow;
  }
  return std::nullopt;
}

bool OnlineSchemaChange::IsLeftoverOf(const TablePath& table, const TablePath& real) const {
  return table.database == real.database && table.catalog == real.catalog &&
         std::any_of(
             patterns_.leftovers.begin(), patterns_.leftovers.end(),
             [&](const std::string& pattern) { return Match(table.table, pattern) == real.table; });
}

bool OnlineSchemaChange::IsHidden(const TablePath& table) const {
  return RealTable(table, patterns_.shadows) || RealTable(table, patterns_.leftovers);
}

// A new shadow's columns get the ids of the real table's columns of the same name, whether it was
// created LIKE the real table or with columns written out.
void OnlineSchemaChange::AdoptIdentities(const TablePath& shadow, const TablePath& real) {
  const TableSchemaPtr original = catalog_->Find(real);
  TableSchemaPtr made = catalog_->Find(shadow);
  if (original == nullptr || made == nullptr) return;
  std::map<ColumnId, ColumnId> ids;
  TableSchema adopted = *made;
  adopted.next_column_id = kShadowIds;
  for (const Column& column : made->columns) {
    const int index = original->IndexOfNameIgnoringCase(column.name);
    ids[column.id] =
        index >= 0 ? original->columns[static_cast<size_t>(index)].id : adopted.next_column_id++;
  }
  catalog_->Rebind(std::move(adopted), ids);
}

OnlineSchemaChange::Outcome OnlineSchemaChange::Translate(mysql::StatementEffect effect) {
  Outcome outcome;
  std::vector<StatementChange> renames;
  std::vector<StatementChange> others;
  for (StatementChange& change : effect.changes) {
    (HasPart<RenameTable>(change) ? renames : others).push_back(std::move(change));
  }
  effect.changes = others;
  effect.changes.insert(effect.changes.end(), renames.begin(), renames.end());
  ReleaseDropsConcerning(effect, &outcome);
  for (const StatementChange& change : effect.changes) announced_.erase(change.table);
  for (StatementChange& change : others) TranslateOne(std::move(change), &outcome);
  if (!renames.empty()) TranslateRenames(std::move(renames), &outcome);
  for (mysql::RowsWithoutEvents& rows : effect.rows_without_events) {
    if (!IsHidden(rows.table)) outcome.rows_without_events.push_back(std::move(rows));
  }
  return outcome;
}

// A waiting drop comes out before the next statement on its table or on the shadow, unless that
// renames the shadow to the table.
void OnlineSchemaChange::ReleaseDropsConcerning(const mysql::StatementEffect& effect,
                                                Outcome* outcome) {
  for (size_t i = 0; i < waiting_.size();) {
    const TablePath real = waiting_[i].table;
    bool concerned = false;
    bool swap = false;
    for (const StatementChange& change : effect.changes) {
      const auto shadow_of = RealTable(change.table, patterns_.shadows);
      const bool on_shadow = shadow_of == real;
      concerned = concerned || change.table == real || on_shadow;
      const RenameTable* rename = LastPart<RenameTable>(change);
      swap = swap || (on_shadow && rename != nullptr && rename->to == real);
    }
    if (concerned && !swap) {
      outcome->changes.push_back(std::move(waiting_[i]));
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void OnlineSchemaChange::TranslateOne(StatementChange change, Outcome* outcome) {
  if (const auto real = RealTable(change.table, patterns_.shadows)) {
    if (LastPart<CreateTable>(change) != nullptr) AdoptIdentities(change.table, *real);
    return;
  }
  if (RealTable(change.table, patterns_.leftovers)) return;
  if (LastPart<CreateTable>(change) != nullptr) {
    // A snapshot shows tables in the order of their names, so a shadow may come first.
    if (const auto shadow = ShadowOf(change.table);
        shadow && catalog_->Find(*shadow)->next_column_id < kShadowIds) {
      AdoptIdentities(*shadow, change.table);
    }
  }
  if (LastPart<DropTable>(change) != nullptr && ShadowOf(change.table)) {
    waiting_.push_back(std::move(change));
    return;
  }
  outcome->changes.push_back(std::move(change));
}

// A name that had a table before and has another one after the statement was swapped. All other
// renames go on as they are, unless tables that never appear are all there is.
void OnlineSchemaChange::TranslateRenames(std::vector<StatementChange> renames, Outcome* outcome) {
  std::map<TablePath, Origin> present;  // by name after the pairs so far
  std::map<TablePath, TableSchemaPtr> before;
  std::vector<TablePath> order;  // final names, as they were reached
  for (const StatementChange& change : renames) {
    const TablePath to = LastPart<RenameTable>(change)->to;
    Origin origin{change.table, change.before()};
    if (auto moved = present.find(change.table); moved != present.end()) {
      origin = moved->second;
      present.erase(moved);
    } else {
      before[change.table] = change.before();
    }
    present[to] = std::move(origin);
    std::erase(order, change.table);
    order.push_back(to);
  }
  // What was kept back by a waiting drop, or goes to a leftover name below, counts as present
  // before.
  for (size_t i = 0; i < waiting_.size();) {
    const TablePath name = waiting_[i].table;
    if (present.contains(name)) {
      before[name] = waiting_[i].before();
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  const auto swapped = [&](const TablePath& name) {
    auto now = present.find(name);
    return now != present.end() && before.contains(name) && now->second.name != name;
  };
  for (const TablePath& name : order) {
    const Origin& origin = present[name];
    if (origin.name == name) continue;  // there and back again
    const bool old_name_lives = swapped(origin.name);
    if (swapped(name)) {
      Swap(name, before[name], origin, outcome);
      const bool hidden = IsHidden(origin.name);
      if (!old_name_lives && !hidden) outcome->tables_left.push_back(origin.name);
    } else if (old_name_lives) {
      // The old name goes on with another table, so this is a table that appears.
      if (!IsHidden(name)) Appear(name, outcome);
    } else if (IsLeftoverOf(name, origin.name) && ShadowOf(origin.name)) {
      // The first half of a swap in two statements.
      StatementChange drop;
      drop.table = origin.name;
      drop.statement = renames.front().statement;
      drop.parts.push_back({0, DropTable{}, origin.schema, nullptr});
      waiting_.push_back(std::move(drop));
    } else if (IsHidden(name) && IsHidden(origin.name)) {
      continue;
    } else {
      // One rename, whatever names lay on the way.
      StatementChange change;
      change.table = origin.name;
      change.parts = SplitIntoParts(origin.schema, *catalog_->Find(name), {});
      for (StatementChange& literal : renames) {
        if (literal.table == origin.name && LastPart<RenameTable>(literal)->to == name) {
          change = std::move(literal);
          break;
        }
      }
      outcome->changes.push_back(std::move(change));
    }
  }
}

// The table of this name was replaced by another. Columns keep their identity by the shadow's ids,
// or by name.
void OnlineSchemaChange::Swap(const TablePath& name, const TableSchemaPtr& before,
                              const Origin& newcomer, Outcome* outcome) {
  const TableSchemaPtr found = catalog_->Find(name);
  if (found == nullptr) return;
  const bool by_identity = RealTable(newcomer.name, patterns_.shadows) == name;
  std::map<ColumnId, ColumnId> ids;
  TableSchema now = *found;
  now.incarnation = before->incarnation;
  now.next_column_id = before->next_column_id;
  for (const Column& column : found->columns) {
    const int same_name = before->IndexOfNameIgnoringCase(column.name);
    ColumnId id = 0;
    if (by_identity && column.id < kShadowIds && before->Find(column.id) != nullptr) id = column.id;
    if (!by_identity && same_name >= 0) id = before->columns[static_cast<size_t>(same_name)].id;
    ids[column.id] = id != 0 ? id : now.next_column_id++;
  }
  for (Column& column : now.columns) column.id = ids[column.id];
  for (ColumnId& id : now.primary_key) id = ids[id];
  std::vector<SchemaChange> parts = SplitIntoParts(before, now, {});
  now.version = parts.empty() ? before->version : parts.back().after->version;
  TableSchema bound = *found;
  bound.incarnation = now.incarnation;
  bound.version = now.version;
  bound.next_column_id = now.next_column_id;
  catalog_->Rebind(std::move(bound), ids);
  if (!parts.empty()) {
    StatementChange change;
    change.table = name;
    change.parts = std::move(parts);
    outcome->changes.push_back(std::move(change));
  }
  if (!by_identity && found->incarnation != before->incarnation) {  // not: there and back again
    outcome->rows_without_events.push_back({name, "content replaced by swap", false});
  }
}

std::vector<StatementChange> OnlineSchemaChange::WaitingDropsIn(
    const std::vector<SchemaVersion>& versions, const Patterns& patterns) {
  std::map<TablePath, std::vector<const SchemaVersion*>> by_table;
  for (const SchemaVersion& version : versions) by_table[version.table].push_back(&version);
  std::vector<StatementChange> waiting;
  for (const auto& [table, history] : by_table) {
    const size_t last = history.size() - 1;
    if (last == 0 || history[last]->schema != nullptr) continue;
    if (history[last - 1]->schema == nullptr) continue;  // it went on
    for (const std::string& pattern : patterns.shadows) {
      const size_t star = pattern.find('*');
      if (star == std::string::npos) continue;
      TablePath shadow = table;
      shadow.table = pattern.substr(0, star) + table.table + pattern.substr(star + 1);
      const auto found = by_table.find(shadow);
      if (found == by_table.end() || found->second.back()->schema == nullptr) continue;
      const uint64_t incarnation = found->second.back()->schema->incarnation;
      const auto made = std::find_if(
          found->second.begin(), found->second.end(), [&](const SchemaVersion* version) {
            return version->schema != nullptr && version->schema->incarnation == incarnation;
          });
      if (!(*made)->point.Precedes(history[last]->point)) continue;
      StatementChange drop;
      drop.table = table;
      drop.statement = std::make_shared<const std::string>(history[last]->statement);
      drop.parts.push_back({0, DropTable{}, history[last - 1]->schema, nullptr});
      waiting.push_back(std::move(drop));
      break;
    }
  }
  return waiting;
}

void OnlineSchemaChange::Appear(const TablePath& name, Outcome* outcome) {
  const TableSchemaPtr found = catalog_->Find(name);
  if (found == nullptr) return;
  TableSchema made = *found;
  made.incarnation = catalog_->next_incarnation();
  made.version = 0;
  catalog_->SetNextIncarnation(made.incarnation + 1);
  catalog_->Rebind(std::move(made), {});
  StatementChange change;
  change.table = name;
  change.parts.push_back({0, CreateTable{}, nullptr, catalog_->Find(name)});
  outcome->changes.push_back(std::move(change));
}

}  // namespace driftless
