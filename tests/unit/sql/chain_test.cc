#include "config/table_api/chain.h"

#include <gtest/gtest.h>

#include <string>

namespace driftless::table_api {
namespace {

std::string Read(std::string_view text) {
  const auto chain = ReadChain(text);
  if (!chain) {
    return std::to_string(chain.error().line()) + ":" + std::to_string(chain.error().column()) +
           ": " + chain.error().message();
  }
  return chain->projection + (chain->filter.empty() ? "" : " WHERE " + chain->filter);
}

TEST(Chain, ColumnsAreAddedRenamedAndDropped) {
  EXPECT_EQ(Read("addColumns(lit(\"Active\").as(\"Status\"))"), "*, 'Active' AS `Status`");
  EXPECT_EQ(Read(".addColumns(concat($(\"first\"), lit(\" \"), $(\"last\")).as(\"full\"))\n"
                 ".dropColumns($(\"first\"), $(\"last\"))"),
            "* EXCLUDE (`first`, `last`), CONCAT(`first`, ' ', `last`) AS `full`");
  EXPECT_EQ(Read("renameColumns($(\"name\").as(\"label\"), $(\"id\").as(\"key\"))"),
            "* RENAME (`name` AS `label`, `id` AS `key`)");
  EXPECT_EQ(Read("renameColumns($(\"a\").as(\"b\")).renameColumns($(\"b\").as(\"c\"))"),
            "* RENAME (`a` AS `c`)");
  EXPECT_EQ(Read("addOrReplaceColumns($(\"name\").upperCase().as(\"name\"))"),
            "*, UPPER(`name`) AS `name`");
  EXPECT_EQ(Read("addColumns($(\"a\").plus(1).as(\"b\")).addColumns($(\"b\").times(2).as(\"c\"))"),
            "*, `a` + 1 AS `b`, (`a` + 1) * 2 AS `c`");
}

TEST(Chain, SelectAndWhere) {
  EXPECT_EQ(Read("select($(\"id\"), $(\"qty\").times(2).as(\"double\"))"),
            "`id` AS `id`, `qty` * 2 AS `double`");
  EXPECT_EQ(Read("addColumns($(\"qty\").plus(1).as(\"n\")).where($(\"n\").isGreater(5))"
                 ".filter($(\"id\").isNotNull())"),
            "*, `qty` + 1 AS `n` WHERE (`qty` + 1 > 5) AND (`id` IS NOT NULL)");
  EXPECT_EQ(Read("select($(\"*\"), lit(1).as(\"one\"))"), "*, 1 AS `one`");
}

TEST(Chain, MisuseIsExplainedAtItsPlace) {
  EXPECT_EQ(Read("addColumns(\"Active\")"),
            "1:1: addColumns takes expressions, not the Java value 'Active'");
  EXPECT_EQ(Read("addColumns(lit(1))"), "1:1: the expression 1 needs a name");
  EXPECT_EQ(Read("addColumns(lit(1).as(\"a\"))\n  .addColumns(lit(2).as(\"a\"))"),
            "2:4: Ambiguous column name: a");
  EXPECT_EQ(Read("dropColumns($(\"a\")).select($(\"a\"))"), "1:21: Cannot resolve field [a]");
  EXPECT_EQ(Read("addOrReplaceColumns(lit(1).as(\"a\")).dropColumns($(\"a\"))"),
            "1:37: the column a may stand in the place of one of the table, so that it cannot be "
            "taken away again");
  EXPECT_EQ(Read("groupBy($(\"a\"))"),
            "1:1: groupBy(..) needs more than the row at hand, or the table's columns");
  EXPECT_EQ(Read("addColumn(lit(1).as(\"a\"))"), "1:1: a transform has no method addColumn");
  EXPECT_EQ(Read("Table t = fromValues(1);"), "1:7: expected ';', found 't'");
}

}  // namespace
}  // namespace driftless::table_api
