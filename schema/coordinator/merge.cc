#include "schema/coordinator/merge.h"

#include <algorithm>
#include <utility>

#include "schema/base/letter_case.h"
#include "schema/events/table_rename.h"

namespace driftless {
namespace {

// The name under which the statement's table goes on feeding the sink table.
TablePath NameAfter(const StatementChange& change, TableRename rename) {
  const RenameTable* renamed = FindRename(change);
  return renamed != nullptr && rename == TableRename::kFollow ? renamed->to : change.table;
}

constexpr const char* kOthers = "other shards still have it";

std::string NameOf(const TableSchemaPtr& schema, ColumnId id) {
  const Column* column = schema ? schema->Find(id) : nullptr;
  return column != nullptr ? column->name : "#" + std::to_string(id);
}

}  // namespace

ColumnId ShardMerge::FindByName(const std::string& name) const {
  for (const Column& column : schema_.columns) {
    if (EqualsIgnoringCase(column.name, name)) return column.id;
  }
  // The new name that some shard gives a column which the others have not renamed yet.
  for (const auto& [path, shard] : shards_) {
    for (const auto& [id, merged] : shard.binding) {
      if (shard.schema && EqualsIgnoringCase(NameOf(shard.schema, id), name)) return merged;
    }
  }
  return 0;
}

bool ShardMerge::HasIncarnation(uint64_t incarnation) const {
  return std::any_of(shards_.begin(), shards_.end(), [&](const auto& entry) {
    return entry.second.schema != nullptr && entry.second.schema->incarnation == incarnation;
  });
}

class ShardMerge::Run {
 public:
  Run(ShardMerge* merge, const StatementChange& change, LatticeStyle style, Behavior behavior,
      TableRename rename)
      : merge_(*merge),
        source_(change),
        style_(style),
        behavior_(behavior),
        name_after_(NameAfter(change, rename)) {
    result_.change = std::make_shared<StatementChange>(change);
    result_.change->parts.clear();
    next_part_ = 0;
    for (const SchemaChange& part : change.parts) next_part_ = std::max(next_part_, part.part + 1);
  }

  MergedStatement Finish() && { return std::move(result_); }

  void Take(const SchemaChange& part) {
    if (part.kind() == EventKind::kCreateTable) return Join(part);
    if (merge_.shards_.count(source_.table) == 0) {
      return Settle(part, VerdictKind::kSkip, "the shard is not known: it has no create.table");
    }
    Shard& shard = merge_.shards_[source_.table];
    switch (part.kind()) {
      case EventKind::kDropTable: return Leave(part);
      case EventKind::kTruncateTable: return Truncate(part);
      case EventKind::kDropColumn:
        for (ColumnId id : std::get<DropColumns>(part.detail).columns) Drop(part, &shard, id);
        Lose(part, shard);
        break;
      case EventKind::kAddColumn:
        shard.schema = part.after;
        for (const auto& item : std::get<AddColumns>(part.detail).items) Add(part, &shard, item);
        break;
      case EventKind::kRenameColumn:
        shard.schema = part.after;
        Rename(part, std::get<RenameColumns>(part.detail));
        break;
      case EventKind::kAlterColumnType:
        for (const auto& item : std::get<AlterColumnTypes>(part.detail).items) {
          Widen(part, Bound(shard, item.column), item.to, /*settle=*/true);
        }
        break;
      case EventKind::kRelaxNullability:
        for (ColumnId id : std::get<RelaxNullability>(part.detail).columns) {
          if (!Relax(part.part, Bound(shard, id))) {
            Settle(part, VerdictKind::kApply, "the merged column is nullable already");
          }
        }
        break;
      case EventKind::kKeyChange: ChangeKey(part, shard); break;
      case EventKind::kAlterColumnPosition:
        Settle(part, VerdictKind::kSkip, "a merged table keeps its own order of columns");
        break;
      case EventKind::kRenameTable:
        if (name_after_ == source_.table) return Leave(part);
        return Move(part);
      case EventKind::kAlterColumnComment:
      case EventKind::kAlterTableComment:
      case EventKind::kTightenNullability:
      case EventKind::kDefaultChange:
      case EventKind::kCreateTable: PassOn(part, shard); break;
    }
    const auto left = merge_.shards_.find(source_.table);
    if (left != merge_.shards_.end() && part.after) left->second.schema = part.after;
  }

