#include <algorithm>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/expr/typing.h"
#include "config/sql/function_names.h"
#include "config/sql/query.h"
#include "config/sql/schema_check.h"
#include "config/sql/session.h"

namespace driftless::flink {
namespace {

Error Unknown(std::string text) { return SqlError(kCalciteValidator, std::move(text)); }

struct Source {
  const TableEntry* table = nullptr;
  std::string alias;
  std::string full_name;        // quoted
  bool may_be_missing = false;  // the other side of an outer join
};

class QueryResolver {
 public:
  QueryResolver(const Session& session, const Query& query) : session_(session), query_(query) {
    scope_.is_query = true;
    scope_.user_function = FunctionsOf(session);
  }

  Result<ResolvedQuery> Resolve() {
    if (!query_.rows.empty()) return Values();
    DRIFTLESS_TRY(FindTables());
    std::string text = query_.distinct ? "SELECT DISTINCT " : "SELECT ";
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string items, Items());
    text += items;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string from, From());
    text += from;
    if (query_.where) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string where, Condition(*query_.where));
      text += "\nWHERE " + where;
    }
    for (const Expr& key : query_.group_by) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string printed, Condition(key));
      text += (&key == &query_.group_by.front() ? "\nGROUP BY " : ", ") + printed;
    }
    if (query_.having) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string having, Condition(*query_.having));
      text += "\nHAVING " + having;
    }
    for (const Source& source : sources_) {
      if (source.table->kind == TableKind::kView || source.table->options.contains("connector")) {
        continue;
      }
      return SqlError(kValidationException,
                      "Table options do not contain an option key 'connector' for discovering a "
                      "connector.");
    }
    result_.text = std::move(text);
    return std::move(result_);
  }

 private:
  Result<ResolvedQuery> Values() {
    std::vector<LogicalType> types;
    std::string text = "VALUES ";
    for (const std::vector<Expr>& row : query_.rows) {
      if (&row != &query_.rows.front()) text += ",\n";
      text += "ROW(";
      for (size_t i = 0; i < row.size(); ++i) {
        Expr value = row[i];
        DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, InferType(&value, scope_));
        text += (i == 0 ? "" : ", ") + PrintExpr(row[i], PrintStyle::kValidated);
        if (&row == &query_.rows.front()) {
          types.push_back(type);
          continue;
        }
        const auto both = i < types.size() ? LeastRestrictive(types[i], type) : std::nullopt;
        if (row.size() != types.size() || !both) {
          return Unknown("Values passed to VALUES operator must have compatible types");
        }
        types[i] = both->WithNullability(types[i].nullable() || type.nullable());
      }
      text += ")";
    }
    for (size_t i = 0; i < types.size(); ++i) {
      Column column;
      column.name = "EXPR$" + std::to_string(i);
      column.type = types[i];
      result_.columns.push_back(std::move(column));
      result_.places.emplace_back(query_.rows[0][i].line, query_.rows[0][i].column);
    }
    result_.text = std::move(text);
    return std::move(result_);
  }

  Result<void> FindTables() {
    for (const TableUse& use : query_.from) {
      Source source;
      source.table = session_.FindTable(use.name);
      if (source.table == nullptr) {
        std::string name;
        for (const std::string& part : use.name) name += (name.empty() ? "" : ".") + part;
        return Unknown("Object '" + name + "' not found");
      }
      source.alias = use.alias.empty() ? use.name.back() : use.alias;
      source.full_name = session_.FullName(use.name);
      source.may_be_missing = use.join.starts_with("LEFT") || use.join.starts_with("FULL");
      if (use.join.starts_with("RIGHT") || use.join.starts_with("FULL")) {
        for (Source& before : sources_) before.may_be_missing = true;
      }
      sources_.push_back(std::move(source));
    }
    // Typing knows one table; a column goes by a name that has its table in front.
    for (const Source& source : sources_) {
      for (const Column& column : source.table->columns) {
        LogicalType type = column.type;
        if (source.may_be_missing) type = type.Nullable();
        scope_.columns.emplace_back(Key(source, column.name), type);
      }
    }
    return {};
  }

  static std::string Key(const Source& source, const std::string& column) {
    return source.alias + "." + column;
  }

  // The source and the number of the part that names the column.
  Result<std::pair<const Source*, size_t>> FindColumn(const Expr& e) const {
    if (e.path.size() > 1) {
      for (const Source& source : sources_) {
        if (source.alias != e.path[0]) continue;
        if (source.table->Find(e.path[1]) != nullptr) return std::pair(&source, size_t{1});
        return Unknown("Column '" + e.path[1] + "' not found in table '" + e.path[0] + "'");
      }
    }
    const Source* found = nullptr;
    for (const Source& source : sources_) {
      if (source.table->Find(e.path[0]) == nullptr) continue;
      if (found != nullptr) return Unknown("Column '" + e.path[0] + "' is ambiguous");
      found = &source;
    }
    if (found != nullptr) return std::pair(found, size_t{0});
    if (e.path.size() > 1) return Unknown("Table '" + e.path[0] + "' not found");
    return Unknown("Column '" + e.path[0] + "' not found in any table");
  }

  // Puts the table in front of every column: `printed` for people, `typed` as the scope has it.
  Result<void> Qualify(Expr* printed, Expr* typed) const {
    if (printed->kind == ExprKind::kColumn) {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto found, FindColumn(*printed));
      const auto& [source, part] = found;
      std::vector<std::string> rest(printed->path.begin() + static_cast<ptrdiff_t>(part),
                                    printed->path.end());
      typed->path = rest;
      typed->path[0] = Key(*source, rest[0]);
      printed->path = {source->alias};
      printed->path.insert(printed->path.end(), rest.begin(), rest.end());
      return {};
    }
    for (size_t i = 0; i < printed->args.size(); ++i) {
      if (printed->args[i].kind == ExprKind::kStar) continue;
      DRIFTLESS_TRY(Qualify(&printed->args[i], &typed->args[i]));
    }
    return {};
  }

  struct Typed {
    LogicalType type;
    std::string text;
  };
  Result<Typed> Type(const Expr& e) const {
    Expr printed = e;
    Expr typed = e;
    DRIFTLESS_TRY(Qualify(&printed, &typed));
    // COUNT(*) counts rows: any column that is there will do.
    DropStars(&typed);
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, InferType(&typed, scope_));
    QualifyFunctions(session_, &printed);
    return Typed{type, PrintExpr(printed, PrintStyle::kValidated)};
  }
  static void DropStars(Expr* e) {
    std::erase_if(e->args, [](const Expr& arg) { return arg.kind == ExprKind::kStar; });
    for (Expr& arg : e->args) DropStars(&arg);
  }

  Result<std::string> Condition(const Expr& e) const {
    DRIFTLESS_ASSIGN_OR_RETURN(Typed typed, Type(e));
    return std::move(typed.text);
  }

  Result<std::string> Items() {
    std::string text;
    for (const SelectItem& item : query_.items) {
      if (item.expr.kind == ExprKind::kStar) {
        DRIFTLESS_TRY(Star(item, &text));
        continue;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const Typed typed, Type(item.expr));
      Column column;
      column.type = typed.type;
      const bool is_column = item.expr.kind == ExprKind::kColumn;
      column.name = !item.alias.empty() ? item.alias
                    : is_column         ? item.expr.path.back()
                                        : "EXPR$" + std::to_string(result_.columns.size());
      if (is_column && query_.group_by.empty()) {
        DRIFTLESS_ASSIGN_OR_RETURN(const auto found, FindColumn(item.expr));
        if (item.expr.path.size() == found.second + 1) {
          CopyTime(*found.first->table, item.expr.path.back(), &column);
        }
      }
      Add(std::move(column), item);
      text += (text.empty() ? "" : ", ") + typed.text;
      if (!item.alias.empty()) text += " AS " + QuoteName(item.alias);
    }
    return text;
  }

  Result<void> Star(const SelectItem& item, std::string* text) {
    bool any = false;
    for (const Source& source : sources_) {
      if (!item.expr.path.empty() && source.alias != item.expr.path[0]) continue;
      any = true;
      for (const Column& from : source.table->columns) {
        Column column;
        column.name = from.name;
        column.type = source.may_be_missing ? from.type.Nullable() : from.type;
        CopyTime(*source.table, from.name, &column);
        Add(std::move(column), item);
        *text += (text->empty() ? "" : ", ") + QuoteName(source.alias) + "." + QuoteName(from.name);
      }
    }
    if (any) return {};
    return Unknown(item.expr.path.empty() ? "SELECT * requires a FROM clause"
                                          : "Unknown identifier '" + item.expr.path[0] + "'");
  }

  static void CopyTime(const TableEntry& table, const std::string& name, Column* column) {
    const Column* from = table.Find(name);
    column->proctime = from->proctime;
    column->rowtime = from->rowtime || (table.watermark && table.watermark->column[0] == name);
  }

  void Add(Column column, const SelectItem& item) {
    result_.columns.push_back(std::move(column));
    result_.places.emplace_back(item.expr.line, item.expr.column);
  }

  Result<std::string> From() const {
    std::string text;
    for (size_t i = 0; i < sources_.size(); ++i) {
      const TableUse& use = query_.from[i];
      text += i == 0 ? "\nFROM " : "\n" + use.join + " ";
      text += sources_[i].full_name + " AS " + QuoteName(sources_[i].alias);
      if (use.on) {
        DRIFTLESS_ASSIGN_OR_RETURN(const std::string on, Condition(*use.on));
        text += " ON " + on;
      }
    }
    return text;
  }

  const Session& session_;
  const Query& query_;
  Scope scope_;
  std::vector<Source> sources_;
  ResolvedQuery result_;
};

}  // namespace

Result<ResolvedQuery> ResolveQuery(const Session& session, const Query& query) {
  return QueryResolver(session, query).Resolve();
}

}  // namespace driftless::flink
