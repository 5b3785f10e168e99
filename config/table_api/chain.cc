#include "config/table_api/chain.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "config/expr/expr_print.h"
#include "config/options/suggest.h"
#include "config/table_api/api_expr.h"
#include "config/table_api/java_text.h"
#include "config/table_api/session.h"

namespace driftless::table_api {
namespace {

using flink::Expr;
using flink::ExprKind;

constexpr std::string_view kMethods[] = {
    "addColumns", "addOrReplaceColumns", "renameColumns", "dropColumns", "select", "where",
    "filter"};
// Methods that Flink has and that need other rows, or another table.
constexpr std::string_view kBeyond[] = {
    "groupBy",        "orderBy",       "limit",    "offset",    "fetch",     "distinct",   "join",
    "leftOuterJoin",  "union",         "unionAll", "intersect", "minus",     "window",     "as",
    "rightOuterJoin", "fullOuterJoin", "flatMap",  "map",       "aggregate", "joinLateral"};

Error Invalid(std::string text, const Node& at) {
  return MakeError(ErrorKind::kInvalidConfig, std::move(text)).At(at.line, at.column);
}

// A table in the middle of the chain: columns of the source that stay, then those that it made.
class ChainReader {
 public:
  Result<void> Apply(const Node& call) {
    const std::string& method = call.text;
    if (std::find(std::begin(kBeyond), std::end(kBeyond), method) != std::end(kBeyond)) {
      return MakeError(ErrorKind::kUnsupported,
                       method + "(..) needs more than the row at hand, or the table's columns")
          .At(call.line, call.column)
          .Hint("A transform adds, renames, drops and selects columns, and filters rows.");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ApiExpr> args, session_.Arguments(call));
    if (method == "addColumns" || method == "addOrReplaceColumns") {
      return AddColumns(args, method == "addColumns", call);
    }
    if (method == "renameColumns") return RenameColumns(args, call);
    if (method == "dropColumns") return DropColumns(args, call);
    if (method == "select") return Select(args, call);
    if ((method == "where" || method == "filter") && args.size() == 1) return Where(args[0], call);
    return std::move(Invalid("a transform has no method " + method, call))
        .Hint(Suggest(method, kMethods));
  }

  Chain Take() const {
    Chain chain;
    chain.filter = filter_;
    std::string star;
    for (const std::string& name : excluded_) {
      star += (star.empty() ? " EXCLUDE (" : ", ") + flink::QuoteName(name);
    }
    if (!star.empty()) star += ")";
    for (const auto& [from, to] : renamed_) {
      star += &from == &renamed_.front().first ? " RENAME (" : ", ";
      star += flink::QuoteName(from) + " AS " + flink::QuoteName(to);
    }
    if (!renamed_.empty()) star += ")";
    if (has_star_ && star.empty() && items_.empty()) return chain;
    if (has_star_) chain.projection = "*" + star;
    for (const Item& item : items_) {
      if (!chain.projection.empty()) chain.projection += ", ";
      chain.projection += flink::PrintExpr(item.expr, flink::PrintStyle::kValidated) + " AS " +
                          flink::QuoteName(item.name);
    }
    return chain;
  }

 private:
  struct Item {
    std::string name;
    Expr expr;
    bool replaces = false;  // what the source calls so, where it does
  };

  std::vector<Item>::iterator FindItem(const std::string& name) {
    return std::find_if(items_.begin(), items_.end(),
                        [&](const Item& item) { return item.name == name; });
  }
  std::vector<std::pair<std::string, std::string>>::iterator FindRenamed(const std::string& name) {
    return std::find_if(renamed_.begin(), renamed_.end(),
                        [&](const auto& each) { return each.second == name; });
  }
  bool IsGone(const std::string& name) const {
    return std::find(excluded_.begin(), excluded_.end(), name) != excluded_.end() ||
           std::any_of(renamed_.begin(), renamed_.end(),
                       [&](const auto& each) { return each.first == name; });
  }

