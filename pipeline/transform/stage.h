#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/transform/store.h"
#include "pipeline/transform/table_transform.h"
#include "schema/base/clock.h"
#include "schema/coordinator/table_state.h"
#include "schema/events/change_batch.h"
#include "schema/events/schema_change.h"
#include "schema/history/history.h"

namespace driftless {

// Between one source stream and the sinks: turns batches and statements into what the transforms
// make of them. One thread, the stream's.
class TransformStage {
 public:
  struct Context {
    const PipelineDefinition* definition = nullptr;  // outlives the stage
    TransformOptions options;
    StreamId stream = 0;
    const Clock* clock = nullptr;
    TransformStore* store = nullptr;  // null: nothing is remembered (dry runs)
    const SchemaHistoryStore* history = nullptr;
    std::optional<Point> from;     // where the stream is read on; none: from its beginning
    std::optional<Point> covered;  // the furthest point that any sink has of this stream
    bool may_change =
        true;  // no schema change is half done: other transforms than last time may begin
    std::function<void(const std::string& text)> warn;  // may be empty
  };

  // Reads what the state remembers, and records where other transforms begin. Errors: of the store,
  // of texts that do not parse.
  static Result<std::unique_ptr<TransformStage>> Make(Context context);

  // The statements that tables whose transforms were changed need before anything at or behind
  // `point` goes on, in the order of their points. Mostly none.
  Result<std::vector<StatementChangePtr>> SwitchesBefore(const Point& point);

  struct Output {
    std::vector<ChangeBatchPtr> batches;
    std::vector<TableTransform::BadRow> bad_rows;
    int64_t filtered = 0;
    int64_t nulled = 0;
  };
  // Errors: kInvalidInput, see TableTransform::Run; kInvalidConfig where the texts do not fit the
  // table.
  Result<Output> Apply(const ChangeBatchPtr& batch);
  // Null: nothing is to be told.
  Result<StatementChangePtr> Apply(const StatementChangePtr& change);

  // The output of a table as it stands at the end: for dry runs.
  Result<TableSchemaPtr> OutputOf(const TableSchemaPtr& source);

 private:
  struct Version {
    TransformVersion stored;
    TableRules rules;
    Binding binding;
    uint32_t number = 0;                        // of the table's versions
    std::shared_ptr<TableTransform> transform;  // on the last schema that was asked for
    std::shared_ptr<TableTransform> previous;   // and the one before it
  };
  struct Table {
    std::vector<std::unique_ptr<Version>> versions;  // oldest first
  };
  struct Switch {
    TablePath table;
    size_t version = 0;  // the one that begins
  };

  explicit TransformStage(Context context) : context_(std::move(context)) {}

  Result<void> Restore();
  Result<void> CompareRules(const TablePath& path, Table* table);
  Result<Table*> TableOf(const TablePath& path);
  static Version* VersionAt(Table* table, const Point& point);
  Result<std::shared_ptr<TableTransform>> TransformOf(Version* version,
                                                      const TableSchemaPtr& source);
  Result<void> Record(Version* version);
  Result<void> Add(Table* table, TransformVersion stored);
  Result<StatementChangePtr> Rename(const StatementChangePtr& change, const TablePath& to);
  Result<TableSchemaPtr> SchemaOf(Version* version, const TableSchemaPtr& source);
  Result<void> RunPart(Version* version, const ChangeBatch& batch, int64_t begin, int64_t end,
                       Output* output);
  void Warn(const std::string& text) const {
    if (context_.warn) context_.warn(text);
  }

  const Context context_;
  std::map<TablePath, Table> tables_;
  std::vector<Switch> switches_;  // that have not been met
};

}  // namespace driftless
