#include "config/sql/table_tracker.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/sql/statement_parser.h"
#include "schema/ddl/change_parts.h"

namespace driftless::flink {
namespace {

std::string Literal(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string CreateText(const ObjectName& name, const TableSchema& schema) {
  std::string text = "CREATE TABLE " + name.Quoted() + " (";
  for (const driftless::Column& column : schema.columns) {
    text +=
        (text.back() == '(' ? "" : ", ") + QuoteName(column.name) + " " + column.type.ToString();
    if (!column.comment.empty()) text += " COMMENT " + Literal(column.comment);
  }
  std::string key;
  for (const ColumnId id : schema.primary_key) {
    key += (key.empty() ? "" : ", ") + QuoteName(schema.Find(id)->name);
  }
  if (!key.empty()) text += ", PRIMARY KEY (" + key + ") NOT ENFORCED";
  text += ")";
  if (!schema.comment.empty()) text += " COMMENT " + Literal(schema.comment);
  return text;
}

StatementChange Whole(const TablePath& path, ChangeDetail detail, TableSchemaPtr before,
                      TableSchemaPtr after) {
  StatementChange change;
  change.table = path;
  change.parts.push_back({0, std::move(detail), std::move(before), std::move(after)});
  return change;
}

bool CreatesTable(const Statement& statement) {
  return statement.verb == Verb::kCreateTable && !statement.temporary;
}

}  // namespace

Result<TableTracker> TableTracker::Make(const std::string& default_database) {
  TableTracker tracker;
  if (default_database.empty()) return tracker;
  const std::string name = QuoteName(default_database);
  DRIFTLESS_TRY(tracker.session_.Execute("CREATE DATABASE " + name));
  DRIFTLESS_TRY(tracker.session_.Execute("USE " + name));
  return tracker;
}

Result<void> TableTracker::MakeDatabase(const ObjectName& name) {
  if (session_.FindDatabase(name) != nullptr) return {};
  const std::string text = QuoteName(name.catalog) + "." + QuoteName(name.database);
  DRIFTLESS_TRY(session_.Execute("CREATE DATABASE IF NOT EXISTS " + text));
  return {};
}

// Paths of tables have no catalog: two tables of one path would be one.
Result<void> TableTracker::CheckUnique(const ObjectName& name) const {
  for (const auto& [known, schema] : tables_) {
    if (known.database != name.database || known.object != name.object) continue;
    if (known.catalog == name.catalog) continue;
    return MakeError(ErrorKind::kUnsupported,
                     "table " + name.Summary() + " has the database and name of " +
                         known.Summary() + ": tables are told apart by these, not by catalogs");
  }
  return {};
}

Result<void> TableTracker::Load(const TableSchemaPtr& schema) {
  const TablePath& path = schema->path;
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, session_.Qualify({path.database, path.table}));
  DRIFTLESS_TRY(MakeDatabase(name));
  DRIFTLESS_TRY(session_.Execute("DROP TABLE IF EXISTS " + name.Quoted()));
  auto created = session_.Execute(CreateText(name, *schema));
  if (!created) return std::move(created).error().Context("table " + path.ToString());
  tables_[name] = schema;
  return {};
}

Result<std::vector<StatementChange>> TableTracker::Apply(std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Statement statement, ParseStatement(sql));
  ObjectName name;
  if (!statement.name.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(name, session_.Qualify(statement.name));
  }
  if (statement.verb == Verb::kTruncate) {
    // The session has no rows; the statement is understood all the same.
    const auto found = tables_.find(name);
    if (found == tables_.end()) {
      return MakeError(ErrorKind::kNotFound, "the table " + name.Summary() + " is not known");
    }
    return std::vector<StatementChange>{
        Whole(found->second->path, TruncateTable{}, found->second, found->second)};
  }
  if (CreatesTable(statement)) {
    DRIFTLESS_TRY(CheckUnique(name));
    if (makes_databases_) DRIFTLESS_TRY(MakeDatabase(name));
  } else if (statement.verb == Verb::kAlterTableRename) {
    DRIFTLESS_TRY(CheckUnique({name.catalog, name.database, statement.new_name.back()}));
  }
  auto executed = session_.Execute(sql);
  if (!executed) {
    const bool is_unknown = executed.error().message().find("doesn't exist") != std::string::npos;
    if (is_unknown) {
      return MakeError(ErrorKind::kNotFound, executed.error().message())
          .At(executed.error().line(), executed.error().column());
    }
    return std::move(executed).error();
  }
  return Changes(statement, name);
}

