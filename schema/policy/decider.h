#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schema/policy/decide.h"
#include "schema/policy/ruling.h"

// The inside of Decide: one object works through one statement. decide.cc puts the whole together,
// decide_columns.cc decides about drops, types and nullability, decide_names.cc about renames, adds
// and places, decide_tables.cc about tables and keys.
namespace driftless {

// What was decided about one column (or the whole) of one part.
struct UnitDecision {
  uint32_t part = 0;
  EventKind event = EventKind::kAddColumn;
  std::string subject;  // the column's name; empty for the table
  Verdict verdict;
  Behavior behavior = Behavior::kLenient;
  bool satisfied = false;
  bool hold = false;  // a rule says so
  bool planned_again = false;
  std::optional<SchemaChange> change;  // what the planner was asked for, in the sink's terms
  SchemaPlan plan;  // of this unit alone, on the schema that the units before it leave
};

class Decider {
 public:
  // `created`: columns of this statement that a part creates; their other parts are satisfied.
  Decider(const DecideInput& input, std::set<ColumnId> created)
      : in_(input), created_(std::move(created)) {}

  Decision Run();
  // Columns that an accepted add, or a rename as add, created.
  const std::set<ColumnId>& now_created() const { return now_created_; }

 private:
  // ---- decide.cc ----
  void DecidePart(const SchemaChange& part);
  Ruling RuleFor(const RulingSubject& subject, uint32_t part);
  RulingSubject Subject(EventKind event, std::vector<std::string> columns) const;
  UnitDecision MakeUnit(const SchemaChange& part, const std::string& subject, const Ruling& ruling);
  // A verdict that sends nothing, from the ruling's own words.
  void AddQuiet(const SchemaChange& part, const std::string& subject, const Ruling& ruling,
                std::string rows = {}, bool rows_may_stop = false);
  void AddSatisfied(const SchemaChange& part, const std::string& subject, std::string reason);
  void AddSkip(const SchemaChange& part, const std::string& subject, std::string reason);
  // A verdict that sends `plan`; `working_` becomes the plan's schema.
  UnitDecision& AddSent(const SchemaChange& part, const std::string& subject, const Ruling& ruling,
                        SchemaChange change, SchemaPlan plan);
  Result<SchemaPlan> Plan(const SchemaChange& change, bool adapt) const;
  // `statement`: told in place of the source's own; null: that.
  Result<SchemaPlan> PlanOn(const EvolvedSchema* evolved, std::span<const SchemaChange> parts,
                            bool adapt, const StatementChange* statement = nullptr) const;
  void Begin(const SchemaChange& part, ColumnId column, const std::string& name, EventKind event,
             std::string text);
  // The same about rows that the sink has already, while later ones are right.
  void BeginOfOldRows(const SchemaChange& part, ColumnId column, const std::string& name,
                      EventKind event, std::string text) {
    Begin(part, column, name, event, std::move(text));
    out_.begun.back().of_old_rows = true;
  }
  void End(ColumnId column, std::optional<EventKind> event, std::string by);
  void Assemble();
  void AssemblePlan();
  void AddStatement();
  bool UseCombinedPlan(const std::vector<const UnitDecision*>& sent);
  void AssembleParts();
  void Hold();
  PartDecision Combine(const std::vector<const UnitDecision*>& units) const;

