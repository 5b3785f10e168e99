// Runs a fuzz target over its corpus, and over seeded mutations of every entry, where no fuzzing
// engine is linked. Usage: target [--mutations N] [--seed S] FILE_OR_FOLDER...
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> FilesOf(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// One to four small changes: a flipped bit, a byte from a set that grammars care for, a piece
// removed, repeated, or moved.
std::string Mutate(std::string text, std::mt19937_64* random) {
  constexpr char kBytes[] = "\n\t :-'\"[]{}#&*!|>%@`,.$\\()\0\xff\xc3";
  const auto below = [&](size_t limit) { return limit == 0 ? 0 : (*random)() % limit; };
  for (size_t changes = 1 + below(4); changes > 0; --changes) {
    const size_t at = below(text.size() + 1);
    const size_t length = std::min(below(32), text.size() - at);
    switch (below(5)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1: text.insert(at, 1, kBytes[below(sizeof kBytes - 1)]); break;
      case 2: text.erase(at, length); break;
      case 3: text.insert(at, text.substr(at, length)); break;
      case 4: text.insert(below(text.size() + 1), text.substr(at, length)); break;
    }
  }
  return text;
}

std::string g_current;  // the input that runs: written out when the target aborts

void WriteCurrent(int) {
  std::ofstream("fuzz-failure.bin", std::ios::binary) << g_current;
  std::fprintf(stderr, "the input stands in fuzz-failure.bin\n");
  std::_Exit(1);
}

void Run(std::string text) {
  g_current = std::move(text);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(g_current.data()), g_current.size());
}

}  // namespace

int main(int argc, char** argv) {
  size_t mutations = 0;
  uint64_t seed = 1;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--mutations") == 0 && i + 1 < argc) {
      mutations = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      for (fs::path& file : FilesOf(argv[i])) files.push_back(std::move(file));
    }
  }
  if (files.empty()) {
    std::fprintf(stderr, "no corpus\n");
    return 1;
  }
  std::signal(SIGABRT, WriteCurrent);
  std::signal(SIGSEGV, WriteCurrent);
  std::mt19937_64 random(seed);
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    Run(text);
    for (size_t i = 0; i < mutations; ++i) Run(Mutate(text, &random));
  }
  std::printf("%zu files, %zu mutations of each, seed %llu\n", files.size(), mutations,
              static_cast<unsigned long long>(seed));
  return 0;
}
