#include "sinks/olap/row_encoder.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "schema/events/change_batch_builder.h"
#include "schema/types/arrow_mapping.h"
#include "schema/types/value_text.h"
#include "tests/doubles/evolved.h"
#include "tests/doubles/random_values.h"
#include "tests/doubles/source_table.h"

namespace driftless::olap {
namespace {

using ::testing::ElementsAre;

// Rows of (id, a, b): a text, none for NULL, "-" for a value that was not sent.
class RowEncoderTest : public ::testing::Test {
 protected:
  RowEncoderTest()
      : table_("shop.t", {"id INT NOT NULL", "a VARCHAR(8)", "b VARCHAR(8)"}, {"id"}),
        builder_(table_.schema(), 0) {}

  void Value(int column, const char* text) {
    ColumnBuilder& builder = builder_.after(column);
    if (text == nullptr) return builder.AppendNull();
    if (std::string_view(text) == "-") return builder.AppendAbsent();
    builder.AppendBytes(text);
  }
  void Row(Op op, int id, const char* a, const char* b) {
    point_.offset++;
    builder_.BeginRow(op, point_, 0);
    builder_.after(0).AppendInt(id);
    Value(1, a);
    Value(2, b);
    builder_.EndRow();
  }
  void Delete(int id) {
    point_.offset++;
    builder_.BeginRow(Op::kDelete, point_, 0);
    builder_.before(0).AppendInt(id);
    builder_.before(1).AppendNull();
    builder_.before(2).AppendNull();
    builder_.EndRow();
  }

  Result<void> Encode() {
    const ChangeBatchPtr batch = builder_.Seal();
    const EvolvedSchema evolved = Evolved(*table_.schema());
    ProjectionPolicy policy;
    policy.partial_update = true;
    const Projection projection = Projection::Make(*batch->schema(), evolved, policy);
    std::vector<uint32_t> rows(static_cast<size_t>(batch->size()));
    std::iota(rows.begin(), rows.end(), 0U);
    DRIFTLESS_ASSIGN_OR_RETURN(const auto projected,
                               ProjectedBatch::Make(batch, projection, rows, nullptr));
    RowEncoder encoder(evolved, {"\"__op\":0", "\"__op\":1"}, '\n');
    return encoder.Append(*projected, projection, nullptr, &parts_);
  }
  std::vector<std::string> Bodies() const {
    std::vector<std::string> bodies;
    for (const auto& part : parts_.parts()) bodies.emplace_back(part->body.view());
    return bodies;
  }

