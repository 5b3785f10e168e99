#include "tests/doubles/source_dir.h"

namespace driftless {

const std::string& SourceDir() {
  static const std::string dir = DRIFTLESS_SOURCE_DIR;
  return dir;
}

const std::string& BinaryDir() {
  static const std::string dir = DRIFTLESS_BINARY_DIR;
  return dir;
}

}  // namespace driftless
