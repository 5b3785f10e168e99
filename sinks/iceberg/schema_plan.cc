#include <utility>
#include <variant>

#include "schema/plan/model_planner.h"
#include "sinks/api/registry.h"
#include "sinks/iceberg/default_value.h"
#include "sinks/iceberg/options.h"
#include "sinks/iceberg/schema_step.h"
#include "sinks/iceberg/types.h"
#include "sinks/lake/step_mark.h"

namespace driftless {
namespace iceberg {
namespace {

const ModelTraits& Traits() {
  static const ModelTraits* const kTraits = new ModelTraits{
      .sink = "Iceberg",
      .can = {EventKind::kCreateTable, EventKind::kAddColumn, EventKind::kDropColumn,
              EventKind::kRenameColumn, EventKind::kAlterColumnType, EventKind::kRelaxNullability,
              EventKind::kAlterColumnComment, EventKind::kAlterColumnPosition},
      .map_type = ToIcebergType,
      .type_change_problem = PromotionProblem,
      .changes_key_types = true,
      .one_commit = true,
  };
  return *kTraits;
}

// The model's plans, with the properties and partitions of tables that are created. What a step
// does to a table's schema is worked out from its before and after (schema_step.h).
class IcebergPlanner : public SchemaPlanner {
 public:
  explicit IcebergPlanner(IcebergOptions options)
      : options_(std::move(options)), model_(MakeModelPlanner(&Traits())) {}

  Result<LogicalType> MapType(const LogicalType& type, bool is_key) const override {
    return model_->MapType(type, is_key);
  }

  Result<SchemaPlan> Plan(const PlanRequest& request) const override {
    DRIFTLESS_ASSIGN_OR_RETURN(SchemaPlan plan, model_->Plan(request));
    if (IsVersion3(request)) SayDefaults(request, &plan);
    for (Step& step : plan.steps) {
      if (!step.creates_table) continue;
      for (SinkColumn& column : step.after->columns) column.default_value = {};
      step.after->options = options_.table_properties;
      for (const auto& [key, value] : request.table_options) step.after->options[key] = value;
      const std::string name = request.sink_table.database + "." + request.sink_table.table;
      const auto keys = options_.partition_keys.find(name);
      std::vector<std::string> expressions;
      if (keys != options_.partition_keys.end()) expressions = keys->second;
      if (expressions.empty()) expressions = step.after->partition_keys;
      const auto sort = options_.sort_keys.find(name);
      const std::vector<std::string> sorted =
          sort == options_.sort_keys.end() ? std::vector<std::string>() : sort->second;
      DRIFTLESS_ASSIGN_OR_RETURN(const NewTable created, TableOf(*step.after, expressions, sorted));
      step.after->partition_keys.clear();
      for (const PartitionField& part : created.spec.fields) {
        step.payload += step.payload.empty() ? "" : ",";
        step.payload += part.transform == "identity" ? part.name : "";
        if (part.transform == "identity") {
          step.after->partition_keys.push_back(part.name);
        } else {
          step.payload += part.transform + "(" + created.schema.FindId(part.source_id)->name + ")";
        }
      }
      step.action = "create table " + request.sink_table.ToString() +
                    (step.payload.empty() ? "" : " partitioned by " + step.payload);
      for (const std::string& expression : sorted) {
        step.action += (&expression == &sorted.front() ? " sorted by " : ", ") + expression;
      }
      plan.evolved.options = step.after->options;
      plan.evolved.partition_keys = step.after->partition_keys;
    }
    return plan;
  }

  StepState Recognise(const SchemaPlan& plan, size_t index,
                      const SinkTable* actual) const override {
    return lake::RecogniseCommit(plan, index, actual);
  }

  bool Holds(const LogicalType& sink, const LogicalType& wanted) const override {
    return model_->Holds(sink, wanted);
  }

 private:
  static bool IsVersion3(const PlanRequest& request) {
    if (request.evolved == nullptr) return false;
    const auto version = request.evolved->options.find("format-version");
    return version != request.evolved->options.end() && version->second == "3";
  }

  // From format version 3 on a column has a default for the rows from before it.
  void SayDefaults(const PlanRequest& request, SchemaPlan* plan) const {
    for (const SchemaChange& part : request.parts) {
      const auto* add = std::get_if<AddColumns>(&part.detail);
      if (add == nullptr) continue;
      for (const AddColumns::Item& item : add->items) {
        const auto type = MapType(item.column.type, false);
        if (!type || DefaultJson(*type, item.column.default_value).empty()) continue;
        plan->rows = "old rows read the default " + item.column.default_value.text;
      }
    }
  }

  IcebergOptions options_;
  std::unique_ptr<SchemaPlanner> model_;
};

}  // namespace
}  // namespace iceberg

Result<std::unique_ptr<SchemaPlanner>> MakeIcebergPlanner(const OptionValues& values) {
  DRIFTLESS_ASSIGN_OR_RETURN(iceberg::IcebergOptions options, iceberg::ReadIcebergOptions(values));
  return std::unique_ptr<SchemaPlanner>(
      std::make_unique<iceberg::IcebergPlanner>(std::move(options)));
}

}  // namespace driftless
