#include <algorithm>
#include <utility>

#include "schema/policy/decider.h"

// Names and places: rename, add, names that are taken, comments, moves.
namespace driftless {
namespace {

EvolvedColumn* FindFree(EvolvedSchema* schema, const std::string& name) {
  for (EvolvedColumn& column : schema->columns) {
    if (column.source == 0 && column.sink.name == name) return &column;
  }
  return nullptr;
}

bool Tries(const Ruling& ruling) {
  return ruling.wish == Wish::kTry || ruling.wish == Wish::kTryRewrite;
}

}  // namespace

// ---- rename.column ------------------------------------------------------------------------------

void Decider::Rename(const SchemaChange& part, const RenameColumns& rename) {
  std::vector<RenameColumns::Item> together;
  std::map<ColumnId, Ruling> rulings;
  std::vector<std::pair<RenameColumns::Item, Ruling>> others;
  for (const RenameColumns::Item& item : rename.items) {
    const RulingSubject subject = Subject(EventKind::kRenameColumn, {item.from, item.to});
    const EvolvedColumn* column = AtSink(item.column);
    const auto filtered = FilterRuling(*in_.policy, subject);
    if (column == nullptr) {
      if (filtered) {
        AddQuiet(part, item.from, *filtered);
      } else {
        AddSkip(part, item.from, kNotAtSink);
      }
      continue;
    }
    if (!filtered && column->sink.name == item.to && in_.matrix->keeps_schema) {
      End(item.column, EventKind::kRenameColumn, "rename back to " + item.to);
      AddSatisfied(part, item.from, "already satisfied: the sink's column is named " + item.to);
      continue;
    }
    const Ruling ruling = filtered ? *filtered : RuleFor(subject, part.part);
    const bool rewrites = ruling.wish == Wish::kTryRewrite ||
                          (Tries(ruling) && IsFlinkCdcStyle(*in_.policy, *in_.matrix, ruling));
    if (ruling.wish == Wish::kTry && !rewrites) {
      together.push_back(item);
      rulings[item.column] = ruling;
    } else {
      others.emplace_back(item, ruling);
    }
  }
  RenameTogether(part, std::move(together), std::move(rulings));
  for (const auto& [item, ruling] : others) {
    if (Tries(ruling)) {
      RenameAsAdd(part, item, ruling);
    } else {
      SkipRename(part, item, ruling);
    }
  }
}

// The renames that are sent as they are, all at the same moment: a target is free when nobody holds
// it or its holder leaves it in the same moment.
void Decider::RenameTogether(const SchemaChange& part, std::vector<RenameColumns::Item> items,
                             std::map<ColumnId, Ruling> rulings) {
  const auto leaves = [&](ColumnId id) {
    return id != 0 && std::any_of(items.begin(), items.end(),
                                  [&](const auto& item) { return item.column == id; });
  };
  const auto reject = [&](size_t index, const std::string& why) {
    const RenameColumns::Item item = items[index];
    items.erase(items.begin() + static_cast<ptrdiff_t>(index));
    const RulingSubject subject = Subject(EventKind::kRenameColumn, {item.from, item.to});
    SkipRename(part, item, Impossible(rulings[item.column], *in_.matrix, subject, why));
  };
  const auto detail_of = [&](const std::vector<RenameColumns::Item>& chosen) {
    RenameColumns detail;
    for (RenameColumns::Item item : chosen) {
      item.from = AtSink(item.column)->sink.name;
      detail.items.push_back(std::move(item));
    }
    return With(part, std::move(detail));
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < items.size() && !again; ++i) {
      const EvolvedColumn* holder = NameAtSink(items[i].to);
      std::string why;
      if (holder != nullptr && holder->source != items[i].column && !leaves(holder->source)) {
        why = holder->source == 0
                  ? "the sink still has a column " + items[i].to + " that no source column feeds"
                  : "the name " + items[i].to + " is taken at the sink";
      } else if (holder == nullptr) {
        const auto alone = Plan(detail_of({items[i]}), false);
        if (!alone) why = alone.error().message();
      }
      if (why.empty()) continue;
      reject(i, why);
      again = true;
    }
  }
  if (items.empty()) return;
  const SchemaChange change = detail_of(items);
  auto plan = Plan(change, false);
  if (!plan) {
    const std::string why = plan.error().message();
    while (!items.empty()) reject(items.size() - 1, why);
    return;
  }
  std::string names;
  for (const auto& item : items) names += (names.empty() ? "" : ", ") + item.from;
  AddSent(part, names, rulings[items.front().column], change, std::move(*plan));
  for (const auto& item : items) {
    End(item.column, EventKind::kRenameColumn, "rename.column to " + item.to);
  }
}

