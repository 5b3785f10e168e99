#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sources/mysql/binlog/binlog_event.h"
#include "pipeline/sources/mysql/binlog/gtid_set.h"

// What the bodies of events say; rows and table maps have files of their own. Each function takes
// an event of its type; views lie in the event's bytes. Errors: kInvalidInput where the body is
// shorter than its fields.
namespace driftless::mysql {

struct QueryEvent {
  uint32_t thread_id = 0;
  uint16_t error_code = 0;  // of a statement that was logged although it failed half-way
  std::string_view database;
  std::string_view sql;  // in the client's character set
  // The status variables; unset where the server left them out.
  std::optional<uint64_t> sql_mode;
  std::optional<uint16_t> client_collation;
  std::optional<uint16_t> connection_collation;
  std::optional<uint16_t> server_collation;
  std::optional<uint16_t> database_collation;
  std::optional<uint16_t> default_utf8mb4_collation;
  std::optional<bool> explicit_defaults_for_timestamp;
  std::string_view time_zone;
  std::optional<uint32_t> microseconds;
  std::optional<uint64_t> xid;  // of a DDL that is a transaction of its own
  // MariaDB's two-phase ALTER (binlog_alter_two_phase): the text comes when it starts and when it
  // is done; only the latter counts.
  enum class AlterPhase : uint8_t { kNone, kStart, kCommit, kRollback };
  AlterPhase alter_phase = AlterPhase::kNone;
  uint64_t alter_sequence = 0;  // of the start
};
// QUERY and QUERY_COMPRESSED; the latter's text is put into `buffer`.
Result<QueryEvent> ParseQuery(const BinlogEvent& event, std::string* buffer);
// The statement as UTF-8, by client_collation.
Result<std::string> QueryText(const QueryEvent& query);

struct RotateEvent {
  uint64_t position = 0;
  std::string_view file;
};
Result<RotateEvent> ParseRotate(const BinlogEvent& event);

// GTID, ANONYMOUS_GTID, GTID_TAGGED.
struct GtidEvent {
  bool is_anonymous = false;
  Gtid gtid;
  int64_t commit_time_us = 0;           // immediate_commit_timestamp; 0: not known (before 8.0)
  int64_t original_commit_time_us = 0;  // on the server where the transaction was made
  uint64_t transaction_length = 0;      // bytes from this event on; 0: not known
};
Result<GtidEvent> ParseGtid(const BinlogEvent& event);

struct MariaGtidEvent {
  MariaGtid gtid;
  bool is_standalone = false;  // no COMMIT follows: the next statement is the transaction
  bool is_ddl = false;
  bool is_transactional = false;
  bool is_prepared_xa = false;
  bool is_completed_xa = false;
  std::string_view xid;  // format, lengths and data of an XA transaction; empty: none
  QueryEvent::AlterPhase alter_phase = QueryEvent::AlterPhase::kNone;
  uint64_t alter_sequence = 0;  // kCommit, kRollback: the sequence number of the start's GTID
};
Result<MariaGtidEvent> ParseMariaGtid(const BinlogEvent& event);

Result<GtidSet> ParsePreviousGtids(const BinlogEvent& event);
Result<MariaGtidList> ParseMariaGtidList(const BinlogEvent& event);

Result<uint64_t> ParseXid(const BinlogEvent& event);

struct XaPrepareEvent {
  bool one_phase = false;  // the prepare commits
  uint32_t format = 0;
  std::string_view global_id;
  std::string_view branch;
  // As in `XA COMMIT X'67',X'62',1`: how the servers write it into the log.
  std::string Text() const;
};
Result<XaPrepareEvent> ParseXaPrepare(const BinlogEvent& event);

// ROWS_QUERY and ANNOTATE_ROWS.
Result<std::string_view> ParseRowsQuery(const BinlogEvent& event);

struct HeartbeatEvent {
  std::string_view file;
  uint64_t position = 0;
};
Result<HeartbeatEvent> ParseHeartbeat(const BinlogEvent& event);

struct IncidentEvent {
  uint16_t code = 0;
  std::string_view message;
};
Result<IncidentEvent> ParseIncident(const BinlogEvent& event);

}  // namespace driftless::mysql
