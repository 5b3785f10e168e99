#include "pipeline/transform/table_transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schema/events/change_batch_builder.h"
#include "schema/types/value_text.h"

namespace driftless {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TableSchemaPtr Source() {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "t"};
  schema->incarnation = 1;
  schema->AddColumn("id", LogicalType::Int().NotNull());
  schema->AddColumn("name", LogicalType::VarChar(20));
  schema->AddColumn("qty", LogicalType::Int());
  schema->primary_key = {1};
  return schema;
}

// Rules as a pipeline file would have them.
TableRules Rules(const std::string& projection, const std::string& filter = "",
                 const std::string& more = "") {
  std::string text = "[{\"projection\":\"" + projection + "\"";
  if (!filter.empty()) text += ",\"filter\":\"" + filter + "\"";
  Result<TableRules> rules = TableRules::Parse(text + more + "}]");
  EXPECT_TRUE(rules) << rules.error().ToString();
  return rules ? *rules : TableRules();
}

struct Bound {
  std::unique_ptr<TableTransform> transform;
  std::string error;
};

Bound Bind(const TableRules& rules, const TableSchemaPtr& source, Binding* binding,
           OnCastFailure on_failure = OnCastFailure::kFail) {
  TransformOptions options;
  options.on_failure = on_failure;
  auto bound = TableTransform::Bind(rules, source, 0, binding, options);
  if (!bound) return {nullptr, bound.error().ToString()};
  return {*std::move(bound), ""};
}

std::vector<std::string> Columns(const TableTransform& transform) {
  std::vector<std::string> columns;
  for (const Column& c : transform.output()->columns) {
    columns.push_back(c.name + " " + c.type.ToString());
  }
  return columns;
}

ChangeBatchBuilder Builder(const TableSchemaPtr& schema) { return ChangeBatchBuilder(schema, 0); }

std::string ImageText(const ChangeBatch& batch, std::span<const ColumnView> columns, int64_t row) {
  std::string text;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!text.empty()) text += ",";
    if (columns[i].IsAbsent(row)) {
      text += "?";
    } else if (columns[i].IsNull(row)) {
      text += "NULL";
    } else {
      AppendText(batch.schema()->columns[i].type, columns[i], row, {}, &text);
    }
  }
  return text;
}

// "+I 1,a" or "+U 1,b < 1,a".
std::vector<std::string> Rows(const ChangeBatchPtr& batch) {
  std::vector<std::string> rows;
  for (int64_t row = 0; batch != nullptr && row < batch->size(); ++row) {
    static constexpr const char* kOps[] = {"+I ", "+U ", "-D ", "+R "};
    std::string text = kOps[static_cast<size_t>(batch->ops()[static_cast<size_t>(row)])];
    text += ImageText(*batch, batch->after(), row);
    if (batch->HasBefore(row)) text += " < " + ImageText(*batch, batch->before(), row);
    rows.push_back(std::move(text));
  }
  return rows;
}

void Put(ColumnBuilder* id, ColumnBuilder* name, ColumnBuilder* qty, int id_value,
         const char* name_value, int qty_value) {
  id->AppendInt(id_value);
  name_value == nullptr ? name->AppendNull() : name->AppendBytes(name_value);
  qty->AppendInt(qty_value);
}