// Appends the column under its new name and fills the old one with NULL from then on.
void Decider::RenameAsAdd(const SchemaChange& part, const RenameColumns::Item& item,
                          const Ruling& ruling) {
  const RulingSubject subject = Subject(EventKind::kRenameColumn, {item.from, item.to});
  const auto follow = [&](const std::string& why) {
    SkipRename(part, item, Impossible(ruling, *in_.matrix, subject, why));
  };
  const EvolvedColumn old = *AtSink(item.column);
  if (IsKeyAtSink(old.sink.name))
    return follow("a key column cannot be added and filled with NULL");
  const TableSchemaPtr final_schema = in_.change->after();
  const Column* column = final_schema ? final_schema->Find(item.column) : nullptr;
  if (column == nullptr) column = part.after->Find(item.column);
  const EvolvedColumn* holder = NameAtSink(item.to);
  if (holder != nullptr && holder->source != 0) {
    return follow("the name " + item.to + " is taken at the sink");
  }
  const EvolvedSchema working = working_;
  const EvolvedSchema base = base_;
  const Freed freed = FreeColumn(ruling, item.column, false);
  const std::string what = "rename as add + NULL fill";
  if (holder != nullptr) {  // a free column of that name: it is taken into use again
    const EvolvedColumn* free_column = NameAtSink(item.to);
    if (!in_.planner->Holds(free_column->sink.type, column->type)) {
      working_ = working;
      base_ = base;
      return follow("the sink still has a column " + item.to + " of another type");
    }
    const std::string sink_name = free_column->sink.name;
    Rebind([&](EvolvedSchema* schema) {
      if (EvolvedColumn* target = FindFree(schema, sink_name)) target->source = item.column;
    });
    UnitDecision unit = MakeUnit(part, item.from, ruling);
    unit.verdict.kind = VerdictKind::kRewrite;
    unit.verdict.rewrites = {what, "revived"};
    unit.verdict.reason = what + "; the sink's column " + sink_name + " is taken into use again";
    unit.verdict.rows = freed.rows;
    units_.push_back(std::move(unit));
  } else {
    AddColumns::Item added{*column, {}};
    added.column.name = item.to;
    added.column.type = added.column.type.Nullable();
    const SchemaChange change = With(part, AddColumns{{added}});
    auto plan = Plan(change, true);
    if (!plan) {
      working_ = working;
      base_ = base;
      return follow(plan.error().message());
    }
    plan->rewrites = {what};
    plan->rows = "old rows read NULL in " + item.to + "; " + freed.rows;
    AddSent(part, item.from, ruling, change, std::move(*plan));
  }
  now_created_.insert(item.column);
  End(item.column, EventKind::kRenameColumn, "rename.column to " + item.to);
  BeginOfOldRows(part, item.column, item.to, EventKind::kRenameColumn,
                 "rows from before the rename have their values in column " + old.sink.name +
                     ", later ones in " + item.to);
}

