#pragma once

namespace driftless {

// Where something stands in the user's file.
struct Location {
  int line = 0;    // 1-based; 0: not from a file
  int column = 0;  // 1-based, in characters
};

}  // namespace driftless
