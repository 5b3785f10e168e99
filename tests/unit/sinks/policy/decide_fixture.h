#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schema/policy/decide.h"
#include "sinks/api/component.h"
#include "sinks/api/registry.h"
#include "tests/doubles/source_table.h"

namespace driftless {

// One sink table of a kind of sink, and what the policy made of it so far.
class DecidedTable {
 public:
  explicit DecidedTable(std::string_view sink, Behavior behavior = Behavior::kLenient) {
    for (const SinkComponent& component : AllSinks()) {
      if (component.type == sink) matrix_ = component.matrix;
    }
    planner_ = ModelOf(sink);
    policy.behavior = behavior;
  }

  static std::unique_ptr<SchemaPlanner> ModelOf(std::string_view sink) {
    static const OptionValues kOptions(HologresOptions(), {});
    if (sink == "paimon") return *MakePaimonModelPlanner({});
    if (sink == "fluss") return *MakeFlussPlanner({});
    if (sink == "starrocks") return *MakeStarRocksPlanner({});
    if (sink == "iceberg") return *MakeIcebergPlanner(OptionValues(IcebergOptions(), {}));
    if (sink == "hologres") return *MakeHologresPlanner(kOptions);
    if (sink == "selectdb") return *MakeSelectDbPlanner({});
    if (sink == "maxcompute") return *MakeMaxComputePlanner({});
    return *MakeKafkaPlanner({});
  }

  DecideInput Input(const StatementChange& change) const {
    DecideInput input;
    input.change = &change;
    input.policy = &policy;
    input.matrix = matrix_;
    input.planner = planner_.get();
    input.sink = "lake";
    input.sink_table = change.table;
    input.evolved = evolved ? &*evolved : nullptr;
    input.sink_was_read = true;
    input.actual = actual ? &*actual : nullptr;
    input.change_id = "change";
    input.forced = forced;
    return input;
  }

  // Decides and carries out: the evolved schema and the table at the sink become the decision's.
  Decision Do(const std::shared_ptr<StatementChange>& change) {
    Decision decision = Decide(Input(*change));
    if (!decision.fails && (!decision.held || !decision.rows_wait)) {
      evolved = decision.evolved;
      if (!decision.held) {
        for (const Step& step : decision.plan.steps) actual = step.after;
      }
    }
    return decision;
  }

  std::string Columns() const {
    if (!evolved) return "(no table)";
    std::string text;
    for (const EvolvedColumn& column : evolved->columns) {
      if (!text.empty()) text += ", ";
      text += column.sink.name + " " + column.sink.type.ToString();
      if (column.source == 0) text += " [free]";
    }
    return text;
  }

  SinkPolicy policy;
  std::optional<EvolvedSchema> evolved;
  std::optional<SinkTable> actual;
  std::map<uint32_t, ForcedVerdict> forced;

 private:
  const CapabilityMatrix* matrix_ = nullptr;
  std::unique_ptr<SchemaPlanner> planner_;
};

// "skip", "rewrite", ... of every part, in order; a fail ends nothing here, it is listed.
inline std::string Kinds(const Decision& decision) {
  std::string text;
  for (const PartDecision& part : decision.parts) {
    if (!text.empty()) text += " ";
    text += ToString(part.verdict.kind);
  }
  return text;
}

inline std::string Actions(const Decision& decision) {
  std::string text;
  for (const Step& step : decision.plan.steps) {
    if (!text.empty()) text += "; ";
    text += step.action;
  }
  return text;
}

inline std::string Divergences(const Decision& decision) {
  std::string text;
  for (const BegunDivergence& divergence : decision.begun) {
    if (!text.empty()) text += "; ";
    text += divergence.text;
  }
  return text;
}

inline std::shared_ptr<SourceTable> Orders() {
  return std::make_shared<SourceTable>(
      "shop.orders",
      std::vector<std::string>{"id BIGINT NOT NULL", "qty INT", "note VARCHAR(20) NOT NULL"},
      std::vector<std::string>{"id"});
}

}  // namespace driftless