 private:
  static ColumnId Bound(const Shard& shard, ColumnId id) {
    const auto it = shard.binding.find(id);
    return it != shard.binding.end() ? it->second : 0;
  }
  Column* Merged(ColumnId id) {
    const int index = merge_.schema_.IndexOf(id);
    return index < 0 ? nullptr : &merge_.schema_.columns[static_cast<size_t>(index)];
  }

  // ---- what comes of it ----

  void Settle(const SchemaChange& part, VerdictKind kind, std::string reason) {
    for (PartDecision& settled : result_.settled) {
      if (settled.part == part.part) return;  // one verdict per part; the first says why
    }
    PartDecision decision;
    decision.part = part.part;
    decision.event = part.kind();
    decision.detail = Describe(part);
    decision.behavior = behavior_;
    decision.verdict.kind = kind;
    decision.verdict.reason = std::move(reason);
    decision.verdict.rule = "merged shards";
    decision.satisfied = kind == VerdictKind::kApply;
    result_.settled.push_back(std::move(decision));
  }

  // A part of the merged table's own. `number`: of the shard's part, once; further ones count on.
  void Push(uint32_t number, ChangeDetail detail, const std::shared_ptr<TableSchema>& before) {
    const bool taken = std::any_of(result_.change->parts.begin(), result_.change->parts.end(),
                                   [&](const SchemaChange& part) { return part.part == number; }) ||
                       std::any_of(result_.settled.begin(), result_.settled.end(),
                                   [&](const PartDecision& part) { return part.part == number; });
    SchemaChange change;
    change.part = taken ? next_part_++ : number;
    change.detail = std::move(detail);
    change.before = before;
    change.after = std::make_shared<TableSchema>(merge_.schema_);
    result_.change->parts.push_back(std::move(change));
  }
  std::shared_ptr<TableSchema> Before() {
    auto before = std::make_shared<TableSchema>(merge_.schema_);
    ++merge_.schema_.version;
    return before;
  }
  void Begin(const SchemaChange& part, ColumnId column, EventKind event, std::string text) {
    const Column* merged = Merged(column);
    result_.begun.push_back(
        {column, merged != nullptr ? merged->name : "", event, std::move(text), part.part, false});
  }

  void BeginRemaining(const SchemaChange& part) {
    Begin(part, 0, part.kind(), "rows of shard " + source_.table.ToString() + " remain");
    result_.begun.back().of_old_rows = true;
  }
  // Divergences are of the merged column, whichever shard they speak of: what some shard ends is
  // ended, and begun anew for the shards of which it is still true.
  void EndOwnNames(const SchemaChange& part, ColumnId merged) {
    const Column* column = Merged(merged);
    if (column == nullptr) return;
    result_.ended.push_back({merged, EventKind::kRenameColumn, Describe(part)});
    for (const auto& [path, shard] : merge_.shards_) {
      for (const auto& [id, bound] : shard.binding) {
        if (bound == merged) BeginOwnName(part, path, merged, NameOf(shard.schema, id));
      }
    }
  }
  void BeginOwnName(const SchemaChange& part, const TablePath& shard, ColumnId merged,
                    const std::string& name) {
    const Column* column = Merged(merged);
    if (column == nullptr || column->name == name) return;
    Begin(part, merged, EventKind::kRenameColumn,
          "column " + column->name + " is called " + name + " in shard " + shard.ToString() +
              ", not in others");
  }
  void EndAbsence(const SchemaChange& part, ColumnId merged) {
    if (Merged(merged) == nullptr || !merge_.facts_[merged].dropped_once) return;
    result_.ended.push_back({merged, EventKind::kDropColumn, Describe(part)});
    for (const auto& [path, shard] : merge_.shards_) {
      if (!Feeds(shard, merged)) BeginAbsence(part, path, merged);
    }
  }
  void BeginAbsence(const SchemaChange& part, const TablePath& shard, ColumnId merged) {
    Begin(part, merged, EventKind::kDropColumn,
          "shard " + shard.ToString() + " has no column " + Merged(merged)->name +
              " any more, others have; its later rows write NULL");
  }
  static bool Feeds(const Shard& shard, ColumnId merged) {
    return std::any_of(shard.binding.begin(), shard.binding.end(),
                       [&](const auto& entry) { return entry.second == merged; });
  }