  // The source's column that stands under a name here; nothing: the chain made or removed the name.
  std::optional<std::string> SourceColumn(const std::string& name) {
    if (!has_star_ || FindItem(name) != items_.end()) return std::nullopt;
    const auto renamed = FindRenamed(name);
    if (renamed != renamed_.end()) return renamed->first;
    if (IsGone(name)) return std::nullopt;
    return name;
  }

  // Puts what the chain made of names in their place.
  Result<void> Resolve(Expr* e, const Node& call) {
    if (e->kind == ExprKind::kColumn) {
      const auto item = FindItem(e->path[0]);
      if (item != items_.end()) {
        *e = item->expr;
        return {};
      }
      const auto column = SourceColumn(e->path[0]);
      if (!column) return Invalid("Cannot resolve field [" + e->path[0] + "]", call);
      e->path[0] = *column;
      return {};
    }
    for (Expr& arg : e->args) DRIFTLESS_TRY(Resolve(&arg, call));
    return {};
  }

  Result<Item> MakeItem(const ApiExpr& expr, const Node& call) {
    if (expr.is_bare) {
      return std::move(Invalid(call.text + " takes expressions, not the Java value " + expr.summary,
                               call))
          .Hint("Write lit(..) around a constant, or $(\"..\") for a column.");
    }
    if (expr.is_aggregate) {
      return Invalid("the expression " + expr.summary + " is an aggregation", call);
    }
    std::string name = !expr.alias.empty() ? expr.alias : expr.field().value_or("");
    if (name.empty()) {
      return std::move(Invalid("the expression " + expr.summary + " needs a name", call))
          .Hint("Write .as(\"..\") behind it.");
    }
    Expr sql = expr.sql;
    DRIFTLESS_TRY(Resolve(&sql, call));
    return Item{std::move(name), std::move(sql)};
  }

  Result<void> AddColumns(const std::vector<ApiExpr>& args, bool must_be_new, const Node& call) {
    std::vector<Item> made;
    for (const ApiExpr& arg : args) {
      DRIFTLESS_ASSIGN_OR_RETURN(Item item, MakeItem(arg, call));
      const auto same = [&](const Item& each) { return each.name == item.name; };
      const bool known = FindItem(item.name) != items_.end() ||
                         FindRenamed(item.name) != renamed_.end() ||
                         std::any_of(made.begin(), made.end(), same);
      if (known && must_be_new) {
        return std::move(Invalid("Ambiguous column name: " + item.name, call))
            .Hint("Use addOrReplaceColumns to put a column in the place of one that is there.");
      }
      std::erase_if(made, same);
      item.replaces = has_star_ && !must_be_new;
      made.push_back(std::move(item));
    }
    for (Item& item : made) {
      const auto renamed = FindRenamed(item.name);
      if (renamed != renamed_.end()) {
        excluded_.push_back(renamed->first);
        renamed_.erase(renamed);
      }
      const auto known = FindItem(item.name);
      if (known != items_.end()) {
        known->expr = std::move(item.expr);
      } else {
        items_.push_back(std::move(item));
      }
    }
    return {};
  }

  static Error Replaced(const std::string& name, const Node& call) {
    return std::move(Invalid("the column " + name +
                                 " may stand in the place of one of the table, "
                                 "so that it cannot be taken away again",
                             call))
        .Hint("Drop or rename the table's column first, then addColumns.");
  }

  Result<void> RenameColumns(const std::vector<ApiExpr>& args, const Node& call) {
    for (const ApiExpr& arg : args) {
      const auto name = arg.field();
      if (!name || arg.alias.empty()) {
        return std::move(Invalid("renameColumns takes columns with other names", call))
            .Hint("Write $(\"old\").as(\"new\").");
      }
      if (FindItem(arg.alias) != items_.end() || FindRenamed(arg.alias) != renamed_.end()) {
        return Invalid("Ambiguous column name: " + arg.alias, call);
      }
      const auto item = FindItem(*name);
      if (item != items_.end()) {
        if (item->replaces) return Replaced(*name, call);
        item->name = arg.alias;
        continue;
      }
      const auto column = SourceColumn(*name);
      if (!column) return Invalid("Cannot resolve field [" + *name + "]", call);
      const auto renamed = FindRenamed(*name);
      if (renamed != renamed_.end()) renamed_.erase(renamed);
      renamed_.emplace_back(*column, arg.alias);
    }
    return {};
  }

