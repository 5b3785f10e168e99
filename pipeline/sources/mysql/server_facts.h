#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/ddl/mysql/dialect.h"

namespace driftless::mysql {

class Connection;

// What a server says of itself: read at every connect, because another server may have taken the
// place of the one before.
struct ServerFacts {
  Dialect flavour = Dialect::kMySql;
  std::string version_text;  // "9.7.4-2", "10.11.19-MariaDB-log"
  int version = 0;           // 90704, 101119
  std::string identity;      // @@server_uuid; MariaDB: its server id and name
  uint32_t server_id = 0;
  bool log_bin = false;
  std::string binlog_format;
  std::string row_image;
  std::string row_metadata;  // empty where the server has no such variable
  std::string row_value_options;
  bool gtid = false;         // MySQL: gtid_mode ON; MariaDB: always
  std::string checksum;      // "CRC32", "NONE"
  std::string time_zone;     // @@global.time_zone; "SYSTEM" is resolved
  int64_t utc_offset_s = 0;  // of the server's time zone now
  int lower_case_table_names = 0;
  std::string charset;  // character_set_server
  std::string collation;
  bool explicit_defaults_for_timestamp = true;

  bool IsMariaDb() const { return flavour == Dialect::kMariaDb; }
};

// Errors: those of the connection; kUnsupported for a version below 5.7 (MariaDB 10.2).
Result<ServerFacts> ReadServerFacts(Connection* connection);

// Something about the server that keeps the pipeline from being right, or may.
struct Finding {
  enum class Level : uint8_t { kError, kWarning } level = Level::kError;
  std::string what;
  std::string remedy;
};
// What is wrong with the server's settings for reading its binary log. `wants_log` is false for a
// snapshot alone; `time_zone` is the configured server-time-zone or empty.
std::vector<Finding> CheckServer(const ServerFacts& facts, bool wants_log,
                                 const std::string& time_zone);

}  // namespace driftless::mysql
