#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sinks/api/registry.h"
#include "sinks/olap/dialect.h"
#include "sinks/olap/load_answer.h"
#include "sinks/olap/loader.h"
#include "sinks/olap/olap_options.h"

namespace driftless::olap {
namespace {

TEST(OlapTextTest, QuotesWhatLexersTakeForSomethingElse) {
  EXPECT_EQ(QuoteText("say \"x\"\\\n"), "\"say \\\"x\\\"\\\\\\n\"");
  EXPECT_EQ(QuoteName("a`b"), "`a``b`");
}

TEST(OlapTextTest, SplitsTypesAsServersPrintThem) {
  const NativeType decimal = SplitNativeType("DECIMAL(10, 2)");
  EXPECT_EQ(decimal.word, "decimal");
  EXPECT_EQ(decimal.first, 10);
  EXPECT_EQ(decimal.second, 2);
  EXPECT_EQ(SplitNativeType("varchar(60)").first, 60);
  EXPECT_EQ(SplitNativeType("int").first, -1);
  EXPECT_EQ(SplitNativeType("varchar()").first, -1);
}

TEST(OlapOptionsTest, ReadsAddresses) {
  bool tls = false;
  const auto endpoints = ParseSqlAddresses("jdbc:mysql://a:9030, b:9031/db?useSSL=true", &tls);
  ASSERT_TRUE(endpoints.has_value());
  ASSERT_EQ(endpoints->size(), 2U);
  EXPECT_EQ((*endpoints)[1].host, "b");
  EXPECT_EQ((*endpoints)[1].port, 9031);
  EXPECT_TRUE(tls);
  EXPECT_FALSE(ParseSqlAddresses("jdbc:mysql://a", &tls).has_value());
  EXPECT_FALSE(ParseSqlAddresses("a:90x0", &tls).has_value());
  const auto http = ParseHttpAddresses({"a:8030,https://b:8030/"});
  ASSERT_TRUE(http.has_value());
  EXPECT_EQ(*http, (std::vector<std::string>{"http://a:8030", "https://b:8030"}));
  EXPECT_FALSE(ParseHttpAddresses({"a"}).has_value());
}

TEST(OlapOptionsTest, RefusesHeadersThatTheRowsDecide) {
  static constexpr PackingWord kPackings[] = {{"gz", Packing::kGzip}};
  const auto read = [](const std::string& name, const std::string& value, OlapOptions* options) {
    std::map<std::string, OptionValues::Value, std::less<>> values;
    values["sink.properties.*"].entries = {{name, value}};
    return ReadLoadHeaders(OptionValues(SelectDbOptions(), std::move(values)),
                           {"compress_type", kPackings}, options);
  };
  OlapOptions options;
  ASSERT_TRUE(read("Compress_Type", "GZ", &options));
  EXPECT_EQ(options.packing, Packing::kGzip);
  ASSERT_TRUE(read("timeout", "900", &options));
  EXPECT_EQ(options.load_headers.at("timeout"), "900");
  EXPECT_TRUE(read("format", "JSON", &options));
  for (const auto& [name, value] : {std::pair("format", "arrow"), std::pair("Label", "mine"),
                                    std::pair("compress_type", "zip")}) {
    const Result<void> refused = read(name, value, &options);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidConfig);
  }
}

TEST(OlapOptionsTest, KnowsArrowWhereTheProductDoes) {
  std::map<std::string, OptionValues::Value, std::less<>> values;
  values["sink.properties.*"].entries = {{"format", "Arrow"}};
  const OptionValues options_of_user(SelectDbOptions(), std::move(values));
  OlapOptions options;
  ASSERT_TRUE(ReadLoadHeaders(options_of_user, {"compress_type", {}, true}, &options));
  EXPECT_TRUE(options.arrow);
  EXPECT_TRUE(options.load_headers.empty());
}

TEST(OlapOptionsTest, TrustsAnAuthorityOnlyWhereTlsIsAskedFor) {
  std::map<std::string, OptionValues::Value, std::less<>> values;
  values["tls.ca"].text = "/etc/ca.pem";
  const OptionValues options_of_user(SelectDbOptions(), std::move(values));
  OlapOptions options;
  options.load_addresses = {"http://a:8030"};
  const Result<void> refused = ReadTls(options_of_user, &options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().ToString(), ::testing::HasSubstr("no address asks for TLS"));
  options.load_addresses = {"https://a:8030"};
  ASSERT_TRUE(ReadTls(options_of_user, &options));
  EXPECT_EQ(options.sql.tls_ca, "/etc/ca.pem");
}

// Doris: ^[-_A-Za-z0-9:]{1,128}$
TEST(OlapLabelsTest, AreOfTheCharactersThatServersTake) {
  CommitIdentity identity;
  identity.pipeline =
      "lager → lake, a very long name of a pipeline that nobody would want to type again";
  identity.sink = "s";
  identity.table = {"", "shop",
                    "b\xc3\xbc"
                    "cher.2024$with.a.long.tail.that.goes.on.and.on.and.on.and.on"};
  const std::string label = Labels("my prefix/which is long, too long for a label", identity)
                                .Of(18446744073709551615U, 4294967295U, 99999);
  EXPECT_LE(label.size(), 128U);
  EXPECT_EQ(
      label.find_first_not_of("-_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:"),
      std::string::npos)
      << label;
  CommitIdentity other = identity;
  other.sink = "t";
  EXPECT_NE(Labels("", identity).Of(1, 1, 0), Labels("", other).Of(1, 1, 0));
}

TEST(OlapAnswerTest, ShowsRefusedRowsAsOneLineWhateverTheyHold) {
  EXPECT_EQ(ShownRows(""), "");
  EXPECT_EQ(ShownRows("Error: no. Row: {\"a\": \"ü\"}\nError: \x1b[31m\xff\x7f\r\n"),
            "Error: no. Row: {\"a\": \"ü\"} | Error: \\x1b[31m\\xff\\x7f");
  std::string many;
  for (int i = 0; i < 400; ++i) many += "ü";
  const std::string shown = ShownRows(many);
  EXPECT_EQ(shown.size(), 604U);
  EXPECT_TRUE(shown.ends_with("ü ..."));
}

TEST(OlapAnswerTest, ReadsTheLetterCasesOfBothProducts) {
  const auto load = ParseLoadAnswer(
      200, R"({"TxnId":7,"Status":"Fail","Message":"too many filtered rows","NumberFilteredRows":2,
               "ErrorURL":"http://x/e"})",
      "loading");
  ASSERT_TRUE(load.has_value());
  EXPECT_TRUE(load->Is("fail"));
  EXPECT_EQ(load->txn_id, 7);
  EXPECT_EQ(load->filtered_rows, 2);
  EXPECT_EQ(load->error_url, "http://x/e");
  EXPECT_EQ(ParseLoadAnswer(200, R"({"msg":"success","code":0,"data":"VISIBLE"})", "")->state,
            "VISIBLE");
  EXPECT_EQ(ParseLoadAnswer(200, R"({"state":"PREPARED","status":"OK"})", "")->state, "PREPARED");
  const auto broken = ParseLoadAnswer(502, "<html>Bad Gateway</html>", "loading label x");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().kind(), ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace driftless::olap