  // ---- decide_columns.cc ----
  void DropColumn(const SchemaChange& part, ColumnId id);
  void LoseInput(const SchemaChange& part, const DropColumns::LostInput& lost);
  // The column stays at the sink without a source. False: EVOLVE cannot leave it so (a fail was
  // added).
  struct Freed {
    bool fails = false;
    std::string rows;
  };
  Freed FreeColumn(const Ruling& ruling, ColumnId id, bool keep_is_default);
  void DropAsNullable(const SchemaChange& part, ColumnId id, const Ruling& ruling);
  void AlterType(const SchemaChange& part, const AlterColumnTypes::Item& item);
  void SkipType(const SchemaChange& part, const AlterColumnTypes::Item& item, const Ruling& ruling);
  void Relax(const SchemaChange& part, ColumnId id);
  void Tighten(const SchemaChange& part, const TightenNullability& tighten);
  void Rename(const SchemaChange& part, const RenameColumns& rename);
  void RenameTogether(const SchemaChange& part, std::vector<RenameColumns::Item> items,
                      std::map<ColumnId, Ruling> rulings);
  void RenameAsAdd(const SchemaChange& part, const RenameColumns::Item& item, const Ruling& ruling);
  void SkipRename(const SchemaChange& part, const RenameColumns::Item& item, const Ruling& ruling);
  void AddColumn(const SchemaChange& part, const AddColumns::Item& item, bool again);
  void Revive(const SchemaChange& part, const AddColumns::Item& item, const Ruling& ruling);
  void SkipAdd(const SchemaChange& part, const AddColumns::Item& item, const Ruling& ruling);
  void Comment(const SchemaChange& part, const AlterColumnComments::Item& item);
  void Move(const SchemaChange& part, const MoveColumns::Item& item);
  void PlanAgain();
  ColumnPlace Translate(const SchemaChange& part, ColumnId id, const ColumnPlace& place) const;
  const EvolvedColumn* AtSink(ColumnId id) const { return working_.FindSource(id); }
  const EvolvedColumn* NameAtSink(const std::string& name) const;
  bool SameName(const std::string& a, const std::string& b) const;
  bool IsKeyAtSink(const std::string& name) const;
  std::string CastRows(const SinkColumn& sink, const LogicalType& wanted, const Ruling& ruling,
                       bool* may_stop) const;
  std::string NullRows(const std::string& name, const Ruling& ruling, bool* may_stop) const;

  // ---- decide_tables.cc ----
  void CreateTableOf(const SchemaChange& part);
  void CreateNew(const SchemaChange& part, const Ruling& ruling);
  void GoWithoutTable(const SchemaChange& part, const Ruling& ruling);
  void CompareRecorded(const SchemaChange& part);
  void Adopt(const SchemaChange& part, const Ruling& ruling, bool was_dropped);
  bool IsOfSnapshot(const SchemaChange& part, const std::string& verb);
  void DropTableOf(const SchemaChange& part);
  void TruncateTableOf(const SchemaChange& part);
  void CommentTable(const SchemaChange& part, const AlterTableComment& comment);
  void ChangeKey(const SchemaChange& part, const KeyChange& key);
  void RenameTableTo(const SchemaChange& part, const RenameTable& rename);
  bool KnowsTable();

  // The column's name at the source; "#id" where neither schema has it any more.
  static std::string SourceName(const SchemaChange& part, ColumnId id);
  // The sink column that `id` feeds; null: none.
  static EvolvedColumn* Fed(EvolvedSchema* schema, ColumnId id);
  // Leaves the sink column that `id` feeds without a source.
  static void Free(EvolvedSchema* schema, ColumnId id, EvolvedColumn::Fill fill);
  // `part` with another detail, as it is said to the planner.
  static SchemaChange With(const SchemaChange& part, ChangeDetail detail);
  static constexpr const char* kNotAtSink = "column is not at the sink";

  // Applies a change of bindings to the schema that later units see and to the one that a combined
  // plan starts from.
  template <typename F>
  void Rebind(F change) {
    change(&working_);
    change(&base_);
  }

  const DecideInput& in_;
  std::set<ColumnId> created_;
  std::set<ColumnId> now_created_;
  EvolvedSchema base_;      // at the start, with the bindings of quiet verdicts
  EvolvedSchema working_;   // after the units so far
  bool has_table_ = false;  // the sink table exists, as far as we know
  std::vector<UnitDecision> units_;
  Decision out_;
};

}  // namespace driftless
