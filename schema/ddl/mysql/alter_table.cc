#include <algorithm>

#include "schema/base/check.h"
#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/statement_run.h"
#include "schema/ddl/mysql/table_builder.h"

// ALTER TABLE. All clauses of one statement act together: names of columns mean the table before
// the statement, renames are simultaneous, and FIRST and AFTER then act one after another on the
// new list with the new names (verified on both servers).
namespace driftless::mysql {
namespace {

std::string Quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

// The column clauses of one ALTER TABLE, applied to the list of columns.
class ColumnChanges {
 public:
  ColumnChanges(const StatementRun& run, const AlterTableStatement& alter, TableBuilder* builder)
      : run_(run), alter_(alter), builder_(builder), old_(builder->schema()) {}

  Result<void> Apply();
  // Columns that a constraint or generated column needs cannot go; after the constraints' own
  // drops.
  Result<void> CheckDependencies() const;
  // A key goes by its columns' names: where a column is dropped and one of its name added, the key
  // is over the new one from then on. Old id to new id.
  std::map<ColumnId, ColumnId> Replacements() const;
  const std::vector<StatedPlace>& stated() const { return stated_; }
  // Whether the clause passes because of IF [NOT] EXISTS and does nothing.
  bool Passes(const AlterSpec* spec) const { return passed_.contains(spec); }

 private:
  struct NewColumn {
    Column column;
    const ColumnSpec* spec = nullptr;  // null: not defined anew
    const ColumnPosition* position = nullptr;
  };

  Result<void> CheckUniqueKeysOf(const Column& column) const;
  Result<void> FindDrops();
  Result<void> FindChanges();
  Result<void> KeepOldColumns();
  Result<void> PlaceColumns();
  Result<void> Place(NewColumn column);
  Result<void> AlterOldColumn(Column* column);
  Result<void> ConvertColumn(const ConvertCharsetSpec& convert, Column* column);
  Result<ColumnId> Old(const Name& name, std::string_view problem) const;
  Error Unknown(const Name& name) const {
    return run_.Refuse(
        name.at, "unknown column " + Quoted(name.text) + " in table " + Quoted(old_.path.table));
  }
  void NotePlace(ColumnId id, const ColumnPosition& position);

