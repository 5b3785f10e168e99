#include "pipeline/sources/kafka/options.h"

#include <gtest/gtest.h>

#include <string>

#include "pipeline/sources/registry.h"

namespace driftless {
namespace {

using Value = OptionValues::Value;

// The error of reading the options of a source with `key` set, empty where there is none.
std::string ErrorWith(const std::string& key, const std::string& text) {
  std::map<std::string, Value, std::less<>> values;
  const auto set = [&](const std::string& name, const std::string& value) {
    values[name].text = value;
    values[name].explicitly_set = true;
  };
  set("properties.bootstrap.servers", "localhost:9092");
  set("topic", "orders");
  values["topic"].items = {"orders"};
  set(key, text);
  const auto read = ReadKafkaSourceOptions(OptionValues(KafkaSourceOptionSpecs(), values));
  return read ? "" : read.error().ToString();
}

TEST(KafkaSourceOptionsTest, RefusesEveryOptionOfAnotherFormat) {
  int seen = 0;
  for (const OptionSpec& spec : KafkaSourceOptionSpecs()) {
    const std::string key(spec.key);
    if (!key.starts_with("canal-json.") && !key.starts_with("json.")) continue;
    const std::string text = spec.values.empty() ? "true" : std::string(spec.values.front());
    ++seen;
    const std::string error = ErrorWith(key, text);
    EXPECT_TRUE(error.find(key + " has no effect: value.format is debezium-json") !=
                    std::string::npos ||
                error.find("does not carry out " + key) != std::string::npos)
        << key << ": " << error;
  }
  EXPECT_EQ(seen, 12);
}

TEST(KafkaSourceOptionsTest, RefusesOptionsWithoutEffect) {
  for (const auto& [key, text] : std::map<std::string, std::string>{
           {"debezium-json.schema-include", "true"},
           {"metadata.list", "topic"},
           {"json.infer-schema.flatten-nested-columns.enable", "true"},
           {"canal-json.mysql.treat-mysql-timestamp-as-datetime-enabled", "true"}}) {
    const std::string error = ErrorWith(key, text);
    EXPECT_NE(error.find("does not carry out " + key), std::string::npos) << error;
  }
}

TEST(KafkaSourceOptionsTest, TakesOptionsThatHaveAnEffect) {
  EXPECT_EQ(ErrorWith("scan.bounded.mode", "latest-offset"), "");
  EXPECT_EQ(ErrorWith("key.format", "csv"), "");
  EXPECT_EQ(ErrorWith("on-unparsed-ddl", "fail"), "");
  EXPECT_EQ(ErrorWith("schema-topic", "shop"), "");
  EXPECT_EQ(ErrorWith("value.format", "maxwell-json"), "");
  EXPECT_EQ(ErrorWith("key.format", "json"), "");
}

}  // namespace
}  // namespace driftless
