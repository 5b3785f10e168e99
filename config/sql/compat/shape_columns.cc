#include "config/sql/compat/shape_columns.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/relation/operators.h"

namespace driftless::flink {
namespace {

bool IsAggregate(const Expr& e) {
  return e.kind == ExprKind::kCall && e.over == nullptr && IsAggregateFunction(e.text);
}

}  // namespace

std::string ShapeText(const Expr& e) { return PrintExpr(e, PrintStyle::kValidated); }

std::string ItemName(const SelectItem& item, size_t index) {
  if (!item.alias.empty()) return item.alias;
  if (item.expr.kind == ExprKind::kColumn) return item.expr.path.back();
  return "EXPR$" + std::to_string(index);
}

std::string AliasOf(const TableUse& use) {
  return !use.alias.empty() ? use.alias : use.name.empty() ? "" : use.name.back();
}

void NormaliseInterval(Expr* e) {
  static constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"SECOND", 1}, {"MINUTE", 60}, {"HOUR", 3600}, {"DAY", 86400}};
  if (e->path.empty() || e->text.empty() || e->text.size() > 9 ||
      e->text.find_first_not_of("0123456789") != std::string::npos) {
    return;
  }
  for (const auto& [unit, seconds] : kUnits) {
    if (e->path[0] != unit) continue;
    e->text = std::to_string(std::stoll(e->text) * seconds);
    e->path[0] = "SECOND";
    return;
  }
}

void CollectOver(const Expr& e, std::vector<const Expr*>* found) {
  if (e.over != nullptr) found->push_back(&e);
  for (const Expr& arg : e.args) CollectOver(arg, found);
}
void CollectAggregates(const Expr& e, std::vector<const Expr*>* found) {
  if (IsAggregate(e)) {
    found->push_back(&e);
    return;
  }
  for (const Expr& arg : e.args) CollectAggregates(arg, found);
}

std::optional<RankLimit> FindRankLimit(const Expr& e) {
  if (e.kind == ExprKind::kBinary && e.text == "AND") {
    for (const Expr& arg : e.args) {
      if (auto found = FindRankLimit(arg)) return found;
    }
    return std::nullopt;
  }
  const bool compares =
      e.kind == ExprKind::kBinary && (e.text == "=" || e.text == "<=" || e.text == "<");
  if (!compares || e.args[0].kind != ExprKind::kColumn || e.args[1].kind != ExprKind::kNumber) {
    return std::nullopt;
  }
  const std::string& number = e.args[1].text;
  const bool one = (number == "1" && e.text != "<") || (number == "2" && e.text == "<");
  return RankLimit{e.args[0].path.back(), one, e.text + " " + number};
}

ShapeColumns ColumnsOf(const std::string& full_name, const TableEntry& table) {
  ShapeColumns stored;
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kComputed) continue;
    ShapeColumn made;
    made.name = column.name;
    made.expanded.kind = ExprKind::kColumn;
    // A key makes its columns NOT NULL without a word: that is no change of the column.
    const bool in_key = table.key && std::find(table.key->columns.begin(), table.key->columns.end(),
                                               column.name) != table.key->columns.end();
    const LogicalType type = in_key ? column.type.Nullable() : column.type;
    made.expanded.path = {full_name + "." + column.name + ": " + type.ToString() +
                          (column.kind == ColumnKind::kMetadata ? " METADATA" : "")};
    made.rowtime = table.watermark && table.watermark->column[0] == column.name;
    stored.push_back(std::move(made));
  }
  ShapeBlock physical;
  physical.sources.push_back({"", stored, {}, false});
  ShapeColumns all;
  for (const Column& column : table.columns) {
    if (column.kind != ColumnKind::kComputed) {
      all.push_back(*std::find_if(stored.begin(), stored.end(), [&](const ShapeColumn& made) {
        return made.name == column.name;
      }));
      continue;
    }
    ShapeColumn made;
    made.name = column.name;
    made.expanded = column.expr;
    physical.Expand(&made.expanded);
    made.proctime = column.proctime;
    made.rowtime = table.watermark && table.watermark->column[0] == column.name;
    all.push_back(std::move(made));
  }
  return all;
}

void ShapeBlock::Expand(Expr* e) const {
  if (e->kind == ExprKind::kInterval) return NormaliseInterval(e);
  if (e->kind != ExprKind::kColumn) {
    for (Expr& arg : e->args) Expand(&arg);
    return;
  }
  for (const ShapeSource& source : sources) {
    const bool is_qualified = e->path.size() > 1 && e->path[0] == source.alias;
    const size_t at = is_qualified ? 1 : 0;
    for (const ShapeColumn& column : source.columns) {
      if (column.name != e->path[at]) continue;
      Expr found = column.expanded;
      found.path.insert(found.path.end(), e->path.begin() + static_cast<ptrdiff_t>(at) + 1,
                        e->path.end());
      *e = std::move(found);
      return;
    }
  }
}

std::string ShapeBlock::Expanded(const Expr& e) const {
  Expr copy = e;
  Expand(&copy);
  return ShapeText(copy);
}

std::string ShapeBlock::Arguments(const Expr& call) const {
  std::string text;
  for (const Expr& arg : call.args) {
    if (arg.kind == ExprKind::kStar) return "*";
    text += (text.empty() ? "" : ", ") + Expanded(arg);
  }
  return text;
}

void ShapeBlock::MarkUsed(const Expr& e) {
  if (e.kind == ExprKind::kColumn) {
    for (ShapeSource& source : sources) {
      const bool is_qualified = e.path.size() > 1 && e.path[0] == source.alias;
      const std::string& name = e.path[is_qualified ? 1 : 0];
      const bool has = std::any_of(source.columns.begin(), source.columns.end(),
                                   [&](const ShapeColumn& each) { return each.name == name; });
      if (!has) continue;
      source.used.insert(name);
      return;
    }
    return;
  }
  if (e.over != nullptr) {
    for (const Expr& key : e.over->partition) MarkUsed(key);
    for (const Expr& key : e.over->order) MarkUsed(key);
  }
  for (const Expr& arg : e.args) MarkUsed(arg);
}

const ShapeColumn* ShapeBlock::Find(const Expr& e) const {
  if (e.kind != ExprKind::kColumn) return nullptr;
  for (const ShapeSource& source : sources) {
    for (const ShapeColumn& column : source.columns) {
      if (column.name == e.path.back()) return &column;
    }
  }
  return nullptr;
}

std::vector<std::string> ShapeSource::Input() const {
  std::vector<std::string> input;
  for (const ShapeColumn& column : columns) {
    if (used.contains(column.name)) input.push_back(ShapeText(column.expanded));
  }
  if (!by_star) std::sort(input.begin(), input.end());
  return input;
}

}  // namespace driftless::flink