  SourceTable table_;
  ChangeBatchBuilder builder_;
  Point point_;
  LoadParts parts_;
};

TEST_F(RowEncoderTest, WritesWholeRowsAndDeletesInOrder) {
  Row(Op::kInsert, 1, "x\"\n", nullptr);
  Delete(1);
  Row(Op::kInsert, 1, "ü", "12345678");
  ASSERT_TRUE(Encode());
  EXPECT_THAT(Bodies(), ElementsAre("{\"id\":1,\"a\":\"x\\\"\\n\",\"b\":null,\"__op\":0}\n"
                                    "{\"id\":1,\"__op\":1}\n"
                                    "{\"id\":1,\"a\":\"ü\",\"b\":\"12345678\",\"__op\":0}\n"));
}

class CountingReporter : public RowReporter {
 public:
  void DeadLetter(const ChangeBatch&, uint32_t row, const Error& why) override {
    dead.push_back(std::to_string(row) + ": " + why.message());
  }
  void Count(const TablePath&, std::string_view column, Loss, int64_t rows) override {
    lost += std::string(column) + "=" + std::to_string(rows) + " ";
  }
  std::vector<std::string> dead;
  std::string lost;
};

// Both servers would turn these into NULL, or another day, without a word.
TEST(RowEncoderMisfitTest, ValuesThatServersDoNotHaveFollowTheCastFailurePolicy) {
  const SourceTable table("shop.t", {"id INT NOT NULL", "f DOUBLE", "d DATE", "m TIMESTAMP(6)"},
                          {"id"});
  ChangeBatchBuilder builder(table.schema(), 0);
  const auto row = [&](int id, double real, int64_t day, int64_t micros) {
    builder.BeginRow(Op::kInsert, {0, static_cast<uint64_t>(id), 0, 0}, 0);
    builder.after(0).AppendInt(id);
    builder.after(1).AppendDouble(real);
    builder.after(2).AppendInt(day);
    builder.after(3).AppendInt(micros);
    builder.EndRow();
  };
  row(1, std::nan(""), 2932897, 253402300800000000);  // 10000-01-01
  row(2, 0.5, 2932896, 253402300799999999);           // the last moment that there is
  row(3, 1, -719529, -62167219200000001);             // before the year 0
  const ChangeBatchPtr batch = builder.Seal();
  const EvolvedSchema evolved = Evolved(*table.schema());
  const std::vector<uint32_t> rows = {0, 1, 2};
  LoadParts parts;
  CountingReporter reporter;
  const auto encode = [&](OnCastFailure policy) -> Result<void> {
    ProjectionPolicy projection_policy;
    projection_policy.on_cast_failure = policy;
    const Projection projection = Projection::Make(*batch->schema(), evolved, projection_policy);
    DRIFTLESS_ASSIGN_OR_RETURN(const auto projected,
                               ProjectedBatch::Make(batch, projection, rows, &reporter));
    parts = LoadParts();
    return RowEncoder(evolved, {"\"__op\":0", "\"__op\":1"}, '\n')
        .Append(*projected, projection, &reporter, &parts);
  };
  const Result<void> failed = encode(OnCastFailure::kFail);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(),
              ::testing::HasSubstr("column f: \"NaN\": the server has no such value"));
  ASSERT_TRUE(encode(OnCastFailure::kNull));
  const std::string last =
      "{\"id\":2,\"f\":0.5,\"d\":\"9999-12-31\",\"m\":\"9999-12-31 23:59:59.999999\",\"__op\":0}\n";
  EXPECT_EQ(parts.parts().front()->body.view(),
            "{\"id\":1,\"f\":null,\"d\":null,\"m\":null,\"__op\":0}\n" + last +
                "{\"id\":3,\"f\":1,\"d\":null,\"m\":null,\"__op\":0}\n");
  EXPECT_EQ(reporter.lost, "f=1 d=2 m=2 ");
  ASSERT_TRUE(encode(OnCastFailure::kDeadLetter));
  EXPECT_EQ(parts.parts().front()->body.view(), last);
  EXPECT_THAT(reporter.dead, ElementsAre(::testing::HasSubstr("0: table shop.t, column f"),
                                         ::testing::HasSubstr("2: table shop.t, column d")));
}

// Servers refuse a row without a value for a NOT NULL column, whatever it does.
TEST(RowEncoderDeleteTest, CarriesWhatIsKnownAndAFillerForWhatMustNotBeNull) {
  const SourceTable table("shop.t",
                          {"id INT NOT NULL", "n INT NOT NULL", "t VARCHAR(2) NOT NULL",
                           "d DATE NOT NULL", "m TIMESTAMP(3) NOT NULL", "p DECIMAL(5, 2) NOT NULL",
                           "b BOOLEAN NOT NULL", "f DOUBLE NOT NULL", "v VARCHAR(4)", "w INT"},
                          {"id"});
  ChangeBatchBuilder builder(table.schema(), 0);
  const auto row = [&](int id, bool is_known) {
    builder.BeginRow(Op::kDelete, {0, static_cast<uint64_t>(id), 0, 0}, 0);
    builder.before(0).AppendInt(id);
    for (int i = 1; i < 10; ++i) {
      ColumnBuilder& column = builder.before(i);
      if (!is_known) {
        column.AppendAbsent();
      } else if (i == 1) {
        column.AppendInt(7);
      } else if (i == 2 || i == 8) {
        column.AppendBytes("x\"y");  // three bytes: too long for t
      } else {
        column.AppendNull();
      }
    }
    builder.EndRow();
  };
  row(1, true);
  row(2, false);
  const ChangeBatchPtr batch = builder.Seal();
  const EvolvedSchema evolved = Evolved(*table.schema());
  const Projection projection = Projection::Make(*batch->schema(), evolved, {});
  const std::vector<uint32_t> rows = {0, 1};
  const auto projected = ProjectedBatch::Make(batch, projection, rows, nullptr);
  ASSERT_TRUE(projected);
  LoadParts parts;
  ASSERT_TRUE(RowEncoder(evolved, {"\"__op\":0", "\"__op\":1"}, '\n')
                  .Append(**projected, projection, nullptr, &parts));
  const std::string rest =
      "\"t\":\"\",\"d\":\"1970-01-01\",\"m\":\"1970-01-01 00:00:00.000\",\"p\":\"0.00\","
      "\"b\":false,\"f\":0,";
  EXPECT_EQ(parts.parts().front()->body.view(), "{\"id\":1,\"n\":7," + rest +
                                                    "\"v\":\"x\\\"y\",\"__op\":1}\n" +
                                                    "{\"id\":2,\"n\":0," + rest + "\"__op\":1}\n");
}

TEST_F(RowEncoderTest, RowsThatLackValuesTravelApartAndNeverInFrontOfOlderOnes) {
  Row(Op::kInsert, 1, "a", "b");
  Row(Op::kInsert, 2, "a", "b");
  Row(Op::kUpdate, 1, "c", "-");  // behind its insert
  Row(Op::kUpdate, 2, "d", "e");  // may go with the first part still
  Row(Op::kUpdate, 1, "f", "g");  // behind the partial one of the same key
  Row(Op::kUpdate, 2, "h", "-");  // with the other partial one
  Row(Op::kUpdate, 3, "-", nullptr);
  ASSERT_TRUE(Encode());
  EXPECT_THAT(Bodies(), ElementsAre("{\"id\":1,\"a\":\"a\",\"b\":\"b\",\"__op\":0}\n"
                                    "{\"id\":2,\"a\":\"a\",\"b\":\"b\",\"__op\":0}\n"
                                    "{\"id\":2,\"a\":\"d\",\"b\":\"e\",\"__op\":0}\n",
                                    "{\"id\":1,\"a\":\"c\"}\n{\"id\":2,\"a\":\"h\"}\n",
                                    "{\"id\":1,\"a\":\"f\",\"b\":\"g\",\"__op\":0}\n",
                                    "{\"id\":3,\"b\":null}\n"));
  EXPECT_THAT(parts_.parts()[1]->columns, ElementsAre(0, 1));
  EXPECT_EQ(parts_.rows(), 7);
}

TEST_F(RowEncoderTest, ANewRowCannotLackAValue) {
  Row(Op::kInsert, 1, "-", "b");
  const auto result = Encode();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), ::testing::HasSubstr("column a"));
}

