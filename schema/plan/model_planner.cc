#include "schema/plan/model_planner.h"

#include <algorithm>
#include <utility>

#include "schema/base/check.h"
#include "schema/plan/recognise.h"
#include "schema/plan/type_fit.h"

namespace driftless {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

Error Impossible(std::string message) {
  return MakeError(ErrorKind::kUnsupported, std::move(message));
}

std::string Quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

// Works through the parts of one request on a copy of the evolved schema.
class PlanBuilder {
 public:
  PlanBuilder(const ModelTraits& traits, const PlanRequest& request)
      : traits_(traits), request_(request) {
    plan_.change_id = request.change_id;
    plan_.sink_table = request.sink_table;
    if (request.evolved != nullptr) working_ = *request.evolved;
    before_ = working_.ToSinkTable();
  }

  Result<SchemaPlan> Build() {
    for (const SchemaChange& part : request_.parts) {
      DRIFTLESS_TRY(std::visit([&](const auto& detail) { return Add(part, detail); }, part.detail));
    }
    Flush();
    plan_.evolved = std::move(working_);
    return std::move(plan_);
  }

 private:
  Result<void> Require(EventKind kind, std::string_view what) const {
    if (traits_.can.count(kind) > 0) return {};
    return Impossible(std::string(traits_.sink) + " cannot " + std::string(what));
  }

  // ---- tables ----

  Result<void> Add(const SchemaChange& part, const CreateTable&) {
    DRIFTLESS_TRY(Require(EventKind::kCreateTable, "create tables"));
    const TableSchema& source = *part.after;
    if (traits_.needs_key && source.primary_key.empty()) {
      return Impossible(std::string(traits_.sink) + " needs a primary key for table " +
                        source.path.ToString());
    }
    EvolvedSchema created;
    created.path = request_.sink_table;
    created.incarnation = source.incarnation;
    created.comment = source.comment;
    created.options = request_.table_options;
    for (const Column& column : source.columns) {
      DRIFTLESS_ASSIGN_OR_RETURN(SinkColumn sink, MapColumn(column, source.IsKey(column.id)));
      created.columns.push_back({std::move(sink), column.id, 0, EvolvedColumn::Fill::kNull});
    }
    for (ColumnId id : source.primary_key) created.primary_key.push_back(source.Find(id)->name);
    for (ColumnId id : source.partition_keys) {
      created.partition_keys.push_back(source.Find(id)->name);
    }
    working_ = std::move(created);
    Step step;
    step.action = "create table " + request_.sink_table.ToString();
    step.before.path = request_.sink_table;
    step.after = working_.ToSinkTable();
    step.creates_table = true;
    PushStep(std::move(step));
    return {};
  }

  Result<void> Add(const SchemaChange&, const DropTable&) {
    DRIFTLESS_TRY(Require(EventKind::kDropTable, "drop tables"));
    Flush();
    Step step;
    step.action = "drop table " + request_.sink_table.ToString();
    step.before = working_.ToSinkTable();
    PushStep(std::move(step));
    return {};
  }

  Result<void> Add(const SchemaChange&, const TruncateTable&) {
    DRIFTLESS_TRY(Require(EventKind::kTruncateTable, "truncate tables"));
    Flush();
    Step step;
    step.action = "truncate table " + request_.sink_table.ToString();
    step.before = working_.ToSinkTable();
    step.after = step.before;
    step.repeatable = true;
    PushStep(std::move(step));
    return {};
  }

  // ---- columns ----

  Result<SinkColumn> MapColumn(const Column& column, bool is_key) const {
    SinkColumn sink;
    sink.name = column.name;
    DRIFTLESS_ASSIGN_OR_RETURN(sink.type, traits_.map_type(column.type, is_key));
    const bool nullable = !is_key && (column.type.nullable() || traits_.creates_nullable);
    sink.type = sink.type.WithNullability(nullable);
    sink.native_type = sink.type.ToStringIgnoringNullability();
    sink.comment = column.comment;
    sink.default_value = column.default_value;
    return sink;
  }

  // Where the column goes, as an index into the working columns.
  size_t Position(const ColumnPlace& place) const {
    const auto index_of = [&](ColumnId id) {
      const auto& columns = working_.columns;
      const auto it = std::find_if(columns.begin(), columns.end(),
                                   [&](const EvolvedColumn& c) { return c.source == id; });
      return static_cast<size_t>(it - columns.begin());
    };
    switch (place.kind) {
      case ColumnPlace::Kind::kFirst: return 0;
      case ColumnPlace::Kind::kLast: return working_.columns.size();
      case ColumnPlace::Kind::kBefore: return index_of(place.anchor);
      case ColumnPlace::Kind::kAfter: {
        const size_t index = index_of(place.anchor);
        return std::min(index + 1, working_.columns.size());
      }
    }
    return working_.columns.size();
  }

