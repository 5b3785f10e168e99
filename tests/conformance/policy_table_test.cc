#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "tests/doubles/source_dir.h"

// tests/conformance/policy.md says which test shows each sentence of the policy, iceberg.md which
// one shows each line of the format's checklists: all of them exist.
namespace driftless {
namespace {

namespace fs = std::filesystem;

std::string Text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool IsNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The names behind each "TEST(", "TEST_F(" and "TEST_P(" as "Suite.Test".
void AddTests(std::string_view text, std::set<std::string>* names) {
  for (size_t at = text.find("\nTEST"); at != std::string_view::npos;
       at = text.find("\nTEST", at + 1)) {
    const size_t open = text.find('(', at);
    const size_t close = text.find(')', at);
    if (close == std::string_view::npos || open > close) continue;
    std::string name;
    for (const char c : text.substr(open + 1, close - open - 1)) {
      if (IsNameCharacter(c)) name += c;
      if (c == ',') name += '.';
    }
    names->insert(std::move(name));
  }
}

std::set<std::string> AllTests() {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SourceDir()) / "tests")) {
    if (entry.path().extension() == ".cc") AddTests(Text(entry.path()), &names);
  }
  return names;
}

// "DecideSkipTest.SnapshotsNeverDrop": two names that begin with a capital.
bool IsTestName(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || text == "Suite.Test") return false;
  const auto is_name = [](std::string_view part) {
    return !part.empty() && std::isupper(static_cast<unsigned char>(part[0])) &&
           std::all_of(part.begin(), part.end(), IsNameCharacter);
  };
  return is_name(text.substr(0, dot)) && is_name(text.substr(dot + 1));
}

void CheckPage(const std::string& path, int least, const std::set<std::string>& tests) {
  const std::string page = Text(fs::path(SourceDir()) / path);
  int named = 0;
  for (size_t open = page.find('`'); open != std::string::npos;) {
    const size_t close = page.find('`', open + 1);
    ASSERT_NE(close, std::string::npos);
    const std::string name = page.substr(open + 1, close - open - 1);
    open = page.find('`', close + 1);
    const bool is_path = name.starts_with("tests/");
    if (!is_path && !IsTestName(name)) continue;
    ++named;
    const bool exists = is_path ? fs::exists(fs::path(SourceDir()) / name) : tests.contains(name);
    EXPECT_TRUE(exists) << name << " is named in " << path << " and does not exist";
  }
  EXPECT_GT(named, least) << path;
}

TEST(PolicyTableTest, NamesTestsThatExist) {
  const std::set<std::string> tests = AllTests();
  ASSERT_TRUE(tests.contains("PolicyTableTest.NamesTestsThatExist"));
  for (const auto& [name, least] : {std::pair("policy.md", 100), std::pair("iceberg.md", 30)}) {
    CheckPage(std::string("tests/conformance/") + name, least, tests);
  }
}

// Every section of the policy has a line.
TEST(PolicyTableTest, EverySectionHasALine) {
  const std::string page = Text(fs::path(SourceDir()) / "tests/conformance/policy.md");
  for (int section = 1; section <= 12; ++section) {
    const std::string number = std::to_string(section);
    const bool found = page.find("\n| " + number + " |") != std::string::npos ||
                       page.find("\n| " + number + ".1 |") != std::string::npos;
    EXPECT_TRUE(found) << "section " << section;
  }
}

}  // namespace
}  // namespace driftless
