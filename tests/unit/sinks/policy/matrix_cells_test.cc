#include "tests/unit/sinks/policy/decide_fixture.h"

namespace driftless {
namespace {

// Every cell of the matrix under every behaviour, against the policy's section 3.
std::shared_ptr<StatementChange> Statement(SourceTable* table, std::string_view event) {
  if (event == "create.table") return table->Create();
  if (event == "drop.table") return table->DropTable();
  table->Begin();
  if (event == "truncate.table") table->Truncate();
  if (event == "add.column" || event == "add.column.nullable") table->Add("extra INT");
  if (event == "add.column.not_null") table->Add("extra INT NOT NULL");
  if (event == "drop.column") table->Drop("qty");
  if (event == "rename.column") table->Rename("qty", "quantity");
  if (event == "alter.column.type") table->Type("qty", "BIGINT");
  if (event == "relax.nullability") table->Relax("note");
  if (event == "tighten.nullability") table->Tighten("qty");
  if (event == "alter.column.comment") table->Comment("qty", "how many");
  if (event == "alter.table.comment") table->CommentTable("orders of the shop");
  return table->End();
}

std::string Expected(const CapabilityMatrix& matrix, const Cell& cell, Behavior behavior) {
  const std::string_view event = cell.event;
  const bool is_create = event == "create.table";
  if (cell.evolve == CellKind::kNever) return "skip";
  if (is_create) return "apply";
  if (cell.evolve == CellKind::kIgnore) {
    return behavior == Behavior::kException ? "fail" : "ignore";
  }
  if (event == "relax.nullability" && cell.evolve == CellKind::kSkip) return "skip";
  if (behavior == Behavior::kIgnore) return "skip";
  if (behavior == Behavior::kException) return "fail";
  const CellKind kind = behavior == Behavior::kLenient ? cell.lenient : cell.evolve;
  if (behavior == Behavior::kTryEvolve && kind == CellKind::kFail) return "skip";
  // "appended at the end as NULLABLE" is another form.
  if (event == "add.column.not_null" && matrix.adapts_constraints_always) return "rewrite";
  return std::string(ToString(kind));
}

TEST(DecideCellsTest, EveryCellUnderEveryBehaviour) {
  int cells = 0;
  for (const SinkComponent& component : AllSinks()) {
    if (component.matrix == nullptr || !component.matrix->listed) continue;
    for (const Cell& cell : component.matrix->cells) {
      ++cells;
      for (const Behavior behavior : {Behavior::kLenient, Behavior::kEvolve, Behavior::kTryEvolve,
                                      Behavior::kIgnore, Behavior::kException}) {
        DecidedTable sink(component.matrix->sink, behavior);
        SourceTable source = *Orders();
        if (cell.event != "create.table") sink.Do(source.Create());
        const Decision decision = sink.Do(Statement(&source, cell.event));
        ASSERT_EQ(decision.parts.size(), 1u) << component.type << " " << cell.event;
        EXPECT_EQ(Kinds(decision), Expected(*component.matrix, cell, behavior))
            << component.type << " " << cell.event << " " << ToString(behavior) << ": "
            << decision.parts[0].verdict.reason;
        EXPECT_FALSE(decision.parts[0].verdict.reason.empty());
        EXPECT_FALSE(decision.parts[0].verdict.rule.empty());
        EXPECT_EQ(decision.parts[0].verdict.never, cell.evolve == CellKind::kNever);
        EXPECT_EQ(decision.fails, Kinds(decision) == "fail");
      }
    }
  }
  EXPECT_EQ(cells, 87);
}

}  // namespace
}  // namespace driftless
