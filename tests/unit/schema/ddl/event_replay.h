#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schema/ddl/mysql/dialect.h"

namespace driftless {

// Tables as the DDL corpus describes them, and the replay of its events on them.
struct ReplayColumn {
  std::string name;
  std::string type;  // after our own type mapping, so that "int(11)" is "int"
  bool nullable = true;
  std::string comment;
  std::string identity;  // where the column was before; empty for a new one
  friend bool operator==(const ReplayColumn&, const ReplayColumn&) = default;
};
struct ReplayTable {
  std::vector<ReplayColumn> columns;
  std::string comment;
  friend bool operator==(const ReplayTable&, const ReplayTable&) = default;
};
using ReplayState = std::map<std::string, ReplayTable>;

std::string ToString(const ReplayState& state);

// A server's type text in one form for both servers: Driftless's type, and the members of ENUM and
// SET, which it does not keep.
std::string NormalType(std::string_view text, const mysql::ServerSettings& settings);

// "before" or "after" of a corpus line, as JSON. Identities are the tables' and columns' names.
ReplayState ParseState(std::string_view json, const mysql::ServerSettings& settings);

// Replays a JSON array of events. Throws std::runtime_error where an event cannot be replayed.
void Replay(std::string_view events_json, const mysql::ServerSettings& settings,
            ReplayState* state);

}  // namespace driftless
