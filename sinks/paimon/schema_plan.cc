#include <algorithm>
#include <utility>

#include "schema/base/letter_case.h"
#include "schema/plan/type_fit.h"
#include "sinks/api/registry.h"
#include "sinks/lake/step_mark.h"
#include "sinks/paimon/catalog.h"
#include "sinks/paimon/key_layout.h"
#include "sinks/paimon/planner.h"
#include "sinks/paimon/schema_change.h"
#include "sinks/paimon/types.h"

namespace driftless::paimon {
namespace {

using Kind = ColumnChange::Kind;

Error Impossible(std::string message) {
  return MakeError(ErrorKind::kUnsupported, std::move(message));
}

std::string Quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

bool IsIn(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string QuotedList(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + Quoted(name);
  return text;
}

// Names that Paimon uses itself (its SpecialFields).
Result<void> CheckName(std::string_view name) {
  for (const std::string_view reserved :
       {"_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID"}) {
    if (name == reserved) return Impossible("Paimon reserves the column name " + std::string(name));
  }
  if (name.starts_with("_KEY_")) {
    return Impossible("Paimon reserves column names that begin with _KEY_: " + std::string(name));
  }
  return {};
}

SinkColumn ToSinkColumn(const PaimonField& field) {
  PaimonSchema schema;
  schema.fields = {field};
  return ToSinkTable(schema, {}).columns.front();
}

// The CREATE TABLE that Flink SQL would take, for people.
std::string CreateText(const SinkTable& table) {
  std::string text =
      "CREATE TABLE " + Quoted(table.path.database) + "." + Quoted(table.path.table) + " (";
  for (const SinkColumn& column : table.columns) {
    text += (&column == table.columns.data() ? "" : ", ") + Quoted(column.name) + " " +
            column.type.ToString();
  }
  if (!table.primary_key.empty()) {
    text += ", PRIMARY KEY (" + QuotedList(table.primary_key) + ") NOT ENFORCED";
  }
  text += ")";
  if (!table.partition_keys.empty()) {
    text += " PARTITIONED BY (" + QuotedList(table.partition_keys) + ")";
  }
  std::string options;
  for (const auto& [key, value] : table.options) {
    options += (options.empty() ? "'" : ", '") + key + "' = '" + value + "'";
  }
  return options.empty() ? text : text + " WITH (" + options + ")";
}

// Works through the parts of one request on a copy of the evolved schema.
class PlanBuilder {
 public:
  PlanBuilder(const PaimonOptions& options, const PlanRequest& request)
      : options_(options), request_(request) {
    plan_.change_id = request.change_id;
    plan_.sink_table = request.sink_table;
    if (request.evolved != nullptr) working_ = *request.evolved;
    FollowLetterCase();
    before_ = working_.ToSinkTable();
  }

  Result<SchemaPlan> Build() {
    for (const SchemaChange& part : request_.parts) {
      DRIFTLESS_TRY(
          std::visit([&](const auto& detail) { return Plan(part, detail); }, part.detail));
    }
    Flush();
    plan_.evolved = std::move(working_);
    return std::move(plan_);
  }

 private:
  // A column that the table has in another letter case than recorded is the same column.
  void FollowLetterCase() {
    if (request_.actual == nullptr) return;
    for (EvolvedColumn& column : working_.columns) {
      if (request_.actual->FindName(column.sink.name) != nullptr) continue;
      for (const SinkColumn& actual : request_.actual->columns) {
        if (!EqualsIgnoringCase(actual.name, column.sink.name)) continue;
        Rewrite("column " + Quoted(column.sink.name) + " is called " + Quoted(actual.name) +
                " at the sink");
        RenameKeys({{column.sink.name, actual.name}});
        column.sink.name = actual.name;
        break;
      }
    }
  }

  void Rewrite(std::string what) {
    if (!IsIn(plan_.rewrites, what)) plan_.rewrites.push_back(std::move(what));
  }
  void Rows(const std::string& what) {
    if (plan_.rows.find(what) != std::string::npos) return;
    plan_.rows += (plan_.rows.empty() ? "" : "; ") + what;
  }

  Result<EvolvedColumn*> Bound(ColumnId id) {
    for (EvolvedColumn& column : working_.columns) {
      if (column.source == id) return &column;
    }
    return MakeError(ErrorKind::kInternal, "column #" + std::to_string(id) + " is not at the sink");
  }
  bool IsKey(const std::string& name) const {
    return IsIn(working_.primary_key, name) || IsIn(working_.partition_keys, name);
  }
  void RenameKeys(const std::vector<std::pair<std::string, std::string>>& names) {
    for (auto* keys : {&working_.primary_key, &working_.partition_keys}) {
      for (std::string& key : *keys) {
        const auto found =
            std::ranges::find(names, key, &std::pair<std::string, std::string>::first);
        if (found != names.end()) key = found->second;
      }
    }
  }

  // ---- tables ----

  Result<std::vector<std::string>> PartitionKeys(const TableSchema& source) const {
    std::vector<std::string> keys;
    if (const auto* configured = options_.PartitionKeysOf(request_.sink_table)) {
      for (const std::string& name : *configured) {
        int index = source.IndexOfName(name);
        if (index < 0) index = source.IndexOfNameIgnoringCase(name);
        if (index < 0) {
          return MakeError(ErrorKind::kUnsupported, "partition.key names " + name + ", which " +
                                                        source.path.ToString() + " does not have");
        }
        keys.push_back(source.columns[static_cast<size_t>(index)].name);
      }
      return keys;
    }
    for (const ColumnId id : source.partition_keys) keys.push_back(source.Find(id)->name);
    return keys;
  }

  Result<void> Plan(const SchemaChange& part, const CreateTable&) {
    const TableSchema& source = *part.after;
    PaimonSchema schema;
    DRIFTLESS_ASSIGN_OR_RETURN(schema.partition_keys, PartitionKeys(source));
    for (const ColumnId id : source.primary_key) {
      schema.primary_keys.push_back(source.Find(id)->name);
    }
    if (!schema.primary_keys.empty()) {
      for (const std::string& key : schema.partition_keys) {
        if (IsIn(schema.primary_keys, key)) continue;
        schema.primary_keys.push_back(key);
        Rewrite("partition column " + Quoted(key) + " joined the primary key");
      }
      if (schema.TrimmedPrimaryKeys().empty()) {
        return Impossible("the primary key of " + source.path.ToString() +
                          " has no column that is not a partition column");
      }
    }
    schema.options = options_.table_properties;
    for (const auto& [key, value] : request_.table_options) schema.options[key] = value;
    schema.comment = source.comment;
    EvolvedSchema created;
    created.path = request_.sink_table;
    created.incarnation = source.incarnation;
    for (const Column& column : source.columns) {
      DRIFTLESS_TRY(CheckName(column.name));
      const bool is_key = IsIn(schema.primary_keys, column.name);
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType type, ToPaimonType(column.type, is_key));
      if (is_key) {
        if (type.nullable()) {
          plan_.rows_may_stop = true;
          Rows("a row whose " + column.name + " is NULL stops the pipeline");
        }
        type = type.NotNull();
      }
      NoteLimits(column.name, type);
      schema.fields.push_back(
          MakeField(column.name, type, column.comment, &schema.highest_field_id));
      EvolvedColumn evolved;
      evolved.sink = ToSinkColumn(schema.fields.back());
      evolved.source = column.id;
      created.columns.push_back(std::move(evolved));
    }
    created.primary_key = schema.primary_keys;
    created.partition_keys = schema.partition_keys;
    created.options = schema.options;
    created.comment = schema.comment;
    DRIFTLESS_TRY(CheckTableOptions(created.options));
    if (const auto layout = KeyLayout::Make(created, created.options); !layout) {
      return layout.error();
    }
    working_ = std::move(created);
    PushCreate(std::move(schema));
    return {};
  }

  void PushCreate(PaimonSchema schema) {
    const std::string mark = Mark();
    schema.options[std::string(kChangeOption)] = mark;
    SchemaCommit commit;
    commit.change = mark;
    commit.create = std::move(schema);
    Step step;
    step.payload = EncodeSchemaCommit(commit);
    step.before.path = request_.sink_table;
    step.after = working_.ToSinkTable();
    step.action = CreateText(*step.after);
    step.creates_table = true;
    before_ = *step.after;
    plan_.steps.push_back(std::move(step));
  }

  // What the type cannot keep of a value, said once.
  void NoteLimits(const std::string& name, const LogicalType& type) {
    if (type.kind() == TypeKind::kTime && type.precision() > 3) {
      Rows("times of " + name + " are kept in milliseconds");
    }
  }

  Result<void> Plan(const SchemaChange&, const DropTable&) {
    return Impossible("Driftless does not drop Paimon tables");
  }
  Result<void> Plan(const SchemaChange&, const TruncateTable&) {
    return Impossible("Driftless does not truncate Paimon tables");
  }

  // ---- columns ----

  size_t IndexOf(ColumnId id) const {
    const auto found = std::ranges::find(working_.columns, id, &EvolvedColumn::source);
    return static_cast<size_t>(found - working_.columns.begin());
  }
  size_t Position(const ColumnPlace& place) const {
    switch (place.kind) {
      case ColumnPlace::Kind::kFirst: return 0;
      case ColumnPlace::Kind::kLast: return working_.columns.size();
      case ColumnPlace::Kind::kBefore: return IndexOf(place.anchor);
      case ColumnPlace::Kind::kAfter:
        return std::min(IndexOf(place.anchor) + 1, working_.columns.size());
    }
    return working_.columns.size();
  }
  std::optional<std::string> PlaceAt(size_t position) const {
    if (position == working_.columns.size()) return std::nullopt;
    return position == 0 ? std::string() : working_.columns[position - 1].sink.name;
  }

  Result<void> Plan(const SchemaChange&, const AddColumns& add) {
    for (const AddColumns::Item& item : add.items) DRIFTLESS_TRY(AddColumn(item));
    return {};
  }

  Result<void> AddColumn(const AddColumns::Item& item) {
    const Column& column = item.column;
    DRIFTLESS_TRY(CheckName(column.name));
    if (working_.FindName(column.name) != nullptr) {
      return Impossible("the table has a column " + column.name + " already");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(LogicalType type, ToPaimonType(column.type, false));
    if (!type.nullable()) {
      if (!request_.adapt_constraints) {
        return Impossible("Paimon cannot add the NOT NULL column " + column.name +
                          ": rows that are there have no value for it");
      }
      type = type.Nullable();
      Rewrite("made nullable");
    }
    // A name that this statement freed: two commits, so that before and after can be told apart.
    if (before_.FindName(column.name) != nullptr) Flush();
    NoteLimits(column.name, type);
    Rows("old rows read NULL");
    const size_t position = Position(item.place);
    ColumnChange change;
    change.kind = Kind::kAdd;
    change.name = column.name;
    change.type = type;
    change.comment = column.comment;
    change.after = PlaceAt(position);
    PaimonField field;
    field.name = column.name;
    field.type = type;
    field.description = column.comment;
    EvolvedColumn evolved;
    evolved.sink = ToSinkColumn(field);  // its id is given out by the commit
    evolved.source = column.id;
    working_.columns.insert(working_.columns.begin() + static_cast<ptrdiff_t>(position),
                            std::move(evolved));
    changes_.push_back(std::move(change));
    return {};
  }

  Result<void> Plan(const SchemaChange&, const DropColumns& drop) {
    for (const ColumnId id : drop.columns) {
      DRIFTLESS_ASSIGN_OR_RETURN(const EvolvedColumn* column, Bound(id));
      const std::string name = column->sink.name;
      if (IsKey(name)) return Impossible("Paimon cannot drop the key column " + name);
      if (working_.columns.size() == 1) {
        return Impossible("Paimon cannot drop the last column of a table");
      }
      DRIFTLESS_TRY(CheckNotInOptions(name));
      working_.columns.erase(working_.columns.begin() + (column - working_.columns.data()));
      ColumnChange change;
      change.kind = Kind::kDrop;
      change.name = name;
      changes_.push_back(std::move(change));
    }
    return {};
  }

  // A column that an option names cannot go: the next reader would refuse the table.
  Result<void> CheckNotInOptions(const std::string& name) const {
    for (const std::string_view key : {"bucket-key", "sequence.field"}) {
      const auto option = working_.options.find(std::string(key));
      if (option == working_.options.end()) continue;
      const std::string list = "," + option->second + ",";
      if (list.find("," + name + ",") != std::string::npos) {
        return Impossible("the table's option " + option->first + " names column " + name);
      }
    }
    return {};
  }

  Result<void> Plan(const SchemaChange&, const RenameColumns& rename) {
    ColumnChange change;
    change.kind = Kind::kRename;
    for (const RenameColumns::Item& item : rename.items) {
      DRIFTLESS_TRY(CheckName(item.to));
      DRIFTLESS_ASSIGN_OR_RETURN(const EvolvedColumn* column, Bound(item.column));
      const std::string& from = column->sink.name;
      if (IsIn(working_.partition_keys, from)) {
        return Impossible("Paimon cannot rename the partition column " + from);
      }
      if (from != item.to) change.renames.emplace_back(from, item.to);
    }
    if (change.renames.empty()) return {};
    // A name that an earlier part of this statement freed.
    for (const auto& [from, to] : change.renames) {
      if (working_.FindName(to) == nullptr && before_.FindName(to) != nullptr) Flush();
    }
    for (EvolvedColumn& column : working_.columns) {
      for (const auto& [from, to] : change.renames) {
        if (column.sink.name != from) continue;
        column.sink.name = to;
        break;
      }
    }
    RenameKeys(change.renames);
    PaimonSchema options;  // options that name columns follow, as in the commit
    for (const auto& [from, to] : change.renames) {
      options.fields.push_back({static_cast<int32_t>(options.fields.size()), from, {}, {}, "", {}});
    }
    options.options = working_.options;
    DRIFTLESS_TRY(ApplyChanges({change}, &options));
    working_.options = std::move(options.options);
    for (size_t i = 0; i < working_.columns.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (working_.columns[i].sink.name == working_.columns[j].sink.name) {
          return Impossible("the table has a column " + working_.columns[i].sink.name + " already");
        }
      }
    }
    changes_.push_back(std::move(change));
    return {};
  }

  Result<void> Plan(const SchemaChange&, const AlterColumnTypes& alter) {
    for (const AlterColumnTypes::Item& item : alter.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(item.column));
      const std::string& name = column->sink.name;
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType to, ToPaimonType(item.to, IsKey(name)));
      const LogicalType from = column->sink.type;
      if (from.EqualsIgnoringNullability(to)) continue;
      if (IsKey(name)) {
        return Impossible("Paimon cannot change the type of the key column " + name);
      }
      if (!CanChangeType(from, to)) {
        return Impossible("Paimon cannot turn " + from.ToStringIgnoringNullability() + " into " +
                          to.ToStringIgnoringNullability() + " (column " + name + ")");
      }
      NoteConversion(name, from, to);
      NoteLimits(name, to);
      PaimonField field;
      field.name = name;
      field.type = to.WithNullability(from.nullable());
      column->sink.type = field.type;
      column->sink.native_type = ToSinkColumn(field).native_type;
      ColumnChange change;
      change.kind = Kind::kSetType;
      change.name = name;
      change.type = to;
      changes_.push_back(std::move(change));
    }
    return {};
  }