void Decider::SkipRename(const SchemaChange& part, const RenameColumns::Item& item,
                         const Ruling& ruling) {
  const EvolvedColumn* column = AtSink(item.column);
  if (ruling.wish == Wish::kIgnore) {
    AddQuiet(part, item.from, ruling);
    return Rebind([&](EvolvedSchema* schema) { Fed(schema, item.column)->sink.name = item.to; });
  }
  if (ruling.wish == Wish::kFail || ruling.wish == Wish::kNever) {
    return AddQuiet(part, item.from, ruling);
  }
  const std::string sink_name = column->sink.name;
  const bool follows = in_.policy->rename_skip == RenameSkip::kFollow || IsKeyAtSink(sink_name);
  std::string rows = "column " + sink_name + " keeps receiving the values of " + item.to;
  if (!follows) {
    Ruling filled = ruling;
    const Freed freed = FreeColumn(ruling, item.column, false);
    if (freed.fails) {
      filled.wish = Wish::kFail;
      filled.reason += "; " + freed.rows;
      return AddQuiet(part, item.from, filled);
    }
    rows = freed.rows + "; the values of " + item.to + " are not written";
  }
  AddQuiet(part, item.from, ruling, rows);
  End(item.column, EventKind::kRenameColumn, "rename.column to " + item.to);
  Begin(part, item.column, item.to, EventKind::kRenameColumn,
        "column " + item.to + " is still named " + sink_name + " at the sink; " + rows);
}

// ---- add.column ---------------------------------------------------------------------------------

// The place in the sink's terms: an anchor that is not there gives way to its nearest left
// neighbour that is.
ColumnPlace Decider::Translate(const SchemaChange& part, ColumnId id,
                               const ColumnPlace& place) const {
  using Kind = ColumnPlace::Kind;
  if (place.kind == Kind::kLast || place.kind == Kind::kFirst) return place;
  if (AtSink(place.anchor) != nullptr) return place;
  const int anchor = part.after ? part.after->IndexOf(place.anchor) : -1;
  for (int i = anchor - 1; i >= 0; --i) {
    const ColumnId left = part.after->columns[static_cast<size_t>(i)].id;
    if (left != id && AtSink(left) != nullptr) return {Kind::kAfter, left};
  }
  return {Kind::kFirst, 0};
}

void Decider::AddColumn(const SchemaChange& part, const AddColumns::Item& wanted, bool again) {
  AddColumns::Item item = wanted;
  if (in_.change->after() && in_.change->after()->Find(item.column.id) != nullptr && !again) {
    const Column& last = *in_.change->after()->Find(item.column.id);
    item.column.type = last.type;
    item.column.comment = last.comment;
  }
  const std::string& name = item.column.name;
  RulingSubject subject = Subject(EventKind::kAddColumn, {name});
  subject.not_null = !item.column.type.nullable();
  if (auto filtered = FilterRuling(*in_.policy, subject)) return SkipAdd(part, item, *filtered);
  if (AtSink(item.column.id) != nullptr) {
    return AddSatisfied(part, name, "already satisfied: the column is at the sink");
  }
  Ruling ruling = RuleFor(subject, part.part);
  if (ruling.wish == Wish::kIgnore) {
    AddQuiet(part, name, ruling);
    EvolvedColumn column;
    column.sink.name = name;
    column.sink.type = item.column.type;
    column.sink.native_type = item.column.type.ToStringIgnoringNullability();
    column.source = item.column.id;
    return Rebind([&](EvolvedSchema* schema) { schema->columns.push_back(column); });
  }
  if (!Tries(ruling)) return SkipAdd(part, item, ruling);
  if (const EvolvedColumn* holder = NameAtSink(name)) {
    if (holder->source == 0) return Revive(part, item, ruling);
    return SkipAdd(part, item,
                   Impossible(ruling, *in_.matrix, subject,
                              "the name " + name + " is taken at the sink by another column"));
  }
  item.place = Translate(part, item.column.id, item.place);
  std::vector<std::string> forms;
  if (IsFlinkCdcStyle(*in_.policy, *in_.matrix, ruling)) {
    if (item.place.kind != ColumnPlace::Kind::kLast) forms.push_back("appended at the end");
    if (!item.column.type.nullable()) forms.push_back("made nullable");
    item.place = {};
    item.column.type = item.column.type.Nullable();
  }
  const SchemaChange change = With(part, AddColumns{{item}});
  auto plan = Plan(change, AdaptsConstraints(ruling, *in_.matrix));
  if (!plan) {
    return SkipAdd(part, item, Impossible(ruling, *in_.matrix, subject, plan.error().message()));
  }
  plan->rewrites.insert(plan->rewrites.end(), forms.begin(), forms.end());
  if (plan->rows.empty()) plan->rows = "old rows read NULL";
  AddSent(part, name, ruling, change, std::move(*plan));
  now_created_.insert(item.column.id);
  End(item.column.id, EventKind::kAddColumn, "add.column of " + name);
}

