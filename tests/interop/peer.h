#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "tests/doubles/source_dir.h"

namespace driftless {

// Runs scripts of tests/peers; whoever needs one asks first whether it is installed.
struct PeerOutput {
  int status = -1;
  std::string text;
};

inline PeerOutput RunPeer(const std::string& command) {
  PeerOutput output;
  const std::string line = "cd '" + SourceDir() + "/tests/peers' && " + command + " 2>&1";
  FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer;
  for (size_t size = 0; (size = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.text.append(buffer.data(), size);
  }
  const int status = ::pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

inline std::filesystem::path PeersDirectory() {
  if (const char* dir = std::getenv("PEERS_DIR")) return dir;
  if (const char* deps = std::getenv("DRIFTLESS_DEPS"))
    return std::filesystem::path(deps) / "peers";
  return std::filesystem::path(SourceDir()) / ".deps" / "peers";
}

inline bool IsPeerInstalled(const std::string& below_dist) {
  return std::filesystem::exists(PeersDirectory() / "dist" / below_dist);
}

// The KEY=value lines of `start` and `env`.
inline std::map<std::string, std::string> PeerVariables(const std::string& text) {
  std::map<std::string, std::string> variables;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string value = line.substr(equals + 1);
    if (value.size() > 1 && value.front() == '\'' && value.back() == '\'') {
      value = value.substr(1, value.size() - 2);
    }
    variables[line.substr(0, equals)] = value;
  }
  return variables;
}

}  // namespace driftless
