#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/model/table.h"

namespace driftless {

// One entry of `route`, compiled. Flink CDC's dialect of routes: `source-table` is a list split at
// every comma; in each entry a dot is a dot and "\." the dot of a regular expression; an entry must
// match the whole "[catalog.]database.table" and letter case counts.
//
// `sink-table` is "[[catalog.]database.]table". With a replace-symbol every occurrence of it
// becomes the source's table name. Without one, $1 to $99 are the groups of the source pattern,
// numbered through all its entries, and "\$" is a dollar. A dot inside a source name never
// separates parts.
class RoutePattern {
 public:
  static Result<RoutePattern> Parse(std::string_view source_table, std::string_view sink_table,
                                    std::string_view replace_symbol);

  // Where the rows of `source` go; nullopt: this route says nothing about the table. Errors:
  // kInvalidConfig when the name that results is no table name.
  Result<std::optional<TablePath>> Apply(const TablePath& source) const;
  // It would match if letter case did not count: what the selectors of sources and transforms do.
  bool MatchesIgnoringCase(const TablePath& source) const;
  // Several source tables can go to one sink table.
  bool is_many_to_one() const;

 private:
  struct Compiled;
  static Result<TablePath> ParseConstant(const Compiled& compiled);
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace driftless
