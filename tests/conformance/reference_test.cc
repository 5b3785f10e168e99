// The generated reference: complete, and as the declarations are now.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "config/definition/json_schema.h"
#include "config/definition/reference.h"
#include "config/options/parse.h"
#include "pipeline/cli/catalog.h"
#include "tests/doubles/source_dir.h"

namespace driftless {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(SourceDir()) / "config" / "reference";
constexpr std::string_view kHowTo =
    "The reference is stale: run `driftless options --write-reference config/reference`.";

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(Reference, PagesAreAsTheDeclarationsAre) {
  std::set<std::string> files;
  for (const ReferencePage& page : ReferencePages(AllComponents())) {
    files.insert(page.file);
    EXPECT_TRUE(ReadText(kFolder / page.file) == page.text) << page.file << ": " << kHowTo;
  }
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    EXPECT_TRUE(files.contains(entry.path().filename())) << entry.path() << ": " << kHowTo;
  }
}

TEST(Reference, EveryOptionOfEveryBlockIsDocumentedOnceAndHasAGoodDefault) {
  for (const OptionBlock& block : OptionBlocks(AllComponents())) {
    std::set<std::string_view> keys;
    for (const OptionSpec& option : block.options) {
      const std::string name = block.name + " " + std::string(option.key);
      EXPECT_TRUE(keys.insert(option.key).second) << name << " is declared twice";
      for (std::string_view alias : option.aliases) {
        EXPECT_TRUE(keys.insert(alias).second) << name << ": " << alias << " is declared twice";
      }
      EXPECT_FALSE(option.doc.empty()) << name << " has no text";
      EXPECT_EQ(option.type == OptionType::kEnum, !option.values.empty()) << name;
      const bool needs_note =
          option.flink_cdc == FlinkCdc::kIgnored || option.flink_cdc == FlinkCdc::kRenamed;
      EXPECT_TRUE(!needs_note || !option.flink_cdc_note.empty()) << name << " has no reason";
      if (option.default_value.empty()) continue;
      EXPECT_FALSE(option.required) << name << " is required and has a default";
      const Result<void> checked = CheckOptionText(option, option.default_value);
      EXPECT_TRUE(checked.has_value()) << name << ": " << checked.error().ToString();
    }
  }
}

TEST(Reference, SchemaIsJsonAndKnowsEveryType) {
  simdjson::dom::parser parser;
  const std::string text = IndentJson(PipelineJsonSchema(AllComponents()));
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS);
  for (const CatalogEntry& entry : AllComponents().sinks) {
    simdjson::dom::element block;
    const std::string pointer = "/definitions/sink-" + std::string(entry.type) + "/properties/type";
    EXPECT_EQ(root.at_pointer(pointer).get(block), simdjson::SUCCESS) << entry.type;
  }
  const std::string json = OptionBlocksJson(OptionBlocks(AllComponents()));
  ASSERT_EQ(parser.parse(json).get(root), simdjson::SUCCESS);
  EXPECT_EQ(root["blocks"].get_array().size(), OptionBlocks(AllComponents()).size());
}

}  // namespace
}  // namespace driftless
