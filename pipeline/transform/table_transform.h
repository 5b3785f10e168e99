#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/expr/eval/program.h"
#include "pipeline/transform/binding.h"
#include "pipeline/transform/metadata.h"
#include "pipeline/transform/rule.h"
#include "schema/events/schema_change.h"
#include "schema/policy/policy.h"
#include "schema/types/time.h"

namespace driftless {

// What the transforms of a pipeline share.
struct TransformOptions {
  TimeZone zone;
  // What becomes of rows with a value that cannot be worked out.
  OnCastFailure on_failure = OnCastFailure::kFail;
};

// The rules of a table on one version of its schema: the schema of what comes out, and the programs
// that make it. One thread.
class TableTransform {
 public:
  // Binds the names of the rules' texts to the columns of `source`, and keeps in `binding` what
  // they mean. `version` is the output schema's. Errors: kInvalidConfig with line and column,
  // unknown columns with a suggestion; a key that the projection leaves out.
  static Result<std::unique_ptr<TableTransform>> Bind(const TableRules& rules,
                                                      const TableSchemaPtr& source,
                                                      uint32_t version, Binding* binding,
                                                      const TransformOptions& options);
  ~TableTransform();

  const TableSchemaPtr& source() const { return source_; }
  const TableSchemaPtr& output() const { return output_; }
  // Columns that the texts name and that are gone.
  const std::vector<DropColumns::LostInput>& lost() const { return lost_; }
  // Text names columns that are called otherwise now: the item as it should read, one per item.
  const std::vector<std::string>& stale_texts() const { return stale_texts_; }

  struct BadRow {
    int64_t row = 0;  // of the source batch
    std::string what;
  };
  struct Output {
    ChangeBatchPtr batch;          // null: no row is left
    std::vector<BadRow> bad_rows;  // left out, for the dead letters
    int64_t nulled = 0;            // values that became NULL because they failed
    int64_t filtered = 0;          // rows that did not pass
  };
  // Transforms rows [begin, end) of a batch under `source()`. Errors: kInvalidInput with the row's
  // point where a value cannot be worked out and that stops the pipeline, where a filter needs a
  // value that the source did not send, or a column that is gone.
  Result<Output> Run(const ChangeBatch& batch, int64_t begin, int64_t end, int64_t now_micros);

  // Rows [begin, end) of a batch as they are.
  static ChangeBatchPtr Slice(const ChangeBatch& batch, int64_t begin, int64_t end);

 private:
  friend class TransformBinder;
  friend class BatchRun;

  // Where a name of the texts gets its value from.
  struct Input {
    int column = -1;  // of the source
    std::optional<Metadata> metadata;
    bool lost = false;
    LogicalType type;
  };
  // How one rule makes one output column.
  struct Maker {
    int column = -1;  // a column of the source as it is
    bool is_null = false;
    std::optional<flink::Program> after;
    std::optional<flink::Program> before;
    std::string text;
  };
  struct BoundRule {
    const TransformRule* rule = nullptr;
    std::optional<flink::Program> filter_after;
    std::optional<flink::Program> filter_before;
    std::vector<Maker> makers;  // per output column
  };

  TableTransform() = default;

  TableRules rules_;
  TransformOptions options_;
  TableSchemaPtr source_;
  TableSchemaPtr output_;
  std::vector<Input> inputs_;
  std::vector<BoundRule> bound_;
  std::vector<DropColumns::LostInput> lost_;
  std::vector<std::string> stale_texts_;
  std::optional<DropColumns::LostInput> broken_;  // a filter that cannot be worked out
};

}  // namespace driftless