  bool MayStandAt(size_t position) const {
    if (traits_.adds_last_only) return position == working_.columns.size();
    return !(traits_.never_adds_first && position == 0 && !working_.primary_key.empty());
  }

  bool MayBeNotNull(const Column& column) const {
    if (traits_.adds_not_null) return true;
    return traits_.adds_not_null_with_default &&
           column.default_value.kind == DefaultValue::Kind::kLiteral;
  }

  void Rewrite(std::string what) {
    auto& rewrites = plan_.rewrites;
    if (std::find(rewrites.begin(), rewrites.end(), what) == rewrites.end()) {
      rewrites.push_back(std::move(what));
    }
  }

  Result<void> Add(const SchemaChange&, const AddColumns& add) {
    DRIFTLESS_TRY(Require(EventKind::kAddColumn, "add columns"));
    for (const AddColumns::Item& item : add.items) DRIFTLESS_TRY(AddColumn(item));
    return {};
  }

  Result<void> AddColumn(const AddColumns::Item& item) {
    DRIFTLESS_ASSIGN_OR_RETURN(SinkColumn sink, MapColumn(item.column, false));
    size_t position = Position(item.place);
    if (!MayStandAt(position)) {
      if (!request_.adapt_constraints) {
        return Impossible(std::string(traits_.sink) + " adds columns only " +
                          (traits_.adds_last_only ? "at the end" : "behind the key columns"));
      }
      position = working_.columns.size();
      Rewrite("appended at the end");
    }
    if (!item.column.type.nullable() && !MayBeNotNull(item.column)) {
      if (!request_.adapt_constraints) {
        return Impossible(std::string(traits_.sink) + " cannot add the NOT NULL column " +
                          item.column.name + " to a table that has rows");
      }
      sink.type = sink.type.Nullable();
      Rewrite("made nullable");
    }
    const bool has_default = item.column.default_value.kind == DefaultValue::Kind::kLiteral;
    plan_.rows = has_default && traits_.old_rows_read_default
                     ? "old rows read the default " + item.column.default_value.text
                     : "old rows read NULL";
    if (FreedInThisStatement(sink.name)) Flush();
    std::string place = position == working_.columns.size() ? ""
                        : position == 0
                            ? " first"
                            : " after " + Quoted(working_.columns[position - 1].sink.name);
    Say("add column " + Quoted(sink.name) + " " + sink.type.ToString() + place);
    working_.columns.insert(
        working_.columns.begin() + static_cast<ptrdiff_t>(position),
        EvolvedColumn{std::move(sink), item.column.id, 0, EvolvedColumn::Fill::kNull});
    return StepDone();
  }

  // Drop and re-add are two steps, so that before and after can be told apart.
  bool FreedInThisStatement(const std::string& name) const {
    return before_.FindName(name) != nullptr && working_.FindName(name) == nullptr;
  }

  Result<EvolvedColumn*> Bound(ColumnId id) {
    for (EvolvedColumn& column : working_.columns) {
      if (column.source == id) return &column;
    }
    return MakeError(ErrorKind::kInternal, "column #" + std::to_string(id) + " is not at the sink");
  }

  bool IsKey(const std::string& name) const {
    return std::find(working_.primary_key.begin(), working_.primary_key.end(), name) !=
               working_.primary_key.end() ||
           IsPartition(name);
  }
  bool IsPartition(const std::string& name) const {
    return std::find(working_.partition_keys.begin(), working_.partition_keys.end(), name) !=
           working_.partition_keys.end();
  }

