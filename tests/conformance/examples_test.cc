// The examples that users read first: good files, without a warning that they do not speak of.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/definition/pipeline_definition.h"
#include "pipeline/cli/catalog.h"
#include "tests/doubles/source_dir.h"

namespace driftless {
namespace {

const std::filesystem::path kTop = SourceDir();

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

// From the top of the repository, as the files say; into folders of their own.
TEST(Examples, ThoseThatEndAreRun) {
  const std::filesystem::path work =
      std::filesystem::path(testing::TempDir()) / "driftless_examples";
  std::filesystem::remove_all(work);
  int runs = 0;
  for (const std::filesystem::path& file : Examples()) {
    const Result<PipelineDefinition> definition = LoadPipeline(file, AllComponents());
    if (!definition) continue;
    const SourceDefinition& source = definition->sources[0];
    if (source.type != "file" && source.type != "sql") continue;
    if (source.type == "file" && source.options.Bool("follow") == true) continue;
    const std::filesystem::path folder = work / file.stem();
    std::filesystem::create_directories(folder);
    const std::string command = "cd '" + kTop.string() + "' && WAREHOUSE='" +
                                (folder / "warehouse").string() + "' timeout 240 '" + BinaryDir() +
                                "/driftless' run '" + file.string() + "' --until-end --state '" +
                                (folder / "state").string() + "' > '" + (folder / "log").string() +
                                "' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << file << ":\n"
                                               << ReadPipelineFile(folder / "log").value_or("");
    ++runs;
  }
  EXPECT_GE(runs, 4);
  std::filesystem::remove_all(work);
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