  // ---- shards come and go ----

  void Join(const SchemaChange& part) {
    const bool known = merge_.shards_.count(source_.table) > 0;
    Shard shard;
    shard.schema = part.after;
    if (!known && merge_.shards_.empty()) {
      return Found(part, std::move(shard));
    }
    if (known) merge_.shards_.erase(source_.table);
    std::vector<ColumnId> key;
    std::vector<const Column*> added;
    for (const Column& column : part.after->columns) {
      const ColumnId merged = merge_.FindByName(column.name);
      if (merged == 0) {
        added.push_back(&column);
      } else {
        shard.binding[column.id] = merged;
      }
      if (part.after->IsKey(column.id)) key.push_back(merged);
    }
    std::vector<ColumnId> wanted = merge_.schema_.primary_key;
    std::sort(key.begin(), key.end());
    std::sort(wanted.begin(), wanted.end());
    if (key != wanted) {
      return Settle(part, VerdictKind::kFail,
                    "the key of " + source_.table.ToString() +
                        " is not the key of the other shards: route it elsewhere");
    }
    Settle(part, VerdictKind::kApply,
           known ? "the shard is there again" : source_.table.ToString() + " joins as a shard");
    merge_.shards_[source_.table] = std::move(shard);
    Shard& joined = merge_.shards_[source_.table];
    for (const Column* column : added) NewColumn(part, &joined, *column);
    for (const auto& [id, merged] : joined.binding) {
      const Column& column = *part.after->Find(id);
      Widen(part, merged, column.type, /*settle=*/false);
      if (column.type.nullable()) Relax(next_part_, merged);
    }
    // What this shard lacks is nullable.
    for (const Column& column : std::vector<Column>(merge_.schema_.columns)) {
      if (!Feeds(joined, column.id)) Relax(next_part_, column.id);
    }
  }

  // The first shard makes the table.
  void Found(const SchemaChange& part, Shard shard) {
    merge_.schema_ = *part.after;
    merge_.facts_.clear();
    for (const Column& column : part.after->columns) {
      shard.binding[column.id] = column.id;
      merge_.facts_[column.id].types = {column.type};
    }
    merge_.shards_[source_.table] = std::move(shard);
    result_.change->parts.push_back(part);
  }

  void Leave(const SchemaChange& part) {
    const Shard left = merge_.shards_[source_.table];
    merge_.shards_.erase(source_.table);
    if (merge_.shards_.empty()) {
      SchemaChange last = part;
      last.before = std::make_shared<TableSchema>(merge_.schema_);
      result_.change->parts.push_back(std::move(last));
      return;
    }
    Settle(part, VerdictKind::kSkip, "other shards still feed the table");
    BeginRemaining(part);
    Agree();
    for (const Column& column : std::vector<Column>(merge_.schema_.columns)) {
      EndAbsence(part, column.id);
      for (const auto& [id, merged] : left.binding) {
        const bool had_own_name = merged == column.id && NameOf(left.schema, id) != column.name;
        if (had_own_name) EndOwnNames(part, merged);
      }
    }
  }

  // The shard goes on under another name.
  void Move(const SchemaChange& part) {
    auto node = merge_.shards_.extract(source_.table);
    node.mapped().schema = part.after;
    merge_.shards_.erase(name_after_);
    node.key() = name_after_;
    merge_.shards_.insert(std::move(node));
    Settle(part, VerdictKind::kApply,
           "table.rename follow: the shard goes on as " + name_after_.ToString());
  }

  void Truncate(const SchemaChange& part) {
    Settle(part, VerdictKind::kSkip, "a merged table is never truncated for one of its shards");
    BeginRemaining(part);
  }

  // ---- columns ----

  void NewColumn(const SchemaChange& part, Shard* shard, const Column& column) {
    const auto before = Before();
    Column merged = column;
    merged.id = merge_.schema_.next_column_id++;
    if (merge_.shards_.size() > 1) merged.type = merged.type.Nullable();
    shard->binding[column.id] = merged.id;
    merge_.facts_[merged.id].types = {column.type};
    merge_.schema_.columns.push_back(merged);
    Push(part.part, AddColumns{{{merged, {}}}}, before);
  }