  const StatementRun& run_;
  const AlterTableStatement& alter_;
  TableBuilder* builder_;
  TableSchema old_;
  std::set<ColumnId> dropped_;
  std::map<ColumnId, const ChangeColumnSpec*> changes_;
  std::map<ColumnId, const RenameColumnSpec*> renames_;
  std::map<ColumnId, const AlterSpec*> alters_;  // default, visibility
  std::set<const AlterSpec*> passed_;
  std::vector<NewColumn> columns_;
  std::vector<StatedPlace> stated_;
};

Result<ColumnId> ColumnChanges::Old(const Name& name, std::string_view problem) const {
  const int index = old_.IndexOfNameIgnoringCase(name.text);
  if (index >= 0) return old_.columns[static_cast<size_t>(index)].id;
  if (problem.empty()) return Unknown(name);
  return run_.Refuse(name.at, std::string(problem));
}

Result<void> ColumnChanges::FindDrops() {
  for (const AlterSpec& spec : alter_.specs) {
    const auto* drop = std::get_if<DropColumnSpec>(&spec);
    if (drop == nullptr) continue;
    const bool known = old_.IndexOfNameIgnoringCase(drop->column.text) >= 0;
    if (!known && drop->if_exists) {
      passed_.insert(&spec);
      continue;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const ColumnId id,
                               Old(drop->column, "can't DROP " + Quoted(drop->column.text) +
                                                     "; check that the column exists"));
    if (!dropped_.insert(id).second) {
      return run_.Refuse(drop->column.at, "can't DROP " + Quoted(drop->column.text) + " twice");
    }
  }
  return {};
}

// Which clause redefines, renames or alters which old column. A column that is dropped, or that is
// redefined elsewhere in the statement, is unknown to the other clauses.
Result<void> ColumnChanges::FindChanges() {
  for (const AlterSpec& spec : alter_.specs) {
    const Name* name = nullptr;
    bool if_exists = false;
    const auto* change = std::get_if<ChangeColumnSpec>(&spec);
    const auto* rename = std::get_if<RenameColumnSpec>(&spec);
    const auto* set_default = std::get_if<AlterDefaultSpec>(&spec);
    const auto* visibility = std::get_if<AlterVisibilitySpec>(&spec);
    if (change != nullptr) name = &change->from, if_exists = change->if_exists;
    if (rename != nullptr) name = &rename->from, if_exists = rename->if_exists;
    if (set_default != nullptr) name = &set_default->column, if_exists = set_default->if_exists;
    if (visibility != nullptr) name = &visibility->column;
    if (name == nullptr) continue;
    if (old_.IndexOfNameIgnoringCase(name->text) < 0 && if_exists) {
      passed_.insert(&spec);
      continue;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const ColumnId id, Old(*name, ""));
    if (dropped_.contains(id) || changes_.contains(id)) return Unknown(*name);
    if (change != nullptr) {
      if (renames_.contains(id) || alters_.contains(id)) return Unknown(*name);
      changes_[id] = change;
    } else if (rename != nullptr) {
      if (alters_.contains(id) || !renames_.emplace(id, rename).second) return Unknown(*name);
    } else {
      if (renames_.contains(id) || !alters_.emplace(id, &spec).second) return Unknown(*name);
    }
  }
  return {};
}

// A dropped column must not be needed; MySQL also refuses to rename what an expression uses.
Result<void> ColumnChanges::CheckDependencies() const {
  const DdlCatalog::TableEntry& entry = builder_->entry();
  const bool in_mysql = !run_.settings().IsMariaDb();
  const auto contains = [](const std::vector<ColumnId>& ids, ColumnId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  for (const Column& column : old_.columns) {
    const bool dropped = dropped_.contains(column.id);
    const Column* now = builder_->schema().Find(column.id);
    const bool renamed = now != nullptr && !EqualsIgnoringCase(now->name, column.name);
    if (!dropped && !(renamed && in_mysql)) continue;
    for (const auto& [generated, from] : entry.generated_from) {
      if (dropped_.contains(generated) || !contains(from, column.id)) continue;
      return run_.Refuse(alter_.name.at, "column " + Quoted(column.name) +
                                             " has a generated column dependency: " +
                                             Quoted(old_.Find(generated)->name));
    }
    for (const CheckEntry& check : entry.checks) {
      if (!contains(check.columns, column.id) || (dropped && check.columns.size() == 1)) continue;
      return run_.Refuse(alter_.name.at, "check constraint " + Quoted(check.name) +
                                             " uses column " + Quoted(column.name) +
                                             ", hence it cannot be dropped or renamed");
    }
    if (!dropped) continue;
    for (const ForeignKeyEntry& key : entry.foreign_keys) {
      if (!contains(key.columns, column.id)) continue;
      return run_.Refuse(alter_.name.at, "cannot drop column " + Quoted(column.name) +
                                             ": needed in a foreign key constraint " +
                                             Quoted(key.name));
    }
    if (!in_mysql && !Replacements().contains(column.id)) DRIFTLESS_TRY(CheckUniqueKeysOf(column));
  }
  return {};
}

std::map<ColumnId, ColumnId> ColumnChanges::Replacements() const {
  std::map<ColumnId, ColumnId> replacements;
  for (ColumnId id : dropped_) {
    const int now = builder_->schema().IndexOfNameIgnoringCase(old_.Find(id)->name);
    if (now < 0) continue;
    const Column& column = builder_->schema().columns[static_cast<size_t>(now)];
    if (old_.Find(column.id) == nullptr) replacements[id] = column.id;
  }
  return replacements;
}

// MariaDB does not take a column out of a unique key of several columns.
Result<void> ColumnChanges::CheckUniqueKeysOf(const Column& column) const {
  const auto breaks = [&](const std::vector<ColumnId>& key) {
    return std::find(key.begin(), key.end(), column.id) != key.end() &&
           !std::all_of(key.begin(), key.end(), [&](ColumnId id) { return dropped_.contains(id); });
  };
  bool broken = breaks(builder_->schema().primary_key);
  for (const IndexEntry& index : builder_->entry().indexes) {
    broken = broken || (index.kind == KeySpec::Kind::kUnique && breaks(index.columns));
  }
  if (!broken) return {};
  return run_.Refuse(alter_.name.at, "key column " + Quoted(column.name) +
                                         " doesn't exist in table: it is part of a unique key");
}

Result<void> ColumnChanges::ConvertColumn(const ConvertCharsetSpec& convert, Column* column) {
  if (column->source.charset.empty()) return {};
  const TableSchema& schema = builder_->schema();
  DRIFTLESS_ASSIGN_OR_RETURN(
      ResolvedType old_type,
      ParseTypeText(column->source.type_text, {column->source.charset, column->source.collation},
                    run_.settings()));
  ColumnType type = old_type.type;
  type.charset = {schema.charset, schema.collation};
  const int from = MaxBytesPerCharacter(column->source.charset);
  const int to = MaxBytesPerCharacter(schema.charset);
  if (IsTextType(type.base) && to > from) {
    // What fitted must still fit: the type grows with the bytes that a character needs.
    const uint64_t bytes = type.base == BaseType::kTinyText     ? 255
                           : type.base == BaseType::kText       ? 65535
                           : type.base == BaseType::kMediumText ? 16777215
                                                                : 4294967295;
    type.base = TextTypeForBytes(bytes * static_cast<uint64_t>(to) / static_cast<uint64_t>(from),
                                 /*is_blob=*/false);
  }
  auto resolved = ResolveType(type, "", type.charset, column->name, run_.settings());
  if (!resolved) return run_.Refuse(convert.at, resolved.error().message());
  SetColumnType(*resolved, run_.settings(), column);
  return {};
}

Result<void> ColumnChanges::AlterOldColumn(Column* column) {
  const auto found = alters_.find(column->id);
  const AlterSpec* alteration = found == alters_.end() ? nullptr : found->second;
  if (alteration != nullptr && std::holds_alternative<AlterVisibilitySpec>(*alteration)) {
    column->source.is_invisible = std::get<AlterVisibilitySpec>(*alteration).invisible;
  } else if (alteration != nullptr) {
    DRIFTLESS_ASSIGN_OR_RETURN(
        const ResolvedType type,
        ParseTypeText(column->source.type_text, {column->source.charset, column->source.collation},
                      run_.settings()));
    DRIFTLESS_TRY(builder_->SetDefault(std::get<AlterDefaultSpec>(*alteration).value, column->name,
                                       type.type.base, /*has_implied_null=*/false, column));
  }
  return {};
}

// The old columns in their order, redefined and renamed, without those that go.
Result<void> ColumnChanges::KeepOldColumns() {
  for (const Column& old : old_.columns) {
    if (dropped_.contains(old.id)) continue;
    NewColumn next;
    if (auto change = changes_.find(old.id); change != changes_.end()) {
      next.spec = &change->second->column;
      next.position = &change->second->position;
      DRIFTLESS_ASSIGN_OR_RETURN(next.column, builder_->MakeColumn(*next.spec, old.id));
    } else {
      next.column = old;
      if (auto rename = renames_.find(old.id); rename != renames_.end()) {
        next.column.name = rename->second->to.text;
      }
      DRIFTLESS_TRY(AlterOldColumn(&next.column));
    }
    columns_.push_back(std::move(next));
  }
  return {};
}

void ColumnChanges::NotePlace(ColumnId id, const ColumnPosition& position) {
  ColumnPlace place;
  if (position.kind == ColumnPosition::Kind::kFirst) place.kind = ColumnPlace::Kind::kFirst;
  if (position.kind == ColumnPosition::Kind::kAfter) {
    place.kind = ColumnPlace::Kind::kAfter;
    for (const NewColumn& column : columns_) {
      if (EqualsIgnoringCase(column.column.name, position.after.text)) {
        place.anchor = column.column.id;
      }
    }
  }
  stated_.push_back({id, place});
}

Result<void> ColumnChanges::Place(NewColumn column) {
  const ColumnPosition& position = *column.position;
  auto at = columns_.end();
  if (position.kind == ColumnPosition::Kind::kFirst) at = columns_.begin();
  if (position.kind == ColumnPosition::Kind::kAfter) {
    at = std::find_if(columns_.begin(), columns_.end(), [&](const NewColumn& other) {
      return EqualsIgnoringCase(other.column.name, position.after.text);
    });
    if (at == columns_.end()) return Unknown(position.after);
    ++at;
  }
  NotePlace(column.column.id, position);
  columns_.insert(at, std::move(column));
  return {};
}

// Adds the new columns and moves the old ones, one after another.
Result<void> ColumnChanges::PlaceColumns() {
  for (const AlterSpec& spec : alter_.specs) {
    if (const auto* add = std::get_if<AddColumnSpec>(&spec)) {
      const auto same_name = [&](const NewColumn& column) {
        return EqualsIgnoringCase(column.column.name, add->column.name.text);
      };
      const bool taken = std::any_of(columns_.begin(), columns_.end(), same_name);
      if (add->if_not_exists &&
          (taken || old_.IndexOfNameIgnoringCase(add->column.name.text) >= 0)) {
        passed_.insert(&spec);
        continue;
      }
      if (taken) {
        return run_.Refuse(add->column.name.at,
                           "duplicate column name " + Quoted(add->column.name.text));
      }
      NewColumn next;
      next.spec = &add->column;
      next.position = &add->position;
      DRIFTLESS_ASSIGN_OR_RETURN(next.column, builder_->MakeColumn(add->column, 0));
      DRIFTLESS_TRY(Place(std::move(next)));
    } else if (const auto* change = std::get_if<ChangeColumnSpec>(&spec)) {
      if (change->position.kind == ColumnPosition::Kind::kNone || passed_.contains(&spec)) continue;
      const auto at = std::find_if(columns_.begin(), columns_.end(), [&](const NewColumn& column) {
        return column.spec == &change->column;
      });
      NewColumn moved = std::move(*at);
      columns_.erase(at);
      DRIFTLESS_TRY(Place(std::move(moved)));
    }
  }
  return {};
}

Result<void> ColumnChanges::Apply() {
  DRIFTLESS_TRY(FindDrops());
  DRIFTLESS_TRY(FindChanges());
  DRIFTLESS_TRY(KeepOldColumns());
  DRIFTLESS_TRY(PlaceColumns());
  if (columns_.empty()) {
    return run_.Refuse(alter_.name.at,
                       "you can't delete all columns with ALTER TABLE; use DROP TABLE instead");
  }
  for (const AlterSpec& spec : alter_.specs) {
    const auto* convert = std::get_if<ConvertCharsetSpec>(&spec);
    if (convert == nullptr) continue;
    // All columns, those that the same statement defines with another charset included.
    for (NewColumn& column : columns_) DRIFTLESS_TRY(ConvertColumn(*convert, &column.column));
  }
  TableSchema& schema = builder_->schema();
  schema.columns.clear();
  for (const NewColumn& column : columns_) schema.columns.push_back(column.column);
  return {};
}

// The clauses about keys and constraints, on the table whose columns are final.
class KeyChanges {
 public:
  KeyChanges(const StatementRun& run, const AlterTableStatement& alter, TableBuilder* builder)
      : run_(run), alter_(alter), builder_(builder) {}

  Result<void> Drop(const DropKeySpec& drop);
  Result<void> Rename(const RenameKeySpec& rename);
  Result<void> Alter(const AlterKeySpec& alter);
  void ForgetColumns(const std::map<ColumnId, ColumnId>& replacements);

 private:
  bool believes() const { return !builder_->entry().complete; }
  Result<void> DropPrimary(const DropKeySpec& drop);
  template <typename List>
  bool Erase(List* list, std::string_view name);

  const StatementRun& run_;
  const AlterTableStatement& alter_;
  TableBuilder* builder_;
};

template <typename List>
bool KeyChanges::Erase(List* list, std::string_view name) {
  const size_t before = list->size();
  std::erase_if(*list, [&](const auto& entry) { return EqualsIgnoringCase(entry.name, name); });
  return list->size() != before;
}

Result<void> KeyChanges::DropPrimary(const DropKeySpec& drop) {
  std::vector<ColumnId>& key = builder_->schema().primary_key;
  if (key.empty() && !drop.if_exists) {
    return run_.Refuse(drop.name.at, "can't DROP 'PRIMARY'; check that the key exists");
  }
  key.clear();
  return {};
}

Result<void> KeyChanges::Drop(const DropKeySpec& drop) {
  using Kind = DropKeySpec::Kind;
  DdlCatalog::TableEntry& entry = builder_->entry();
  const std::string& name = drop.name.text;
  const bool primary_name = EqualsIgnoringCase(name, "PRIMARY");
  if (drop.kind == Kind::kPrimary ||
      (primary_name && (drop.kind == Kind::kIndex || drop.kind == Kind::kConstraint))) {
    return DropPrimary(drop);
  }
  bool found = false;
  if (drop.kind == Kind::kIndex || drop.kind == Kind::kConstraint) {
    const int index = entry.FindIndex(name);
    const bool droppable =
        index >= 0 && (drop.kind == Kind::kIndex ||
                       entry.indexes[static_cast<size_t>(index)].kind == KeySpec::Kind::kUnique);
    if (droppable) {
      entry.indexes.erase(entry.indexes.begin() + index);
      found = true;
    }
  }
  if (drop.kind == Kind::kForeign || drop.kind == Kind::kConstraint) {
    found = Erase(&entry.foreign_keys, name) || found;
  }
  if (drop.kind == Kind::kCheck || drop.kind == Kind::kConstraint) {
    found = Erase(&entry.checks, name) || found;
  }
  if (found || drop.if_exists || believes()) return {};
  // Constraints without a name got one from the server that is not known here.
  const auto unnamed = [](const auto& list) {
    return std::any_of(list.begin(), list.end(), [](const auto& e) { return e.name.empty(); });
  };
  if (drop.kind != Kind::kIndex && (unnamed(entry.foreign_keys) || unnamed(entry.checks)))
    return {};
  return run_.Refuse(drop.name.at, "can't DROP " + Quoted(name) + "; check that it exists");
}

Result<void> KeyChanges::Rename(const RenameKeySpec& rename) {
  DdlCatalog::TableEntry& entry = builder_->entry();
  const int from = entry.FindIndex(rename.from.text);
  if (from < 0) {
    if (rename.if_exists || believes()) return {};
    return run_.Refuse(rename.from.at, "key " + Quoted(rename.from.text) +
                                           " doesn't exist in table " + Quoted(alter_.name.table));
  }
  const int to = entry.FindIndex(rename.to.text);
  if (to >= 0 && to != from) {
    return run_.Refuse(rename.to.at, "duplicate key name " + Quoted(rename.to.text));
  }
  entry.indexes[static_cast<size_t>(from)].name = rename.to.text;
  return {};
}

Result<void> KeyChanges::Alter(const AlterKeySpec& alter) {
  DdlCatalog::TableEntry& entry = builder_->entry();
  if (!alter.is_index || alter.if_exists || believes()) return {};
  if (entry.FindIndex(alter.name.text) >= 0) return {};
  return run_.Refuse(alter.name.at, "key " + Quoted(alter.name.text) + " doesn't exist in table " +
                                        Quoted(alter_.name.table));
}

// Dropped columns leave their keys; a key that has lost all its columns is gone.
void KeyChanges::ForgetColumns(const std::map<ColumnId, ColumnId>& replacements) {
  TableSchema& schema = builder_->schema();
  DdlCatalog::TableEntry& entry = builder_->entry();
  const auto replace = [&](std::vector<ColumnId>& key) {
    for (ColumnId& id : key) {
      if (auto to = replacements.find(id); to != replacements.end()) id = to->second;
    }
  };
  replace(schema.primary_key);
  for (IndexEntry& index : entry.indexes) replace(index.columns);
  const auto gone = [&](ColumnId id) { return id != 0 && schema.Find(id) == nullptr; };
  std::erase_if(schema.primary_key, gone);
  for (IndexEntry& index : entry.indexes) std::erase_if(index.columns, gone);
  std::erase_if(entry.indexes, [](const IndexEntry& index) { return index.columns.empty(); });
  std::erase_if(entry.checks, [&](const CheckEntry& check) {
    return !check.columns.empty() && std::all_of(check.columns.begin(), check.columns.end(), gone);
  });
  std::erase_if(entry.generated_from, [&](const auto& item) { return gone(item.first); });
}

// ALGORITHM=INSTANT goes with LOCK=DEFAULT only.
Result<void> CheckExecution(const StatementRun& run, const AlterTableStatement& alter) {
  bool instant = false;
  for (const AlterSpec& spec : alter.specs) {
    const auto* execution = std::get_if<ExecutionSpec>(&spec);
    if (execution == nullptr) continue;
    const std::string& value = execution->value;
    if (execution->is_lock) {
      if (value != "DEFAULT" && value != "NONE" && value != "SHARED" && value != "EXCLUSIVE") {
        return run.Refuse(execution->at, "unknown LOCK type " + Quoted(value));
      }
    } else {
      if (value != "DEFAULT" && value != "INSTANT" && value != "INPLACE" && value != "COPY" &&
          value != "NOCOPY") {
        return run.Refuse(execution->at, "unknown ALGORITHM " + Quoted(value));
      }
      instant = value == "INSTANT";
    }
  }
  for (const AlterSpec& spec : alter.specs) {
    const auto* execution = std::get_if<ExecutionSpec>(&spec);
    if (instant && execution != nullptr && execution->is_lock && execution->value != "DEFAULT" &&
        !run.settings().IsMariaDb()) {
      return run.Refuse(execution->at,
                        "incorrect usage of ALGORITHM=INSTANT and LOCK=NONE, SHARED "
                        "or EXCLUSIVE; only LOCK=DEFAULT is permitted");
    }
  }
  return {};
}

}  // namespace

Result<void> StatementRun::AlterPartitions(const AlterTableStatement& alter, const TablePath& path,
                                           const EntryPtr& entry, Entry* next) {
  using Kind = PartitionSpec::Kind;
  const auto list = [](const std::vector<std::string>& names) {
    if (names.empty()) return std::string("ALL");
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  for (const AlterSpec& any : alter.specs) {
    if (const auto* tablespace = std::get_if<TablespaceSpec>(&any)) {
      effect_.rows_without_events.push_back(
          {path, tablespace->import ? "IMPORT TABLESPACE" : "DISCARD TABLESPACE"});
    }
    if (const auto* convert = std::get_if<ConvertCharsetSpec>(&any)) {
      effect_.rows_without_events.push_back(
          {path, "CONVERT TO CHARACTER SET " + next->schema->charset, true});
      (void)convert;
    }
    const auto* spec = std::get_if<PartitionSpec>(&any);
    if (spec == nullptr) continue;
    if (spec->kind == Kind::kPartitionBy) {
      next->partitioned = true;
      next->partitions = spec->new_names;
      continue;
    }
    if (!next->partitioned && entry->complete) {
      return Refuse(spec->at, "partition management on a table that is not partitioned");
    }
    std::vector<std::string>& present = next->partitions;
    const auto find = [&](const std::string& name) {
      return std::find_if(present.begin(), present.end(), [&](const std::string& other) {
        return EqualsIgnoringCase(name, other);
      });
    };
    bool any_known = false;
    if (entry->complete && !present.empty()) {
      for (const std::string& name : spec->names) {
        if (find(name) != present.end()) {
          any_known = true;
        } else if (!spec->if_exists) {
          return Refuse(spec->at, "there is no partition " + Quoted(name));
        }
      }
    } else {
      any_known = true;
    }
    switch (spec->kind) {
      case Kind::kRemove:
        next->partitioned = false;
        present.clear();
        break;
      case Kind::kAdd:
        for (const std::string& name : spec->new_names) {
          if (find(name) == present.end()) {
            present.push_back(name);
          } else if (!spec->if_exists && entry->complete) {
            return Refuse(spec->at, "duplicate partition name " + Quoted(name));
          }
        }
        break;
      case Kind::kReorganize:
      case Kind::kDrop:
      case Kind::kConvertToTable:
        for (const std::string& name : spec->names) {
          if (find(name) != present.end()) present.erase(find(name));
        }
        present.insert(present.end(), spec->new_names.begin(), spec->new_names.end());
        if (spec->kind == Kind::kDrop && present.empty() && entry->complete && any_known) {
          return Refuse(spec->at, "cannot remove all partitions; use DROP TABLE instead");
        }
        if (spec->kind == Kind::kDrop && any_known) {
          effect_.rows_without_events.push_back({path, "DROP PARTITION " + list(spec->names)});
        }
        break;
      case Kind::kTruncate:
        effect_.rows_without_events.push_back({path, "TRUNCATE PARTITION " + list(spec->names)});
        break;
      case Kind::kDiscardTablespace:
      case Kind::kImportTablespace:
        effect_.rows_without_events.push_back(
            {path, std::string(spec->kind == Kind::kImportTablespace ? "IMPORT" : "DISCARD") +
                       " PARTITION " + list(spec->names) + " TABLESPACE"});
        break;
      case Kind::kExchange: {
        DRIFTLESS_ASSIGN_OR_RETURN(const EntryPtr other, Require(spec->table));
        const std::string what = "EXCHANGE PARTITION " + list(spec->names);
        effect_.rows_without_events.push_back({path, what});
        effect_.rows_without_events.push_back({other->schema->path, what});
        break;
      }
      case Kind::kPartitionBy:
      case Kind::kMaintain:
      case Kind::kConvertToPartition: break;
    }
    if (spec->kind == Kind::kConvertToTable) {
      DRIFTLESS_ASSIGN_OR_RETURN(const TablePath to, PathOf(spec->table));
      if (Find(to) != nullptr || IsRelation(to)) {
        return Refuse(spec->table.at, "table '" + to.ToString() + "' already exists");
      }
      auto made = std::make_shared<Entry>(*entry);
      TableSchema schema = *entry->schema;
      schema.path = to;
      schema.incarnation = next_incarnation_++;
      schema.version = 0;
      made->schema = std::make_shared<const TableSchema>(std::move(schema));
      made->partitioned = false;
      made->partitions.clear();
      std::vector<SchemaChange> parts;
      parts.push_back({0, CreateTable{}, nullptr, made->schema});
      AddChange(to, std::move(parts));
      Put(to, std::move(made));
      const std::string what = "CONVERT PARTITION " + list(spec->names) + " TO TABLE";
      effect_.rows_without_events.push_back({path, what});
      effect_.rows_without_events.push_back({to, what});
    } else if (spec->kind == Kind::kConvertToPartition) {
      DRIFTLESS_ASSIGN_OR_RETURN(const EntryPtr other, Require(spec->table));
      present.insert(present.end(), spec->new_names.begin(), spec->new_names.end());
      AddDrop(other->schema->path, other);
      effect_.rows_without_events.push_back({path, "CONVERT TABLE TO PARTITION"});
    }
  }
  return {};
}

Result<void> StatementRun::Visit(const AlterTableStatement& alter) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath path, PathOf(alter.name));
  if (IsTemporary(path)) return {};
  if (Find(path) == nullptr && IsRelation(path)) {
    // ALTER TABLE ... RENAME works on views and sequences too.
    for (const AlterSpec& spec : alter.specs) {
      const auto* rename = std::get_if<RenameTableSpec>(&spec);
      if (rename == nullptr) continue;
      RenameTablesStatement renames;
      renames.pairs.push_back({alter.name, rename->to});
      return Visit(renames);
    }
    return Refuse(alter.name.at, "'" + path.ToString() + "' is a view or a sequence, not a table");
  }
  if (Find(path) == nullptr && alter.if_exists) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const EntryPtr entry, Require(alter.name));
  DRIFTLESS_TRY(CheckExecution(*this, alter));
  TableBuilder builder(*this, *entry);
  TableSchema& schema = builder.schema();
  const Charset database_defaults = DatabaseDefaults(path.database);
  TablePath renamed_to = path;
  for (const AlterSpec& spec : alter.specs) {
    if (const auto* options = std::get_if<SetOptionsSpec>(&spec)) {
      DRIFTLESS_TRY(builder.SetOptions(options->options, database_defaults));
    } else if (const auto* convert = std::get_if<ConvertCharsetSpec>(&spec)) {
      TableOptions as_options;
      as_options.charset = convert->charset.empty() ? database_defaults : convert->charset;
      if (!convert->collation.empty()) as_options.collation = convert->collation;
      as_options.charset_at = convert->at;
      DRIFTLESS_TRY(builder.SetOptions(as_options, database_defaults));
    } else if (const auto* versioning = std::get_if<SystemVersioningSpec>(&spec)) {
      if (versioning->add) schema.options["system_versioning"] = "on";
      if (!versioning->add) schema.options.erase("system_versioning");
    } else if (const auto* rename = std::get_if<RenameTableSpec>(&spec)) {
      DRIFTLESS_ASSIGN_OR_RETURN(renamed_to, PathOf(rename->to));
      // Without a database the new name stays in the old table's.
      if (rename->to.database.empty()) renamed_to.database = path.database;
      if (KeyOf(renamed_to) != KeyOf(path) &&
          (Find(renamed_to) != nullptr || IsRelation(renamed_to))) {
        return Refuse(rename->to.at, "table '" + renamed_to.ToString() + "' already exists");
      }
    }
  }
  ColumnChanges columns(*this, alter, &builder);
  DRIFTLESS_TRY(columns.Apply());
  KeyChanges keys(*this, alter, &builder);
  for (const AlterSpec& spec : alter.specs) {
    if (const auto* drop = std::get_if<DropKeySpec>(&spec)) DRIFTLESS_TRY(keys.Drop(*drop));
  }
  DRIFTLESS_TRY(columns.CheckDependencies());
  keys.ForgetColumns(columns.Replacements());
  for (const AlterSpec& spec : alter.specs) {
    if (columns.Passes(&spec)) continue;
    const ColumnSpec* column = nullptr;
    if (const auto* add = std::get_if<AddColumnSpec>(&spec)) column = &add->column;
    if (const auto* change = std::get_if<ChangeColumnSpec>(&spec)) column = &change->column;
    if (column != nullptr) {
      const int index = schema.IndexOfNameIgnoringCase(column->name.text);
      DRIFTLESS_CHECK(index >= 0);
      DRIFTLESS_TRY(builder.AddInlineKeys(*column, schema.columns[static_cast<size_t>(index)].id));
    } else if (const auto* rename = std::get_if<RenameKeySpec>(&spec)) {
      DRIFTLESS_TRY(keys.Rename(*rename));
    } else if (const auto* alter_key = std::get_if<AlterKeySpec>(&spec)) {
      DRIFTLESS_TRY(keys.Alter(*alter_key));
    } else if (const auto* add_key = std::get_if<AddKeySpec>(&spec)) {
      DRIFTLESS_TRY(builder.AddKey(add_key->key));
    } else if (const auto* period = std::get_if<PeriodSpec>(&spec)) {
      DRIFTLESS_TRY(builder.AddPeriod(period->columns));
    }
  }
  DRIFTLESS_TRY(builder.Finish(alter.name.at));
  schema.path = renamed_to;
  std::vector<SchemaChange> parts = SplitIntoParts(entry->schema, schema, columns.stated());
  auto next = std::make_shared<Entry>(builder.Take());
  DRIFTLESS_TRY(AlterPartitions(alter, path, entry, next.get()));
  next->schema = parts.empty() ? entry->schema : parts.back().after;
  if (KeyOf(renamed_to) != KeyOf(path)) Put(path, nullptr);
  Put(renamed_to, std::move(next));
  AddChange(path, std::move(parts));
  return {};
}

}  // namespace driftless::mysql