  Result<void> Add(const SchemaChange&, const DropColumns& drop) {
    DRIFTLESS_TRY(Require(EventKind::kDropColumn, "drop columns"));
    for (ColumnId id : drop.columns) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(id));
      if (IsKey(column->sink.name) && !traits_.drops_key_columns) {
        return Impossible(std::string(traits_.sink) + " cannot drop the key column " +
                          column->sink.name);
      }
      if (working_.columns.size() == 1) {
        return Impossible(std::string(traits_.sink) + " cannot drop the last column of a table");
      }
      Say("drop column " + Quoted(column->sink.name), "drop\t" + column->sink.name);
      working_.columns.erase(working_.columns.begin() + (column - working_.columns.data()));
      DRIFTLESS_TRY(StepDone());
    }
    return {};
  }

  Result<void> Add(const SchemaChange&, const RenameColumns& rename) {
    DRIFTLESS_TRY(Require(EventKind::kRenameColumn, "rename columns"));
    std::vector<std::pair<ColumnId, std::string>> open;
    for (const RenameColumns::Item& item : rename.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(item.column));
      if (IsPartition(column->sink.name) ||
          (IsKey(column->sink.name) && !traits_.renames_key_columns)) {
        return Impossible(std::string(traits_.sink) + " cannot rename the key column " +
                          column->sink.name);
      }
      open.emplace_back(item.column, item.to);
    }
    for (const auto& [id, to] : open) {
      const EvolvedColumn* holder = working_.FindName(to);
      const bool leaves =
          holder != nullptr && std::any_of(open.begin(), open.end(), [&](const auto& pair) {
            return pair.first == holder->source;
          });
      if (holder != nullptr && !leaves) return Impossible("the name " + to + " is taken");
    }
    return traits_.one_commit ? RenameAtOnce(open) : RenameInTurn(std::move(open));
  }

  Result<void> RenameAtOnce(const std::vector<std::pair<ColumnId, std::string>>& open) {
    for (const auto& [id, to] : open) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(id));
      Say("rename column " + Quoted(column->sink.name) + " to " + Quoted(to));
    }
    // Key names follow by identity, all at the same moment.
    std::vector<std::pair<std::string, std::string>> names;
    std::string effect = "rename";
    for (const auto& [id, to] : open) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(id));
      names.emplace_back(std::exchange(column->sink.name, to), to);
      effect += "\t" + names.back().first + "\t" + to;
    }
    effects_ += effect + "\n";
    for (std::string& key : working_.primary_key) {
      const auto it = std::find_if(names.begin(), names.end(),
                                   [&](const auto& pair) { return pair.first == key; });
      if (it != names.end()) key = it->second;
    }
    return StepDone();
  }

  // One statement for each, the target name free every time; a cycle goes over a temporary name.
  Result<void> RenameInTurn(std::vector<std::pair<ColumnId, std::string>> open) {
    while (!open.empty()) {
      const auto ready = std::find_if(open.begin(), open.end(), [&](const auto& pair) {
        return working_.FindName(pair.second) == nullptr;
      });
      if (ready != open.end()) {
        DRIFTLESS_TRY(RenameOne(ready->first, ready->second));
        open.erase(ready);
        continue;
      }
      DRIFTLESS_TRY(RenameOne(open.front().first, TemporaryName(open.front().second)));
    }
    return {};
  }

  std::string TemporaryName(const std::string& name) const {
    std::string temporary = name + "__driftless_swap";
    while (working_.FindName(temporary) != nullptr) temporary += "_";
    return temporary;
  }

  Result<void> RenameOne(ColumnId id, const std::string& to) {
    DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(id));
    Say("rename column " + Quoted(column->sink.name) + " to " + Quoted(to),
        "rename\t" + column->sink.name + "\t" + to);
    for (std::string& key : working_.primary_key) {
      if (key == column->sink.name) key = to;
    }
    column->sink.name = to;
    return StepDone();
  }

  Result<void> Add(const SchemaChange&, const AlterColumnTypes& alter) {
    DRIFTLESS_TRY(Require(EventKind::kAlterColumnType, "change the type of a column"));
    for (const AlterColumnTypes::Item& item : alter.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(item.column));
      const bool is_key = IsKey(column->sink.name);
      if (is_key && !traits_.changes_key_types) {
        return Impossible(std::string(traits_.sink) + " cannot change the type of key column " +
                          column->sink.name);
      }
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType to, traits_.map_type(item.to, is_key));
      to = to.WithNullability(column->sink.type.nullable());
      const std::string problem = traits_.type_change_problem == nullptr
                                      ? ""
                                      : traits_.type_change_problem(column->sink.type, to);
      if (!problem.empty()) return Impossible(problem);
      Say("change type of column " + Quoted(column->sink.name) + " to " + to.ToString());
      column->sink.type = to;
      column->sink.native_type = to.ToStringIgnoringNullability();
      DRIFTLESS_TRY(StepDone());
    }
    return {};
  }

  Result<void> Add(const SchemaChange&, const RelaxNullability& relax) {
    DRIFTLESS_TRY(Require(EventKind::kRelaxNullability, "make a column nullable"));
    for (ColumnId id : relax.columns) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(id));
      if (IsKey(column->sink.name)) {
        return Impossible(std::string(traits_.sink) + " needs NOT NULL for the key column " +
                          column->sink.name);
      }
      Say("make column " + Quoted(column->sink.name) + " nullable");
      column->sink.type = column->sink.type.Nullable();
      DRIFTLESS_TRY(StepDone());
    }
    return {};
  }

  Result<void> Add(const SchemaChange&, const AlterColumnComments& comments) {
    DRIFTLESS_TRY(Require(EventKind::kAlterColumnComment, "change a column's comment"));
    for (const AlterColumnComments::Item& item : comments.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(item.column));
      Say("change comment of column " + Quoted(column->sink.name));
      column->sink.comment = item.to;
      DRIFTLESS_TRY(StepDone());
    }
    return {};
  }

  Result<void> Add(const SchemaChange&, const AlterTableComment& comment) {
    DRIFTLESS_TRY(Require(EventKind::kAlterTableComment, "change a table's comment"));
    Say("change comment of table " + request_.sink_table.ToString());
    working_.comment = comment.to;
    return StepDone();
  }

  Result<void> Add(const SchemaChange&, const MoveColumns& move) {
    DRIFTLESS_TRY(Require(EventKind::kAlterColumnPosition, "move columns"));
    for (const MoveColumns::Item& item : move.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(item.column));
      EvolvedColumn moved = *column;
      working_.columns.erase(working_.columns.begin() + (column - working_.columns.data()));
      const size_t position = Position(item.place);
      Say("move column " + Quoted(moved.sink.name) +
          (position == 0 ? " first"
                         : " after " + Quoted(working_.columns[position - 1].sink.name)));
      working_.columns.insert(working_.columns.begin() + static_cast<ptrdiff_t>(position),
                              std::move(moved));
      DRIFTLESS_TRY(StepDone());
    }
    return {};
  }

  // The internal changes: nothing at the sink.
  Result<void> Add(const SchemaChange&, const TightenNullability&) { return {}; }
  Result<void> Add(const SchemaChange&, const RenameTable&) { return {}; }
  Result<void> Add(const SchemaChange&, const KeyChange&) { return {}; }
  Result<void> Add(const SchemaChange&, const DefaultChange&) { return {}; }

  // ---- steps ----

  // `effect`: what happens to rows, for whoever models a sink in memory (tests/sim): "drop\tc",
  // "rename\ta\tb", all pairs of one line at the same moment.
  void Say(std::string action, std::string effect = {}) {
    if (!action_.empty()) action_ += ", ";
    action_ += action;
    if (!effect.empty()) effects_ += effect + "\n";
  }

  Result<void> StepDone() {
    if (!traits_.one_commit) Flush();
    return {};
  }

  // Ends the step that has been put together since the last one.
  void Flush() {
    if (action_.empty()) return;
    Step step;
    step.action = std::exchange(action_, "");
    step.payload = std::exchange(effects_, "");
    step.before = std::exchange(before_, working_.ToSinkTable());
    step.after = before_;
    PushStep(std::move(step));
  }

  void PushStep(Step step) {
    if (step.after) before_ = *step.after;
    plan_.steps.push_back(std::move(step));
  }

  const ModelTraits& traits_;
  const PlanRequest& request_;
  SchemaPlan plan_;
  EvolvedSchema working_;
  SinkTable before_;    // the table at the start of the step under way
  std::string action_;  // of that step; empty: nothing yet
  std::string effects_;
};

