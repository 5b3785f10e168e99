#pragma once

#include <memory>
#include <string_view>

namespace driftless {

// Says whether texts are JSON documents (RFC 8259). Keeps its working memory: one per thread.
class JsonChecker {
 public:
  JsonChecker();
  ~JsonChecker();
  bool IsJson(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless
