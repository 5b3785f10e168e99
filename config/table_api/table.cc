#include "config/table_api/table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/sql/schema_check.h"

namespace driftless::table_api {
namespace {

using flink::Expr;
using flink::ExprKind;
using flink::NamedExpr;

Error Invalid(std::string text) {
  return flink::SqlError(flink::kValidationException, std::move(text));
}

NamedExpr FieldOf(const flink::Field& field) {
  NamedExpr item;
  item.name = field.name;
  item.expr = FieldExpr(field.name).sql;
  item.expr.result = field.type;
  return item;
}

std::vector<NamedExpr> FieldsOf(const Table& table) {
  std::vector<NamedExpr> items;
  for (const flink::Field& field : table.rows.fields()) items.push_back(FieldOf(field));
  return items;
}

Result<NamedExpr> Resolved(const ApiExpr& expr, std::string name, const flink::Scope& scope) {
  NamedExpr item;
  item.name = std::move(name);
  item.expr = expr.sql;
  DRIFTLESS_TRY(ResolveExpr(&item.expr, scope));
  item.type = item.expr.result;
  return item;
}

// A bare Java literal is no expression.
Result<void> CheckExpressions(const std::vector<ApiExpr>& items, std::string_view method) {
  for (const ApiExpr& item : items) {
    if (!item.is_bare) continue;
    return std::move(Invalid(std::string(method) + " takes expressions, not the Java value " +
                             item.summary))
        .Hint("Write lit(..) around a constant, or $(\"..\") for a column.");
  }
  return {};
}

Result<void> CheckNames(const std::vector<NamedExpr>& items) {
  std::set<std::string> names;
  for (const NamedExpr& item : items) {
    if (!names.insert(item.name).second) return Invalid("Ambiguous column name: " + item.name);
  }
  return {};
}

// The projection, with the types that the items say.
Result<Table> Projected(const Table& table, std::vector<NamedExpr> items) {
  const flink::EvalContext context = flink::ContextOf(table.rows);
  std::vector<LogicalType> types;
  for (NamedExpr& item : items) {
    const LogicalType type = item.type.value_or(item.expr.result);
    types.push_back(type);
    // A column stays as it is; what is worked out is cut off where its type is shorter.
    const bool is_text = type.IsCharacter() || type.IsBytes();
    item.type = item.expr.kind != ExprKind::kColumn && is_text ? std::optional(type) : std::nullopt;
  }
  Table result;
  result.has_rows = table.has_rows;
  DRIFTLESS_ASSIGN_OR_RETURN(result.rows, flink::Project(table.rows, items, context));
  for (size_t i = 0; i < types.size(); ++i) result.rows.fields()[i].type = types[i];
  return result;
}

std::string NameOf(const ApiExpr& item, size_t index) {
  if (!item.alias.empty()) return item.alias;
  return item.field().value_or("_c" + std::to_string(index));
}

// as(sum(id), 'EXPR$0')
Error NoAggregation(const ApiExpr& item) {
  return Invalid("The added field expression cannot be an aggregation, found: as(" + item.summary +
                 ", 'EXPR$0')");
}

std::string Summary(const ApiExpr& item) {
  return item.alias.empty() ? item.summary : "as(" + item.summary + ", '" + item.alias + "')";
}

}  // namespace

std::string SchemaText(const Table& table, SchemaStyle style) {
  const bool tree = style == SchemaStyle::kTree;
  std::vector<std::string> lines;
  const flink::TableEntry* entry = table.entry.get();
  for (const flink::Field& field : table.rows.fields()) {
    std::string line =
        tree ? " |-- " + field.name + ": " : "  " + flink::QuoteName(field.name) + " ";
    line += field.type.ToString();
    const flink::Column* column = entry != nullptr ? entry->Find(field.name) : nullptr;
    if (column != nullptr && column->kind == flink::ColumnKind::kComputed) {
      line += " AS " + column->text;
    }
    if (column != nullptr && column->kind == flink::ColumnKind::kMetadata) {
      line += " METADATA";
      if (column->metadata_key) line += " FROM " + flink::QuoteString(*column->metadata_key);
      if (column->is_virtual) line += " VIRTUAL";
    }
    if (column != nullptr && column->comment && !tree) {
      line += " COMMENT " + flink::QuoteString(*column->comment);
    }
    lines.push_back(std::move(line));
  }
  if (entry != nullptr && entry->watermark) {
    const std::string& name = entry->watermark->column[0];
    const flink::Column* column = entry->Find(name);
    const std::string type = column != nullptr ? column->type.ToString() : "";
    lines.push_back(tree ? " |-- WATERMARK FOR " + name + ": " + type + " AS " +
                               entry->watermark->text
                         : "  WATERMARK FOR " + flink::QuoteName(name) + ": " + type + " AS " +
                               entry->watermark->text);
  }
  if (entry != nullptr && entry->key) {
    const std::string quote = tree ? "" : "`";
    lines.push_back((tree ? " |-- CONSTRAINT " : "  CONSTRAINT ") + quote + entry->key->name +
                    quote + " PRIMARY KEY (" + flink::Join(entry->key->columns, quote) + ")" +
                    (tree ? "" : " NOT ENFORCED"));
  }
  std::string text = tree ? "root\n" : "(\n";
  for (size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "" : tree ? "\n" : ",\n") + lines[i];
  if (tree) return text + (lines.empty() ? "" : "\n");
  return text + "\n)\n";
}

Result<Table> Select(const Table& table, const std::vector<ApiExpr>& items) {
  DRIFTLESS_TRY(CheckExpressions(items, "select"));
  const bool aggregates = std::any_of(items.begin(), items.end(),
                                      [](const ApiExpr& item) { return item.is_aggregate; });
  if (aggregates) return SelectAggregates(table, {}, items);
  const flink::Scope scope = flink::ContextOf(table.rows).scope;
  std::vector<NamedExpr> projection;
  for (const ApiExpr& item : items) {
    if (item.field() == "*") {
      for (NamedExpr& field : FieldsOf(table)) projection.push_back(std::move(field));
      continue;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(NamedExpr resolved,
                               Resolved(item, NameOf(item, projection.size()), scope));
    projection.push_back(std::move(resolved));
  }
  DRIFTLESS_TRY(CheckNames(projection));
  return Projected(table, std::move(projection));
}

Result<Table> SelectAggregates(const Table& table, const std::vector<ApiExpr>& keys,
                               const std::vector<ApiExpr>& items) {
  const flink::EvalContext context = flink::ContextOf(table.rows);
  std::vector<Expr> key_exprs;
  std::vector<std::string> key_names;
  for (const ApiExpr& key : keys) {
    DRIFTLESS_ASSIGN_OR_RETURN(const NamedExpr resolved, Resolved(key, "", context.scope));
    key_exprs.push_back(resolved.expr);
    key_names.push_back(key.alias.empty() ? key.field().value_or("") : key.alias);
  }
  std::vector<flink::AggregateCall> calls;
  std::vector<NamedExpr> projection;
  for (const ApiExpr& item : items) {
    DRIFTLESS_ASSIGN_OR_RETURN(NamedExpr resolved,
                               Resolved(item, NameOf(item, projection.size()), context.scope));
    flink::TakeAggregates(&resolved.expr, keys.size(), &calls);
    projection.push_back(std::move(resolved));
  }
  DRIFTLESS_TRY(CheckNames(projection));
  Table grouped;
  grouped.has_rows = table.has_rows;
  DRIFTLESS_ASSIGN_OR_RETURN(grouped.rows, flink::Aggregate(table.rows, key_exprs, calls, context));
  for (size_t i = 0; i < key_names.size(); ++i) grouped.rows.fields()[i].name = key_names[i];
  const flink::Scope scope = flink::ContextOf(grouped.rows).scope;
  for (NamedExpr& item : projection) {
    DRIFTLESS_TRY(ResolveExpr(&item.expr, scope));
    item.type = item.expr.result;
  }
  return Projected(grouped, std::move(projection));
}

Result<Table> AddColumns(const Table& table, const std::vector<ApiExpr>& columns, bool replace) {
  DRIFTLESS_TRY(CheckExpressions(columns, replace ? "addOrReplaceColumns" : "addColumns"));
  for (const ApiExpr& column : columns) {
    if (column.is_aggregate) return NoAggregation(column);
  }
  const flink::Scope scope = flink::ContextOf(table.rows).scope;
  std::vector<NamedExpr> projection = FieldsOf(table);
  for (const ApiExpr& column : columns) {
    DRIFTLESS_ASSIGN_OR_RETURN(NamedExpr added,
                               Resolved(column, NameOf(column, projection.size()), scope));
    const auto known = std::find_if(projection.begin(), projection.end(),
                                    [&](const NamedExpr& item) { return item.name == added.name; });
    if (replace && known != projection.end()) {
      *known = std::move(added);
    } else {
      projection.push_back(std::move(added));
    }
  }
  if (auto names = CheckNames(projection); !names) {
    return std::move(names.error())
        .Hint("Use addOrReplaceColumns to put a column in the place of one of its name.");
  }
  return Projected(table, std::move(projection));
}

Result<Table> RenameColumns(const Table& table, const std::vector<ApiExpr>& columns) {
  std::vector<NamedExpr> projection = FieldsOf(table);
  for (const ApiExpr& column : columns) {
    const auto field = column.field();
    if (column.alias.empty() || !field) {
      return Invalid(
          "Invalid alias for a renaming column operation. Renaming must add an alias to anexisting "
          "field. E.g.: 'a as a1'. But was: " +
          Summary(column));
    }
    Expr known = column.sql;
    DRIFTLESS_TRY(ResolveExpr(&known, flink::ContextOf(table.rows).scope));
    for (NamedExpr& item : projection) {
      if (item.expr.path[0] == *field) item.name = column.alias;
    }
  }
  DRIFTLESS_TRY(CheckNames(projection));
  return Projected(table, std::move(projection));
}

Result<Table> DropColumns(const Table& table, const std::vector<ApiExpr>& columns) {
  std::set<std::string> dropped;
  for (const ApiExpr& column : columns) {
    const auto field = column.field();
    if (!field || !column.alias.empty()) {
      return Invalid("Unexpected drop column expression: " + Summary(column));
    }
    const auto& fields = table.rows.fields();
    const bool known = std::any_of(fields.begin(), fields.end(),
                                   [&](const flink::Field& each) { return each.name == *field; });
    if (!known) return Invalid("Field " + *field + " does not exist in source table");
    dropped.insert(*field);
  }
  std::vector<NamedExpr> projection = FieldsOf(table);
  std::erase_if(projection, [&](const NamedExpr& item) { return dropped.contains(item.name); });
  return Projected(table, std::move(projection));
}

Result<Table> As(const Table& table, const std::vector<std::string>& names) {
  std::vector<NamedExpr> projection = FieldsOf(table);
  if (names.size() > projection.size()) {
    return Invalid("Aliasing more fields than we actually have.");
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "*") return Invalid("Alias can not accept '*' as name.");
    projection[i].name = names[i];
  }
  DRIFTLESS_TRY(CheckNames(projection));
  return Projected(table, std::move(projection));
}

Result<Table> Where(const Table& table, const ApiExpr& condition) {
  DRIFTLESS_TRY(CheckExpressions({condition}, "where"));
  const flink::EvalContext context = flink::ContextOf(table.rows);
  Expr resolved = condition.sql;
  DRIFTLESS_TRY(ResolveExpr(&resolved, context.scope));
  if (resolved.result.kind() != TypeKind::kBoolean) {
    return Invalid("Filter operator requires a boolean expression as input, but " +
                   condition.summary + " is of type " +
                   resolved.result.ToStringIgnoringNullability());
  }
  Table result = table;
  result.entry.reset();
  DRIFTLESS_ASSIGN_OR_RETURN(result.rows, flink::Filter(table.rows, resolved, context));
  return result;
}

Result<Table> OrderBy(const Table& table, const std::vector<ApiExpr>& keys) {
  const flink::Scope scope = flink::ContextOf(table.rows).scope;
  std::vector<flink::SortColumn> by;
  flink::Relation with_keys = table.rows;
  std::vector<NamedExpr> items;
  for (const ApiExpr& key : keys) {
    DRIFTLESS_ASSIGN_OR_RETURN(NamedExpr resolved,
                               Resolved(key, "$key" + std::to_string(items.size()), scope));
    resolved.type.reset();
    items.push_back(std::move(resolved));
    by.push_back({table.rows.fields().size() + by.size(), key.descending, !key.descending});
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const flink::Relation extra,
                             flink::Project(table.rows, items, flink::ContextOf(table.rows)));
  const flink::Relation sorted = flink::Sort(flink::Relation::Beside(table.rows, extra), by);
  Table wide;
  wide.rows = sorted;
  wide.has_rows = table.has_rows;
  return Projected(wide, FieldsOf(table));
}

Result<Table> JoinTables(const Table& left, const Table& right, flink::JoinKind kind,
                         const std::optional<ApiExpr>& on) {
  std::string common;
  for (const flink::Field& a : left.rows.fields()) {
    for (const flink::Field& b : right.rows.fields()) {
      if (a.name == b.name) common += (common.empty() ? "" : ", ") + a.name;
    }
  }
  if (!common.empty()) {
    return Invalid("join relations with ambiguous names: [" + common + "]");
  }
  flink::EvalContext context = flink::ContextOf(left.rows);
  for (const flink::Field& field : right.rows.fields()) {
    context.scope.columns.emplace_back(field.name, field.type);
  }
  std::optional<Expr> condition;
  if (on) {
    condition = on->sql;
    DRIFTLESS_TRY(ResolveExpr(&*condition, context.scope));
  }
  Table result;
  result.has_rows = left.has_rows && right.has_rows;
  DRIFTLESS_ASSIGN_OR_RETURN(result.rows,
                             flink::Join(left.rows, right.rows, kind, condition, context));
  return result;
}

Result<Table> CombineTables(const Table& left, const Table& right, flink::SetOperation operation,
                            std::string_view name) {
  const size_t a = left.rows.fields().size();
  const size_t b = right.rows.fields().size();
  if (a != b) {
    return Invalid("The " + std::string(name) +
                   " operation on two tables of different column sizes: " + std::to_string(a) +
                   " and " + std::to_string(b) + " is not supported");
  }
  Table result;
  result.has_rows = left.has_rows && right.has_rows;
  auto combined = flink::Combine(left.rows, right.rows, operation);
  if (!combined) {
    return Invalid("Incompatible types for sink: the columns of a " + std::string(name) +
                   " have no common types");
  }
  result.rows = std::move(*combined);
  return result;
}

// ---- values ------------------------------------------------------------------------------------

namespace {

bool IsNullWord(const Expr& e) { return e.kind == ExprKind::kKeyword && e.text == "NULL"; }

Result<LogicalType> CommonTypeOf(const std::vector<std::vector<Expr>>& rows, size_t column) {
  std::optional<LogicalType> common;
  bool nullable = false;
  bool mixed = false;
  std::string types;
  std::set<std::string> seen;
  for (const std::vector<Expr>& row : rows) {
    const Expr& value = row[column];
    nullable = nullable || IsNullWord(value) || value.result.nullable();
    if (IsNullWord(value)) continue;
    if (seen.insert(value.result.ToString()).second) {
      types += (types.empty() ? "" : ", ") + value.result.ToString();
    }
    if (!common) {
      common = value.result;
      continue;
    }
    const auto both = flink::LeastRestrictive(*common, value.result);
    mixed = mixed || !both;
    if (both) common = both;
  }
  if (mixed) {
    return Invalid(
        "Types in fromValues(...) must have a common super type. Could not find a common type for "
        "all rows at column " +
        std::to_string(column) + ".\nCould not find a common super type for types: [" + types +
        "]");
  }
  return common.value_or(LogicalType::String()).WithNullability(nullable || !common);
}

}  // namespace

Result<Table> FromValues(const std::vector<flink::Field>& declared,
                         const std::vector<std::vector<ApiExpr>>& rows) {
  if (rows.empty()) return Invalid("fromValues needs at least one row");
  std::vector<std::vector<Expr>> values;
  for (const std::vector<ApiExpr>& row : rows) {
    if (row.size() != (declared.empty() ? rows[0].size() : declared.size())) {
      return Invalid("All rows in a fromValues(...) clause must have the same fields number. Row " +
                     std::to_string(values.size()) + " has a different length than the first row.");
    }
    std::vector<Expr>& exprs = values.emplace_back();
    for (const ApiExpr& value : row) {
      exprs.push_back(value.sql);
      DRIFTLESS_TRY(ResolveExpr(&exprs.back(), {}));
    }
  }
  std::vector<flink::Field> fields = declared;
  for (size_t i = 0; i < rows[0].size() && declared.empty(); ++i) {
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, CommonTypeOf(values, i));
    fields.push_back({"f" + std::to_string(i), type});
  }
  flink::Relation one;
  one.SetRows(1);
  Table table;
  table.rows = flink::Relation(fields);
  for (const std::vector<Expr>& row : values) {
    std::vector<NamedExpr> items;
    for (size_t i = 0; i < row.size(); ++i)
      items.push_back({fields[i].name, row[i], fields[i].type});
    DRIFTLESS_ASSIGN_OR_RETURN(const flink::Relation made, flink::Project(one, items, {}));
    table.rows.AppendRow(made, 0);
  }
  return table;
}

}  // namespace driftless::table_api
