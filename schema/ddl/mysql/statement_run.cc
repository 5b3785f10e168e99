#include "schema/ddl/mysql/statement_run.h"

#include <algorithm>

#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/table_builder.h"

namespace driftless::mysql {

int DdlCatalog::TableEntry::FindIndex(std::string_view name) const {
  for (size_t i = 0; i < indexes.size(); ++i) {
    if (EqualsIgnoringCase(indexes[i].name, name)) return static_cast<int>(i);
  }
  return -1;
}

StatementRun::StatementRun(const DdlCatalog& catalog, std::string_view sql,
                           const StatementContext& context)
    : catalog_(catalog),
      sql_(sql),
      context_(context),
      next_incarnation_(catalog.next_incarnation_) {}

Error StatementRun::Fail(ErrorKind kind, size_t at, std::string message) const {
  const LineColumn where = LocateOffset(sql_, at);
  return MakeError(kind, std::move(message)).At(where.line, where.column);
}

Result<void> StatementRun::Run(const Statement& statement) {
  return std::visit([this](const auto& one) { return Visit(one); }, statement);
}

void StatementRun::Keep(DdlCatalog* catalog) {
  for (auto& [key, entry] : tables_) {
    if (entry == nullptr) {
      catalog->tables_.erase(key);
    } else {
      catalog->tables_[key] = std::move(entry);
    }
  }
  for (const auto& [key, is_view] : relations_) {
    if (is_view) {
      catalog->relations_[key] = *is_view;
    } else {
      catalog->relations_.erase(key);
    }
  }
  for (const auto& [key, exists] : temporaries_) {
    if (exists) {
      catalog->temporaries_[key] = true;
    } else {
      catalog->temporaries_.erase(key);
    }
  }
  for (auto& [key, database] : databases_) {
    if (database) {
      catalog->databases_[key] = std::move(*database);
    } else {
      catalog->databases_.erase(key);
    }
  }
  catalog->next_incarnation_ = next_incarnation_;
}

// ---------------------------------------------------------------- names

StatementRun::Key StatementRun::KeyOf(const TablePath& path) const {
  return catalog_.KeyOf(path.database, path.table);
}

std::string StatementRun::DatabaseKey(std::string_view name) const {
  return catalog_.KeyOf(name, "").first;
}

Result<TablePath> StatementRun::PathOf(const TableName& name) const {
  TablePath path{"", name.database, name.table};
  if (path.database.empty()) path.database = context_.default_database;
  if (path.database.empty()) {
    return Refuse(name.at, "no database selected for table '" + name.table + "'");
  }
  if (settings().table_name_case == TableNameCase::kLower) {
    path.database = LowerCase(path.database);
    path.table = LowerCase(path.table);
  }
  return path;
}

StatementRun::EntryPtr StatementRun::Find(const TablePath& path) const {
  const Key key = KeyOf(path);
  if (auto changed = tables_.find(key); changed != tables_.end()) return changed->second;
  auto found = catalog_.tables_.find(key);
  return found == catalog_.tables_.end() ? nullptr : found->second;
}

bool StatementRun::IsTemporary(const TablePath& path) const {
  const Key key = KeyOf(path);
  if (auto changed = temporaries_.find(key); changed != temporaries_.end()) return changed->second;
  return catalog_.temporaries_.contains(key);
}

bool StatementRun::IsRelation(const TablePath& path) const {
  const Key key = KeyOf(path);
  if (auto changed = relations_.find(key); changed != relations_.end()) {
    return changed->second.has_value();
  }
  return catalog_.relations_.contains(key);
}

Result<StatementRun::EntryPtr> StatementRun::Require(const TableName& name) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath path, PathOf(name));
  EntryPtr entry = Find(path);
  if (entry != nullptr) return entry;
  return Fail(ErrorKind::kNotFound, name.at, "table '" + path.ToString() + "' doesn't exist");
}

void StatementRun::Put(const TablePath& path, EntryPtr entry) {
  tables_[KeyOf(path)] = std::move(entry);
}

Charset StatementRun::DatabaseDefaults(std::string_view database) const {
  const std::string key = DatabaseKey(database);
  auto changed = databases_.find(key);
  if (changed != databases_.end() && changed->second) return changed->second->defaults;
  auto found = catalog_.databases_.find(key);
  if (changed == databases_.end() && found != catalog_.databases_.end()) {
    return found->second.defaults;
  }
  Charset defaults = FindCharset(settings().charset, settings());
  if (!settings().collation.empty()) defaults.collation = settings().collation;
  return defaults;
}

// ---------------------------------------------------------------- effects