TEST_F(RowEncoderTest, FindsTextsThatAreTooLong) {
  Row(Op::kInsert, 1, "123456789", "b");
  EXPECT_FALSE(Encode());
}

// What a reader of Arrow's own finds in the stream.
arrow::RecordBatchVector ReadStream(std::string_view stream) {
  arrow::io::BufferReader input(std::make_shared<arrow::Buffer>(stream));
  return *(*arrow::ipc::RecordBatchStreamReader::Open(&input))->ToRecordBatches();
}

TEST(ArrowRowsTest, ReadersFindTheValuesOfWholeBatchesAndOfSomeRows) {
  testing::RandomSchemas random(12);
  const std::vector<std::string> columns = {
      "a BOOLEAN", "b TINYINT",         "c SMALLINT", "d INT",    "e BIGINT",        "f FLOAT",
      "g DOUBLE",  "h DECIMAL(38, 10)", "i CHAR(9)",  "j STRING", "k DECIMAL(5, 5)", "l DATE"};
  const SourceTable table("shop.t", columns, {});
  const EvolvedSchema evolved = Evolved(*table.schema());
  EXPECT_EQ(ArrowProblem(evolved, true), "");
  ArrowRows encoder(evolved);
  LoadBody body;
  std::vector<std::shared_ptr<const ProjectedBatch>> batches;
  const std::vector<std::vector<uint32_t>> rows = {{0, 1, 2, 3, 4}, {0, 2, 3}, {4}};
  for (const auto& chosen : rows) {
    ChangeBatchBuilder builder(table.schema(), 0);
    for (int i = 0; i < 5; ++i) {
      builder.BeginRow(Op::kInsert, {0, static_cast<uint64_t>(i + 1), 0, 0}, 0);
      for (size_t c = 0; c < columns.size(); ++c) {
        testing::AppendRandomValue(evolved.columns[c].sink.type, &random,
                                   &builder.after(static_cast<int>(c)));
      }
      builder.EndRow();
    }
    const ChangeBatchPtr batch = builder.Seal();
    const Projection projection = Projection::Make(*batch->schema(), evolved, {});
    batches.push_back(*ProjectedBatch::Make(batch, projection, chosen, nullptr));
    const ValueAt nulled[] = {{2, 9}};
    ASSERT_TRUE(encoder.Append(*batches.back(), chosen, nulled, &body));
  }
  ArrowRows::End(&body);
  const arrow::RecordBatchVector read = ReadStream(body.view());
  ASSERT_EQ(read.size(), rows.size());
  for (size_t b = 0; b < rows.size(); ++b) {
    ASSERT_EQ(read[b]->num_rows(), static_cast<int64_t>(rows[b].size()));
    for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
      const auto wanted = ToArrowArray(evolved.columns[static_cast<size_t>(c)].sink.type,
                                       batches[b]->after()[static_cast<size_t>(c)], batches[b]);
      for (size_t r = 0; r < rows[b].size(); ++r) {
        const auto value = *read[b]->column(c)->GetScalar(static_cast<int64_t>(r));
        if (c == 9 && rows[b][r] == 2) {
          EXPECT_FALSE(value->is_valid);
        } else {
          EXPECT_TRUE(value->Equals(**wanted->GetScalar(rows[b][r]),
                                    arrow::EqualOptions::Defaults().nans_equal(true)))
              << columns[static_cast<size_t>(c)];
        }
      }
    }
  }
}

