#pragma once

// Compares replayed tables with the ground truth of a recording: the server's own text of every row
// at the end. Only the form of a value may differ, never the value.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/doubles/replayed_tables.h"

namespace driftless::testing {

// What differs, one line each: "shop.orders.note: 12 rows", "shop.orders: 3 missing",
// "shop.orders: 1 extra", "shop.orders: columns a, b; truth a, c", "shop.orders: not there".
std::vector<std::string> CompareWithTruth(const std::string& server, const std::string& scenario,
                                          const std::map<TablePath, ReplayedTable>& tables);

// The tables as they were at one moment of a recording.
struct Checkpoint {
  std::string name;
  std::string file;                // the server's name of the log
  uint64_t position = 0;           // in it: all events that end before or here count
  std::vector<std::string> lines;  // JSON, one for each table that changed
};
std::vector<Checkpoint> ReadCheckpoints(const std::string& server, const std::string& scenario);

// What differs between a line of a checkpoint and the tables, as above.
std::vector<std::string> CompareWithCheckpoint(const std::string& line,
                                               const std::map<TablePath, ReplayedTable>& tables);

}  // namespace driftless::testing
