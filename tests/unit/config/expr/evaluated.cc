#include "tests/unit/config/expr/evaluated.h"

#include "config/expr/eval/program.h"
#include "config/expr/expr_parser.h"
#include "schema/events/change_batch_builder.h"
#include "schema/types/decimal.h"
#include "schema/types/value_text.h"

namespace driftless::flink {
namespace {

constexpr int64_t kLeapDay = 19782;  // 2024-02-29

TableSchemaPtr Schema() {
  auto schema = std::make_shared<TableSchema>();
  schema->AddColumn("id", LogicalType::Int().NotNull());
  schema->AddColumn("a", LogicalType::Int());
  schema->AddColumn("b", LogicalType::BigInt());
  schema->AddColumn("ti", LogicalType::TinyInt());
  schema->AddColumn("f", LogicalType::Float());
  schema->AddColumn("x", LogicalType::Double());
  schema->AddColumn("d", LogicalType::Decimal(10, 2));
  schema->AddColumn("s", LogicalType::String());
  schema->AddColumn("c", LogicalType::Char(5));
  schema->AddColumn("t", LogicalType::Boolean());
  schema->AddColumn("bin", LogicalType::Bytes());
  schema->AddColumn("dt", LogicalType::Date());
  schema->AddColumn("tm", LogicalType::Time(3));
  schema->AddColumn("ts", LogicalType::Timestamp(6));
  schema->AddColumn("ltz", LogicalType::TimestampLtz(3));
  schema->AddColumn("js", LogicalType::String());
  schema->AddColumn("arr", LogicalType::Array(LogicalType::Int()));
  schema->AddColumn(
      "r", LogicalType::Row({{"n", LogicalType::Int(), ""}, {"m", LogicalType::String(), ""}}));
  return schema;
}

void Fill(ChangeBatchBuilder* batch, bool first) {
  constexpr int64_t kDay = 86400 * int64_t{1'000'000};
  int i = 1;
  batch->after(i++).AppendInt(first ? 7 : -7);
  batch->after(i++).AppendInt(first ? 3 : 0);
  batch->after(i++).AppendInt(first ? 127 : 1);
  batch->after(i++).AppendFloat(first ? 1.5f : -0.25f);
  batch->after(i++).AppendDouble(first ? 2.5 : -2.5);
  batch->after(i++).AppendInt128(first ? 1235 : -1235);
  batch->after(i++).AppendBytes(first ? "Hello, W\xC3\xB6rld" : "");
  batch->after(i++).AppendBytes(first ? "abc" : "x");
  batch->after(i++).AppendBit(first);
  batch->after(i++).AppendBytes(first ? "hello" : "");
  batch->after(i++).AppendInt(first ? kLeapDay : -1);
  batch->after(i++).AppendInt(first ? 45'296'789'000 : 0);
  batch->after(i++).AppendInt(first ? kLeapDay * kDay + 45'296'789'012 : -1'000'000);
  batch->after(i++).AppendInt(first ? kLeapDay * kDay + kDay / 2 : 0);
  batch->after(i++).AppendBytes(first ? R"({"a": {"b": [1, "two"]}, "n": 1.5, "z": null})" : "{");
  ColumnBuilder& list = batch->after(i++);
  if (first) {
    list.child(0).AppendInt(1);
    list.child(0).AppendNull();
    list.child(0).AppendInt(3);
  }
  list.CloseList();
  ColumnBuilder& row = batch->after(i++);
  row.child(0).AppendInt(first ? 11 : 22);
  row.child(1).AppendBytes(first ? "in" : "out");
  row.CloseStruct();
}

ChangeBatchPtr Batch() {
  const TableSchemaPtr schema = Schema();
  ChangeBatchBuilder batch(schema, 0);
  for (int row = 0; row < 3; ++row) {
    batch.BeginRow(Op::kInsert, Point{0, 0, static_cast<uint64_t>(row)}, 0);
    batch.after(0).AppendInt(row + 1);
    if (row == 1) {
      for (size_t i = 1; i < schema->columns.size(); ++i)
        batch.after(static_cast<int>(i)).AppendNull();
    } else {
      Fill(&batch, row == 0);
    }
    batch.EndRow();
  }
  return batch.Seal();
}

Result<Program> Compiled(std::string_view expression) {
  DRIFTLESS_ASSIGN_OR_RETURN(Expr expr, ParseExpr(expression));
  DRIFTLESS_ASSIGN_OR_RETURN(const TimeZone zone, TimeZone::Load("Europe/Berlin"));
  return Program::Compile(std::move(expr), TestScope(), zone);
}

}  // namespace

Scope TestScope() {
  Scope scope;
  const TableSchemaPtr schema = Schema();
  for (const Column& column : schema->columns) scope.columns.emplace_back(column.name, column.type);
  return scope;
}

std::string Evaluated(std::string_view expression, int64_t row) {
  static const ChangeBatchPtr kBatch = Batch();
  Result<Program> program = Compiled(expression);
  if (!program) return program.error().ToString();
  EvalInput input;
  input.rows = kBatch->size();
  input.columns = kBatch->after();
  input.now_micros = 1'709'288'430'456'000;
  const ColumnView& view = program->Run(input);
  const std::vector<uint8_t>& failed = program->failed_rows();
  if (!failed.empty() && ((failed[0] >> row) & 1) != 0) return "! " + program->failure();
  if (view.IsAbsent(row)) return "absent";
  if (view.IsNull(row)) return "NULL";
  std::string text;
  AppendText(program->type(), view, row, {}, &text);
  return text;
}

std::string TypeText(std::string_view expression) {
  Result<Program> program = Compiled(expression);
  return program ? program->type().ToString() : program.error().ToString();
}

}  // namespace driftless::flink
