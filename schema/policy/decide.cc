#include "schema/policy/decide.h"

#include <algorithm>
#include <utility>

#include "schema/base/check.h"
#include "schema/policy/decider.h"
#include "schema/policy/table_options.h"
#include "schema/policy/told_statement.h"

namespace driftless {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

bool Sends(const UnitDecision& unit) {
  return !unit.satisfied &&
         (unit.verdict.kind == VerdictKind::kApply || unit.verdict.kind == VerdictKind::kRewrite);
}

// Which of several verdicts speaks for a part: the one that people must know of first.
int Weight(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kFail: return 5;
    case VerdictKind::kHold: return 4;
    case VerdictKind::kRewrite: return 3;
    case VerdictKind::kApply: return 2;
    case VerdictKind::kSkip: return 1;
    case VerdictKind::kIgnore: return 0;
  }
  return 0;
}

void AppendOnce(const std::string& text, std::string* all) {
  if (text.empty() || all->find(text) != std::string::npos) return;
  if (!all->empty()) *all += "; ";
  *all += text;
}

// The parts of the sent units, one change for all columns of a part, in the statement's order.
std::vector<SchemaChange> Regroup(const std::vector<const UnitDecision*>& sent) {
  std::vector<SchemaChange> parts;
  for (const UnitDecision* unit : sent) {
    if (!unit->change) continue;  // a revived column: bindings only
    SchemaChange change = *unit->change;
    const bool same = !parts.empty() && parts.back().part == change.part &&
                      parts.back().detail.index() == change.detail.index();
    if (!same) {
      parts.push_back(std::move(change));
      continue;
    }
    std::visit(Overloaded{
                   [&](AddColumns& to) {
                     const auto& from = std::get<AddColumns>(change.detail).items;
                     to.items.insert(to.items.end(), from.begin(), from.end());
                   },
                   [&](DropColumns& to) {
                     const auto& from = std::get<DropColumns>(change.detail).columns;
                     to.columns.insert(to.columns.end(), from.begin(), from.end());
                   },
                   [&](AlterColumnTypes& to) {
                     const auto& from = std::get<AlterColumnTypes>(change.detail).items;
                     to.items.insert(to.items.end(), from.begin(), from.end());
                   },
                   [&](RelaxNullability& to) {
                     const auto& from = std::get<RelaxNullability>(change.detail).columns;
                     to.columns.insert(to.columns.end(), from.begin(), from.end());
                   },
                   [&](AlterColumnComments& to) {
                     const auto& from = std::get<AlterColumnComments>(change.detail).items;
                     to.items.insert(to.items.end(), from.begin(), from.end());
                   },
                   [&](MoveColumns& to) {
                     const auto& from = std::get<MoveColumns>(change.detail).items;
                     to.items.insert(to.items.end(), from.begin(), from.end());
                   },
                   [&](auto&) { parts.push_back(change); },
               },
               parts.back().detail);
  }
  return parts;
}

}  // namespace

RulingSubject Decider::Subject(EventKind event, std::vector<std::string> columns) const {
  return {in_.sink, &in_.sink_table, event, std::move(columns), false};
}

// Rule, cell and behaviour, or what a person or the sink said about the part.
Ruling Decider::RuleFor(const RulingSubject& subject, uint32_t part) {
  Ruling ruling = Rule(*in_.policy, *in_.matrix, subject);
  const auto forced = in_.forced.find(part);
  if (forced == in_.forced.end()) return ruling;
  const bool would_send = ruling.wish == Wish::kTry || ruling.wish == Wish::kTryRewrite;
  ruling.hold = false;
  const std::string& message = forced->second.message;
  switch (forced->second.by) {
    case ForcedVerdict::By::kReject:
      if (!would_send) return ruling;
      ruling.wish = Wish::kSkip;
      ruling.by_person = true;
      ruling.rule = "reject";
      ruling.reason = "rejected" + (message.empty() ? "" : " (" + message + ")");
      break;
    case ForcedVerdict::By::kSkip:
      ruling.wish = Wish::kSkip;
      ruling.by_person = true;
      ruling.rule = "decide skip";
      ruling.reason = "skipped by decision" + (message.empty() ? "" : " (" + message + ")");
      break;
    case ForcedVerdict::By::kRefused:
      ruling.wish = Wish::kSkip;
      ruling.by_person = true;  // the sink's word
      ruling.rule = "behavior TRY_EVOLVE";
      ruling.reason = "the sink refused: " + message;
      break;
    case ForcedVerdict::By::kTimeout:
      if (!would_send) return ruling;
      ruling.wish = Wish::kFail;
      ruling.rule = "approval.on-timeout fail";
      ruling.reason = "nobody approved it in time; driftless approve ID, or driftless reject ID";
      break;
    case ForcedVerdict::By::kWaiting:
      if (!would_send) return ruling;
      ruling.wish = Wish::kSkip;
      ruling.by_person = true;  // somebody will
      ruling.reason = "waits for approval";
      break;
  }
  return ruling;
}