class Changes {
 public:
  explicit Changes(const TableSchemaPtr& schema) : builder_(schema, 0) {}
  Changes& Insert(int id, const char* name, int qty) {
    Begin(Op::kInsert);
    Put(&builder_.after(0), &builder_.after(1), &builder_.after(2), id, name, qty);
    builder_.EndRow();
    return *this;
  }
  Changes& Update(int id, const char* name, int old_qty, int qty) {
    Begin(Op::kUpdate);
    Put(&builder_.after(0), &builder_.after(1), &builder_.after(2), id, name, qty);
    Put(&builder_.before(0), &builder_.before(1), &builder_.before(2), id, name, old_qty);
    builder_.EndRow();
    return *this;
  }
  // The source sent no old row.
  Changes& Upsert(int id, const char* name, int qty) {
    Begin(Op::kUpdate);
    Put(&builder_.after(0), &builder_.after(1), &builder_.after(2), id, name, qty);
    builder_.EndRow();
    return *this;
  }
  // Only the key of the row.
  Changes& DeleteKey(int id) {
    Begin(Op::kDelete);
    builder_.before(0).AppendInt(id);
    builder_.EndRow();
    return *this;
  }
  // The name was not sent, the old row has it.
  Changes& PartialUpdate(int id, const char* old_name, int qty) {
    Begin(Op::kUpdate);
    builder_.after(0).AppendInt(id);
    builder_.after(2).AppendInt(qty);
    Put(&builder_.before(0), &builder_.before(1), &builder_.before(2), id, old_name, qty - 1);
    builder_.EndRow();
    return *this;
  }
  ChangeBatchPtr Seal() { return builder_.Seal(); }

 private:
  void Begin(Op op) { builder_.BeginRow(op, Point{0, 1, ++offset_}, 1000); }
  ChangeBatchBuilder builder_;
  uint64_t offset_ = 0;
};

Result<TableTransform::Output> Transformed(TableTransform* transform, const ChangeBatchPtr& batch) {
  return transform->Run(*batch, 0, batch->size(), 0);
}

TEST(TableTransformTest, TheOutputIsTypedAndKeepsIdentities) {
  Binding binding;
  const Bound bound =
      Bind(Rules("*, UPPER(name) AS name, qty * 2 AS twice, id AS again, __table_name__ AS t"),
           Source(), &binding);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  EXPECT_THAT(Columns(*bound.transform),
              ElementsAre("id INT NOT NULL", "name VARCHAR(20)", "qty INT", "twice INT",
                          "again INT NOT NULL", "t STRING NOT NULL"));
  const TableSchema& output = *bound.transform->output();
  EXPECT_EQ(output.columns[0].id, 1u);
  EXPECT_EQ(output.columns[1].id, ComputedColumnId("name"));
  EXPECT_EQ(output.columns[2].id, 3u);
  EXPECT_EQ(output.columns[4].id, ComputedColumnId("again"));
  EXPECT_THAT(output.primary_key, ElementsAre(1u));
}

TEST(TableTransformTest, FiltersDecideWhatAChangeBecomes) {
  Binding binding;
  const Bound bound = Bind(Rules("id, name || '!' AS n", "qty > 0"), Source(), &binding);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  Changes changes(Source());
  changes.Insert(1, "a", 1).Insert(2, "b", 0).Insert(3, nullptr, 1);
  changes.Update(4, "d", 1, 2).Update(5, "e", 0, 2).Update(6, "f", 1, 0).Update(7, "g", 0, 0);
  changes.Upsert(8, "h", 1).Upsert(9, "i", 0).DeleteKey(10);
  const auto output = Transformed(bound.transform.get(), changes.Seal());
  ASSERT_TRUE(output) << output.error().ToString();
  EXPECT_THAT(Rows(output->batch),
              ElementsAre("+I 1,a!", "+I 3,NULL", "+U 4,d! < 4,d!", "+I 5,e!", "-D ?,? < 6,f!",
                          "+U 8,h!", "-D ?,? < 9,i!", "-D ?,? < 10,?"));
  EXPECT_EQ(output->filtered, 2);
  EXPECT_EQ(output->batch->point(3).offset, 5u);
}

TEST(TableTransformTest, ValuesThatWereNotSentComeFromTheOldRow) {
  Binding binding;
  const Bound bound = Bind(Rules("id, name || '!' AS n, name"), Source(), &binding);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  Changes changes(Source());
  changes.PartialUpdate(1, "a", 5);
  const auto output = Transformed(bound.transform.get(), changes.Seal());
  ASSERT_TRUE(output);
  EXPECT_THAT(Rows(output->batch), ElementsAre("+U 1,a!,? < 1,a!,a"));
}