  void Add(const SchemaChange& part, Shard* shard, const AddColumns::Item& item) {
    const ColumnId merged = merge_.FindByName(item.column.name);
    if (merged == 0 || Feeds(*shard, merged)) return NewColumn(part, shard, item.column);
    shard->binding[item.column.id] = merged;
    EndAbsence(part, merged);
    Widen(part, merged, item.column.type, /*settle=*/false);
    if (item.column.type.nullable()) Relax(next_part_, merged);
    Settle(part, VerdictKind::kApply, "the merged table has the column");
  }

  void Drop(const SchemaChange& part, Shard* shard, ColumnId id) {
    const ColumnId merged = Bound(*shard, id);
    shard->binding.erase(id);
    shard->schema = part.after;
    if (Merged(merged) == nullptr) {
      return Settle(part, VerdictKind::kSkip, "column is not at the sink");
    }
    merge_.facts_[merged].dropped_once = true;
    if (DropIfNobodyHasIt(part.part, merged)) return;
    Settle(part, VerdictKind::kSkip, kOthers);
    BeginAbsence(part, source_.table, merged);
    Relax(next_part_, merged);
  }

  // What a transform's text has lost in this shard alone.
  void Lose(const SchemaChange& part, const Shard& shard) {
    DropColumns drop;
    drop.lost = std::get<DropColumns>(part.detail).lost;
    if (drop.lost.empty()) return;
    for (DropColumns::LostInput& lost : drop.lost) {
      if (lost.feeds != 0) lost.feeds = Bound(shard, lost.feeds);
    }
    Push(part.part, std::move(drop), Before());
  }

  bool DropIfNobodyHasIt(uint32_t number, ColumnId merged) {
    for (const auto& [path, shard] : merge_.shards_) {
      if (Feeds(shard, merged)) return false;
    }
    const auto before = Before();
    std::erase_if(merge_.schema_.columns, [&](const Column& c) { return c.id == merged; });
    merge_.facts_.erase(merged);
    Push(number, DropColumns{{merged}}, before);
    return true;
  }

  void Rename(const SchemaChange& part, const RenameColumns& rename) {
    const size_t before = result_.change->parts.size();
    RenameWhereAllAgree(part.part);
    const bool carried_out = result_.change->parts.size() > before;
    const Shard& shard = merge_.shards_[source_.table];
    for (const RenameColumns::Item& item : rename.items) {
      const ColumnId merged = Bound(shard, item.column);
      const Column* column = Merged(merged);
      if (column == nullptr) continue;
      if (column->name != item.to && !carried_out) Settle(part, VerdictKind::kSkip, kOthers);
      EndOwnNames(part, merged);
    }
    if (!carried_out) Settle(part, VerdictKind::kApply, "the merged column has that name");
  }

  // The columns that every shard binds to one and the same other name, all at once.
  void RenameWhereAllAgree(uint32_t number) {
    RenameColumns renames;
    for (const Column& column : merge_.schema_.columns) {
      std::optional<std::string> name;
      bool agree = true;
      for (const auto& [path, shard] : merge_.shards_) {
        bool binds = false;
        for (const auto& [id, merged] : shard.binding) {
          if (merged != column.id) continue;
          binds = true;
          const std::string own = NameOf(shard.schema, id);
          if (name && *name != own) agree = false;
          name = own;
        }
        agree = agree && binds;
      }
      if (agree && name && *name != column.name) {
        renames.items.push_back({column.id, column.name, *name});
      }
    }
    if (renames.items.empty()) return;
    const auto before = Before();
    for (const RenameColumns::Item& item : renames.items) Merged(item.column)->name = item.to;
    Push(number, std::move(renames), before);
  }

  // After a shard has left, the others may agree on what waited for it.
  void Agree() {
    for (const Column& column : std::vector<Column>(merge_.schema_.columns)) {
      if (merge_.facts_[column.id].dropped_once) DropIfNobodyHasIt(next_part_, column.id);
    }
    RenameWhereAllAgree(next_part_);
  }