UnitDecision Decider::MakeUnit(const SchemaChange& part, const std::string& subject,
                               const Ruling& ruling) {
  UnitDecision unit;
  unit.part = part.part;
  unit.event = part.kind();
  unit.subject = subject;
  unit.behavior = ruling.behavior;
  unit.verdict.rule = ruling.rule;
  unit.verdict.cell = ruling.cell;
  unit.verdict.reason = ruling.reason;
  return unit;
}

void Decider::AddQuiet(const SchemaChange& part, const std::string& subject, const Ruling& ruling,
                       std::string rows, bool rows_may_stop) {
  UnitDecision unit = MakeUnit(part, subject, ruling);
  switch (ruling.wish) {
    case Wish::kIgnore: unit.verdict.kind = VerdictKind::kIgnore; break;
    case Wish::kFail: unit.verdict.kind = VerdictKind::kFail; break;
    case Wish::kNever: unit.verdict.never = true; [[fallthrough]];
    default: unit.verdict.kind = VerdictKind::kSkip; break;
  }
  if (unit.verdict.kind != VerdictKind::kFail) {
    unit.verdict.rows = std::move(rows);
    unit.verdict.rows_may_stop = rows_may_stop;
  }
  units_.push_back(std::move(unit));
}

void Decider::AddSatisfied(const SchemaChange& part, const std::string& subject,
                           std::string reason) {
  Ruling ruling;
  ruling.behavior = in_.policy->behavior;
  ruling.rule = "already satisfied";
  ruling.reason = std::move(reason);
  UnitDecision unit = MakeUnit(part, subject, ruling);
  unit.verdict.kind = VerdictKind::kApply;
  unit.satisfied = true;
  units_.push_back(std::move(unit));
}

void Decider::AddSkip(const SchemaChange& part, const std::string& subject, std::string reason) {
  Ruling ruling;
  ruling.wish = Wish::kSkip;
  ruling.behavior = in_.policy->behavior;
  ruling.rule = "evolved schema";
  ruling.reason = std::move(reason);
  AddQuiet(part, subject, ruling);
}

UnitDecision& Decider::AddSent(const SchemaChange& part, const std::string& subject,
                               const Ruling& ruling, SchemaChange change, SchemaPlan plan) {
  UnitDecision unit = MakeUnit(part, subject, ruling);
  unit.verdict.rewrites = plan.rewrites;
  unit.verdict.kind = plan.rewrites.empty() ? VerdictKind::kApply : VerdictKind::kRewrite;
  if (!plan.rewrites.empty()) {
    std::string forms;
    for (const std::string& form : plan.rewrites) AppendOnce(form, &forms);
    unit.verdict.reason = forms;
  } else if (unit.verdict.reason.empty()) {
    unit.verdict.reason = std::string(in_.matrix->sink) + " follows";
  }
  unit.verdict.rows = plan.rows;
  unit.verdict.rows_may_stop = plan.rows_may_stop;
  unit.hold = ruling.hold;
  working_ = plan.evolved;
  unit.change = std::move(change);
  unit.plan = std::move(plan);
  return units_.emplace_back(std::move(unit));
}

Result<SchemaPlan> Decider::PlanOn(const EvolvedSchema* evolved,
                                   std::span<const SchemaChange> parts, bool adapt,
                                   const StatementChange* statement) const {
  PlanRequest request;
  request.statement = statement == nullptr ? in_.change : statement;
  request.parts = parts;
  request.evolved = evolved;
  request.actual = in_.sink_was_read ? in_.actual : nullptr;
  request.sink_table = in_.sink_table;
  request.adapt_constraints = adapt;
  request.change_id = in_.change_id;
  request.table_options = in_.table_options;
  for (const SchemaChange& part : parts) {
    if (part.kind() != EventKind::kCreateTable) continue;
    for (const auto& [key, value] : part.after->options) {
      if (!key.starts_with(kTableOptionPrefix)) continue;
      request.table_options[key.substr(kTableOptionPrefix.size())] = value;
    }
  }
  return in_.planner->Plan(request);
}

