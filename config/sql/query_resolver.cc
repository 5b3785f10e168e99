#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/expr/typing.h"
#include "config/relation/operators.h"
#include "config/sql/function_names.h"
#include "config/sql/query.h"
#include "config/sql/schema_check.h"
#include "config/sql/session.h"

namespace driftless::flink {
namespace {

Error Unknown(std::string text) { return SqlError(kCalciteValidator, std::move(text)); }

// Queries that WITH gave names to, the innermost last.
using Named = std::vector<std::pair<std::string, ResolvedQuery>>;

struct Source {
  const TableEntry* table = nullptr;
  std::shared_ptr<const TableEntry> own;  // of a subquery, or of a table with other names
  std::string alias;
  bool unnamed = false;         // a subquery without alias: `alias` is no name then
  std::string full_name;        // quoted
  bool may_be_missing = false;  // the other side of an outer join
};

class QueryResolver {
 public:
  QueryResolver(const Session& session, const Query& query, Named named)
      : session_(session), query_(query), named_(std::move(named)) {
    scope_.is_query = true;
    scope_.user_function = FunctionsOf(session);
  }

  Result<ResolvedQuery> Resolve() {
    std::string with;
    for (const auto& [name, query] : query_.with) {
      DRIFTLESS_ASSIGN_OR_RETURN(ResolvedQuery resolved,
                                 QueryResolver(session_, *query, named_).Resolve());
      with += (with.empty() ? "WITH " : ", ") + QuoteName(name) + " AS (" + resolved.text + ")";
      named_.emplace_back(name, std::move(resolved));
    }
    if (!with.empty()) with += " ";
    DRIFTLESS_ASSIGN_OR_RETURN(ResolvedQuery resolved, Body());
    resolved.text = with + resolved.text;
    DRIFTLESS_TRY(Tail(&resolved));
    return resolved;
  }

 private:
  Result<ResolvedQuery> Body() {
    if (!query_.set_operation.empty()) return SetOperation();
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
    DRIFTLESS_TRY(CheckGrouping());
    result_.text = std::move(text);
    return std::move(result_);
  }

  Result<ResolvedQuery> SetOperation() {
    DRIFTLESS_ASSIGN_OR_RETURN(ResolvedQuery left,
                               QueryResolver(session_, *query_.left, named_).Resolve());
    DRIFTLESS_ASSIGN_OR_RETURN(const ResolvedQuery right,
                               QueryResolver(session_, *query_.right, named_).Resolve());
    if (left.columns.size() != right.columns.size()) {
      return Unknown("Column count mismatch in " + query_.set_operation);
    }
    for (size_t i = 0; i < left.columns.size(); ++i) {
      const auto both = LeastRestrictive(left.columns[i].type, right.columns[i].type);
      if (!both) {
        return Unknown("Type mismatch in column " + std::to_string(i + 1) + " of " +
                       query_.set_operation);
      }
      left.columns[i].type = *both;
      left.columns[i].rowtime = left.columns[i].proctime = false;
    }
    left.text = "(" + left.text + ")\n" + query_.set_operation + "\n(" + right.text + ")";
    return left;
  }

  // ORDER BY sees the names of the items, and below them the columns of the tables.
  Result<void> Tail(ResolvedQuery* resolved) {
    for (const OrderItem& item : query_.order_by) {
      const Expr& e = item.expr;
      const auto is_item = [&](const Column& column) {
        return e.kind == ExprKind::kColumn && e.path.size() == 1 && column.name == e.path[0];
      };
      std::string text;
      if (e.kind == ExprKind::kNumber) {
        const size_t place =
            e.text.size() < 9 && e.text.find('.') == std::string::npos ? std::stoul(e.text) : 0;
        if (place == 0 || place > resolved->columns.size()) {
          return Unknown("Ordinal out of range");
        }
        text = e.text;
      } else if (std::any_of(resolved->columns.begin(), resolved->columns.end(), is_item)) {
        text = QuoteName(e.path[0]);
      } else {
        DRIFTLESS_ASSIGN_OR_RETURN(text, Condition(e));
      }
      resolved->text += (&item == &query_.order_by.front() ? "\nORDER BY " : ", ") + text;
      if (item.descending) resolved->text += " DESC";
      if (item.nulls_first) resolved->text += *item.nulls_first ? " NULLS FIRST" : " NULLS LAST";
    }
    if (query_.offset > 0) resolved->text += "\nOFFSET " + std::to_string(query_.offset) + " ROWS";
    if (query_.limit) {
      resolved->text += "\nFETCH NEXT " + std::to_string(*query_.limit) + " ROWS ONLY";
    }
    return {};
  }

  static bool HasAggregate(const Expr& e) {
    if (e.kind == ExprKind::kCall && e.over == nullptr && IsAggregateFunction(e.text)) return true;
    return std::any_of(e.args.begin(), e.args.end(), HasAggregate);
  }

