#include "pipeline/runtime/key_change.h"

#include <gtest/gtest.h>

#include "schema/events/change_batch_builder.h"

namespace driftless {
namespace {

TableSchemaPtr Source() {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "orders"};
  schema->AddColumn("id", LogicalType::BigInt().NotNull());
  schema->AddColumn("day", LogicalType::String());
  schema->AddColumn("note", LogicalType::String());
  return schema;
}

EvolvedSchema SinkTableOf(const TableSchema& source, std::vector<std::string> key,
                          std::vector<std::string> partition) {
  EvolvedSchema evolved;
  for (const Column& column : source.columns) {
    EvolvedColumn own;
    own.sink.name = column.name + "_at_sink";
    own.sink.type = column.type;
    own.source = column.id;
    evolved.columns.push_back(own);
  }
  evolved.primary_key = std::move(key);
  evolved.partition_keys = std::move(partition);
  return evolved;
}

struct Row {
  Op op;
  int64_t id;
  const char* day;
  const char* note;  // null: absent
  int64_t old_id = -1;
  const char* old_day = nullptr;
  const char* old_note = nullptr;
};

ChangeBatchPtr Make(const TableSchemaPtr& schema, const std::vector<Row>& rows) {
  ChangeBatchBuilder builder(schema, 1);
  uint64_t offset = 0;
  for (const Row& row : rows) {
    builder.BeginRow(row.op, Point{1, 0, ++offset, 0, 0}, 7);
    builder.SetTransaction("tx" + std::to_string(offset));
    if (row.op != Op::kDelete) {
      builder.after(0).AppendInt(row.id);
      builder.after(1).AppendBytes(row.day);
      if (row.note != nullptr) builder.after(2).AppendBytes(row.note);
    }
    if (row.old_id >= 0) {
      builder.before(0).AppendInt(row.old_id);
      builder.before(1).AppendBytes(row.old_day);
      if (row.old_note != nullptr) builder.before(2).AppendBytes(row.old_note);
    }
    builder.EndRow();
  }
  return builder.Seal();
}

TEST(KeyChangeTest, AnUpdateOfTheKeyBecomesDeleteAndInsertInThatOrder) {
  const TableSchemaPtr schema = Source();
  const EvolvedSchema sink = SinkTableOf(*schema, {"id_at_sink"}, {});
  const ChangeBatchPtr batch = Make(schema, {{Op::kInsert, 1, "d", "n"},
                                             {Op::kUpdate, 3, "d", nullptr, 2, "d", "kept"},
                                             {Op::kUpdate, 4, "d", "x", 4, "e", "n"},
                                             {Op::kDelete, 0, "", nullptr, 9, "d", "n"}});
  const ChangeBatchPtr split = SplitKeyChanges(batch, sink);
  ASSERT_EQ(split->size(), 5);
  const std::vector<Op> ops(split->ops().begin(), split->ops().end());
  EXPECT_EQ(ops,
            (std::vector<Op>{Op::kInsert, Op::kDelete, Op::kInsert, Op::kUpdate, Op::kDelete}));
  EXPECT_TRUE(split->HasBefore(1));
  EXPECT_EQ(split->before()[0].Fixed<int64_t>(1), 2);
  EXPECT_TRUE(split->after()[0].IsAbsent(1));
  EXPECT_FALSE(split->HasBefore(2));
  EXPECT_EQ(split->after()[0].Fixed<int64_t>(2), 3);
  EXPECT_EQ(split->after()[2].Bytes(2), "kept") << "what was not sent did not change";
  EXPECT_EQ(split->point(1), split->point(2));
  EXPECT_EQ(split->transaction(2), "tx2");
  EXPECT_EQ(split->before()[1].Bytes(3), "e");
  EXPECT_EQ(split->before()[0].Fixed<int64_t>(4), 9);
  EXPECT_EQ(split->commit_times_ms()[4], 7);
}

TEST(KeyChangeTest, APartitionCountsAsAKeyAndAnAppendTableHasNone) {
  const TableSchemaPtr schema = Source();
  const ChangeBatchPtr batch = Make(schema, {{Op::kUpdate, 4, "d", "x", 4, "e", "n"}});
  EXPECT_EQ(SplitKeyChanges(batch, SinkTableOf(*schema, {"id_at_sink"}, {})), batch);
  EXPECT_EQ(SplitKeyChanges(batch, SinkTableOf(*schema, {}, {})), batch);
  EXPECT_EQ(SplitKeyChanges(batch, SinkTableOf(*schema, {"id_at_sink"}, {"day_at_sink"}))->size(),
            2);
}

}  // namespace
}  // namespace driftless