Result<SchemaPlan> Decider::Plan(const SchemaChange& change, bool adapt) const {
  return PlanOn(has_table_ ? &working_ : nullptr, {&change, 1}, adapt);
}

void Decider::Begin(const SchemaChange& part, ColumnId column, const std::string& name,
                    EventKind event, std::string text) {
  out_.begun.push_back({column, name, event, std::move(text), part.part, false});
}

void Decider::End(ColumnId column, std::optional<EventKind> event, std::string by) {
  out_.ended.push_back({column, event, std::move(by)});
}

void Decider::DecidePart(const SchemaChange& part) {
  std::visit(Overloaded{
                 [&](const CreateTable&) { CreateTableOf(part); },
                 [&](const DropTable&) { DropTableOf(part); },
                 [&](const TruncateTable&) { TruncateTableOf(part); },
                 [&](const AddColumns& add) {
                   for (const auto& item : add.items) AddColumn(part, item, false);
                 },
                 [&](const DropColumns& drop) {
                   for (ColumnId id : drop.columns) DropColumn(part, id);
                   for (const auto& lost : drop.lost) LoseInput(part, lost);
                 },
                 [&](const RenameColumns& rename) { Rename(part, rename); },
                 [&](const AlterColumnTypes& alter) {
                   for (const auto& item : alter.items) AlterType(part, item);
                 },
                 [&](const RelaxNullability& relax) {
                   for (ColumnId id : relax.columns) Relax(part, id);
                 },
                 [&](const TightenNullability& tighten) { Tighten(part, tighten); },
                 [&](const AlterColumnComments& comments) {
                   for (const auto& item : comments.items) Comment(part, item);
                 },
                 [&](const AlterTableComment& comment) { CommentTable(part, comment); },
                 [&](const MoveColumns& move) {
                   for (const auto& item : move.items) Move(part, item);
                 },
                 [&](const RenameTable& rename) { RenameTableTo(part, rename); },
                 [&](const KeyChange& key) { ChangeKey(part, key); },
                 [&](const DefaultChange&) {
                   Ruling ruling;
                   ruling.wish = Wish::kNever;
                   ruling.behavior = in_.policy->behavior;
                   ruling.rule = "internal";
                   ruling.reason = "defaults are recorded only; a sink never sees them change";
                   AddQuiet(part, "", ruling);
                 },
             },
             part.detail);
}

Decision Decider::Run() {
  if (!KnowsTable()) {
    out_.needs_sink_table = true;
    return std::move(out_);
  }
  for (const SchemaChange& part : in_.change->parts) DecidePart(part);
  PlanAgain();
  Assemble();
  return std::move(out_);
}

// ---- putting the units together ---------------------------------------------------------------

PartDecision Decider::Combine(const std::vector<const UnitDecision*>& units) const {
  const UnitDecision* lead = units.front();
  bool same = true;
  for (const UnitDecision* unit : units) {
    if (Weight(unit->verdict.kind) > Weight(lead->verdict.kind)) lead = unit;
    same = same && unit->verdict.reason == units.front()->verdict.reason &&
           unit->verdict.kind == units.front()->verdict.kind;
  }
  PartDecision part;
  part.part = lead->part;
  part.event = lead->event;
  part.behavior = lead->behavior;
  part.verdict = lead->verdict;
  part.planned_again = lead->planned_again;
  part.satisfied = true;
  part.verdict.rewrites.clear();
  part.verdict.rows.clear();
  part.verdict.never = true;
  std::string reasons;
  for (const UnitDecision* unit : units) {
    part.satisfied = part.satisfied && unit->satisfied;
    part.verdict.never = part.verdict.never && unit->verdict.never;
    part.verdict.rows_may_stop = part.verdict.rows_may_stop || unit->verdict.rows_may_stop;
    AppendOnce(unit->verdict.rows, &part.verdict.rows);
    for (const std::string& rewrite : unit->verdict.rewrites) {
      auto& all = part.verdict.rewrites;
      if (std::find(all.begin(), all.end(), rewrite) == all.end()) all.push_back(rewrite);
    }
    AppendOnce((unit->subject.empty() ? "" : unit->subject + ": ") + unit->verdict.reason,
               &reasons);
  }
  if (!same) part.verdict.reason = reasons;
  return part;
}

