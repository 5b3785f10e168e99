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

}  // namespace driftless::testing
