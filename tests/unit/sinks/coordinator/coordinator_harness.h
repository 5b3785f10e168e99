#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schema/coordinator/coordinator.h"
#include "tests/doubles/source_table.h"
#include "tests/unit/sinks/policy/decide_fixture.h"

namespace driftless {

// A coordinator with one model sink and a store in memory: carries its actions out at once, or as a
// test's script says.
class CoordinatorHarness {
 public:
  // What happens to the next ExecuteStep.
  struct StepScript {
    std::optional<Error> error;
    bool takes_effect = false;  // with an error: the sink changed all the same
    bool crash = false;         // the process dies instead of hearing the answer
  };

  explicit CoordinatorHarness(std::string_view sink, Behavior behavior = Behavior::kLenient) {
    for (const SinkComponent& component : AllSinks()) {
      if (component.type == sink) matrix = component.matrix;
    }
    planner = DecidedTable::ModelOf(sink);
    policy.behavior = behavior;
    Start();
  }

  void Start() {
    CoordinatorSink sink;
    sink.name = "lake";
    sink.type = std::string(matrix->sink);
    sink.matrix = matrix;
    sink.planner = planner.get();
    sink.policy = &policy;
    sink.keeps_schema = matrix->keeps_schema;
    coordinator = std::make_unique<Coordinator>("pipeline", std::vector<CoordinatorSink>{sink},
                                                next_decision);
    std::vector<RecoveredTable> recovered;
    for (const auto& [table_key, state] : states) {
      recovered.push_back({table_key, state, cut_committed.count(table_key) > 0});
    }
    failed.reset();
    pending.clear();
    auto actions = coordinator->Restart(std::move(recovered), now_ms);
    ASSERT_TRUE(actions.has_value()) << actions.error().ToString();
    Take(std::move(*actions));
  }

  // The process dies and starts again; what it did not record is gone.
  void Crash() {
    coordinator.reset();
    Start();
  }

  void Arrive(const std::shared_ptr<StatementChange>& change) {
    Give(ChangeArrived{KeyOf(*change), change, "line " + std::to_string(change->point.offset), 0});
    Run();
  }
  void Give(CoordinatorInput input) { Take(coordinator->Step(std::move(input), now_ms)); }
  void Pass(int64_t ms) {
    now_ms += ms;
    Give(TimePassed{now_ms});
    Run();
  }
  void Answer(DecisionId id, ApprovalGiven::Choice choice) {
    Give(ApprovalGiven{id, choice, "test"});
    Run();
  }

  // Carries out what is pending until nothing is or `stop_before` comes up.
  void Run() {
    while (!pending.empty() && !failed && coordinator != nullptr) {
      CoordinatorAction action = std::move(pending.front());
      pending.pop_front();
      std::visit([&](auto& value) { Do(value); }, action);
    }
  }

  static SinkTableKey KeyOf(const StatementChange& change) { return {"lake", change.table}; }

  std::string Columns() const {
    const EvolvedSchemaPtr evolved = coordinator->Evolved(key);
    if (evolved == nullptr) return "(no table)";
    std::string text;
    for (const EvolvedColumn& column : evolved->columns) {
      if (!text.empty()) text += ", ";
      text += column.sink.name;
      if (column.source == 0) text += " [free]";
    }
    return text;
  }
  std::string SinkColumns() const {
    if (!table) return "(no table)";
    std::string text;
    for (const SinkColumn& column : table->columns) {
      text += (text.empty() ? "" : ", ") + column.name;
    }
    return text;
  }
  // "intent add.column apply pending; outcome add.column apply done"
  std::string AuditText() const {
    std::string text;
    for (const AuditRecord& record : audit) {
      if (!text.empty()) text += "; ";
      text += std::string(ToString(record.phase)) + " " + std::string(Tag(record.event)) + " " +
              std::string(ToString(record.verdict.kind)) + " " +
              std::string(ToString(record.result));
    }
    return text;
  }
  std::string OpenDivergences() const {
    std::string text;
    for (const Divergence& divergence : divergences) {
      text += (text.empty() ? "" : "; ") + divergence.text;
    }
    return text;
  }

  const CapabilityMatrix* matrix = nullptr;
  std::unique_ptr<SchemaPlanner> planner;
  SinkPolicy policy;
  std::unique_ptr<Coordinator> coordinator;
  int64_t now_ms = 1000;
  DecisionId next_decision = 1;
  SinkTableKey key{"lake", *ParseTablePath("shop.orders")};

  // The sink.
  std::optional<SinkTable> table;
  std::deque<StepScript> scripts;
  std::vector<std::string> sent;  // actions of the steps that took effect
  bool cut_crashes_before_a = false;
  bool cut_crashes_after_b = false;

  // The store and the outside.
  std::map<SinkTableKey, std::string> states;
  std::map<SinkTableKey, bool> cut_committed;
  std::vector<AuditRecord> audit;
  std::vector<Divergence> divergences;
  std::vector<Release> releases;
  std::vector<CutTable> cuts;
  std::vector<Notify> notes;
  std::optional<FailPipeline> failed;
  std::deque<CoordinatorAction> pending;

 private:
  void Take(std::vector<CoordinatorAction> actions) {
    for (CoordinatorAction& action : actions) {
      if (auto* record = std::get_if<RecordAudit>(&action)) {
        next_decision = std::max(next_decision, record->record.id + 1);
        audit.push_back(record->record);
      } else if (auto* state = std::get_if<RecordTableState>(&action)) {
        states[state->table] = state->state;
      } else if (auto* begun = std::get_if<RecordDivergence>(&action)) {
        divergences.push_back(begun->divergence);
      } else if (auto* ended = std::get_if<EndDivergences>(&action)) {
        std::erase_if(divergences, [&](const Divergence& divergence) {
          const bool column = ended->column == 0 || divergence.column == ended->column;
          const bool event = !ended->event || divergence.event == *ended->event;
          const bool whole = ended->column != 0 || !ended->event || divergence.column == 0;
          return column && event && whole;
        });
      } else {
        pending.push_back(std::move(action));
      }
    }
  }

  void Do(RecordAudit&) {}
  void Do(RecordTableState&) {}
  void Do(RecordDivergence&) {}
  void Do(EndDivergences&) {}
  void Do(ReadSinkTable& read) { Give(SinkTableRead{read.table, table}); }
  void Do(CutTable& cut) {
    cuts.push_back(cut);
    if (cut_crashes_before_a) {
      cut_crashes_before_a = false;
      return Crash();
    }
    states[cut.table] = cut.state;
    cut_committed[cut.table] = true;
    if (cut_crashes_after_b) {
      cut_crashes_after_b = false;
      return Crash();
    }
    Give(CutCommitted{cut.table});
  }
  void Do(ExecuteStep& execute) {
    StepScript script;
    if (!scripts.empty()) {
      script = std::move(scripts.front());
      scripts.pop_front();
    }
    const Step& step = execute.plan->steps[execute.step];
    if (!script.error || script.takes_effect) {
      sent.push_back(step.action);
      table = step.after;
    }
    if (script.crash) return Crash();
    Result<void> result;
    if (script.error) result = *script.error;
    Give(StepFinished{execute.table, execute.step, std::move(result)});
  }
  void Do(Release& release) {
    releases.push_back(release);
    cut_committed.erase(release.table);
  }
  void Do(FailPipeline& fail) { failed = fail; }
  void Do(Notify& note) { notes.push_back(note); }
};

}  // namespace driftless
