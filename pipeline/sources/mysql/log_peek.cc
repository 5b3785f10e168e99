#include "pipeline/sources/mysql/log_peek.h"

#include <algorithm>

#include "pipeline/sources/mysql/binlog/event_bodies.h"
#include "pipeline/sources/mysql/binlog/table_map.h"
#include "pipeline/sources/mysql/binlog/transaction_payload.h"
#include "pipeline/sources/mysql/dump_client.h"

namespace driftless::mysql {

Result<void> TouchedCollector::Event(std::string_view bytes) {
  DRIFTLESS_ASSIGN_OR_RETURN(const BinlogEvent event, reader_.Read(bytes));
  if (event.type == EventType::kRotate) {
    DRIFTLESS_ASSIGN_OR_RETURN(const RotateEvent rotate, ParseRotate(event));
    position_.file = rotate.file;
    position_.offset = rotate.position;
    return {};
  }
  if (event.type == EventType::kHeartbeat) {
    // Everything up to there has been sent, or is known.
    DRIFTLESS_ASSIGN_OR_RETURN(const HeartbeatEvent beat, ParseHeartbeat(event));
    if (beat.file == position_.file) position_.offset = std::max(position_.offset, beat.position);
    return {};
  }
  DRIFTLESS_TRY(Take(event));
  if (event.IsArtificial() || event.end_position == 0) return {};
  uint64_t end = (position_.offset & ~uint64_t{0xffffffff}) | event.end_position;
  constexpr uint64_t kHalf = uint64_t{1} << 31;
  if (end + kHalf < position_.offset) end += 2 * kHalf;
  position_.offset = std::max(position_.offset, end);
  return {};
}

Result<void> TouchedCollector::Take(const BinlogEvent& event) {
  switch (event.type) {
    case EventType::kGtid:
    case EventType::kAnonymousGtid:
    case EventType::kGtidTagged: {
      DRIFTLESS_ASSIGN_OR_RETURN(const GtidEvent begin, ParseGtid(event));
      in_transaction_ = true;
      is_known_ = !begin.is_anonymous && known_.Contains(begin.gtid);
      return {};
    }
    case EventType::kTableMap: {
      if (is_known_) return {};
      DRIFTLESS_ASSIGN_OR_RETURN(const TableMap map, ParseTableMap(event));
      touched_.tables.insert(map.path());
      return {};
    }
    case EventType::kTransactionPayload: {
      if (!is_known_) {
        DRIFTLESS_ASSIGN_OR_RETURN(TransactionPayload payload, TransactionPayload::Open(event));
        BinlogEvent inner;
        for (;;) {
          DRIFTLESS_ASSIGN_OR_RETURN(const bool more, payload.Next(&inner));
          if (!more) break;
          DRIFTLESS_TRY(Take(inner));
        }
      }
      in_transaction_ = false;
      return {};
    }
    case EventType::kQuery: {
      std::string buffer;
      DRIFTLESS_ASSIGN_OR_RETURN(const QueryEvent query, ParseQuery(event, &buffer));
      const std::string_view sql = query.sql;
      if (sql == "BEGIN" || sql.starts_with("SAVEPOINT ") || sql.starts_with("XA START ") ||
          sql.starts_with("XA END ") || sql.starts_with("ROLLBACK TO ")) {
        return {};
      }
      if (!is_known_ && sql != "COMMIT" && sql != "ROLLBACK") touched_.any = true;
      in_transaction_ = false;
      return {};
    }
    case EventType::kXid:
    case EventType::kXaPrepare: in_transaction_ = false; return {};
    default: return {};
  }
}

Result<TouchedTables> PeekLog(const SourceOptions& options, const ServerFacts& facts,
                              LogPosition from, const GtidSet& known, const LogPosition& until,
                              const std::function<bool()>& stopping) {
  TouchedCollector collector(&known, from);
  // By file and offset, so that the server need not skip through the file; the beginning of a file
  // is no place that the reader came to, only its GTIDs are.
  if (from.offset > 4 && from.offset <= 0xffffffff) from.gtids.clear();
  DRIFTLESS_ASSIGN_OR_RETURN(
      const auto client, DumpClient::Open(options, facts, from, SecondServerId(options.server_id)));
  const auto end = std::pair(until.Epoch(), until.offset);
  while (collector.in_transaction() ||
         std::pair(collector.position().Epoch(), collector.position().offset) < end) {
    if (stopping()) return MakeError(ErrorKind::kCancelled, "the pipeline stops");
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view event, client->Next());
    if (event.empty()) {
      return MakeError(ErrorKind::kUnavailable, "the server ended the log's stream");
    }
    DRIFTLESS_TRY(collector.Event(event));
  }
  return collector.touched();
}

}  // namespace driftless::mysql
