// The tree's own rules, checked as tests: include direction, banned calls, heavy headers, file
// sizes, leftovers, stale references. One test per rule; a failure names file, line and the rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/doubles/source_dir.h"

namespace driftless {
namespace {

namespace fs = std::filesystem;

struct SourceFile {
  std::string path;  // from the top of the repository
  std::vector<std::string> lines;
  bool IsCode() const { return path.ends_with(".cc") || path.ends_with(".h"); }
  bool IsHeader() const { return path.ends_with(".h"); }
  bool IsPage() const { return path.ends_with(".md"); }
};

bool IsText(const fs::path& path) {
  static const std::set<std::string> kNames = {"Makefile", "CMakeLists.txt", "Dockerfile", "run",
                                               "oracle",   "readers",        "s3"};
  static const std::set<std::string> kExtensions = {".cc",   ".h",    ".md",   ".cmake",
                                                    ".sh",   ".py",   ".yaml", ".drift",
                                                    ".json", ".java", ".xml",  ".env"};
  return kNames.contains(path.filename()) || kExtensions.contains(path.extension());
}

// Everything that people write. Recorded data and build output are not part of it.
const std::vector<SourceFile>& Tree() {
  static const std::vector<SourceFile> tree = [] {
    std::vector<SourceFile> files;
    const fs::path top = SourceDir();
    for (auto it = fs::recursive_directory_iterator(top); it != fs::recursive_directory_iterator();
         ++it) {
      const std::string path = fs::relative(it->path(), top).string();
      if (it->is_directory()) {
        if (path == ".git" || path == ".deps" || path == "build" || path == "tests/data") {
          it.disable_recursion_pending();
        }
        continue;
      }
      if (!it->is_regular_file() || !IsText(it->path())) continue;
      SourceFile file{path, {}};
      std::ifstream stream(it->path());
      for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
    std::sort(files.begin(), files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return files;
  }();
  return tree;
}

std::string TopFolder(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }

// The path inside #include "...", or nothing.
std::string IncludedPath(std::string_view line) {
  constexpr std::string_view kStart = "#include \"";
  if (!line.starts_with(kStart)) return "";
  line.remove_prefix(kStart.size());
  return std::string(line.substr(0, line.find('"')));
}

template <typename Visit>
void ForEachLine(Visit visit) {
  for (const SourceFile& file : Tree()) {
    for (size_t i = 0; i < file.lines.size(); ++i)
      visit(file, static_cast<int>(i + 1), file.lines[i]);
  }
}

TEST(Tidy, TheTreeIsSeen) { EXPECT_GT(Tree().size(), 20u); }

TEST(Tidy, IncludesGoOnlyDownwards) {
  // architecture: schema <- config <- sinks <- pipeline; tests may include all.
  const std::map<std::string, int> level = {
      {"schema", 0}, {"config", 1}, {"sinks", 2}, {"pipeline", 3}};
  ForEachLine([&](const SourceFile& file, int number, const std::string& line) {
    const auto own = level.find(TopFolder(file.path));
    const std::string included = IncludedPath(line);
    if (own == level.end() || included.empty()) return;
    const auto other = level.find(TopFolder(included));
    EXPECT_TRUE(other != level.end() && other->second <= own->second)
        << file.path << ":" << number << ": " << TopFolder(file.path) << "/ must not include "
        << included;
  });
}

TEST(Tidy, IncludedFilesExist) {
  ForEachLine([&](const SourceFile& file, int number, const std::string& line) {
    const std::string included = IncludedPath(line);
    if (included.empty() || !file.IsCode()) return;
    EXPECT_TRUE(fs::exists(fs::path(SourceDir()) / included))
        << file.path << ":" << number << ": no such file from the top of the tree: " << included;
  });
}

TEST(Tidy, HeadersAreGuardedAndLight) {
  // Whoever includes our headers must not pay for these (architecture, sections 8 and 11).
  const std::vector<std::string> heavy = {
      "<arrow/api.h>", "<parquet/", "<yaml-cpp/", "<simdjson", "<spdlog/",
      "<httplib",      "<CLI/",     "<gtest/",    "<gmock/",   "<prometheus/",
      "<sqlite3.h>",   "<re2/",     "<iostream>", "<regex>"};
  // Headers that only .cc files of their own library include, because they are about that library.
  const std::set<std::string> for_sources = {
      "schema/base/json_reader.h", "schema/types/type_json.h", "sinks/lake/object_stream.h",
      "sinks/lake/parquet_schema.h"};
  ForEachLine([&](const SourceFile& file, int number, const std::string& line) {
    EXPECT_FALSE(file.IsHeader() && for_sources.contains(IncludedPath(line)) &&
                 !for_sources.contains(file.path))
        << file.path << ":" << number << ": include it in .cc files only";
  });
  for (const SourceFile& file : Tree()) {
    if (!file.IsHeader()) continue;
    const bool guarded =
        std::find(file.lines.begin(), file.lines.end(), "#pragma once") != file.lines.end();
    EXPECT_TRUE(guarded) << file.path << ": no #pragma once";
    if (file.path.starts_with("tests/") || for_sources.contains(file.path)) continue;
    for (const std::string& line : file.lines) {
      if (!line.starts_with("#include <")) continue;
      for (const std::string& header : heavy) {
        EXPECT_EQ(line.find(header), std::string::npos)
            << file.path << ": forward-declare instead: " << line;
      }
      if (line.find("<arrow/") != std::string::npos) {
        EXPECT_NE(line.find("<arrow/type_fwd.h>"), std::string::npos)
            << file.path << ": only arrow/type_fwd.h in headers: " << line;
      }
    }
  }
}

TEST(Tidy, NoBannedCalls) {
  const std::vector<std::pair<std::string, std::string>> banned = {
      {"std::regex", "RE2"},
      {"sprintf(", "fmt::format"},
      {"strtok(", "std::string_view"},
      {"atoi(", "std::from_chars"},
      {"atof(", "std::from_chars"},
      {"localtime(", "schema/types/time.h"},
      {"gmtime(", "schema/types/time.h"},
      {"std::endl", "'\\n'"},
      {"using namespace std", "qualified names"},
      {"std::rand(", "a seeded std::mt19937"},
      {"assert(", "DRIFTLESS_CHECK"},
      {"const_cast<", "a const-correct interface"}};
  ForEachLine([&](const SourceFile& file, int number, const std::string& line) {
    if (!file.IsCode() || file.path == "tests/tidy/tidy_test.cc") return;
    if (line.find("NOLINT(banned)") != std::string::npos) return;
    for (const auto& [call, instead] : banned) {
      for (size_t at = line.find(call); at != std::string::npos; at = line.find(call, at + 1)) {
        const char before = at == 0 ? ' ' : line[at - 1];
        // Part of a longer name, such as static_assert( or snprintf(.
        if (std::isalnum(static_cast<unsigned char>(before)) || before == '_') continue;
        ADD_FAILURE() << file.path << ":" << number << ": " << call << " is banned; use "
                      << instead;
      }
    }
  });
}

TEST(Tidy, FilesHaveOneSubject) {
  // Parsers and tables may be longer; each of them is named here with its bound.
  const std::map<std::string, size_t> longer = {};
  for (const SourceFile& file : Tree()) {
    if (!file.IsCode()) continue;
    const auto it = longer.find(file.path);
    const bool long_subject =
        file.path.find("/ddl/") != std::string::npos || file.path.ends_with("_test.cc");
    const size_t limit = it != longer.end() ? it->second : long_subject ? 1600 : 900;
    EXPECT_LE(file.lines.size(), limit) << file.path << " is too long: split it by subject";
  }
}

TEST(Tidy, LinesAreCleanAndShort) {
  ForEachLine([&](const SourceFile& file, int number, const std::string& line) {
    EXPECT_FALSE(line.ends_with(' ') || line.ends_with('\t') || line.ends_with('\r'))
        << file.path << ":" << number << ": white space at the end";
    if (!file.IsCode()) return;
    EXPECT_EQ(line.find('\t'), std::string::npos) << file.path << ":" << number << ": a tab";
    // 100 columns, counted in characters.
    const auto width = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    const bool is_data = line.find("R\"") != std::string::npos || file.path.ends_with("_test.cc");
    if (!is_data) {
      EXPECT_LE(width, 100) << file.path << ":" << number << ": longer than 100 columns";
    }
  });
}

TEST(Tidy, NothingIsLeftOver) {
  // Spelled in two halves so that this file does not find itself.
  const std::vector<std::string> words = {
      std::string("FIX") + "ME",          std::string("XX") + "X:",
      std::string("TO") + "DO",           std::string("for ") + "now",
      std::string("/wo") + "rk/",         std::string("/opt/") + "driftless",
      std::string("pypi") + ".org",       std::string("maven") + ".org",
      std::string("deb.") + "debian.org", std::string("registry.") + "npmjs"};
  ForEachLine([&](const SourceFile& file, int number, const std::string& line) {
    if (file.path == "tests/tidy/tidy_test.cc") return;
    if (file.path.starts_with("tests/peers/oracles/") && file.path.ends_with("pom.xml")) return;
    for (const std::string& word : words) {
      EXPECT_EQ(line.find(word), std::string::npos)
          << file.path << ":" << number << ": leftover \"" << word << "\"";
    }
  });
}

TEST(Tidy, NamesAreFromTheGlossary) {
  for (const SourceFile& file : Tree()) {
    for (const fs::path& part : fs::path(file.path)) {
      for (const std::string word :
           {"util", "utils", "common", "helper", "helpers", "manager", "misc"}) {
        const std::string stem = part.stem().string();
        const bool found =
            stem == word || stem.ends_with("_" + word) || stem.starts_with(word + "_");
        const bool peer_source = file.path.starts_with("tests/peers/oracles/");
        EXPECT_TRUE(!found || peer_source) << file.path << ": say what it is instead of " << word;
      }
    }
  }
}

TEST(Tidy, PagesPointAtThingsThatExist) {
  for (const SourceFile& file : Tree()) {
    if (!file.IsPage()) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      for (size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 2)) {
        std::string target = line.substr(at + 2, line.find(')', at) - at - 2);
        target = target.substr(0, target.find('#'));
        if (target.empty() || target.find("://") != std::string::npos) continue;
        const fs::path base = fs::path(SourceDir()) / fs::path(file.path).parent_path();
        EXPECT_TRUE(fs::exists(base / target))
            << file.path << ":" << i + 1 << ": link to " << target << ", which is not there";
      }
    }
  }
}

TEST(Tidy, EveryFolderOfCodeHasAPage) {
  // One page per folder at the second level: purpose, invariants, entry points.
  std::set<std::string> folders;
  for (const SourceFile& file : Tree()) {
    const std::string top = TopFolder(file.path);
    if (!file.IsCode() || top == "tests") continue;
    const fs::path path(file.path);
    auto part = path.begin();
    const fs::path first = *part++;
    const fs::path second = *part;
    if (second.has_extension()) continue;
    folders.insert((first / second).string());
  }
  for (const std::string& folder : folders) {
    EXPECT_TRUE(fs::exists(fs::path(SourceDir()) / folder / "README.md"))
        << folder << " has no README.md";
  }
}

}  // namespace
}  // namespace driftless