void StatementRun::AddChange(const TablePath& table, std::vector<SchemaChange> parts) {
  if (parts.empty()) return;
  if (!effect_.changes.empty() && effect_.changes.back().table == table &&
      effect_.changes.back().after() == nullptr) {
    std::vector<SchemaChange>& present = effect_.changes.back().parts;
    for (SchemaChange& part : parts) {
      part.part = static_cast<uint32_t>(present.size());
      present.push_back(std::move(part));
    }
    return;
  }
  StatementChange change;
  change.table = table;
  change.parts = std::move(parts);
  effect_.changes.push_back(std::move(change));
}

void StatementRun::AddDrop(const TablePath& path, const EntryPtr& entry) {
  std::vector<SchemaChange> parts;
  parts.push_back({0, DropTable{}, entry->schema, nullptr});
  AddChange(path, std::move(parts));
  Put(path, nullptr);
}

// ---------------------------------------------------------------- tables

Result<void> StatementRun::Visit(const CreateTableStatement& create) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath path, PathOf(create.name));
  if (create.or_replace && create.if_not_exists) {
    return Refuse(create.name.at, "incorrect usage of OR REPLACE and IF NOT EXISTS");
  }
  if (create.temporary) {
    if (settings().track_temporary_tables) temporaries_[KeyOf(path)] = true;
    return {};
  }
  const EntryPtr present = Find(path);
  if (create.or_replace) {
    // The query may still read the table that is replaced.
    DRIFTLESS_ASSIGN_OR_RETURN(EntryPtr made, BuildTable(create, path));
    if (present != nullptr) AddDrop(path, present);
    relations_[KeyOf(path)] = std::nullopt;
    std::vector<SchemaChange> parts;
    parts.push_back({0, CreateTable{}, nullptr, made->schema});
    AddChange(path, std::move(parts));
    Put(path, std::move(made));
    return {};
  }
  if (present != nullptr || IsRelation(path)) {
    if (create.if_not_exists) return {};
    return Refuse(create.name.at, "table '" + path.ToString() + "' already exists");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(EntryPtr made, BuildTable(create, path));
  std::vector<SchemaChange> parts;
  parts.push_back({0, CreateTable{}, nullptr, made->schema});
  AddChange(path, std::move(parts));
  Put(path, std::move(made));
  return {};
}

Result<void> StatementRun::Visit(const DropTablesStatement& drop) {
  std::set<Key> named;
  for (const TableName& name : drop.names) {
    DRIFTLESS_ASSIGN_OR_RETURN(const TablePath path, PathOf(name));
    if (!named.insert(KeyOf(path)).second) {
      return Refuse(name.at, "not unique table: '" + path.ToString() + "'");
    }
    if (IsTemporary(path)) {
      temporaries_[KeyOf(path)] = false;
      continue;
    }
    if (drop.temporary) {
      // Of other sessions' temporary tables nothing is known.
      if (!settings().track_temporary_tables || drop.if_exists) continue;
      return Fail(ErrorKind::kNotFound, name.at, "unknown table '" + path.ToString() + "'");
    }
    const EntryPtr entry = Find(path);
    if (entry != nullptr) {
      AddDrop(path, entry);
    } else if (!drop.if_exists) {
      return Fail(ErrorKind::kNotFound, name.at, "unknown table '" + path.ToString() + "'");
    }
  }
  return {};
}

Result<void> StatementRun::Visit(const TruncateTableStatement& truncate) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath path, PathOf(truncate.name));
  if (IsTemporary(path)) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const EntryPtr entry, Require(truncate.name));
  std::vector<SchemaChange> parts;
  parts.push_back({0, TruncateTable{}, entry->schema, entry->schema});
  AddChange(path, std::move(parts));
  return {};
}

Result<void> StatementRun::RenamePair(const RenameTablesStatement& rename,
                                      const RenameTablesStatement::Pair& pair) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath from, PathOf(pair.from));
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath to, PathOf(pair.to));
  if (IsTemporary(from)) {
    temporaries_[KeyOf(from)] = false;
    temporaries_[KeyOf(to)] = true;
    return {};
  }
  const EntryPtr entry = Find(from);
  const bool relation = entry == nullptr && IsRelation(from);
  if (entry == nullptr && !relation) {
    if (rename.if_exists) return {};
    return Fail(ErrorKind::kNotFound, pair.from.at,
                "table '" + from.ToString() + "' doesn't exist");
  }
  if (Find(to) != nullptr || IsRelation(to)) {
    return Refuse(pair.to.at, "table '" + to.ToString() + "' already exists");
  }
  if (relation) {
    const auto known = catalog_.relations_.find(KeyOf(from));
    const bool is_view = known == catalog_.relations_.end() || known->second;
    relations_[KeyOf(from)] = std::nullopt;
    relations_[KeyOf(to)] = is_view;
    return {};
  }
  auto renamed = std::make_shared<Entry>(*entry);
  TableSchema schema = *entry->schema;
  schema.path = to;
  std::vector<SchemaChange> parts = SplitIntoParts(entry->schema, schema, {});
  if (!parts.empty()) renamed->schema = parts.back().after;
  Put(from, nullptr);
  Put(to, std::move(renamed));
  AddChange(from, std::move(parts));
  return {};
}

