#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace driftless {

// Where a message of Canal stands in its stream, whichever partition it is in. Canal makes the
// messages of a topic one after the other (MQMessageUtils.messageConverter), and sends a batch when
// all of the one before is acknowledged.
struct CanalPlace {
  int64_t built_ms = 0;  // "ts"
  int64_t batch = 0;     // "id"
  int64_t event_ms = 0;  // "es": of the binary log, in whole seconds, when the statement began
};

// Canal's statement in the first partition of a topic.
struct CanalStatement {
  CanalPlace place;
  std::string database, table;
  // It empties, drops or makes the table: no row can tell which side of it it is on.
  bool is_of_whole_table = false;
};

enum class CanalOrder : uint8_t { kBefore, kBehind, kUnknown };
// The order of a row and a statement. Unknown: both were made in the same millisecond, and the row
// fits where it belongs.
CanalOrder OrderOf(const CanalPlace& row, const CanalStatement& statement);

// None where the message is no statement of Canal's own.
std::optional<CanalStatement> CanalStatementOf(std::string_view value);
// When the message was built; 0 where it does not say. Looks at the end of the text only.
int64_t CanalBuiltAt(std::string_view value);

}  // namespace driftless