  // Old files keep their bytes; readers cast them, each in its own way where the type shrinks.
  void NoteConversion(const std::string& name, const LogicalType& from, const LogicalType& to) {
    if (HoldsEveryValue(to, from)) {
      Rows("old rows keep their values");
    } else if (from.IsCharacter() && !to.IsCharacter() && !to.IsBytes()) {
      Rows("old rows of " + name + " are converted by readers, which fail on a text that is no " +
           to.ToStringIgnoringNullability());
    } else {
      Rows("old rows of " + name + " are converted by readers; values that do not fit " +
           to.ToStringIgnoringNullability() + " are cut or wrap around");
    }
  }

  Result<void> Plan(const SchemaChange&, const RelaxNullability& relax) {
    for (const ColumnId id : relax.columns) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(id));
      if (column->sink.type.nullable()) continue;
      if (IsIn(working_.primary_key, column->sink.name)) {
        return Impossible("Paimon needs NOT NULL for the key column " + column->sink.name);
      }
      column->sink.type = column->sink.type.Nullable();
      PaimonField field;
      field.type = column->sink.type;
      column->sink.native_type = ToSinkColumn(field).native_type;
      ColumnChange change;
      change.kind = Kind::kRelax;
      change.name = column->sink.name;
      changes_.push_back(std::move(change));
    }
    return {};
  }

  Result<void> Plan(const SchemaChange&, const AlterColumnComments& comments) {
    for (const AlterColumnComments::Item& item : comments.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(EvolvedColumn * column, Bound(item.column));
      column->sink.comment = item.to;
      ColumnChange change;
      change.kind = Kind::kSetComment;
      change.name = column->sink.name;
      change.comment = item.to;
      changes_.push_back(std::move(change));
    }
    return {};
  }

  Result<void> Plan(const SchemaChange&, const AlterTableComment& comment) {
    working_.comment = comment.to;
    ColumnChange change;
    change.kind = Kind::kSetTableComment;
    change.comment = comment.to;
    changes_.push_back(std::move(change));
    return {};
  }

  Result<void> Plan(const SchemaChange&, const MoveColumns& move) {
    for (const MoveColumns::Item& item : move.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(const EvolvedColumn* column, Bound(item.column));
      EvolvedColumn moved = *column;
      working_.columns.erase(working_.columns.begin() + (column - working_.columns.data()));
      const size_t position = Position(item.place);
      ColumnChange change;
      change.kind = Kind::kMove;
      change.name = moved.sink.name;
      change.after = PlaceAt(position);
      changes_.push_back(std::move(change));
      working_.columns.insert(working_.columns.begin() + static_cast<ptrdiff_t>(position),
                              std::move(moved));
    }
    return {};
  }

  // The internal changes: nothing at the sink.
  Result<void> Plan(const SchemaChange&, const TightenNullability&) { return {}; }
  Result<void> Plan(const SchemaChange&, const RenameTable&) { return {}; }
  Result<void> Plan(const SchemaChange&, const KeyChange&) { return {}; }
  Result<void> Plan(const SchemaChange&, const DefaultChange&) { return {}; }

  // ---- steps ----

  std::string Mark() const { return lake::StepMark(request_.change_id, plan_.steps.size()); }

  // Makes one schema commit of the changes that have come together.
  void Flush() {
    if (changes_.empty()) return;
    SchemaCommit commit;
    commit.change = Mark();
    commit.changes = std::exchange(changes_, {});
    Step step;
    for (const ColumnChange& change : commit.changes) {
      step.action += (step.action.empty() ? "schema commit: " : ", ") + Describe(change);
    }
    step.payload = EncodeSchemaCommit(commit);
    step.before = std::exchange(before_, working_.ToSinkTable());
    step.after = before_;
    plan_.steps.push_back(std::move(step));
  }

  const PaimonOptions& options_;
  const PlanRequest& request_;
  SchemaPlan plan_;
  EvolvedSchema working_;
  SinkTable before_;  // the table at the start of the step under way
  std::vector<ColumnChange> changes_;
};