// A free column of the same name is taken into use again.
void Decider::Revive(const SchemaChange& part, const AddColumns::Item& item, const Ruling& ruling) {
  const std::string& name = item.column.name;
  const EvolvedColumn free_column = *NameAtSink(name);
  RulingSubject subject = Subject(EventKind::kAddColumn, {name});
  if (!in_.planner->Holds(free_column.sink.type, item.column.type)) {
    return SkipAdd(part, item,
                   Impossible(ruling, *in_.matrix, subject,
                              "the sink still has a column " + name + " of type " +
                                  free_column.sink.type.ToStringIgnoringNullability() +
                                  ", which does not hold every " +
                                  item.column.type.ToStringIgnoringNullability()));
  }
  const std::string sink_name = free_column.sink.name;
  Rebind([&](EvolvedSchema* schema) {
    if (EvolvedColumn* column = FindFree(schema, sink_name)) {
      column->source = item.column.id;
      column->fill = EvolvedColumn::Fill::kNull;
    }
  });
  UnitDecision unit = MakeUnit(part, name, ruling);
  unit.verdict.kind = VerdictKind::kRewrite;
  unit.verdict.rewrites = {"revived"};
  unit.verdict.reason = "revived: the sink's column " + sink_name + " is taken into use again";
  unit.verdict.rows = "old rows show the dropped column's values";
  unit.hold = ruling.hold;
  if (item.column.type.nullable() && !free_column.sink.type.nullable()) {
    unit.verdict.rows += "; " + NullRows(sink_name, ruling, &unit.verdict.rows_may_stop);
  }
  units_.push_back(std::move(unit));
  now_created_.insert(item.column.id);
  if (free_column.former != 0) End(free_column.former, std::nullopt, "add.column of " + name);
  End(item.column.id, EventKind::kAddColumn, "add.column of " + name);
  BeginOfOldRows(part, item.column.id, name, EventKind::kAddColumn,
                 "old rows show the dropped column's values");
}

void Decider::SkipAdd(const SchemaChange& part, const AddColumns::Item& item,
                      const Ruling& ruling) {
  const std::string& name = item.column.name;
  AddQuiet(part, name, ruling, "the values of column " + name + " are not written");
  if (ruling.wish == Wish::kFail) return;
  End(item.column.id, EventKind::kAddColumn, "add.column of " + name);
  Begin(part, item.column.id, name, EventKind::kAddColumn,
        "column " + name + " is not at the sink; its values are not written");
}

// Adds that were skipped because their name was taken, and whose name this statement frees.
void Decider::PlanAgain() {
  const TableSchemaPtr schema = in_.change->after();
  if (!has_table_ || in_.evolved == nullptr || !schema || !in_.matrix->keeps_schema) return;
  uint32_t number = 0;
  for (const SchemaChange& part : in_.change->parts) number = std::max(number, part.part + 1);
  for (size_t i = 0; i < schema->columns.size(); ++i) {
    const Column& column = schema->columns[i];
    if (AtSink(column.id) != nullptr) continue;
    const TableSchemaPtr before = in_.change->before();
    const bool is_old = before && before->Find(column.id) != nullptr;
    const auto was_taken = [&](const EvolvedColumn& other) {
      return other.source != 0 && other.source != column.id &&
             SameName(other.sink.name, column.name);
    };
    const auto& old_columns = in_.evolved->columns;
    if (!is_old || std::none_of(old_columns.begin(), old_columns.end(), was_taken)) continue;
    const EvolvedColumn* holder = NameAtSink(column.name);
    if (holder != nullptr && holder->source != 0) continue;
    AddColumns::Item item{column, {}};
    for (size_t left = i; left > 0; --left) {
      if (AtSink(schema->columns[left - 1].id) == nullptr) continue;
      const bool is_last_known = i + 1 == schema->columns.size();
      if (!is_last_known) item.place = {ColumnPlace::Kind::kAfter, schema->columns[left - 1].id};
      break;
    }
    SchemaChange part;
    part.part = number;
    part.before = schema;
    part.after = schema;
    part.detail = AddColumns{{item}};
    const size_t first = units_.size();
    AddColumn(part, item, true);
    UnitDecision& unit = units_[first];
    unit.planned_again = true;
    unit.verdict.reason = "planned again, its name is free now; " + unit.verdict.reason;
    // The statement itself is fine: what still cannot be added stays skipped.
    if (unit.verdict.kind == VerdictKind::kFail) unit.verdict.kind = VerdictKind::kSkip;
    ++number;
  }
}

