#include <algorithm>
#include <utility>

#include "schema/base/letter_case.h"
#include "schema/events/table_rename.h"
#include "schema/policy/decider.h"

namespace driftless {
namespace {

bool Tries(const Ruling& ruling) {
  return ruling.wish == Wish::kTry || ruling.wish == Wish::kTryRewrite;
}

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> Names(const TableSchema& schema, const std::vector<ColumnId>& ids) {
  std::vector<std::string> names;
  for (ColumnId id : ids) {
    const Column* column = schema.Find(id);
    names.push_back(column != nullptr ? column->name : "#" + std::to_string(id));
  }
  return names;
}

bool CreatesTable(const StatementChange& change) {
  return std::any_of(change.parts.begin(), change.parts.end(), [](const SchemaChange& part) {
    return part.kind() == EventKind::kCreateTable;
  });
}

// The sink's table as a schema whose columns nothing feeds yet.
EvolvedSchema FromSinkTable(const SinkTable& table, uint64_t incarnation) {
  EvolvedSchema evolved;
  evolved.path = table.path;
  evolved.incarnation = incarnation;
  for (const SinkColumn& column : table.columns) {
    EvolvedColumn entry;
    entry.sink = column;
    evolved.columns.push_back(std::move(entry));
  }
  evolved.primary_key = table.primary_key;
  evolved.partition_keys = table.partition_keys;
  evolved.options = table.options;
  evolved.comment = table.comment;
  return evolved;
}

// The unbound column of that name: with the same letters, else, where only one has it, ignoring
// letter case.
EvolvedColumn* FindForAdoption(EvolvedSchema* evolved, const std::string& name) {
  EvolvedColumn* folded = nullptr;
  int folded_count = 0;
  for (EvolvedColumn& column : evolved->columns) {
    if (column.source != 0) continue;
    if (column.sink.name == name) return &column;
    if (EqualsIgnoringCase(column.sink.name, name)) {
      folded = &column;
      ++folded_count;
    }
  }
  return folded_count == 1 ? folded : nullptr;
}

bool SameNames(std::vector<std::string> a, std::vector<std::string> b) {
  for (auto* names : {&a, &b}) {
    for (std::string& name : *names) name = LowerCase(name);
    std::sort(names->begin(), names->end());
  }
  return a == b;
}

}  // namespace

// False: the sink has to be read first. Sets up the schema that the parts start from.
bool Decider::KnowsTable() {
  if (in_.evolved != nullptr) {
    working_ = base_ = *in_.evolved;
    has_table_ = true;
  }
  if (CreatesTable(*in_.change)) return in_.sink_was_read;
  if (in_.evolved != nullptr || in_.change->before() == nullptr) return true;
  // A statement on a table that nobody announced: what the sink has is taken as it is.
  if (!in_.sink_was_read) return false;
  if (in_.actual == nullptr) return true;
  working_ = FromSinkTable(*in_.actual, in_.change->before()->incarnation);
  for (const Column& column : in_.change->before()->columns) {
    if (EvolvedColumn* found = FindForAdoption(&working_, column.name)) found->source = column.id;
  }
  base_ = working_;
  has_table_ = true;
  return true;
}

// ---- create.table -------------------------------------------------------------------------------

void Decider::CreateTableOf(const SchemaChange& part) {
  const RulingSubject subject = Subject(EventKind::kCreateTable, {});
  const bool exists = in_.actual != nullptr;
  const bool is_known =
      in_.evolved != nullptr && in_.evolved->incarnation == part.after->incarnation;
  if (is_known && exists) return CompareRecorded(part);
  const bool was_dropped = in_.evolved != nullptr && !is_known;
  Ruling ruling = FilterRuling(*in_.policy, subject).value_or(RuleFor(subject, part.part));
  if (exists) return Adopt(part, ruling, was_dropped);
  if (!in_.matrix->keeps_schema && ruling.wish == Wish::kIgnore) ruling.wish = Wish::kTry;
  const auto forced = in_.forced.find(part.part);
  if (forced != in_.forced.end() && forced->second.by == ForcedVerdict::By::kRefused) {
    return GoWithoutTable(part, ruling);
  }
  if (!Tries(ruling)) {
    ruling.reason += "; there is no table " + in_.sink_table.ToString() +
                     " at the sink: create it by hand, or let create.table pass";
    ruling.wish = Wish::kFail;
    return AddQuiet(part, "", ruling);
  }
  has_table_ = false;
  CreateNew(part, ruling);
  if (is_known) units_.back().verdict.reason += "; the table was gone from the sink (drift)";
  if (was_dropped) End(0, std::nullopt, "create.table of a new " + part.after->path.ToString());
}

void Decider::CreateNew(const SchemaChange& part, const Ruling& ruling) {
  SchemaChange change = part;
  if (in_.policy->create_relaxed) {
    auto relaxed = std::make_shared<TableSchema>(*part.after);
    for (Column& column : relaxed->columns) {
      if (!relaxed->IsKey(column.id)) column.type = column.type.Nullable();
    }
    change.after = std::move(relaxed);
  }
  auto plan = Plan(change, AdaptsConstraints(ruling, *in_.matrix));
  if (plan) {
    plan->evolved.incarnation = part.after->incarnation;
    AddSent(part, "", ruling, change, std::move(*plan));
    has_table_ = true;
    return;
  }
  Ruling impossible =
      Impossible(ruling, *in_.matrix, Subject(EventKind::kCreateTable, {}), plan.error().message());
  // Rows cannot go into a table that is not there: only TRY_EVOLVE, which never stops, goes on.
  if (impossible.behavior == Behavior::kTryEvolve) return GoWithoutTable(part, impossible);
  impossible.wish = Wish::kFail;
  AddQuiet(part, "", impossible);
}

void Decider::GoWithoutTable(const SchemaChange& part, const Ruling& ruling) {
  const std::string rows = "rows of " + part.after->path.ToString() + " are not written";
  AddQuiet(part, "", ruling, rows);
  has_table_ = false;
  working_ = base_ = EvolvedSchema();
  Begin(part, 0, "", EventKind::kCreateTable, "there is no table at the sink; " + rows);
}

// The table is recorded and there: what differs from the record is drift, somebody else's doing.
void Decider::CompareRecorded(const SchemaChange& part) {
  std::vector<std::string> drift;
  EvolvedSchema found = FromSinkTable(*in_.actual, in_.evolved->incarnation);
  for (const EvolvedColumn& recorded : in_.evolved->columns) {
    EvolvedColumn* column = FindForAdoption(&found, recorded.sink.name);
    if (column == nullptr) {
      drift.push_back("column " + recorded.sink.name + " is gone");
      if (recorded.source != 0) {
        Begin(part, recorded.source, recorded.sink.name, EventKind::kAddColumn,
              "drift: column " + recorded.sink.name +
                  " was removed at the sink; its values are not written");
      }
      continue;
    }
    column->source = recorded.source;
    column->former = recorded.former;
    column->fill = recorded.fill;
    if (column->sink.type != recorded.sink.type) {
      drift.push_back("column " + recorded.sink.name + " is " + column->sink.type.ToString() +
                      ", recorded was " + recorded.sink.type.ToString());
    }
  }
  for (const EvolvedColumn& column : found.columns) {
    if (in_.evolved->FindName(column.sink.name) == nullptr) {
      drift.push_back("column " + column.sink.name + " is new");
    }
  }
  working_ = base_ = found;
  AddSatisfied(part, "",
               drift.empty() ? "already satisfied: the table is there as recorded"
                             : "the table is there; drift: " + Join(drift));
}

// A table that is there and that we have no record of: bound by name, compared, completed.
void Decider::Adopt(const SchemaChange& part, const Ruling& asked, bool was_dropped) {
  const TableSchema& source = *part.after;
  const RulingSubject subject = Subject(EventKind::kCreateTable, {});
  EvolvedSchema found = FromSinkTable(*in_.actual, source.incarnation);
  std::vector<std::string> misfits;
  std::vector<const Column*> missing;
  struct Misfit {
    ColumnId id;
    bool type;
  };
  std::vector<Misfit> misfit_columns;
  for (const Column& column : source.columns) {
    EvolvedColumn* sink = FindForAdoption(&found, column.name);
    if (sink == nullptr) {
      missing.push_back(&column);
      continue;
    }
    sink->source = column.id;
    if (!in_.matrix->keeps_schema) {
      sink->sink.type = column.type;
      continue;
    }
    if (!in_.planner->Holds(sink->sink.type, column.type)) {
      misfits.push_back("column " + column.name + " is " +
                        sink->sink.type.ToStringIgnoringNullability() +
                        " at the sink, which does "
                        "not hold every " +
                        column.type.ToStringIgnoringNullability());
      misfit_columns.push_back({column.id, true});
    } else if (column.type.nullable() && !sink->sink.type.nullable() && !source.IsKey(column.id)) {
      misfits.push_back("column " + column.name + " is NOT NULL at the sink");
      misfit_columns.push_back({column.id, false});
    }
  }
  const std::vector<std::string> key = Names(source, source.primary_key);
  const bool same_key = SameNames(key, found.primary_key) || !in_.matrix->keeps_schema;
  if (!same_key) {
    misfits.push_back("the key is (" + Join(found.primary_key) + ") at the sink and (" + Join(key) +
                      ") at the source");
  }
  const bool has_extra = std::any_of(found.columns.begin(), found.columns.end(),
                                     [](const EvolvedColumn& c) { return c.source == 0; });
  if (in_.matrix->existing_table_must_match && (!missing.empty() || has_extra)) {
    for (const Column* column : missing)
      misfits.push_back("column " + column->name + " is missing");
    for (const EvolvedColumn& column : found.columns) {
      if (column.source == 0) misfits.push_back("column " + column.sink.name + " is unknown");
    }
  }
  const std::string table = in_.sink_table.ToString();
  Ruling ruling = asked;
  const bool filtered = ruling.wish == Wish::kSkip;
  if (!misfits.empty()) {
    ruling = Impossible(asked, *in_.matrix, subject,
                        "table " + table + " is there already, but " + Join(misfits));
    if (in_.matrix->existing_table_must_match) ruling.wish = Wish::kFail;
    if (asked.by_person) ruling = asked;  // who says skip has seen what does not fit
  }
  if (ruling.wish == Wish::kFail) return AddQuiet(part, "", ruling);

  working_ = base_ = found;
  has_table_ = true;
  // Columns that the source does not have.
  for (const EvolvedColumn& column : found.columns) {
    if (column.source != 0 || column.sink.type.nullable()) continue;
    const bool has_default = column.sink.default_value.kind == DefaultValue::Kind::kLiteral;
    if (!has_default && ruling.IsStrict()) {
      ruling.wish = Wish::kFail;
      ruling.reason = "table " + table + " has the NOT NULL column " + column.sink.name +
                      ", which the source does not have";
      return AddQuiet(part, "", ruling);
    }
    Rebind([&](EvolvedSchema* schema) {
      for (EvolvedColumn& entry : schema->columns) {
        if (entry.sink.name != column.sink.name) continue;
        entry.fill = has_default ? EvolvedColumn::Fill::kDefault : EvolvedColumn::Fill::kZero;
      }
    });
  }
  std::string rows;
  bool may_stop = false;
  for (const Misfit& misfit : misfit_columns) {
    const Column& column = *source.Find(misfit.id);
    const SinkColumn& sink = AtSink(misfit.id)->sink;
    const std::string text = misfit.type ? CastRows(sink, column.type, ruling, &may_stop)
                                         : NullRows(sink.name, ruling, &may_stop);
    rows += (rows.empty() ? "" : "; ") + text;
    Begin(part, misfit.id, column.name,
          misfit.type ? EventKind::kAlterColumnType : EventKind::kRelaxNullability,
          "column " + sink.name + " is " + sink.type.ToString() + " at the sink and " +
              column.type.ToString() + " at the source; " + text);
  }
  if (!same_key && !found.primary_key.empty()) {
    const std::string text =
        "rows that share the sink's key (" + Join(found.primary_key) + ") overwrite each other";
    rows += (rows.empty() ? "" : "; ") + text;
    Begin(part, 0, "", EventKind::kKeyChange, text);
  }
  if (was_dropped) {
    End(0, std::nullopt, "create.table of a new " + source.path.ToString());
    BeginOfOldRows(part, 0, "", EventKind::kDropTable, "rows of the dropped table remain");
  }
  if (!misfits.empty() || filtered) {
    ruling.wish = Wish::kSkip;
    if (misfits.empty()) ruling.reason += "; the table is there and is used as it is";
    AddQuiet(part, "", ruling, rows, may_stop);
  } else {
    AddSatisfied(part, "",
                 was_dropped ? "the table is still there; rows of the dropped table remain"
                             : "already satisfied: the table is there and fits");
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    AddColumns::Item item{*missing[i], {}};
    const int index = source.IndexOf(item.column.id);
    if (index + 1 < static_cast<int>(source.columns.size())) {
      item.place = index == 0 ? ColumnPlace{ColumnPlace::Kind::kFirst, 0}
                              : ColumnPlace{ColumnPlace::Kind::kAfter,
                                            source.columns[static_cast<size_t>(index - 1)].id};
    }
    AddColumn(part, item, true);
  }
}

// ---- drop.table, truncate.table -----------------------------------------------------------------

// What a snapshot says about tables is how it begins, not what happened to them (policy, section
// 4).
bool Decider::IsOfSnapshot(const SchemaChange& part, const std::string& verb) {
  if (!in_.change->from_snapshot) return false;
  Ruling ruling;
  ruling.wish = Wish::kNever;
  ruling.behavior = in_.policy->behavior;
  ruling.rule = "internal";
  ruling.reason = "a record of a snapshot never " + verb + " a table";
  AddQuiet(part, "", ruling);
  return true;
}

void Decider::DropTableOf(const SchemaChange& part) {
  if (IsOfSnapshot(part, "drops")) return;
  const RulingSubject subject = Subject(EventKind::kDropTable, {});
  if (auto filtered = FilterRuling(*in_.policy, subject)) {
    AddQuiet(part, "", *filtered, has_table_ ? "the sink keeps its rows" : "");
    if (!has_table_) return;
    return BeginOfOldRows(part, 0, "", EventKind::kDropTable, "the table is still at the sink");
  }
  if (!has_table_) return AddSatisfied(part, "", "already satisfied: the table is not at the sink");
  Ruling ruling = RuleFor(subject, part.part);
  if (Tries(ruling)) {
    auto plan = Plan(part, false);
    if (plan) {
      AddSent(part, "", ruling, part, std::move(*plan));
      has_table_ = false;
      return End(0, std::nullopt, "drop.table");
    }
    ruling = Impossible(ruling, *in_.matrix, subject, plan.error().message());
  }
  const bool ignored = ruling.wish == Wish::kIgnore;
  AddQuiet(part, "", ruling, ignored ? "" : "the sink keeps its rows");
  if (ruling.wish == Wish::kFail || ignored) return;
  BeginOfOldRows(part, 0, "", EventKind::kDropTable,
                 "the table was dropped at the source and is still at the sink");
}

void Decider::TruncateTableOf(const SchemaChange& part) {
  if (IsOfSnapshot(part, "truncates")) return;
  const RulingSubject subject = Subject(EventKind::kTruncateTable, {});
  const std::string rows = "the sink keeps its rows; later rows are upserts as usual";
  const auto filtered = FilterRuling(*in_.policy, subject);
  if (filtered && !has_table_) return AddQuiet(part, "", *filtered);
  if (!has_table_) return AddSatisfied(part, "", "already satisfied: the table is not at the sink");
  Ruling ruling = filtered ? *filtered : RuleFor(subject, part.part);
  if (Tries(ruling)) {
    auto plan = Plan(part, false);
    if (plan) {
      AddSent(part, "", ruling, part, std::move(*plan));
      return End(0, EventKind::kTruncateTable, "truncate.table");
    }
    ruling = Impossible(ruling, *in_.matrix, subject, plan.error().message());
  }
  const bool ignored = ruling.wish == Wish::kIgnore;
  AddQuiet(part, "", ruling, ignored ? "" : rows);
  if (ruling.wish == Wish::kFail || ignored) return;
  BeginOfOldRows(part, 0, "", EventKind::kTruncateTable,
                 "rows from before a TRUNCATE at the source remain at the sink");
}

void Decider::CommentTable(const SchemaChange& part, const AlterTableComment& comment) {
  const RulingSubject subject = Subject(EventKind::kAlterTableComment, {});
  if (auto filtered = FilterRuling(*in_.policy, subject)) return AddQuiet(part, "", *filtered);
  if (has_table_ && in_.matrix->keeps_schema && working_.comment == comment.to) {
    return AddSatisfied(part, "", "already satisfied: the sink's table has that comment");
  }
  Ruling ruling = RuleFor(subject, part.part);
  if (Tries(ruling)) {
    auto plan = Plan(part, false);
    if (plan) {
      AddSent(part, "", ruling, part, std::move(*plan));
      return End(0, EventKind::kAlterTableComment, "alter.table.comment");
    }
    ruling = Impossible(ruling, *in_.matrix, subject, plan.error().message());
  }
  AddQuiet(part, "", ruling);
  if (ruling.wish == Wish::kSkip) {
    Begin(part, 0, "", EventKind::kAlterTableComment,
          "the table keeps its old comment at the sink");
  }
}

// ---- internal changes ---------------------------------------------------------------------------

void Decider::ChangeKey(const SchemaChange& part, const KeyChange& key) {
  const std::vector<std::string> to = Names(*part.after, key.to);
  Ruling ruling;
  const PolicyRule* rule = MatchRule(*in_.policy, Subject(EventKind::kKeyChange, to));
  ruling.behavior = rule != nullptr && rule->behavior ? *rule->behavior : in_.policy->behavior;
  ruling.rule = "internal";
  if (!in_.matrix->keeps_schema) {
    UnitDecision unit = MakeUnit(part, "", ruling);
    unit.verdict.kind = VerdictKind::kApply;
    unit.verdict.reason = "messages carry the new key (" + Join(to) + ") from now on";
    units_.push_back(std::move(unit));
    Rebind([&](EvolvedSchema* schema) { schema->primary_key = to; });
    return BeginOfOldRows(part, 0, "", EventKind::kKeyChange,
                          "old keys remain in the compacted topic");
  }
  if (!has_table_ || working_.primary_key.empty()) {
    return AddSatisfied(part, "", "the sink's table has no key");
  }
  std::vector<std::string> sink_names;
  for (ColumnId id : key.to) {
    const EvolvedColumn* column = AtSink(id);
    sink_names.push_back(column != nullptr ? column->sink.name : "");
  }
  if (SameNames(sink_names, working_.primary_key)) {
    End(0, EventKind::kKeyChange, "key.change");
    return AddSatisfied(
        part, "", "already satisfied: the sink's key is (" + Join(working_.primary_key) + ")");
  }
  const auto forced = in_.forced.find(part.part);
  const bool skipped =
      forced != in_.forced.end() && (forced->second.by == ForcedVerdict::By::kSkip ||
                                     forced->second.by == ForcedVerdict::By::kReject);
  const std::string keys = "(" + Join(Names(*part.before, key.from)) + ") to (" + Join(to) + ")";
  if (!skipped && ruling.behavior != Behavior::kIgnore) {
    ruling.wish = Wish::kFail;
    ruling.reason =
        "the primary key changes from " + keys +
        ", and upserts under another key corrupt the sink's table: re-create the sink "
        "table, or, if the old key is still unique, keep it with driftless decide ID skip";
    return AddQuiet(part, "", ruling);
  }
  ruling.wish = Wish::kSkip;
  ruling.reason = skipped ? "skipped by decision: the sink keeps its key"
                          : "IGNORE applies nothing but create.table";
  if (skipped) ruling.rule = "decide skip";
  const std::string rows = "upserts follow the sink's key (" + Join(working_.primary_key) + ")";
  AddQuiet(part, "", ruling, rows);
  Begin(part, 0, "", EventKind::kKeyChange, "the source's key is (" + Join(to) + "); " + rows);
}

void Decider::RenameTableTo(const SchemaChange& part, const RenameTable& rename) {
  const std::string from = part.before->path.ToString();
  const bool captured = IsToCapturedName(rename);
  const std::string to = captured ? rename.to.ToString() : "a name that is not captured";
  if (captured && in_.policy->table_rename == TableRename::kFollow) {
    return AddSatisfied(
        part, "",
        "table.rename follow: rows of " + to + " go on into " + in_.sink_table.ToString());
  }
  Ruling ruling;
  ruling.wish = Wish::kSkip;
  ruling.behavior = in_.policy->behavior;
  ruling.rule = "internal";
  ruling.reason = from + " is called " + to + " now; this sink table stays and is abandoned";
  AddQuiet(part, "", ruling, "no more rows come for this table");
  BeginOfOldRows(part, 0, "", EventKind::kRenameTable,
                 "source table left: " + from + " was renamed to " + to);
}

}  // namespace driftless
