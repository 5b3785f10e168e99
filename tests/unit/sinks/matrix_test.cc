#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "schema/matrix/render.h"
#include "sinks/api/component.h"
#include "tests/doubles/source_dir.h"

namespace driftless {
namespace {

std::vector<const CapabilityMatrix*> AllMatrices() {
  std::vector<const CapabilityMatrix*> matrices;
  for (const SinkComponent& component : AllSinks()) {
    if (component.matrix != nullptr && component.matrix->listed) {
      matrices.push_back(component.matrix);
    }
  }
  return matrices;
}

const CapabilityMatrix& MatrixOf(std::string_view sink) {
  for (const CapabilityMatrix* matrix : AllMatrices()) {
    if (matrix->sink == sink) return *matrix;
  }
  static const CapabilityMatrix kNone = {};
  ADD_FAILURE() << "no matrix " << sink;
  return kNone;
}

TEST(MatrixTest, TheCsvIsTheSpecification) {
  std::ifstream file(SourceDir() + "/tests/data/spec/capability-matrix.csv");
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(RenderCsv(AllMatrices()), expected);
}

TEST(MatrixTest, TheFinestRowComesFirst) {
  const CapabilityMatrix& hologres = MatrixOf("hologres");
  EXPECT_EQ(hologres.Find(EventKind::kAddColumn, true)->event, "add.column.not_null");
  EXPECT_EQ(hologres.Find(EventKind::kAddColumn, false)->event, "add.column.nullable");
  EXPECT_EQ(MatrixOf("fluss").Find(EventKind::kAddColumn, true)->event, "add.column");
  EXPECT_EQ(MatrixOf("kafka").Find(EventKind::kTightenNullability, false), nullptr);
  EXPECT_EQ(MatrixOf("paimon").Find(EventKind::kAlterColumnPosition, false), nullptr);
}

TEST(MatrixTest, EverySinkHasAPlanner) {
  for (const SinkComponent& component : AllSinks()) {
    EXPECT_NE(component.make_planner, nullptr) << component.type;
  }
}

TEST(MatrixTest, ExtensionsNameEventsThatTheMatrixDoesNotApply) {
  for (const CapabilityMatrix* matrix : AllMatrices()) {
    for (const Extension& extension : matrix->extensions) {
      const auto kind = ParseEventTag(extension.event);
      ASSERT_TRUE(kind.has_value()) << extension.event;
      const Cell* cell = matrix->Find(*kind, false);
      EXPECT_TRUE(cell == nullptr || cell->lenient != CellKind::kApply)
          << matrix->sink << " " << extension.event;
      EXPECT_EQ(matrix->FindExtension(*kind), &extension);
    }
  }
}

TEST(MatrixTest, TextShowsWhatCanBeSwitchedOn) {
  const std::string text = RenderText(AllMatrices());
  EXPECT_NE(text.find("rename.column can be switched on with capability.extensions (from version "
                      "3.3.2)"),
            std::string::npos);
  EXPECT_NE(text.find("TRY_EVOLVE is not available"), std::string::npos);
  EXPECT_NE(RenderMarkdown(AllMatrices()).find("| `drop.column` | skip | fail |"),
            std::string::npos);
  EXPECT_NE(RenderJson(AllMatrices())
                .find(R"({"sink":"fluss","event":"drop.column",)"
                      R"("lenient":"skip","evolve":"fail","note":""})"),
            std::string::npos);
}

}  // namespace
}  // namespace driftless