class PaimonPlanner : public SchemaPlanner {
 public:
  explicit PaimonPlanner(PaimonOptions options) : options_(std::move(options)) {}

  Result<LogicalType> MapType(const LogicalType& type, bool is_key) const override {
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType mapped, ToPaimonType(type, is_key));
    return is_key ? mapped.NotNull() : mapped;
  }

  Result<SchemaPlan> Plan(const PlanRequest& request) const override {
    return PlanBuilder(options_, request).Build();
  }

  StepState Recognise(const SchemaPlan& plan, size_t index,
                      const SinkTable* actual) const override {
    return lake::RecogniseCommit(plan, index, actual);
  }

  bool Holds(const LogicalType& sink, const LogicalType& wanted) const override {
    const Result<LogicalType> mapped = ToPaimonType(wanted, false);
    return mapped && driftless::HoldsEveryValue(sink, *mapped);
  }

 private:
  PaimonOptions options_;
};

}  // namespace

std::unique_ptr<SchemaPlanner> MakePaimonPlanner(PaimonOptions options) {
  return std::make_unique<PaimonPlanner>(std::move(options));
}

}  // namespace driftless::paimon

namespace driftless {

Result<std::unique_ptr<SchemaPlanner>> MakePaimonPlanner(const OptionValues& values) {
  DRIFTLESS_ASSIGN_OR_RETURN(paimon::PaimonOptions options, paimon::ReadPaimonOptions(values));
  return paimon::MakePaimonPlanner(std::move(options));
}

}  // namespace driftless