  Result<void> DropColumns(const std::vector<ApiExpr>& args, const Node& call) {
    for (const ApiExpr& arg : args) {
      const auto name = arg.field();
      if (!name) return Invalid("Unexpected drop column expression: " + arg.summary, call);
      const auto item = FindItem(*name);
      if (item != items_.end()) {
        if (item->replaces) return Replaced(*name, call);
        items_.erase(item);
        continue;
      }
      const auto column = SourceColumn(*name);
      if (!column) return Invalid("Field " + *name + " does not exist in source table", call);
      const auto renamed = FindRenamed(*name);
      if (renamed != renamed_.end()) renamed_.erase(renamed);
      excluded_.push_back(*column);
    }
    return {};
  }

  Result<void> Select(const std::vector<ApiExpr>& args, const Node& call) {
    std::vector<Item> items;
    bool has_star = false;
    for (const ApiExpr& arg : args) {
      if (arg.field() == "*") {
        has_star = true;
        items.insert(items.end(), items_.begin(), items_.end());
        continue;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(Item item, MakeItem(arg, call));
      const bool known = std::any_of(items.begin(), items.end(),
                                     [&](const Item& each) { return each.name == item.name; });
      if (known) return Invalid("Ambiguous column name: " + item.name, call);
      items.push_back(std::move(item));
    }
    has_star_ = has_star_ && has_star;
    if (!has_star_) {
      excluded_.clear();
      renamed_.clear();
    }
    items_ = std::move(items);
    return {};
  }

  Result<void> Where(const ApiExpr& condition, const Node& call) {
    if (condition.is_bare || condition.is_aggregate) {
      return Invalid(call.text + " takes a condition on the columns of a row", call);
    }
    Expr sql = condition.sql;
    DRIFTLESS_TRY(Resolve(&sql, call));
    const std::string text = flink::PrintExpr(sql, flink::PrintStyle::kValidated);
    filter_ = filter_.empty() ? text : "(" + filter_ + ") AND (" + text + ")";
    return {};
  }

  TableSession session_{TableOptions{}};
  bool has_star_ = true;
  std::vector<std::string> excluded_;
  std::vector<std::pair<std::string, std::string>> renamed_;
  std::vector<Item> items_;
  std::string filter_;
};

}  // namespace

Result<Chain> ReadChain(std::string_view text) {
  // The chain stands behind a table without a name.
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool has_dot = first != std::string_view::npos && text[first] == '.';
  const std::string front = has_dot ? "table" : "table.";
  const auto shifted = [&](Error error) {
    const int column =
        error.line() == 1 ? error.column() - static_cast<int>(front.size()) : error.column();
    const int line = error.line();
    return std::move(error).At(line, std::max(column, 1));
  };
  auto statements = ParseJava(front + std::string(text));
  if (!statements) return shifted(std::move(statements.error()));
  if (statements->size() != 1 || !statements->front().variable.empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "a transform is one method chain").At(1, 1);
  }
  std::vector<const Node*> calls;
  const Node* node = &statements->front().value;
  for (; node != nullptr && node->kind == Node::Kind::kCall; node = node->receiver.get()) {
    calls.insert(calls.begin(), node);
  }
  if (node == nullptr || node->kind != Node::Kind::kName || node->receiver != nullptr) {
    return MakeError(ErrorKind::kInvalidConfig, "a transform is one method chain").At(1, 1);
  }
  ChainReader reader;
  for (const Node* call : calls) {
    if (auto applied = reader.Apply(*call); !applied) return shifted(std::move(applied.error()));
  }
  return reader.Take();
}

}  // namespace driftless::table_api