TEST(TableTransformTest, SoftDeletesBecomeInserts) {
  Binding binding;
  const Bound bound =
      Bind(Rules("*, __data_event_type__ AS op", "", ",\"converter\":\"SOFT_DELETE\""), Source(),
           &binding);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  Changes changes(Source());
  changes.Insert(1, "a", 1).DeleteKey(1);
  const auto output = Transformed(bound.transform.get(), changes.Seal());
  ASSERT_TRUE(output);
  EXPECT_THAT(Rows(output->batch), ElementsAre("+I 1,a,1,+I", "+I 1,?,?,-D"));
}

TEST(TableTransformTest, RowsThatFailStopOrAreNullOrGoToTheDeadLetters) {
  Changes changes(Source());
  changes.Insert(1, "7", 1).Insert(2, "x", 1);
  const ChangeBatchPtr batch = changes.Seal();
  const TableRules rules = Rules("id, CAST(name AS INT) AS n");
  Binding binding;
  Bound bound = Bind(rules, Source(), &binding);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  const auto stops = Transformed(bound.transform.get(), batch);
  ASSERT_FALSE(stops);
  EXPECT_THAT(stops.error().ToString(), HasSubstr("CAST('x' AS INT)"));
  EXPECT_THAT(stops.error().ToString(), HasSubstr("1:2:0"));

  bound = Bind(rules, Source(), &binding, OnCastFailure::kNull);
  const auto nulls = Transformed(bound.transform.get(), batch);
  ASSERT_TRUE(nulls);
  EXPECT_THAT(Rows(nulls->batch), ElementsAre("+I 1,7", "+I 2,NULL"));
  EXPECT_EQ(nulls->nulled, 1);

  bound = Bind(rules, Source(), &binding, OnCastFailure::kDeadLetter);
  const auto letters = Transformed(bound.transform.get(), batch);
  ASSERT_TRUE(letters);
  EXPECT_THAT(Rows(letters->batch), ElementsAre("+I 1,7"));
  ASSERT_EQ(letters->bad_rows.size(), 1u);
  EXPECT_EQ(letters->bad_rows[0].row, 1);
}

TEST(TableTransformTest, SeveralRulesSortRows) {
  auto rules = TableRules::Parse(
      R"([{"projection": "id, 'few' AS size", "filter": "qty < 10"},
          {"projection": "id, 'many' AS size, name", "filter": "qty >= 10"}])");
  ASSERT_TRUE(rules);
  Binding binding;
  const Bound bound = Bind(*rules, Source(), &binding);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  EXPECT_THAT(Columns(*bound.transform),
              ElementsAre("id INT NOT NULL", "size VARCHAR(4) NOT NULL", "name VARCHAR(20)"));
  Changes changes(Source());
  changes.Insert(1, "a", 1).Insert(2, "b", 10).Update(3, "c", 1, 10);
  const auto output = Transformed(bound.transform.get(), changes.Seal());
  ASSERT_TRUE(output) << output.error().ToString();
  EXPECT_THAT(Rows(output->batch),
              ElementsAre("+I 1,few,NULL", "+I 2,many,b", "+U 3,many,c < 3,few,NULL"));
}

TEST(TableTransformTest, NamesStayWithTheirColumns) {
  const TableRules rules = Rules("*, name || '!' AS shout", "qty IS NULL OR qty > 0");
  Binding binding;
  ASSERT_EQ(Bind(rules, Source(), &binding).error, "");
  auto renamed = std::make_shared<TableSchema>(*Source());
  renamed->columns[1].name = "title";
  auto parsed = Binding::Parse(binding.Serialize());
  ASSERT_TRUE(parsed);
  Bound bound = Bind(rules, renamed, &*parsed);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  EXPECT_THAT(Columns(*bound.transform),
              ElementsAre("id INT NOT NULL", "title VARCHAR(20)", "qty INT", "shout VARCHAR(21)"));
  EXPECT_THAT(bound.transform->stale_texts(), ElementsAre("`title` || '!' AS `shout`"));

  auto dropped = std::make_shared<TableSchema>(*renamed);
  dropped->columns.erase(dropped->columns.begin() + 1);
  bound = Bind(rules, dropped, &*parsed);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  ASSERT_EQ(bound.transform->lost().size(), 1u);
  EXPECT_EQ(bound.transform->lost()[0].column, "name");
  EXPECT_EQ(bound.transform->lost()[0].feeds, ComputedColumnId("shout"));

  // Again under the old name: another column, and the text means it.
  auto again = std::make_shared<TableSchema>(*dropped);
  again->AddColumn("name", LogicalType::VarChar(5));
  bound = Bind(rules, again, &*parsed);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  EXPECT_THAT(bound.transform->lost(), IsEmpty());
}