TEST(ArrowRowsTest, TablesThatServersMisreadDoNotTravelAsArrow) {
  const auto problem = [](std::vector<std::string> columns, std::vector<std::string> key,
                          bool carries_deletes) {
    return ArrowProblem(
        Evolved(*SourceTable("shop.t", std::move(columns), std::move(key)).schema()),
        carries_deletes);
  };
  EXPECT_THAT(problem({"id INT NOT NULL"}, {"id"}, true), ::testing::HasSubstr("hidden column"));
  EXPECT_EQ(problem({"id INT NOT NULL"}, {"id"}, false), "");
  EXPECT_THAT(problem({"at TIMESTAMP(3)"}, {}, true), ::testing::HasSubstr("DATETIME"));
  EXPECT_THAT(problem({"eV INT"}, {}, true), ::testing::HasSubstr("capital letters"));
}

// Rows of a table without a key go on in their order where a batch of JSON comes between.
TEST_F(RowEncoderTest, BatchesThatLackValuesTravelAsJsonBetweenThoseOfArrow) {
  const EvolvedSchema evolved = Evolved(*table_.schema());
  RowEncoder encoder(evolved, {"\"s\":0", "\"s\":1", false}, '\n', true);
  const auto append = [&] {
    const ChangeBatchPtr batch = builder_.Seal();
    ProjectionPolicy policy;
    policy.partial_update = true;
    const Projection projection = Projection::Make(*batch->schema(), evolved, policy);
    std::vector<uint32_t> rows(static_cast<size_t>(batch->size()));
    std::iota(rows.begin(), rows.end(), 0U);
    const auto projected = ProjectedBatch::Make(batch, projection, rows, nullptr);
    ASSERT_TRUE(projected);
    ASSERT_TRUE(encoder.Append(**projected, projection, nullptr, &parts_));
  };
  Row(Op::kInsert, 1, "a", nullptr);
  Row(Op::kInsert, 2, "a", "b");
  append();
  Row(Op::kUpdate, 1, "-", "c");
  append();
  Row(Op::kInsert, 3, "d", "e");  // may go with the first ones
  Row(Op::kUpdate, 1, "f", "g");  // behind the partial one
  append();
  ASSERT_EQ(parts_.parts().size(), 3U);
  EXPECT_EQ(parts_.rows(), 5);
  for (const size_t arrow : {size_t{0}, size_t{2}}) {
    LoadPart& part = *parts_.parts()[arrow];
    EXPECT_TRUE(part.is_arrow);
    ArrowRows::End(&part.body);
    int64_t rows = 0;
    for (const auto& read : ReadStream(part.body.view())) rows += read->num_rows();
    EXPECT_EQ(rows, part.rows);
  }
  EXPECT_FALSE(parts_.parts()[1]->is_arrow);
  EXPECT_EQ(parts_.parts()[1]->body.view(), "{\"id\":1,\"b\":\"c\"}\n");
}

