#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/definition/pipeline_definition.h"
#include "config/expr/projection.h"
#include "schema/base/result.h"

namespace driftless {

// One entry of `transform`, read.
struct TransformRule {
  std::vector<flink::ProjectionItem> items;
  std::optional<flink::Expr> filter;
  std::string filter_text;
  std::vector<std::string> primary_keys;  // empty: the source's
  std::vector<std::string> partition_keys;
  std::map<std::string, std::string> table_options;
  bool soft_delete = false;
  int line = 0;  // in the pipeline file; 0 for rules that the state remembers
};

// The rules that a table has, in the order of the file. They are one unit: what changes one of them
// is another transform of the table.
class TableRules {
 public:
  // No rules: every row and column passes as it is.
  TableRules() = default;
  // Errors: what does not parse, named by its line in the pipeline file.
  static Result<TableRules> Of(const PipelineDefinition& definition, const TablePath& table);
  // The inverse of text().
  static Result<TableRules> Parse(std::string_view text);

  bool empty() const { return rules_.empty(); }
  const std::vector<TransformRule>& rules() const { return rules_; }
  // Everything that makes the output, as text that is equal where the rules are equal.
  const std::string& text() const { return text_; }

 private:
  std::vector<TransformRule> rules_;
  std::string text_;
};

// Computed columns that `after` has under another name than `before`: the same expressions, and no
// other column that could be meant. From the old name to the new one.
std::vector<std::pair<std::string, std::string>> RenamedColumns(const TableRules& before,
                                                                const TableRules& after);

}  // namespace driftless