Result<void> StatementRun::Visit(const RenameTablesStatement& rename) {
  for (const RenameTablesStatement::Pair& pair : rename.pairs) {
    DRIFTLESS_TRY(RenamePair(rename, pair));
  }
  return {};
}

// ---------------------------------------------------------------- databases

Result<void> StatementRun::DropDatabase(const DatabaseStatement& database) {
  const std::string key = DatabaseKey(database.name);
  for (const auto& [table_key, entry] : catalog_.tables_) {
    if (table_key.first == key) AddDrop(entry->schema->path, entry);
  }
  for (const auto& [relation_key, is_view] : catalog_.relations_) {
    if (relation_key.first == key) relations_[relation_key] = std::nullopt;
  }
  databases_[key] = std::nullopt;
  return {};
}

Result<void> StatementRun::Visit(const DatabaseStatement& database) {
  if (database.kind == DatabaseStatement::Kind::kDrop) return DropDatabase(database);
  std::string name = database.name.empty() ? context_.default_database : database.name;
  if (name.empty()) return Refuse(database.at, "no database selected");
  if (settings().table_name_case == TableNameCase::kLower) name = LowerCase(name);
  const std::string key = DatabaseKey(name);
  const auto present = catalog_.databases_.find(key);
  const bool exists = present != catalog_.databases_.end();
  DdlCatalog::Database made{name, {}};
  if (database.kind == DatabaseStatement::Kind::kCreate) {
    if (exists && database.if_exists) return {};
    if (exists && !database.or_replace) {
      return Refuse(database.at, "can't create database '" + name + "': it exists");
    }
    if (database.or_replace) DRIFTLESS_TRY(DropDatabase(database));
    databases_[key] = std::nullopt;
    made.defaults = DatabaseDefaults(name);
  } else {
    made.defaults = DatabaseDefaults(name);
  }
  if (database.charset) made.defaults = *database.charset;
  if (database.collation) {
    const Charset found = FindCollation(*database.collation, settings());
    if (found.empty()) {
      return Refuse(database.at, "unknown collation '" + *database.collation + "'");
    }
    if (database.charset && database.charset->charset != found.charset) {
      return Refuse(database.at, "COLLATION '" + *database.collation +
                                     "' is not valid for CHARACTER SET '" +
                                     database.charset->charset + "'");
    }
    made.defaults = found;
  }
  databases_[key] = std::move(made);
  return {};
}

// ---------------------------------------------------------------- indexes and the rest

Result<void> StatementRun::Visit(const CreateIndexStatement& create) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath path, PathOf(create.table));
  if (IsTemporary(path)) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const EntryPtr entry, Require(create.table));
  Entry next = *entry;
  const int index = next.FindIndex(create.key.name.text);
  if (create.or_replace && index >= 0) next.indexes.erase(next.indexes.begin() + index);
  TableBuilder builder(*this, std::move(next));
  DRIFTLESS_TRY(builder.AddKey(create.key));
  Put(path, std::make_shared<const Entry>(builder.Take()));
  return {};
}

Result<void> StatementRun::Visit(const DropIndexStatement& drop) {
  // DROP INDEX `PRIMARY` drops the primary key, so this is an ALTER TABLE.
  AlterTableStatement alter;
  alter.name = drop.table;
  alter.specs.push_back(DropKeySpec{DropKeySpec::Kind::kIndex, drop.name, drop.if_exists});
  return Visit(alter);
}

Result<void> StatementRun::Visit(const RelationStatement& relation) {
  effect_.kind = StatementEffect::Kind::kOther;
  for (const TableName& name : relation.names) {
    auto path = PathOf(name);
    if (!path) continue;  // nothing to remember without a database
    if (relation.kind == RelationStatement::Kind::kDrop) {
      relations_[KeyOf(*path)] = std::nullopt;
    } else {
      relations_[KeyOf(*path)] = relation.is_view;
    }
  }
  return {};
}

Result<void> StatementRun::Visit(const UseStatement& use) {
  effect_.kind = StatementEffect::Kind::kUse;
  effect_.database = use.database;
  return {};
}

Result<void> StatementRun::Visit(const IgnoredStatement& ignored) {
  switch (ignored.kind) {
    case IgnoredStatement::Kind::kTransaction:
      effect_.kind = StatementEffect::Kind::kTransaction;
      break;
    case IgnoredStatement::Kind::kRows: effect_.kind = StatementEffect::Kind::kRows; break;
    case IgnoredStatement::Kind::kOther: effect_.kind = StatementEffect::Kind::kOther; break;
  }
  return {};
}

}  // namespace driftless::mysql
