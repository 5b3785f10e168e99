#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace driftless {

struct Completion {
  std::string insert;                   // what goes on from the cursor; empty: nothing is certain
  std::vector<std::string> candidates;  // where more than one word is possible
};

// How the word that ends at the cursor may go on: words of Flink SQL, in small letters
// where it has only such, and `names` as they are written, which are matched with letter case.
Completion CompleteWord(std::string_view before_cursor, const std::vector<std::string>& names);

// A statement as a history keeps it: in one line where that changes nothing; empty where it holds a
// password or another secret.
std::string HistoryEntry(std::string_view statement);

}  // namespace driftless
