#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/sql/compat/query_shape.h"
#include "config/sql/compat/shape_columns.h"

namespace driftless::flink {

// Follows the columns of one query down to its tables, and notes the operators on the way; the
// inside of ShapeOf. `needed`: the columns that somebody takes of a query's output; null: all.
class ShapeBuilder {
 public:
  explicit ShapeBuilder(const Session& session) : session_(session) {}

  // `rank`: what a condition around the query asks of its row numbers.
  Result<ShapeColumns> Visit(const Query& query, const std::set<std::string>* needed,
                             const std::optional<RankLimit>& rank, int depth);

  QueryShape shape;

 private:
  // A query without its WITH.
  Result<ShapeColumns> Body(const Query& query, const std::set<std::string>* needed,
                            const std::optional<RankLimit>& rank, int depth);
  void AddTail(const Query& query, const ShapeColumns& columns);
  Result<ShapeColumns> SetOperation(const Query& query, const std::set<std::string>* needed,
                                    int depth);
  void Take(QueryShape part);

  // The names that a query or a place of FROM gives, before its columns are followed.
  Result<std::vector<std::string>> NamesOf(const TableUse& use) const;
  Result<std::vector<std::string>> OutputNames(const Query& query) const;

  Result<ShapeColumns> Select(const Query& query, const std::set<std::string>* needed,
                              const std::optional<RankLimit>& rank, int depth);
  Result<ShapeBlock> NamedSources(const Query& query) const;
  Result<void> From(const Query& query, ShapeBlock* block, int depth);
  Result<ShapeColumns> Rows(const TableUse& use, const std::set<std::string>& used,
                            const std::optional<RankLimit>& rank, int depth);
  Result<ShapeColumns> View(const TableEntry& view, const std::optional<RankLimit>& rank,
                            int depth);
  Result<void> Over(const Query& query, const std::set<std::string>* needed,
                    const std::optional<RankLimit>& rank, ShapeBlock* block);
  void Group(const Query& query, const std::set<std::string>* needed, const ShapeBlock& block);

  const Session& session_;
  std::map<std::string, std::shared_ptr<const Query>> named_;
};

}  // namespace driftless::flink