// The fast writer and the one of all types write the same.
TEST(JsonValueTest, WritesWhatAppendJsonWrites) {
  testing::RandomSchemas random(11);
  for (const char* text : {"BOOLEAN",          "TINYINT",       "SMALLINT",       "INT",
                           "BIGINT",           "FLOAT",         "DOUBLE",         "DECIMAL(38, 10)",
                           "DECIMAL(12, 2)",   "DECIMAL(5, 5)", "DECIMAL(18, 0)", "CHAR(9)",
                           "STRING",           "BYTES",         "DATE",           "TIME(3)",
                           "TIMESTAMP(0)",     "TIMESTAMP(3)",  "TIMESTAMP(6)",   "TIMESTAMP(9)",
                           "TIMESTAMP_LTZ(6)", "ARRAY<INT>"}) {
    const LogicalType type = *ParseLogicalType(text);
    SourceTable table("a.b", {std::string("v ") + text}, {});
    ChangeBatchBuilder builder(table.schema(), 0);
    Point point;
    for (int i = 0; i < 300; ++i) {
      point.offset++;
      builder.BeginRow(Op::kInsert, point, 0);
      testing::AppendRandomValue(type, &random, &builder.after(0));
      builder.EndRow();
    }
    const ChangeBatchPtr batch = builder.Seal();
    const ColumnView& values = batch->after()[0];
    JsonValueWriter writer(type);
    for (int64_t row = 0; row < batch->size(); ++row) {
      if (values.IsNull(row)) continue;
      std::string expected;
      AppendJson(type, values, row, {}, &expected);
      LoadBody body;
      body.Commit(writer.Write(values, row, 0, &body, body.Reserve(writer.bytes_max())));
      EXPECT_EQ(body.view(), expected) << text;
    }
  }
}

TEST(JsonValueTest, EscapesAtEveryPlaceOfAText) {
  const LogicalType type = LogicalType::String();
  SourceTable table("a.b", {"v STRING"}, {});
  for (const std::string& special : {std::string("\""), std::string("\\"), std::string("\n"),
                                     std::string(1, '\0'), std::string("\x1f"), std::string("\x7f"),
                                     std::string("ü"), std::string("\xff"), std::string("😀")}) {
    for (size_t at = 0; at < 20; ++at) {
      std::string text(20, 'x');
      text.replace(at, 1, special);
      ChangeBatchBuilder builder(table.schema(), 0);
      builder.BeginRow(Op::kInsert, Point(), 0);
      builder.after(0).AppendBytes(text);
      builder.EndRow();
      const ChangeBatchPtr batch = builder.Seal();
      std::string expected;
      AppendJson(type, batch->after()[0], 0, {}, &expected);
      JsonValueWriter writer(type);
      LoadBody body;
      body.Commit(writer.Write(batch->after()[0], 0, 0, &body, body.Reserve(writer.bytes_max())));
      EXPECT_EQ(body.view(), expected);
    }
  }
}

}  // namespace
}  // namespace driftless::olap
