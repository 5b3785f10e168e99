#include <algorithm>
#include <utility>

#include "schema/base/letter_case.h"
#include "schema/plan/type_fit.h"
#include "schema/policy/decider.h"

namespace driftless {
namespace {

bool Tries(const Ruling& ruling) {
  return ruling.wish == Wish::kTry || ruling.wish == Wish::kTryRewrite;
}

}  // namespace

std::string Decider::SourceName(const SchemaChange& part, ColumnId id) {
  const Column* column = part.before ? part.before->Find(id) : nullptr;
  if (column == nullptr && part.after) column = part.after->Find(id);
  return column != nullptr ? column->name : "#" + std::to_string(id);
}

EvolvedColumn* Decider::Fed(EvolvedSchema* schema, ColumnId id) {
  for (EvolvedColumn& column : schema->columns) {
    if (column.source == id) return &column;
  }
  return nullptr;
}

SchemaChange Decider::With(const SchemaChange& part, ChangeDetail detail) {
  SchemaChange change = part;
  change.detail = std::move(detail);
  return change;
}

void Decider::Free(EvolvedSchema* schema, ColumnId id, EvolvedColumn::Fill fill) {
  EvolvedColumn* column = Fed(schema, id);
  if (column == nullptr) return;
  column->source = 0;
  column->former = id;
  column->fill = fill;
}

bool Decider::SameName(const std::string& a, const std::string& b) const {
  return in_.matrix->column_names_ignore_case ? EqualsIgnoringCase(a, b) : a == b;
}

const EvolvedColumn* Decider::NameAtSink(const std::string& name) const {
  for (const EvolvedColumn& column : working_.columns) {
    if (SameName(column.sink.name, name)) return &column;
  }
  return nullptr;
}

bool Decider::IsKeyAtSink(const std::string& name) const {
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has(working_.primary_key) || has(working_.partition_keys);
}

std::string Decider::NullRows(const std::string& name, const Ruling& ruling, bool* may_stop) const {
  const std::string start = "a NULL for the NOT NULL column " + name;
  switch (NullViolation(*in_.policy, ruling.behavior)) {
    case OnNullViolation::kFail:
      *may_stop = true;
      return start + " stops the pipeline (on-null-violation: fail)";
    case OnNullViolation::kDeadLetter: return start + " goes to the dead-letter file";
    case OnNullViolation::kDefaultValue: return start + " becomes the column's default value";
  }
  return "";
}

// What later rows meet when values of type `wanted` go into `sink`.
std::string Decider::CastRows(const SinkColumn& sink, const LogicalType& wanted,
                              const Ruling& ruling, bool* may_stop) const {
  LogicalType mapped = wanted;
  if (auto type = in_.planner->MapType(wanted, false)) mapped = *type;
  std::string misfits = Misfits(sink.type, mapped);
  if (misfits.empty() || in_.planner->Holds(sink.type, wanted)) misfits = "";
  if (misfits.empty()) return "values are cast to " + sink.type.ToStringIgnoringNullability();
  if (IsKeyAtSink(sink.name)) {
    *may_stop = true;
    return misfits + " stop the pipeline: " + sink.name + " is a key column";
  }
  switch (CastFailure(*in_.policy, ruling.behavior)) {
    case OnCastFailure::kFail:
      *may_stop = true;
      return misfits + " stop the pipeline (pipeline.on-cast-failure: fail)";
    case OnCastFailure::kDeadLetter: return misfits + " go to the dead-letter file";
    case OnCastFailure::kNull:
      if (sink.type.nullable()) return misfits + " become NULL, counted";
      return misfits + " become NULL; " + NullRows(sink.name, ruling, may_stop);
  }
  return "";
}

// ---- drop.column --------------------------------------------------------------------------------

Decider::Freed Decider::FreeColumn(const Ruling& ruling, ColumnId id, bool keep_is_default) {
  const SinkColumn sink = AtSink(id)->sink;
  const DropSkip drop_skip =
      in_.policy->drop_skip.value_or(keep_is_default ? DropSkip::kKeep : DropSkip::kNull);
  EvolvedColumn::Fill fill =
      drop_skip == DropSkip::kKeep ? EvolvedColumn::Fill::kKeep : EvolvedColumn::Fill::kNull;
  Freed freed;
  freed.rows = fill == EvolvedColumn::Fill::kKeep
                   ? "later rows leave column " + sink.name + " as it is"
                   : "later rows write NULL to column " + sink.name;
  if (!sink.type.nullable()) {
    const bool has_default = sink.default_value.kind == DefaultValue::Kind::kLiteral;
    if (!has_default && ruling.IsStrict()) {
      freed.fails = true;
      freed.rows = "the sink's column " + sink.name +
                   " is NOT NULL without a default and would receive no value";
      return freed;
    }
    fill = has_default ? EvolvedColumn::Fill::kDefault : EvolvedColumn::Fill::kZero;
    freed.rows = has_default ? "later rows write the default " + sink.default_value.text +
                                   " to the NOT NULL column " + sink.name
                             : "later rows write the zero value of " +
                                   sink.type.ToStringIgnoringNullability() +
                                   " to the NOT NULL column " + sink.name + ", counted";
  }
  Rebind([&](EvolvedSchema* schema) { Free(schema, id, fill); });
  return freed;
}

// A transform's text names the dropped column (policy, section 12). Nothing is sent: the output
// column stays and is NULL from here on.
void Decider::LoseInput(const SchemaChange& part, const DropColumns::LostInput& lost) {
  const RulingSubject subject = Subject(EventKind::kDropColumn, {lost.column});
  Ruling ruling = RuleFor(subject, part.part);
  ruling.cell.clear();
  ruling.hold = false;
  const std::string needs = lost.expression + " needs " + lost.column;
  if (lost.feeds == 0) {
    // Nobody can say which rows pass, or which row is which.
    ruling.wish = Wish::kFail;
    ruling.rule = "transform";
    ruling.reason = needs + ", which the source drops: change the transform";
    return AddQuiet(part, lost.column, ruling);
  }
  const EvolvedColumn* column = AtSink(lost.feeds);
  const std::string name = column == nullptr ? SourceName(part, lost.feeds) : column->sink.name;
  if (ruling.IsStrict()) {
    ruling.wish = Wish::kFail;
    ruling.reason = needs + ", which the source drops; column " + name + " would be NULL";
    return AddQuiet(part, lost.column, ruling);
  }
  ruling.wish = Wish::kSkip;
  ruling.reason = needs + ", which is gone at the source";
  AddQuiet(part, lost.column, ruling, "later rows have NULL in column " + name);
  Begin(part, lost.feeds, name, EventKind::kDropColumn,
        "column " + name + " is NULL: " + needs + ", which is gone at the source");
}

void Decider::DropColumn(const SchemaChange& part, ColumnId id) {
  const std::string name = SourceName(part, id);
  const RulingSubject subject = Subject(EventKind::kDropColumn, {name});
  const std::string by = "drop.column of " + name;
  if (AtSink(id) == nullptr) {
    End(id, std::nullopt, by);
    if (auto filtered = FilterRuling(*in_.policy, subject)) return AddQuiet(part, name, *filtered);
    return AddSkip(part, name, kNotAtSink);
  }
  Ruling ruling = FilterRuling(*in_.policy, subject).value_or(RuleFor(subject, part.part));
  if (Tries(ruling) && IsFlinkCdcStyle(*in_.policy, *in_.matrix, ruling)) {
    return DropAsNullable(part, id, ruling);
  }
  if (Tries(ruling)) {
    const SchemaChange change = With(part, DropColumns{{id}});
    auto plan = Plan(change, AdaptsConstraints(ruling, *in_.matrix));
    if (plan) {
      AddSent(part, name, ruling, change, std::move(*plan));
      return End(id, std::nullopt, by);
    }
    ruling = Impossible(ruling, *in_.matrix, subject, plan.error().message());
  }
  if (ruling.wish == Wish::kIgnore) {
    AddQuiet(part, name, ruling);
    return Rebind([&](EvolvedSchema* schema) {
      std::erase_if(schema->columns, [&](const EvolvedColumn& c) { return c.source == id; });
    });
  }
  if (ruling.wish == Wish::kFail) return AddQuiet(part, name, ruling);
  const std::string sink_name = AtSink(id)->sink.name;
  const bool was_key = IsKeyAtSink(sink_name);
  const auto forced = in_.forced.find(part.part);
  const bool rejected =
      forced != in_.forced.end() && forced->second.by == ForcedVerdict::By::kReject;
  Freed freed = FreeColumn(ruling, id, rejected);
  if (freed.fails) {
    ruling.wish = Wish::kFail;
    ruling.reason += (ruling.reason.empty() ? "" : "; ") + freed.rows;
    return AddQuiet(part, name, ruling);
  }
  if (was_key) freed.rows += "; it is a key column, so rows may overwrite each other";
  AddQuiet(part, name, ruling, freed.rows, was_key);
  End(id, std::nullopt, by);
  Begin(
      part, id, name, EventKind::kDropColumn,
      "column " + sink_name + " was dropped at the source and is still at the sink; " + freed.rows);
}

// lenient.style flink-cdc: the column stays and is made nullable.
void Decider::DropAsNullable(const SchemaChange& part, ColumnId id, const Ruling& ruling) {
  const std::string name = SourceName(part, id);
  const EvolvedColumn column = *AtSink(id);
  const bool sends = !column.sink.type.nullable();
  Ruling relaxing = ruling;
  if (sends) {
    const SchemaChange relax = With(part, RelaxNullability{{id}});
    const Cell* cell = in_.matrix->Find(EventKind::kRelaxNullability, false);
    const bool supported = cell != nullptr && cell->lenient == CellKind::kApply;
    auto plan =
        supported ? Plan(relax, true) : Result<SchemaPlan>(MakeError(ErrorKind::kUnsupported, ""));
    if (plan) {
      plan->rewrites = {"made nullable"};
      AddSent(part, name, relaxing, relax, std::move(*plan));
    } else {
      relaxing.wish = Wish::kSkip;
      relaxing.reason = "lenient.style flink-cdc keeps the column";
      AddQuiet(part, name, relaxing);
    }
  } else {
    UnitDecision unit = MakeUnit(part, name, ruling);
    unit.verdict.kind = VerdictKind::kRewrite;
    unit.verdict.rewrites = {"made nullable"};
    unit.verdict.reason = "lenient.style flink-cdc keeps the column, which is nullable already";
    units_.push_back(std::move(unit));
  }
  // The planner of a combined statement must still find the column by its identity; so base_ keeps
  // the binding where a statement is sent.
  const EvolvedSchema base = base_;
  const Freed freed = FreeColumn(ruling, id, false);
  if (sends && units_.back().verdict.kind == VerdictKind::kRewrite) base_ = base;
  units_.back().verdict.rows = freed.rows;
  End(id, std::nullopt, "drop.column of " + name);
  Begin(part, id, name, EventKind::kDropColumn,
        "column " + column.sink.name + " was dropped at the source and is still at the sink; " +
            freed.rows);
}

// ---- alter.column.type, nullability -------------------------------------------------------------

void Decider::AlterType(const SchemaChange& part, const AlterColumnTypes::Item& item) {
  const std::string name = SourceName(part, item.column);
  const RulingSubject subject = Subject(EventKind::kAlterColumnType, {name});
  if (auto filtered = FilterRuling(*in_.policy, subject)) {
    if (AtSink(item.column) == nullptr) return AddQuiet(part, name, *filtered);
    return SkipType(part, item, *filtered);
  }
  if (created_.count(item.column) > 0) {
    return AddSatisfied(part, name, "the column is created with its final type");
  }
  const EvolvedColumn* column = AtSink(item.column);
  if (column == nullptr) return AddSkip(part, name, kNotAtSink);
  if (in_.matrix->keeps_schema && in_.planner->Holds(column->sink.type, item.to)) {
    End(item.column, EventKind::kAlterColumnType, "alter.column.type of " + name);
    return AddSatisfied(part, name,
                        "already satisfied: the sink's " +
                            column->sink.type.ToStringIgnoringNullability() + " holds every value");
  }
  Ruling ruling = RuleFor(subject, part.part);
  if (Tries(ruling)) {
    AlterColumnTypes::Item sent = item;
    sent.from = column->sink.type;
    const SchemaChange change = With(part, AlterColumnTypes{{sent}});
    const LogicalType old_type = column->sink.type;
    auto plan = Plan(change, AdaptsConstraints(ruling, *in_.matrix));
    if (plan) {
      const bool widens = HoldsEveryValue(item.to, item.from);
      if (!widens && plan->rows.empty()) {
        plan->rows = "old rows are converted by the sink's own rules from " +
                     old_type.ToStringIgnoringNullability();
      }
      AddSent(part, name, ruling, change, std::move(*plan));
      return End(item.column, EventKind::kAlterColumnType, "alter.column.type of " + name);
    }
    ruling = Impossible(ruling, *in_.matrix, subject, plan.error().message());
  }
  if (ruling.wish != Wish::kIgnore) return SkipType(part, item, ruling);
  AddQuiet(part, name, ruling);
  Rebind([&](EvolvedSchema* schema) {
    SinkColumn& sink = Fed(schema, item.column)->sink;
    sink.type = item.to.WithNullability(sink.type.nullable());
    sink.native_type = item.to.ToStringIgnoringNullability();
  });
}

void Decider::SkipType(const SchemaChange& part, const AlterColumnTypes::Item& item,
                       const Ruling& ruling) {
  const std::string name = SourceName(part, item.column);
  const EvolvedColumn* column = AtSink(item.column);
  bool may_stop = false;
  const std::string rows = CastRows(column->sink, item.to, ruling, &may_stop);
  AddQuiet(part, name, ruling, rows, may_stop);
  if (ruling.wish == Wish::kFail) return;
  End(item.column, EventKind::kAlterColumnType, "alter.column.type of " + name);
  Begin(part, item.column, name, EventKind::kAlterColumnType,
        "column " + column->sink.name + " stays " +
            column->sink.type.ToStringIgnoringNullability() + " at the sink (" +
            item.to.ToStringIgnoringNullability() +
            " at the source); old rows keep their old values; " + rows);
}

void Decider::Relax(const SchemaChange& part, ColumnId id) {
  const std::string name = SourceName(part, id);
  const RulingSubject subject = Subject(EventKind::kRelaxNullability, {name});
  const EvolvedColumn* column = AtSink(id);
  Ruling ruling;
  const auto filtered = FilterRuling(*in_.policy, subject);
  if (filtered) {
    ruling = *filtered;
    if (column == nullptr || column->sink.type.nullable()) return AddQuiet(part, name, ruling);
  } else {
    if (created_.count(id) > 0) {
      return AddSatisfied(part, name, "the column is created with its final nullability");
    }
    if (column == nullptr) return AddSkip(part, name, kNotAtSink);
    if (in_.matrix->keeps_schema && column->sink.type.nullable()) {
      End(id, EventKind::kRelaxNullability, "relax.nullability of " + name);
      return AddSatisfied(part, name, "already satisfied: the sink's column is nullable");
    }
    ruling = RuleFor(subject, part.part);
  }
  if (Tries(ruling)) {
    const SchemaChange change = With(part, RelaxNullability{{id}});
    auto plan = Plan(change, AdaptsConstraints(ruling, *in_.matrix));
    if (plan) {
      AddSent(part, name, ruling, change, std::move(*plan));
      return End(id, EventKind::kRelaxNullability, "relax.nullability of " + name);
    }
    ruling = Impossible(ruling, *in_.matrix, subject, plan.error().message());
  }
  if (ruling.wish == Wish::kIgnore || ruling.wish == Wish::kFail) {
    AddQuiet(part, name, ruling);
    if (ruling.wish == Wish::kIgnore) {
      Rebind([&](EvolvedSchema* schema) {
        SinkColumn& sink = Fed(schema, id)->sink;
        sink.type = sink.type.Nullable();
      });
    }
    return;
  }
  bool may_stop = false;
  const std::string rows = NullRows(column->sink.name, ruling, &may_stop);
  AddQuiet(part, name, ruling, rows, may_stop);
  End(id, EventKind::kRelaxNullability, "relax.nullability of " + name);
  Begin(part, id, name, EventKind::kRelaxNullability,
        "column " + column->sink.name + " stays NOT NULL at the sink; " + rows);
}

void Decider::Tighten(const SchemaChange& part, const TightenNullability& tighten) {
  Ruling ruling;
  ruling.wish = Wish::kNever;
  ruling.behavior = in_.policy->behavior;
  ruling.rule = "internal";
  ruling.reason = "NULLABLE to NOT NULL never becomes an event: no sink sees it";
  if (const Cell* cell = in_.matrix->Find(EventKind::kTightenNullability, false)) {
    ruling.cell = CellText(*in_.matrix, *cell, CellKind::kNever);
  }
  std::string names;
  for (ColumnId id : tighten.columns) names += (names.empty() ? "" : ", ") + SourceName(part, id);
  AddQuiet(part, names, ruling);
}

}  // namespace driftless