  // In a query with groups every column stands in a key or in an aggregate.
  Result<void> CheckGrouping() const {
    bool grouped = !query_.group_by.empty() || query_.having.has_value();
    for (const SelectItem& item : query_.items) grouped = grouped || HasAggregate(item.expr);
    if (!grouped) return {};
    for (const SelectItem& item : query_.items) {
      if (item.expr.kind == ExprKind::kStar) {
        return Unknown("Expression '*' is not being grouped");
      }
      DRIFTLESS_TRY(CheckGrouped(item.expr));
    }
    if (query_.having) DRIFTLESS_TRY(CheckGrouped(*query_.having));
    return {};
  }
  Result<void> CheckGrouped(const Expr& e) const {
    if (e.kind == ExprKind::kCall && IsAggregateFunction(e.text)) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string printed, Condition(e));
    for (const Expr& key : query_.group_by) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, Condition(key));
      if (text == printed) return {};
    }
    if (e.kind == ExprKind::kColumn) {
      std::string name;
      for (const std::string& part : e.path) name += (name.empty() ? "" : ".") + part;
      return Unknown("Expression '" + name + "' is not being grouped");
    }
    for (const Expr& arg : e.args) {
      if (arg.kind == ExprKind::kStar) continue;
      const bool flag = arg.kind == ExprKind::kKeyword;
      if (!flag) DRIFTLESS_TRY(CheckGrouped(arg));
    }
    return {};
  }

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
      DRIFTLESS_TRY(FindTable(use, &source));
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

  // The table, view, WITH query or subquery of one use.
  Result<void> FindTable(const TableUse& use, Source* source) const {
    std::optional<ResolvedQuery> query;
    if (use.query != nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(query, QueryResolver(session_, *use.query, named_).Resolve());
      source->full_name = "(" + query->text + ")";
      source->unnamed = use.alias.empty();
      source->alias = source->unnamed ? "(" + std::to_string(sources_.size()) : use.alias;
    } else {
      for (const auto& [name, named] : named_) {
        if (use.name.size() == 1 && use.name[0] == name) query = named;
      }
      source->table = session_.FindTable(use.name);
      if (source->table == nullptr && !query) {
        std::string name;
        for (const std::string& part : use.name) name += (name.empty() ? "" : ".") + part;
        return Unknown("Object '" + name + "' not found");
      }
      source->alias = use.alias.empty() ? use.name.back() : use.alias;
      source->full_name = query ? QuoteName(use.name[0]) : session_.FullName(use.name);
    }
    const bool windowed = !use.window_function.empty();
    if (windowed) source->alias = use.alias.empty() ? use.name.back() : use.alias;
    if (!query && use.columns.empty() && !windowed) return {};
    auto own = std::make_shared<TableEntry>();
    if (query) {
      own->kind = TableKind::kView;
      own->columns = std::move(query->columns);
    } else {
      *own = *source->table;
    }
    if (windowed) DRIFTLESS_TRY(AddWindow(use, source->full_name, own.get(), &source->full_name));
    if (!use.columns.empty() && use.columns.size() != own->columns.size()) {
      return Unknown("List of column aliases must have same degree as table; table has " +
                     std::to_string(own->columns.size()) + " columns, whereas alias list has " +
                     std::to_string(use.columns.size()) + " columns");
    }
    for (size_t i = 0; i < use.columns.size(); ++i) own->columns[i].name = use.columns[i];
    source->table = own.get();
    source->own = std::move(own);
    return {};
  }

  // window_start, window_end and window_time behind the columns of the table.
  static Result<void> AddWindow(const TableUse& use, std::string table, TableEntry* own,
                                std::string* text) {
    const Column* time = own->Find(use.window_time);
    if (time == nullptr) return Unknown("Unknown identifier '" + use.window_time + "'");
    LogicalType type = time->type;
    for (const std::string_view name : {"window_start", "window_end", "window_time"}) {
      Column column;
      column.name = name;
      column.type = name == "window_time" ? type.NotNull() : LogicalType::Timestamp(3).NotNull();
      column.rowtime = name == "window_time";
      own->columns.push_back(std::move(column));
    }
    *text = "TABLE(" + use.window_function + "(TABLE " + table + ", DESCRIPTOR(" +
            QuoteName(use.window_time) + ")";
    for (const Expr& size : use.window_sizes) {
      *text += ", " + PrintExpr(size, PrintStyle::kValidated);
    }
    *text += "))";
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
    std::string text = "Column '" + e.path[0] + "' not found in any table";
    for (const Source& source : sources_) {
      for (const Column& column : source.table->columns) {
        if (!EqualsIgnoringCase(column.name, e.path[0])) continue;
        return Unknown(text + "; did you mean '" + column.name + "'?");
      }
    }
    return Unknown(std::move(text));
  }

  static bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
      return std::tolower(x) == std::tolower(y);
    });
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
      printed->path.clear();
      if (!source->unnamed) printed->path.push_back(source->alias);
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
        *text += text->empty() ? "" : ", ";
        if (!source.unnamed) *text += QuoteName(source.alias) + ".";
        *text += QuoteName(from.name);
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
      text += sources_[i].full_name;
      if (!sources_[i].unnamed) text += " AS " + QuoteName(sources_[i].alias);
      for (size_t k = 0; k < use.columns.size(); ++k) {
        text += (k == 0 ? " (" : ", ") + QuoteName(use.columns[k]);
      }
      if (!use.columns.empty()) text += ")";
      if (use.on) {
        DRIFTLESS_ASSIGN_OR_RETURN(const std::string on, Condition(*use.on));
        text += " ON " + on;
      }
    }
    return text;
  }

  const Session& session_;
  const Query& query_;
  Named named_;
  Scope scope_;
  std::vector<Source> sources_;
  ResolvedQuery result_;
};

}  // namespace

Result<ResolvedQuery> ResolveQuery(const Session& session, const Query& query) {
  return QueryResolver(session, query, {}).Resolve();
}

}  // namespace driftless::flink
