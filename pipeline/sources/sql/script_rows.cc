#include "pipeline/sources/sql/script_rows.h"

#include <algorithm>
#include <utility>

#include "config/expr/eval/program.h"
#include "schema/types/casts.h"
#include "schema/types/value_text.h"

namespace driftless {
namespace {

Error At(ErrorKind kind, std::string text, int line, int column) {
  return MakeError(kind, std::move(text)).At(line, column);
}

Error At(std::string text, const flink::Expr& expr) {
  return At(ErrorKind::kInvalidInput, std::move(text), expr.line, expr.column);
}

// A function that gives another value at another reading; empty: none.
std::string ChangingFunction(const flink::Expr& expr) {
  if (expr.kind == flink::ExprKind::kCall || expr.kind == flink::ExprKind::kKeyword) {
    for (const std::string_view name :
         {"CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_ROW_TIMESTAMP", "LOCALTIME",
          "LOCALTIMESTAMP", "NOW", "PROCTIME", "RAND", "RAND_INTEGER", "UUID", "UNIX_TIMESTAMP"}) {
      // UNIX_TIMESTAMP of a text is the same every time.
      if (expr.text == name && !(name == "UNIX_TIMESTAMP" && !expr.args.empty())) return expr.text;
    }
  }
  for (const flink::Expr& arg : expr.args) {
    std::string name = ChangingFunction(arg);
    if (!name.empty()) return name;
  }
  return "";
}

bool IsNullWord(const flink::Expr& expr) {
  return expr.kind == flink::ExprKind::kKeyword && expr.text == "NULL";
}

std::vector<ColumnView> ViewsOf(const std::vector<OwnedColumn>& columns) {
  std::vector<ColumnView> views;
  views.reserve(columns.size());
  for (const OwnedColumn& column : columns) views.push_back(column.view());
  return views;
}

// ROW(1, 'x') has no names: its fields go into those of the target by their places.
LogicalType NamedAs(const LogicalType& type, const LogicalType& target) {
  const auto& fields = target.children();
  if (type.kind() != TypeKind::kRow || target.kind() != TypeKind::kRow ||
      type.children().size() != fields.size()) {
    return type;
  }
  std::vector<RowField> named;
  for (size_t i = 0; i < fields.size(); ++i) {
    named.push_back({fields[i].name, NamedAs(type.children()[i].type, fields[i].type), ""});
  }
  return LogicalType::Row(std::move(named)).WithNullability(type.nullable());
}

// The text of the value of a row, for an error.
std::string TextOf(const LogicalType& type, const ColumnView& view, int64_t row) {
  std::string text;
  AppendText(type, view, row, TextFormat(), &text);
  constexpr size_t kLongest = 60;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

}  // namespace

ScriptRows::ScriptRows(TableSchemaPtr schema, TimeZone zone)
    : schema_(std::move(schema)), zone_(std::move(zone)), columns_(NoRows()) {}

std::vector<OwnedColumn> ScriptRows::NoRows() const {
  std::vector<OwnedColumn> columns(schema_->columns.size());
  for (size_t i = 0; i < columns.size(); ++i) columns[i].Prepare(schema_->columns[i].type, 0);
  return columns;
}

void ScriptRows::Append(const std::vector<OwnedColumn>& from, int64_t row,
                        std::vector<OwnedColumn>* to) const {
  for (size_t i = 0; i < from.size(); ++i) {
    (*to)[i].AppendRows(schema_->columns[i].type, from[i].view(), row, row + 1);
  }
}

void ScriptRows::Clear() {
  columns_ = NoRows();
  size_ = 0;
  by_key_.clear();
}

std::string ScriptRows::KeyOf(const std::vector<OwnedColumn>& columns, int64_t row) const {
  std::string key;
  for (const ColumnId id : schema_->primary_key) {
    const auto index = static_cast<size_t>(schema_->IndexOf(id));
    std::string text;
    AppendText(schema_->columns[index].type, columns[index].view(), row, TextFormat(), &text);
    key += std::to_string(text.size()) + ":" + text;
  }
  return key;
}

Result<void> ScriptRows::IndexRows() {
  by_key_.clear();
  if (schema_->primary_key.empty()) return {};
  for (int64_t row = 0; row < size_; ++row) {
    if (by_key_.emplace(KeyOf(columns_, row), row).second) continue;
    return MakeError(ErrorKind::kInvalidInput,
                     "table " + schema_->path.ToString() + " has two rows of one primary key");
  }
  return {};
}

Result<void> ScriptRows::SetSchema(TableSchemaPtr schema) {
  std::vector<OwnedColumn> columns(schema->columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = schema->columns[i];
    const int before = schema_->IndexOf(column.id);
    if (before < 0) {
      columns[i].Prepare(column.type, size_);
      if (column.type.physical() == PhysicalKind::kVariable ||
          column.type.physical() == PhysicalKind::kList) {
        columns[i].offsets.assign(static_cast<size_t>(size_) + 1, 0);
      }
    } else {
      const LogicalType& from = schema_->columns[static_cast<size_t>(before)].type;
      const ColumnView view = columns_[static_cast<size_t>(before)].view();
      ColumnCast(from, column.type, zone_).Run(view, &columns[i]);
      for (int64_t row = 0; row < size_ && columns[i].misfit_count > 0; ++row) {
        if (!columns[i].IsMisfit(row)) continue;
        return MakeError(ErrorKind::kInvalidInput,
                         "the value " + TextOf(from, view, row) + " of column " + column.name +
                             " does not go into " + column.type.ToStringIgnoringNullability());
      }
    }
    for (int64_t row = 0; row < size_ && !column.type.nullable(); ++row) {
      if (!columns[i].IsNull(row)) continue;
      // An added NOT NULL column has no value in the rows that are there; no default exists in
      // Flink's DDL.
      if (before < 0) break;
      return MakeError(ErrorKind::kInvalidInput, "column " + column.name +
                                                     " has NULL in rows that are there and cannot "
                                                     "become NOT NULL");
    }
  }
  columns_ = std::move(columns);
  schema_ = std::move(schema);
  return IndexRows();
}

Result<bool> ScriptRows::Run(const flink::RowStatement& statement, const Visit& visit) {
  switch (statement.kind) {
    case flink::RowStatement::Kind::kInsert: return Insert(statement, visit);
    case flink::RowStatement::Kind::kUpdate: return Update(statement, visit);
    case flink::RowStatement::Kind::kDelete: break;
  }
  return Delete(statement, visit);
}

Result<int> ScriptRows::ColumnOf(const flink::NameAt& name) const {
  const int index = schema_->IndexOfName(name.name);
  if (index >= 0) return index;
  std::string names;
  for (const Column& column : schema_->columns) names += (names.empty() ? "" : ", ") + column.name;
  return std::move(At(ErrorKind::kInvalidInput,
                      "table " + schema_->path.ToString() + " has no column " + name.name +
                          " that a statement can set",
                      name.line, name.column))
      .Hint("It has " + names + ".");
}

Result<void> ScriptRows::Evaluate(const flink::Expr& expr, const std::vector<OwnedColumn>& over,
                                  int64_t rows, int column, OwnedColumn* out) const {
  const Column& target = schema_->columns[static_cast<size_t>(column)];
  if (IsNullWord(expr)) {
    out->Prepare(target.type, rows);
    if (!out->offsets.empty()) out->offsets.assign(static_cast<size_t>(rows) + 1, 0);
  } else {
    if (const std::string name = ChangingFunction(expr); !name.empty()) {
      return std::move(At(name + " gives another value at every reading of the script", expr))
          .Hint("Write the value.");
    }
    flink::Scope scope;
    if (!over.empty()) {
      for (const Column& c : schema_->columns) scope.columns.emplace_back(c.name, c.type);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(flink::Program program, flink::Program::Compile(expr, scope, zone_));
    if (program.type().IsCharacter() && target.type.IsBytes()) {
      flink::Expr cast;  // the bytes of the text, as CAST says
      cast.kind = flink::ExprKind::kCast;
      cast.text = "CAST";
      cast.type = LogicalType::Bytes();
      cast.line = expr.line;
      cast.column = expr.column;
      cast.args = {expr};
      DRIFTLESS_ASSIGN_OR_RETURN(program, flink::Program::Compile(std::move(cast), scope, zone_));
    }
    const LogicalType type = NamedAs(program.type(), target.type);
    const ColumnCast cast(type, target.type, zone_);
    if (cast.verdict() == CastVerdict::kImpossible) {
      return At("a value of type " + type.ToStringIgnoringNullability() +
                    " does not go into column " + target.name + ", which is " +
                    target.type.ToStringIgnoringNullability(),
                expr);
    }
    const std::vector<ColumnView> views = ViewsOf(over);
    const ColumnView values = program.Run({rows, views, 0});
    if (!program.failed_rows().empty()) return At(program.failure(), expr);
    cast.Run(values, out);
    for (int64_t row = 0; row < rows && out->misfit_count > 0; ++row) {
      if (!out->IsMisfit(row)) continue;
      return At("the value " + TextOf(type, values, row) + " does not go into column " +
                    target.name + ", which is " + target.type.ToStringIgnoringNullability(),
                expr);
    }
  }
  for (int64_t row = 0; row < rows && !target.type.nullable(); ++row) {
    if (out->IsNull(row)) return At("column " + target.name + " is NOT NULL", expr);
  }
  return {};
}

Result<bool> ScriptRows::Insert(const flink::RowStatement& statement, const Visit& visit) {
  std::vector<int> targets;
  for (const flink::NameAt& name : statement.columns) {
    DRIFTLESS_ASSIGN_OR_RETURN(const int column, ColumnOf(name));
    if (std::find(targets.begin(), targets.end(), column) != targets.end()) {
      return At(ErrorKind::kInvalidInput, "column " + name.name + " is named twice", name.line,
                name.column);
    }
    targets.push_back(column);
  }
  if (statement.columns.empty()) {
    for (size_t i = 0; i < schema_->columns.size(); ++i) targets.push_back(static_cast<int>(i));
  }
  for (size_t i = 0; i < schema_->columns.size(); ++i) {
    const Column& column = schema_->columns[i];
    if (column.type.nullable() ||
        std::find(targets.begin(), targets.end(), static_cast<int>(i)) != targets.end()) {
      continue;
    }
    const flink::NameAt& at = statement.columns.front();
    return At(ErrorKind::kInvalidInput,
              "column " + column.name + " is NOT NULL and the statement gives it no value", at.line,
              at.column);
  }
  std::vector<OwnedColumn> fresh = NoRows();
  flink::Expr null;
  null.text = "NULL";
  for (const std::vector<flink::Expr>& row : statement.rows) {
    if (row.size() != targets.size()) {
      return At("the row has " + std::to_string(row.size()) + " values for " +
                    std::to_string(targets.size()) + " columns",
                row.front());
    }
    for (size_t i = 0; i < schema_->columns.size(); ++i) {
      const auto at = std::find(targets.begin(), targets.end(), static_cast<int>(i));
      OwnedColumn value;
      DRIFTLESS_TRY(
          Evaluate(at == targets.end() ? null : row[static_cast<size_t>(at - targets.begin())], {},
                   1, static_cast<int>(i), &value));
      fresh[i].AppendRows(schema_->columns[i].type, value.view(), 0, 1);
    }
  }
  // The new rows take the place of rows of their keys, or stand at the end.
  const auto count = static_cast<int64_t>(statement.rows.size());
  bool go_on = true;
  for (int64_t row = 0; row < count; ++row) {
    const std::string key = schema_->primary_key.empty() ? "" : KeyOf(fresh, row);
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) {
      Append(fresh, row, &columns_);
      if (!schema_->primary_key.empty()) by_key_.emplace(key, size_);
      ++size_;
      go_on = go_on && visit({Op::kInsert, nullptr, -1, &fresh, row});
      continue;
    }
    go_on = go_on && visit({Op::kUpdate, &columns_, known->second, &fresh, row});
    std::vector<OwnedColumn> replaced = NoRows();
    for (int64_t i = 0; i < size_; ++i) {
      i == known->second ? Append(fresh, row, &replaced) : Append(columns_, i, &replaced);
    }
    columns_ = std::move(replaced);
  }
  return go_on;
}

Result<std::vector<int64_t>> ScriptRows::Matching(const flink::RowStatement& statement) const {
  std::vector<int64_t> rows;
  if (!statement.where) {
    for (int64_t row = 0; row < size_; ++row) rows.push_back(row);
    return rows;
  }
  if (const std::string name = ChangingFunction(*statement.where); !name.empty()) {
    return At(name + " gives another value at every reading of the script", *statement.where);
  }
  flink::Scope scope;
  for (const Column& c : schema_->columns) scope.columns.emplace_back(c.name, c.type);
  DRIFTLESS_ASSIGN_OR_RETURN(flink::Program program,
                             flink::Program::Compile(*statement.where, scope, zone_));
  if (program.type().kind() != TypeKind::kBoolean) {
    return At("a condition is BOOLEAN, this is " + program.type().ToStringIgnoringNullability(),
              *statement.where);
  }
  const std::vector<ColumnView> views = ViewsOf(columns_);
  const ColumnView& holds = program.Run({size_, views, 0});
  if (!program.failed_rows().empty()) return At(program.failure(), *statement.where);
  for (int64_t row = 0; row < size_; ++row) {
    if (!holds.IsNull(row) && holds.Bit(row)) rows.push_back(row);
  }
  return rows;
}

Result<bool> ScriptRows::Update(const flink::RowStatement& statement, const Visit& visit) {
  std::vector<int> targets;
  for (const flink::NameAt& name : statement.columns) {
    DRIFTLESS_ASSIGN_OR_RETURN(const int column, ColumnOf(name));
    targets.push_back(column);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, Matching(statement));
  std::vector<OwnedColumn> old = NoRows();
  for (const int64_t row : rows) Append(columns_, row, &old);
  const auto count = static_cast<int64_t>(rows.size());
  std::vector<OwnedColumn> changed = old;
  for (size_t i = 0; i < targets.size(); ++i) {
    DRIFTLESS_TRY(Evaluate(statement.rows[0][i], old, count, targets[i],
                           &changed[static_cast<size_t>(targets[i])]));
  }
  std::vector<OwnedColumn> replaced = NoRows();
  size_t next = 0;
  for (int64_t row = 0; row < size_; ++row) {
    if (next < rows.size() && rows[next] == row) {
      Append(changed, static_cast<int64_t>(next++), &replaced);
    } else {
      Append(columns_, row, &replaced);
    }
  }
  std::swap(columns_, replaced);
  if (auto indexed = IndexRows(); !indexed) {
    std::swap(columns_, replaced);
    DRIFTLESS_TRY(IndexRows());
    return std::move(indexed.error()).At(statement.columns[0].line, statement.columns[0].column);
  }
  for (int64_t row = 0; row < count; ++row) {
    if (!visit({Op::kUpdate, &old, row, &changed, row})) return false;
  }
  return true;
}

Result<bool> ScriptRows::Delete(const flink::RowStatement& statement, const Visit& visit) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, Matching(statement));
  std::vector<OwnedColumn> old = NoRows();
  std::vector<OwnedColumn> left = NoRows();
  size_t next = 0;
  for (int64_t row = 0; row < size_; ++row) {
    const bool goes = next < rows.size() && rows[next] == row;
    next += goes ? 1 : 0;
    Append(columns_, row, goes ? &old : &left);
  }
  columns_ = std::move(left);
  size_ -= static_cast<int64_t>(rows.size());
  DRIFTLESS_TRY(IndexRows());
  for (int64_t row = 0; row < static_cast<int64_t>(rows.size()); ++row) {
    if (!visit({Op::kDelete, &old, row, nullptr, -1})) return false;
  }
  return true;
}

}  // namespace driftless
