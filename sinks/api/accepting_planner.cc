#include "sinks/api/accepting_planner.h"

#include <string>

#include "schema/plan/model_planner.h"
#include "schema/policy/policy.h"

namespace driftless {
namespace {

Result<LogicalType> SameType(const LogicalType& type, bool) { return type; }

ModelTraits Traits(std::string_view sink) {
  ModelTraits traits;
  traits.sink = sink;
  traits.can = AllEvents();
  traits.map_type = SameType;
  traits.adds_not_null = true;
  traits.drops_key_columns = true;
  traits.changes_key_types = true;
  traits.one_commit = true;
  return traits;
}

// "create table a.b (id BIGINT NOT NULL, note STRING, primary key (id))"
std::string DescribeCreation(const SinkTable& table) {
  std::string text = "create table " + table.path.ToString() + " (";
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (i > 0) text += ", ";
    text += table.columns[i].name + " " + table.columns[i].type.ToString();
  }
  if (!table.primary_key.empty()) {
    text += ", primary key (";
    for (size_t i = 0; i < table.primary_key.size(); ++i) {
      text += (i > 0 ? ", " : "") + table.primary_key[i];
    }
    text += ")";
  }
  return text + ")";
}

class AcceptingPlanner : public SchemaPlanner {
 public:
  explicit AcceptingPlanner(std::string_view sink)
      : traits_(Traits(sink)), model_(MakeModelPlanner(&traits_)) {}

  Result<LogicalType> MapType(const LogicalType& type, bool) const override { return type; }

  Result<SchemaPlan> Plan(const PlanRequest& request) const override {
    DRIFTLESS_ASSIGN_OR_RETURN(SchemaPlan plan, model_->Plan(request));
    for (Step& step : plan.steps) {
      if (step.creates_table && step.after) step.action = DescribeCreation(*step.after);
      step.repeatable = true;
    }
    return plan;
  }

  // Nothing is there to look at; a line that is printed twice after a crash does no harm.
  StepState Recognise(const SchemaPlan&, size_t, const SinkTable*) const override {
    return StepState::kCannotTell;
  }

  bool Holds(const LogicalType& sink, const LogicalType& wanted) const override {
    return sink.EqualsIgnoringNullability(wanted);
  }

 private:
  const ModelTraits traits_;
  const std::unique_ptr<SchemaPlanner> model_;
};

}  // namespace

std::unique_ptr<SchemaPlanner> MakeAcceptingPlanner(std::string_view sink) {
  return std::make_unique<AcceptingPlanner>(sink);
}

}  // namespace driftless