class ModelPlanner : public SchemaPlanner {
 public:
  explicit ModelPlanner(const ModelTraits* traits) : traits_(*traits) {
    DRIFTLESS_CHECK(traits_.map_type != nullptr);
  }

  Result<LogicalType> MapType(const LogicalType& type, bool is_key) const override {
    DRIFTLESS_ASSIGN_OR_RETURN(LogicalType mapped, traits_.map_type(type, is_key));
    const bool nullable = !is_key && (type.nullable() || traits_.creates_nullable);
    return mapped.WithNullability(nullable);
  }

  Result<SchemaPlan> Plan(const PlanRequest& request) const override {
    return PlanBuilder(traits_, request).Build();
  }

  StepState Recognise(const SchemaPlan& plan, size_t step, const SinkTable* actual) const override {
    DRIFTLESS_CHECK(step < plan.steps.size());
    return RecogniseStep(plan.steps[step], actual);
  }

  bool Holds(const LogicalType& sink, const LogicalType& wanted) const override {
    const auto mapped = traits_.map_type(wanted, false);
    return mapped.has_value() && HoldsEveryValue(sink, *mapped);
  }

 private:
  const ModelTraits& traits_;
};

}  // namespace

std::unique_ptr<SchemaPlanner> MakeModelPlanner(const ModelTraits* traits) {
  return std::make_unique<ModelPlanner>(traits);
}

}  // namespace driftless