void Decider::AssembleParts() {
  std::map<uint32_t, std::vector<const UnitDecision*>> by_part;
  for (const UnitDecision& unit : units_) by_part[unit.part].push_back(&unit);
  for (const auto& entry : by_part) {
    const uint32_t number = entry.first;
    const auto& units = entry.second;
    PartDecision part = Combine(units);
    const auto of = std::find_if(in_.change->parts.begin(), in_.change->parts.end(),
                                 [&](const SchemaChange& p) { return p.part == number; });
    if (of != in_.change->parts.end()) {
      part.detail = Describe(*of);
    } else if (units.front()->change) {
      part.detail = Describe(*units.front()->change);
    } else {
      part.detail = "add column " + units.front()->subject;
    }
    if (part.verdict.kind == VerdictKind::kFail) out_.fails = true;
    out_.parts.push_back(std::move(part));
  }
}

// Plans all parts together where the planner can do that with the same result.
bool Decider::UseCombinedPlan(const std::vector<const UnitDecision*>& sent) {
  const std::vector<SchemaChange> parts = Regroup(sent);
  bool adapt = false;
  for (const UnitDecision* unit : sent) {
    adapt = adapt || unit->verdict.kind == VerdictKind::kRewrite;
  }
  auto combined = PlanOn(in_.evolved != nullptr || has_table_ ? &base_ : nullptr, parts, adapt);
  if (!combined || combined->evolved.ToSinkTable() != working_.ToSinkTable()) return false;
  const size_t steps = combined->steps.size();
  std::vector<uint32_t> owners;
  for (const UnitDecision* unit : sent) {
    owners.insert(owners.end(), unit->plan.steps.size(), unit->part);
  }
  // Fewer steps than the parts alone have: parts share steps, which belong to the first of them.
  if (owners.size() != steps) owners.assign(steps, sent.front()->part);
  out_.plan = std::move(*combined);
  out_.step_parts = std::move(owners);
  return true;
}

void Decider::AssemblePlan() {
  std::vector<const UnitDecision*> sent;
  for (const UnitDecision& unit : units_) {
    if (Sends(unit) && !unit.plan.steps.empty()) sent.push_back(&unit);
  }
  const bool together = !in_.one_by_one && sent.size() > 1 && UseCombinedPlan(sent);
  if (!together) {
    for (const UnitDecision* unit : sent) {
      for (const Step& step : unit->plan.steps) {
        out_.plan.steps.push_back(step);
        out_.step_parts.push_back(unit->part);
      }
    }
  }
  out_.plan.change_id = in_.change_id;
  out_.plan.sink_table = in_.sink_table;
  out_.plan.evolved = working_;
  out_.plan.rewrites.clear();
  out_.plan.rows.clear();
  for (const UnitDecision& unit : units_) {
    AppendOnce(unit.verdict.rows, &out_.plan.rows);
    out_.plan.rows_may_stop = out_.plan.rows_may_stop || unit.verdict.rows_may_stop;
    for (const std::string& rewrite : unit.verdict.rewrites) {
      out_.plan.rewrites.push_back(rewrite);
    }
  }
  const std::set<uint32_t> owners(out_.step_parts.begin(), out_.step_parts.end());
  for (PartDecision& part : out_.parts) {
    const bool sends = std::any_of(sent.begin(), sent.end(), [&](const UnitDecision* unit) {
      return unit->part == part.part;
    });
    if (!sends) continue;
    // Parts that share their steps with others show all of them.
    const bool shares = owners.count(part.part) == 0 || (together && owners.size() == 1);
    for (size_t i = 0; i < out_.plan.steps.size(); ++i) {
      if (shares || out_.step_parts[i] == part.part) {
        part.actions.push_back(out_.plan.steps[i].action);
      }
    }
  }
}