// ---- comments, positions ------------------------------------------------------------------------

void Decider::Comment(const SchemaChange& part, const AlterColumnComments::Item& item) {
  const std::string name = SourceName(part, item.column);
  const RulingSubject subject = Subject(EventKind::kAlterColumnComment, {name});
  if (auto filtered = FilterRuling(*in_.policy, subject)) return AddQuiet(part, name, *filtered);
  if (created_.count(item.column) > 0) {
    return AddSatisfied(part, name, "the column is created with its final comment");
  }
  const EvolvedColumn* column = AtSink(item.column);
  if (column == nullptr) return AddSkip(part, name, kNotAtSink);
  if (in_.matrix->keeps_schema && column->sink.comment == item.to) {
    return AddSatisfied(part, name, "already satisfied: the sink's column has that comment");
  }
  Ruling ruling = RuleFor(subject, part.part);
  if (Tries(ruling)) {
    const SchemaChange change = With(part, AlterColumnComments{{item}});
    auto plan = Plan(change, false);
    if (plan) {
      AddSent(part, name, ruling, change, std::move(*plan));
      return End(item.column, EventKind::kAlterColumnComment, "alter.column.comment of " + name);
    }
    ruling = Impossible(ruling, *in_.matrix, subject, plan.error().message());
  }
  AddQuiet(part, name, ruling);
  if (ruling.wish != Wish::kSkip) return;
  End(item.column, EventKind::kAlterColumnComment, "alter.column.comment of " + name);
  Begin(part, item.column, name, EventKind::kAlterColumnComment,
        "column " + column->sink.name + " keeps its old comment at the sink");
}

void Decider::Move(const SchemaChange& part, const MoveColumns::Item& item) {
  const std::string name = SourceName(part, item.column);
  const RulingSubject subject = Subject(EventKind::kAlterColumnPosition, {name});
  if (auto filtered = FilterRuling(*in_.policy, subject)) return AddQuiet(part, name, *filtered);
  if (AtSink(item.column) == nullptr) return AddSkip(part, name, kNotAtSink);
  std::vector<ColumnId> wanted;
  for (const Column& column : part.after->columns) {
    if (AtSink(column.id) != nullptr) wanted.push_back(column.id);
  }
  std::vector<ColumnId> actual;
  for (const EvolvedColumn& column : working_.columns) {
    if (column.source != 0 && part.after->Find(column.source) != nullptr) {
      actual.push_back(column.source);
    }
  }
  const std::string by = "alter.column.position of " + name;
  if (in_.matrix->keeps_schema && wanted == actual) {
    End(item.column, EventKind::kAlterColumnPosition, by);
    return AddSatisfied(part, name, "already satisfied: the sink has the columns in this order");
  }
  Ruling ruling = RuleFor(subject, part.part);
  if (Tries(ruling)) {
    const MoveColumns::Item sent{item.column, Translate(part, item.column, item.place)};
    const SchemaChange change = With(part, MoveColumns{{sent}});
    auto plan = Plan(change, false);
    if (plan) {
      AddSent(part, name, ruling, change, std::move(*plan));
      return End(item.column, EventKind::kAlterColumnPosition, by);
    }
    ruling = Impossible(ruling, *in_.matrix, subject, plan.error().message());
  }
  AddQuiet(part, name, ruling);
  if (ruling.wish != Wish::kSkip) return;
  End(item.column, EventKind::kAlterColumnPosition, by);
  Begin(part, item.column, name, EventKind::kAlterColumnPosition,
        "column " + AtSink(item.column)->sink.name + " stands elsewhere at the sink");
}

}  // namespace driftless
