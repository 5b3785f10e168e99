#include "sinks/olap/planner.h"

#include <algorithm>

#include "schema/base/letter_case.h"
#include "schema/plan/recognise.h"
#include "schema/plan/type_fit.h"

namespace driftless::olap {
namespace {

const SinkColumn* FindIgnoringCase(const SinkTable& table, std::string_view name) {
  for (const SinkColumn& column : table.columns) {
    if (EqualsIgnoringCase(column.name, name)) return &column;
  }
  return nullptr;
}

// The servers want key columns first, in the order of the key.
template <class Column, class NameOf>
void PutKeysFirst(const std::vector<std::string>& keys, std::vector<Column>* columns,
                  NameOf name_of) {
  auto front = columns->begin();
  for (const std::string& key : keys) {
    const auto at = std::find_if(front, columns->end(),
                                 [&](const Column& column) { return name_of(column) == key; });
    if (at == columns->end()) continue;
    std::rotate(front, at, at + 1);
    ++front;
  }
}

class OlapPlanner : public SchemaPlanner {
 public:
  OlapPlanner(const ModelTraits* traits, const Dialect* dialect, CreateOptions options,
              int64_t job_timeout_ms)
      : model_(MakeModelPlanner(traits)),
        dialect_(*dialect),
        options_(std::move(options)),
        job_timeout_ms_(job_timeout_ms) {}

  Result<LogicalType> MapType(const LogicalType& type, bool is_key) const override {
    return model_->MapType(type, is_key);
  }

  Result<SchemaPlan> Plan(const PlanRequest& request) const override {
    DRIFTLESS_ASSIGN_OR_RETURN(SchemaPlan plan, model_->Plan(request));
    for (Step& step : plan.steps) {
      if (step.creates_table) {
        DRIFTLESS_TRY(OrderColumns(&plan, &step));
      }
      step.action = StatementOf(dialect_, step, options_, job_timeout_ms_).sql;
    }
    return plan;
  }

  StepState Recognise(const SchemaPlan& plan, size_t step, const SinkTable* actual) const override {
    const Step& one = plan.steps[step];
    if (one.creates_table) {
      return actual != nullptr && MisfitOfTable(*actual, *one.after).empty() ? StepState::kDone
                                                                             : StepState::kNotBegun;
    }
    return RecogniseStep(one, actual);
  }

  bool Holds(const LogicalType& sink, const LogicalType& wanted) const override {
    return model_->Holds(sink, wanted);
  }

 private:
  Result<void> OrderColumns(SchemaPlan* plan, Step* step) const {
    DRIFTLESS_TRY(CheckPartitions(*step->after));
    PutKeysFirst(step->after->primary_key, &step->after->columns,
                 [](const SinkColumn& column) { return column.name; });
    PutKeysFirst(plan->evolved.primary_key, &plan->evolved.columns,
                 [](const EvolvedColumn& column) { return column.sink.name; });
    return {};
  }

  // Both servers partition tables with a key by columns of the key only, and by columns that are
  // never NULL.
  Result<void> CheckPartitions(const SinkTable& table) const {
    std::vector<std::string> columns = table.partition_keys;
    if (columns.empty() && options_.auto_partition != nullptr) {
      if (const auto range = options_.auto_partition(table)) columns.push_back(range->column);
    }
    for (const std::string& name : columns) {
      const SinkColumn* column = table.FindName(name);
      if (column == nullptr) continue;
      const auto& keys = table.primary_key;
      const bool is_key = std::find(keys.begin(), keys.end(), name) != keys.end();
      std::string problem;
      if (!keys.empty() && !is_key) problem = " is no column of the table's primary key";
      if (keys.empty() && column->type.nullable()) problem = " may be NULL";
      if (problem.empty()) continue;
      return MakeError(ErrorKind::kUnsupported,
                       std::string(dialect_.product()) + " cannot partition table " +
                           table.path.ToString() + " by " + name + ", which" + problem)
          .Hint("Partition by another column, or leave the table out of the partitions.");
    }
    return {};
  }

  const std::unique_ptr<SchemaPlanner> model_;
  const Dialect& dialect_;
  const CreateOptions options_;
  const int64_t job_timeout_ms_;
};

}  // namespace

std::string MisfitOfTable(const SinkTable& actual, const SinkTable& wanted) {
  std::string misfit;
  const auto add = [&](const std::string& text) {
    if (!misfit.empty()) misfit += "; ";
    misfit += text;
  };
  for (const SinkColumn& column : wanted.columns) {
    const SinkColumn* found = FindIgnoringCase(actual, column.name);
    if (found == nullptr) {
      add("column " + column.name + " is not there");
    } else if (!HoldsEveryValue(found->type, column.type)) {
      add("column " + column.name + " is " + found->type.ToStringIgnoringNullability() + ", and " +
          column.type.ToStringIgnoringNullability() + " is wanted");
    } else if (column.type.nullable() && !found->type.nullable()) {
      add("column " + column.name + " is NOT NULL, and rows may have NULL");
    }
  }
  for (const SinkColumn& column : actual.columns) {
    const bool needed = !column.type.nullable() && FindIgnoringCase(wanted, column.name) == nullptr;
    if (needed && column.default_value.kind == DefaultValue::Kind::kNone) {
      add("column " + column.name + " is NOT NULL and gets no value");
    }
  }
  if (actual.primary_key != wanted.primary_key) add("its key is another one");
  return misfit;
}

std::unique_ptr<SchemaPlanner> MakePlanner(const ModelTraits* traits, const Dialect* dialect,
                                           CreateOptions options, int64_t job_timeout_ms) {
  return std::make_unique<OlapPlanner>(traits, dialect, std::move(options), job_timeout_ms);
}

}  // namespace driftless::olap