// The table as the session has it now. A column keeps its identity by its name, or by the one that
// the statement took from it.
TableSchema TableTracker::Described(const ObjectName& name, const TableEntry& entry,
                                    const TableSchema* before, const Statement& statement) const {
  TableSchema schema;
  schema.path = {"", name.database, name.object};
  schema.incarnation = before == nullptr ? next_incarnation_ : before->incarnation;
  if (before != nullptr) {
    schema.next_column_id = before->next_column_id;
    schema.version = before->version;
    schema.partition_keys = before->partition_keys;
    schema.options = before->options;
    schema.charset = before->charset;
    schema.collation = before->collation;
  }
  const bool renames = statement.verb == Verb::kAlterTableRenameColumn;
  for (const auto& column : entry.columns) {
    if (column.kind != ColumnKind::kPhysical) continue;
    const bool is_renamed = renames && column.name == statement.new_name[0];
    const std::string& former = is_renamed ? statement.columns[0][0] : column.name;
    const driftless::Column* known = before == nullptr ? nullptr : before->FindName(former);
    if (known == nullptr) {
      schema.AddColumn(column.name, column.type).comment = column.comment.value_or("");
      continue;
    }
    driftless::Column kept = *known;
    kept.name = column.name;
    if (kept.type.Nullable() != column.type.Nullable()) {
      kept.source.type_text = column.type.ToStringIgnoringNullability();
    }
    kept.type = column.type;
    kept.comment = column.comment.value_or("");
    schema.columns.push_back(std::move(kept));
  }
  if (entry.key) {
    for (const std::string& key : entry.key->columns) {
      if (const driftless::Column* column = schema.FindName(key)) {
        schema.primary_key.push_back(column->id);
      }
    }
  }
  if (before == nullptr) {
    for (const std::string& key : entry.partition_keys) {
      if (const driftless::Column* column = schema.FindName(key)) {
        schema.partition_keys.push_back(column->id);
      }
    }
  }
  schema.comment = entry.comment;
  return schema;
}

Result<std::vector<StatementChange>> TableTracker::Changes(const Statement& statement,
                                                           const ObjectName& name) {
  std::vector<StatementChange> changes;
  // Only one table can have changed, but many can be gone (DROP DATABASE ... CASCADE).
  ObjectName now = name;
  if (statement.verb == Verb::kAlterTableRename) now.object = statement.new_name.back();
  const auto known = tables_.find(name);
  const TableSchemaPtr before = known == tables_.end() ? nullptr : known->second;
  const TableEntry* entry = session_.FindPermanent(now);
  const bool concerns_table =
      entry != nullptr && entry->kind == TableKind::kTable && (before || CreatesTable(statement));
  if (concerns_table) {
    auto after = std::make_shared<TableSchema>(Described(now, *entry, before.get(), statement));
    if (before == nullptr) {
      ++next_incarnation_;
      changes.push_back(Whole(after->path, CreateTable{}, nullptr, after));
    } else {
      StatementChange change;
      change.table = before->path;
      change.parts = SplitIntoParts(before, *after, {});
      if (!change.parts.empty()) {
        after = std::make_shared<TableSchema>(*change.parts.back().after);
        changes.push_back(std::move(change));
      }
    }
    if (now != name) tables_.erase(name);
    tables_[now] = after;
  }
  for (auto it = tables_.begin(); it != tables_.end();) {
    if (session_.FindPermanent(it->first) != nullptr) {
      ++it;
      continue;
    }
    changes.push_back(Whole(it->second->path, DropTable{}, it->second, nullptr));
    it = tables_.erase(it);
  }
  return changes;
}

TableSchemaPtr TableTracker::Find(const Path& name) const {
  const auto full = session_.Qualify(name);
  bool is_temporary = false;
  if (!full || session_.FindAny(*full, &is_temporary) == nullptr || is_temporary) return nullptr;
  const auto found = tables_.find(*full);
  return found == tables_.end() ? nullptr : found->second;
}

std::vector<TableSchemaPtr> TableTracker::Tables() const {
  std::vector<TableSchemaPtr> tables;
  for (const auto& [name, schema] : tables_) tables.push_back(schema);
  return tables;
}

}  // namespace driftless::flink