// A sink that keeps no schema may carry the statement itself between the rows (Kafka): its planner
// is asked for that with a request that has the statement and no parts. As a step it stands behind
// the committed cut of the rows before it, and in front of the rows after it.
void Decider::AddStatement() {
  const bool is_for_nobody = in_.matrix->keeps_schema || !has_table_ || in_.late_drop ||
                             in_.one_by_one || !out_.plan.steps.empty();
  if (is_for_nobody) return;
  const bool is_filtered =
      std::all_of(out_.parts.begin(), out_.parts.end(),
                  [&](const PartDecision& part) { return IsKeptFromReaders(part, *in_.change); });
  if (is_filtered) return;
  std::optional<StatementChange> told;
  if (in_.evolved != nullptr) {
    told = StatementForReaders(*in_.change, *in_.evolved, working_, out_.parts);
  }
  if (told && told->parts.empty()) return;
  const auto statement = PlanOn(&working_, {}, false, told ? &*told : nullptr);
  if (!statement) return;
  for (const Step& step : statement->steps) {
    out_.plan.steps.push_back(step);
    out_.step_parts.push_back(out_.parts.front().part);
    out_.parts.front().actions.push_back(step.action);
  }
}

void Decider::Hold() {
  if (in_.approved) return;
  bool others = false;  // something besides drop.column would be sent
  for (const UnitDecision& unit : units_) {
    if (!Sends(unit)) continue;
    others = others || unit.event != EventKind::kDropColumn;
    if (unit.hold || in_.policy->approval.count(unit.event) > 0) out_.held = true;
  }
  if (!out_.held) return;
  out_.rows_wait = others;
  for (PartDecision& part : out_.parts) {
    const bool sends = !part.satisfied && (part.verdict.kind == VerdictKind::kApply ||
                                           part.verdict.kind == VerdictKind::kRewrite);
    if (!sends) continue;
    part.held = std::exchange(part.verdict.kind, VerdictKind::kHold);
    part.verdict.reason = "waits for approval; " + part.verdict.reason;
  }
}

void Decider::Assemble() {
  AssembleParts();
  if (out_.fails) {
    out_.plan = SchemaPlan();
    out_.plan.change_id = in_.change_id;
    out_.plan.sink_table = in_.sink_table;
    out_.begun.clear();
    out_.ended.clear();
    out_.evolved.reset();
    if (in_.evolved != nullptr) out_.evolved = *in_.evolved;
    return;
  }
  AssemblePlan();
  AddStatement();
  if (has_table_) out_.evolved = working_;
  Hold();
}

namespace {

// While a drop waits and rows go on, the table stands as after a skip.
void StandAsAfterSkip(const DecideInput& input, Decision* held) {
  DecideInput waiting = input;
  for (const PartDecision& part : held->parts) {
    if (part.verdict.kind == VerdictKind::kHold) {
      waiting.forced[part.part] = {ForcedVerdict::By::kWaiting, ""};
    }
  }
  const Decision skipped = Decide(waiting);
  held->evolved = skipped.evolved;
  held->begun = skipped.begun;
  held->ended = skipped.ended;
}

// A drop that was approved after its rows had gone on: its columns are free by now.
EvolvedSchema BindAgain(const DecideInput& input) {
  EvolvedSchema evolved = *input.evolved;
  for (const SchemaChange& part : input.change->parts) {
    const auto* drop = std::get_if<DropColumns>(&part.detail);
    if (drop == nullptr) continue;
    for (ColumnId id : drop->columns) {
      for (EvolvedColumn& column : evolved.columns) {
        if (column.source == 0 && column.former == id) column.source = id;
      }
    }
  }
  return evolved;
}

}  // namespace

Decision Decide(const DecideInput& original) {
  DRIFTLESS_CHECK(original.change != nullptr && original.policy != nullptr &&
                  original.matrix != nullptr && original.planner != nullptr);
  DecideInput input = original;
  std::optional<EvolvedSchema> bound;
  if (original.late_drop && original.evolved != nullptr) {
    bound = BindAgain(original);
    input.evolved = &*bound;
  }
  // A part that creates a column satisfies parts that stand before it, so its fate must be known
  // first: decide once, then again with that knowledge.
  std::set<ColumnId> created;
  for (int round = 0;; ++round) {
    Decider decider(input, created);
    Decision decision = decider.Run();
    if (round == 2 || decider.now_created() == created) {
      if (decision.held && !decision.rows_wait) StandAsAfterSkip(input, &decision);
      return decision;
    }
    created = decider.now_created();
  }
}

}  // namespace driftless
