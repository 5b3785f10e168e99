#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/model/table.h"

namespace driftless {

// Names tables by regular expressions: `tables` of a source, `source-table` of a transform, `table`
// of a rule. Flink CDC's dialect: a list split at commas ("\," is a comma), each entry split at
// dots into one to three parts, each part a regular expression that must match a whole name without
// letter case; "\." is the dot of a regular expression (any character). An entry of three parts
// ignores its first one for tables of two parts; an entry of two parts never matches a table of
// three.
class TableSelector {
 public:
  // Errors: kInvalidConfig with what is wrong and how the dots work.
  static Result<TableSelector> Parse(std::string_view text);

  bool Matches(const TablePath& table) const;
  // It names one table, without a regular expression.
  bool is_exact() const { return is_exact_; }
  const std::string& text() const { return text_; }

 private:
  struct Entry;
  std::string text_;
  bool is_exact_ = false;
  std::vector<std::shared_ptr<const Entry>> entries_;
};

}  // namespace driftless