  // The least common type of everything that shards ever had there.
  void Widen(const SchemaChange& part, ColumnId merged, const LogicalType& type, bool settle) {
    Column* column = Merged(merged);
    if (column == nullptr) {
      return Settle(part, VerdictKind::kSkip, "column is not at the sink");
    }
    auto& types = merge_.facts_[merged].types;
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
    const LogicalType wide =
        LeastCommonType(types, style_).WithNullability(column->type.nullable());
    if (wide == column->type) {
      if (settle) Settle(part, VerdictKind::kApply, "the merged type holds every value");
      return;
    }
    const auto before = Before();
    AlterColumnTypes alter{
        {{merged, column->type, wide, column->type.ToString(), wide.ToString()}}};
    column->type = wide;
    column->source = {};  // no source has this type
    Push(part.part, std::move(alter), before);
  }

  bool Relax(uint32_t number, ColumnId merged) {
    Column* column = Merged(merged);
    if (column == nullptr || column->type.nullable() || merge_.schema_.IsKey(merged)) return false;
    const auto before = Before();
    Merged(merged)->type = Merged(merged)->type.Nullable();
    Push(number, RelaxNullability{{merged}}, before);
    return true;
  }

  void ChangeKey(const SchemaChange& part, const Shard& shard) {
    const auto& key = std::get<KeyChange>(part.detail);
    const auto before = Before();
    KeyChange merged{merge_.schema_.primary_key, {}};
    for (ColumnId id : key.to) merged.to.push_back(Bound(shard, id));
    merge_.schema_.primary_key = merged.to;
    Push(part.part, std::move(merged), before);
  }

  // Comments and what only gets recorded: the same on the merged identities.
  void PassOn(const SchemaChange& part, const Shard& shard) {
    ChangeDetail detail = part.detail;
    if (auto* comments = std::get_if<AlterColumnComments>(&detail)) {
      for (auto& item : comments->items) item.column = Bound(shard, item.column);
    } else if (auto* tighten = std::get_if<TightenNullability>(&detail)) {
      for (ColumnId& id : tighten->columns) id = Bound(shard, id);
    } else if (auto* defaults = std::get_if<DefaultChange>(&detail)) {
      for (ColumnId& id : defaults->columns) id = Bound(shard, id);
    }
    Push(part.part, std::move(detail), Before());
  }

  ShardMerge& merge_;
  const StatementChange& source_;
  const LatticeStyle style_;
  const Behavior behavior_;
  const TablePath name_after_;
  MergedStatement result_;
  uint32_t next_part_ = 0;
};

MergedStatement ShardMerge::Apply(const std::shared_ptr<const StatementChange>& change,
                                  LatticeStyle style, Behavior behavior, TableRename rename) {
  const bool alone = shards_.empty() || (shards_.size() == 1 && shards_.count(change->table) > 0);
  if (!merged_ && alone) {
    // One source table: its identities are the merged ones, whatever it does.
    MergedStatement same;
    same.change = std::make_shared<StatementChange>(*change);
    const TableSchemaPtr after = change->after();
    shards_.clear();
    facts_.clear();
    if (!after) return same;
    schema_ = *after;
    Shard shard;
    shard.schema = after;
    for (const Column& column : after->columns) {
      shard.binding[column.id] = column.id;
      facts_[column.id].types = {column.type};
    }
    shards_[NameAfter(*change, rename)] = std::move(shard);
    return same;
  }
  merged_ = true;
  Run run(this, *change, style, behavior, rename);
  for (const SchemaChange& part : change->parts) run.Take(part);
  return std::move(run).Finish();
}

std::map<TablePath, EvolvedSchemaPtr> ShardMerge::BySource(const EvolvedSchema& evolved) const {
  std::map<TablePath, EvolvedSchemaPtr> by_source;
  if (!merged_) return by_source;
  for (const auto& [path, shard] : shards_) {
    EvolvedSchema own = evolved;
    own.incarnation = shard.schema->incarnation;
    for (EvolvedColumn& column : own.columns) {
      if (column.source == 0) continue;
      const ColumnId merged = std::exchange(column.source, 0);
      for (const auto& [id, bound] : shard.binding) {
        if (bound == merged) column.source = id;
      }
      if (column.source != 0 || column.sink.type.nullable()) continue;
      // A NOT NULL column that this shard lacks and the sink could not relax.
      const bool has_default = column.sink.default_value.kind == DefaultValue::Kind::kLiteral;
      column.fill = has_default ? EvolvedColumn::Fill::kDefault : EvolvedColumn::Fill::kZero;
    }
    by_source[path] = std::make_shared<const EvolvedSchema>(std::move(own));
  }
  return by_source;
}

}  // namespace driftless
