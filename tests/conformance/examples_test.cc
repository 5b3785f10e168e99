// The examples that users read first: good files, without a warning that they do not speak of.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/definition/pipeline_definition.h"
#include "pipeline/cli/catalog.h"

namespace driftless {
namespace {

const std::filesystem::path kTop = DRIFTLESS_SOURCE_DIR;

std::vector<std::filesystem::path> Examples() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kTop / "config" / "examples")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Examples, AreGoodFilesWithoutSurprises) {
  EXPECT_GE(Examples().size(), 6u);
  for (const std::filesystem::path& file : Examples()) {
    const std::string text = ReadPipelineFile(file).value_or("");
    EXPECT_TRUE(text.starts_with("# ")) << file << " begins with what it is for";
    ReferenceResolver resolver;
    resolver.environment = [](const std::string&) { return std::optional<std::string>("x"); };
    resolver.file = [](const std::string&) { return Result<std::string>("x"); };
    Problems problems;
    const auto definition =
        ParsePipeline(text, file.filename().string(), AllComponents(), resolver, &problems);
    EXPECT_TRUE(definition.has_value());
    for (const Problem& problem : problems.Sorted()) {
      const bool is_said = problem.message.find("this build") != std::string::npos &&
                           text.find("This build does not run") != std::string::npos;
      EXPECT_TRUE(is_said) << problem.ToString(file.filename().string());
    }
  }
}

TEST(Examples, ReadFilesThatAreThere) {
  for (const std::filesystem::path& file : Examples()) {
    const Result<PipelineDefinition> definition = LoadPipeline(file, AllComponents());
    if (!definition || definition->sources[0].type != "file") continue;
    for (const std::string& path : definition->sources[0].options.List("path")) {
      EXPECT_TRUE(std::filesystem::exists(kTop / path)) << file << ": " << path;
    }
  }
}

TEST(Examples, StandInTheReadme) {
  std::ifstream in(kTop / "config" / "examples" / "README.md");
  const std::string readme{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (const std::filesystem::path& file : Examples()) {
    EXPECT_NE(readme.find(file.filename().string()), std::string::npos) << file;
  }
}

}  // namespace
}  // namespace driftless
