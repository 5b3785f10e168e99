#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/sql/query.h"

// The columns of a query's inputs, followed down to the columns of tables.
namespace driftless::flink {

// A column of a relation: its name, and the expression over columns of tables that it is.
struct ShapeColumn {
  std::string name;
  Expr expanded;
  bool proctime = false;
  bool rowtime = false;
};
using ShapeColumns = std::vector<ShapeColumn>;

// One place of FROM.
struct ShapeSource {
  std::string alias;
  ShapeColumns columns;
  std::set<std::string> used;  // names
  bool by_star = false;

  // The row as an operator gets it: with `*` in the table's order, else by name.
  std::vector<std::string> Input() const;
};

// All of FROM.
struct ShapeBlock {
  std::vector<ShapeSource> sources;

  // Columns become what they are made of. Names that are not there stay.
  void Expand(Expr* e) const;
  std::string Expanded(const Expr& e) const;
  // "a, UPPER(b)" of a call, or "*"
  std::string Arguments(const Expr& call) const;
  // Marks the columns of the sources that the expression names.
  void MarkUsed(const Expr& e);
  // Null: the expression is no column of a source.
  const ShapeColumn* Find(const Expr& e) const;
};

// The columns of a table: a computed one is its expression over the others.
ShapeColumns ColumnsOf(const std::string& full_name, const TableEntry& table);

std::string ShapeText(const Expr& e);
std::string ItemName(const SelectItem& item, size_t index);
std::string AliasOf(const TableUse& use);
// INTERVAL '1' MINUTE and INTERVAL '60' SECOND are one value.
void NormaliseInterval(Expr* e);
void CollectOver(const Expr& e, std::vector<const Expr*>* found);
void CollectAggregates(const Expr& e, std::vector<const Expr*>* found);

// rn = 1, rn <= 10: the name of the rank that the condition limits, and whether to one row.
struct RankLimit {
  std::string column;
  bool one = false;
  std::string text;
};
std::optional<RankLimit> FindRankLimit(const Expr& e);

}  // namespace driftless::flink