TEST(TableTransformTest, AFilterWithoutItsColumnStops) {
  const TableRules rules = Rules("id", "qty > 0");
  Binding binding;
  ASSERT_EQ(Bind(rules, Source(), &binding).error, "");
  auto dropped = std::make_shared<TableSchema>(*Source());
  dropped->columns.pop_back();
  const Bound bound = Bind(rules, dropped, &binding);
  ASSERT_NE(bound.transform, nullptr) << bound.error;
  ASSERT_EQ(bound.transform->lost().size(), 1u);
  EXPECT_EQ(bound.transform->lost()[0].feeds, 0u);
  ChangeBatchBuilder builder = Builder(dropped);
  builder.BeginRow(Op::kInsert, Point{0, 1, 1}, 0);
  builder.after(0).AppendInt(1);
  builder.after(1).AppendNull();
  builder.EndRow();
  const auto output = Transformed(bound.transform.get(), builder.Seal());
  ASSERT_FALSE(output);
  EXPECT_THAT(output.error().ToString(), HasSubstr("needs column qty"));
}

TEST(TableTransformTest, WhatDoesNotFitTheTableIsSaidWithItsPlace) {
  Binding binding;
  EXPECT_THAT(Bind(Rules("id, nam"), Source(), &binding).error,
              HasSubstr("Did you mean \"name\"?"));
  EXPECT_THAT(Bind(Rules("id, name + 1 AS x"), Source(), &binding).error,
              HasSubstr("line 1, column 5"));
  EXPECT_THAT(Bind(Rules("name"), Source(), &binding).error, HasSubstr("leaves out id"));
  EXPECT_THAT(Bind(Rules("id", "qty"), Source(), &binding).error, HasSubstr("BOOLEAN"));
  EXPECT_THAT(Bind(Rules("id", "", ",\"primary_keys\":[\"idd\"]"), Source(), &binding).error,
              HasSubstr("has no column idd"));
  EXPECT_THAT(Bind(Rules("id, 1 AS __table_name__"), Source(), &binding).error,
              HasSubstr("metadata column"));
}

TEST(TableTransformTest, AStarLeavesOutAndRenamesByIdentity) {
  Binding binding;
  const TableRules rules = Rules("* EXCLUDE (qty) RENAME (name AS label), 1 AS unit");
  const Bound first = Bind(rules, Source(), &binding);
  ASSERT_NE(first.transform, nullptr) << first.error;
  EXPECT_THAT(Columns(*first.transform),
              ElementsAre("id INT NOT NULL", "label VARCHAR(20)", "unit INT NOT NULL"));
  // Both go on meaning the same columns when those are called otherwise, and the texts are told.
  auto renamed = std::make_shared<TableSchema>(*Source());
  renamed->columns[1].name = "title";
  renamed->columns[2].name = "amount";
  renamed->AddColumn("qty", LogicalType::Date());
  const Bound second = Bind(rules, renamed, &binding);
  ASSERT_NE(second.transform, nullptr) << second.error;
  EXPECT_THAT(Columns(*second.transform),
              ElementsAre("id INT NOT NULL", "label VARCHAR(20)", "qty DATE", "unit INT NOT NULL"));
  EXPECT_THAT(second.transform->stale_texts(),
              ElementsAre("*: `qty` is called `amount` now", "*: `name` is called `title` now"));
}

TEST(TableTransformTest, AStarRefusesNamesThatAreNotThere) {
  Binding binding;
  EXPECT_THAT(Bind(Rules("* EXCLUDE nam"), Source(), &binding).error,
              HasSubstr("table shop.t has no column nam"));
}

}  // namespace
}  // namespace driftless
