#include "pipeline/sources/mysql/binlog/event_bodies.h"

#include <fmt/format.h>

#include <bit>

#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "pipeline/sources/mysql/binlog/collations.h"
#include "pipeline/sources/mysql/binlog/inflate.h"
#include "pipeline/sources/mysql/binlog/transcoder.h"

namespace driftless::mysql {
namespace {

Error CutOff(const BinlogEvent& event) {
  return MakeError(ErrorKind::kInvalidInput,
                   ToString(event.type) + " event: its body is malformed or cut off")
      .Position("end position " + std::to_string(event.end_position));
}

// Status variables of a QUERY event (MySQL's Query_event_status_vars, MariaDB's additions).
enum StatusVariable : uint8_t {
  kFlags2 = 0,
  kSqlMode = 1,
  kOldCatalog = 2,
  kAutoIncrement = 3,
  kCharset = 4,
  kTimeZone = 5,
  kCatalog = 6,
  kTimeNames = 7,
  kDatabaseCharset = 8,
  kTableMapForUpdate = 9,
  kMasterDataWritten = 10,
  kInvoker = 11,
  kUpdatedDatabases = 12,
  kMicroseconds = 13,
  kExplicitDefaults = 16,
  kDdlXid = 17,
  kDefaultUtf8mb4Collation = 18,
  kRequirePrimaryKey = 19,
  kTableEncryption = 20,
  kMariaMicroseconds = 128,
  kMariaXid = 129,
  kMariaGtidFlags = 130,
  kMariaCollations = 131,
};

constexpr uint8_t kTooManyDatabases = 254;
constexpr uint8_t kStartAlter = 2;
constexpr uint8_t kCommitAlter = 4;
constexpr uint8_t kRollbackAlter = 8;

void SkipDatabases(ByteReader* reader) {
  const uint8_t count = reader->U8();
  if (count == kTooManyDatabases) return;
  for (int i = 0; i < count && !reader->failed(); ++i) {
    while (reader->U8() != 0) {
    }
  }
}

QueryEvent::AlterPhase PhaseOf(uint8_t flags) {
  if ((flags & kStartAlter) != 0) return QueryEvent::AlterPhase::kStart;
  if ((flags & kCommitAlter) != 0) return QueryEvent::AlterPhase::kCommit;
  if ((flags & kRollbackAlter) != 0) return QueryEvent::AlterPhase::kRollback;
  return QueryEvent::AlterPhase::kNone;
}

// False behind a variable that is not known: its length is not known either, so the rest is left.
bool ReadStatusVariable(ByteReader* reader, QueryEvent* query) {
  switch (reader->U8()) {
    case kFlags2: reader->U32(); return true;
    case kSqlMode: query->sql_mode = reader->U64(); return true;
    case kOldCatalog: reader->Bytes(reader->U8() + 1U); return true;
    case kAutoIncrement: reader->U32(); return true;
    case kCharset:
      query->client_collation = reader->U16();
      query->connection_collation = reader->U16();
      query->server_collation = reader->U16();
      return true;
    case kTimeZone: query->time_zone = reader->Bytes(reader->U8()); return true;
    case kCatalog: reader->Bytes(reader->U8()); return true;
    case kTimeNames: reader->U16(); return true;
    case kDatabaseCharset: query->database_collation = reader->U16(); return true;
    case kTableMapForUpdate: reader->U64(); return true;
    case kMasterDataWritten: reader->U32(); return true;
    case kInvoker:
      reader->Bytes(reader->U8());
      reader->Bytes(reader->U8());
      return true;
    case kUpdatedDatabases: SkipDatabases(reader); return true;
    case kMicroseconds:
    case kMariaMicroseconds:
      query->microseconds = static_cast<uint32_t>(reader->Little(3));
      return true;
    case kExplicitDefaults: query->explicit_defaults_for_timestamp = reader->U8() != 0; return true;
    case kDdlXid:
    case kMariaXid: query->xid = reader->U64(); return true;
    case kDefaultUtf8mb4Collation: query->default_utf8mb4_collation = reader->U16(); return true;
    case kRequirePrimaryKey:
    case kTableEncryption: reader->U8(); return true;
    case kMariaGtidFlags:
      query->alter_phase = PhaseOf(reader->U8());
      if (query->alter_phase == QueryEvent::AlterPhase::kCommit ||
          query->alter_phase == QueryEvent::AlterPhase::kRollback) {
        query->alter_sequence = reader->U64();
      }
      return true;
    case kMariaCollations: reader->Bytes(reader->U8() * 4U); return true;
    default: return false;
  }
}

// Integers of mysql::serialization: the trailing one-bits of the first byte count the bytes that
// follow it.
uint64_t Varlen(ByteReader* reader) {
  const uint8_t first = reader->U8();
  const int extra = std::countr_one(first);
  if (extra == 8) return reader->U64();
  const uint64_t rest = extra == 0 ? 0 : reader->Little(extra);
  return (rest << 8 | first) >> (extra + 1);
}
int64_t SignedVarlen(ByteReader* reader) {
  const uint64_t value = Varlen(reader);
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

Result<GtidEvent> ParseTaggedGtid(const BinlogEvent& event) {
  ByteReader reader(event.body);
  GtidEvent out;
  Varlen(&reader);  // version of the format
  Varlen(&reader);  // size
  Varlen(&reader);  // the last field that must be understood
  while (reader.remaining() > 0 && !reader.failed()) {
    switch (Varlen(&reader)) {
      case 0: Varlen(&reader); break;  // flags
      case 1:
        for (uint8_t& byte : out.gtid.source.uuid) byte = static_cast<uint8_t>(Varlen(&reader));
        break;
      case 2: out.gtid.number = static_cast<uint64_t>(SignedVarlen(&reader)); break;
      case 3: out.gtid.source.tag = reader.Bytes(Varlen(&reader)); break;
      case 4:
      case 5: Varlen(&reader); break;  // the logical clock
      case 6: out.commit_time_us = static_cast<int64_t>(Varlen(&reader)); break;
      case 7: out.original_commit_time_us = static_cast<int64_t>(Varlen(&reader)); break;
      case 8: out.transaction_length = Varlen(&reader); break;
      case 9:
      case 10:
      case 11: Varlen(&reader); break;  // versions, commit group ticket
      default: reader.Rest(); break;    // newer fields stand behind all that are known
    }
  }
  if (reader.failed() || out.gtid.number == 0) return CutOff(event);
  if (out.original_commit_time_us == 0) out.original_commit_time_us = out.commit_time_us;
  return out;
}

}  // namespace

Result<QueryEvent> ParseQuery(const BinlogEvent& event, std::string* buffer) {
  ByteReader reader(event.body);
  QueryEvent query;
  query.thread_id = reader.U32();
  reader.U32();  // seconds it took
  const uint8_t database_size = reader.U8();
  query.error_code = reader.U16();
  ByteReader status(reader.Bytes(reader.U16()));
  query.database = reader.Bytes(database_size);
  reader.U8();
  if (reader.failed()) return CutOff(event);
  query.sql = reader.Rest();
  while (status.remaining() > 0 && !status.failed() && ReadStatusVariable(&status, &query)) {
  }
  if (event.type == EventType::kQueryCompressed) {
    if (!InflateEvent(query.sql, buffer)) return CutOff(event);
    query.sql = *buffer;
  }
  return query;
}

Result<std::string> QueryText(const QueryEvent& query) {
  std::string_view charset = "utf8mb4";
  if (query.client_collation) charset = CharsetOfCollation(*query.client_collation);
  if (charset.empty()) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("a statement came in the character set of collation {}, which is "
                                 "not known",
                                 *query.client_collation));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(Transcoder transcoder, Transcoder::Make(charset));
  std::string text;
  transcoder.Append(query.sql, &text);
  return text;
}

Result<RotateEvent> ParseRotate(const BinlogEvent& event) {
  ByteReader reader(event.body);
  RotateEvent rotate;
  rotate.position = reader.U64();
  if (reader.failed()) return CutOff(event);
  rotate.file = reader.Rest();
  return rotate;
}

Result<GtidEvent> ParseGtid(const BinlogEvent& event) {
  if (event.type == EventType::kGtidTagged) return ParseTaggedGtid(event);
  ByteReader reader(event.body);
  GtidEvent out;
  out.is_anonymous = event.type == EventType::kAnonymousGtid;
  reader.U8();  // flags
  const std::string_view uuid = reader.Bytes(out.gtid.source.uuid.size());
  out.gtid.number = reader.U64();
  if (reader.failed()) return CutOff(event);
  std::memcpy(out.gtid.source.uuid.data(), uuid.data(), uuid.size());
  // Older servers end here, or behind the logical clock.
  if (reader.remaining() < 17 + 7) return out;
  reader.Bytes(17);
  constexpr uint64_t kHasOriginal = 1ULL << 55;
  const uint64_t immediate = reader.Little(7);
  out.commit_time_us = static_cast<int64_t>(immediate & ~kHasOriginal);
  out.original_commit_time_us = out.commit_time_us;
  if ((immediate & kHasOriginal) != 0) {
    out.original_commit_time_us = static_cast<int64_t>(reader.Little(7));
  }
  if (reader.remaining() > 0) out.transaction_length = reader.LengthEncoded();
  if (reader.failed()) return CutOff(event);
  return out;
}

Result<MariaGtidEvent> ParseMariaGtid(const BinlogEvent& event) {
  enum Flag : uint8_t {
    kStandalone = 1,
    kGroupCommit = 2,
    kTransactional = 4,
    kDdl = 32,
    kPreparedXa = 64,
    kCompletedXa = 128,
  };
  ByteReader reader(event.body);
  MariaGtidEvent out;
  out.gtid.sequence = reader.U64();
  out.gtid.domain = reader.U32();
  out.gtid.server = event.server_id;
  const uint8_t flags = reader.U8();
  out.is_standalone = (flags & kStandalone) != 0;
  out.is_ddl = (flags & kDdl) != 0;
  out.is_transactional = (flags & kTransactional) != 0;
  out.is_prepared_xa = (flags & kPreparedXa) != 0;
  out.is_completed_xa = (flags & kCompletedXa) != 0;
  if ((flags & kGroupCommit) != 0) reader.U64();
  if ((flags & (kPreparedXa | kCompletedXa)) != 0) {
    const size_t begin = reader.offset();
    reader.U32();
    const uint32_t size = reader.U8();
    reader.Bytes(size + reader.U8());
    out.xid = event.body.substr(std::min(begin, event.body.size()), reader.offset() - begin);
  }
  if (reader.failed()) return CutOff(event);
  if (reader.remaining() == 0) return out;
  const uint8_t extra = reader.U8();
  if ((extra & 1) != 0) reader.U8();
  out.alter_phase = PhaseOf(extra);
  if (out.alter_phase == QueryEvent::AlterPhase::kCommit ||
      out.alter_phase == QueryEvent::AlterPhase::kRollback) {
    out.alter_sequence = reader.U64();
  }
  if (reader.failed()) return CutOff(event);
  return out;
}

Result<GtidSet> ParsePreviousGtids(const BinlogEvent& event) {
  Result<GtidSet> set = GtidSet::Decode(event.body);
  if (!set) return std::move(set).error().Context(ToString(event.type) + " event");
  return set;
}

Result<MariaGtidList> ParseMariaGtidList(const BinlogEvent& event) {
  ByteReader reader(event.body);
  MariaGtidList list;
  const uint32_t count = reader.U32() & 0x0fffffff;
  for (uint32_t i = 0; i < count && !reader.failed(); ++i) {
    MariaGtid gtid;
    gtid.domain = reader.U32();
    gtid.server = reader.U32();
    gtid.sequence = reader.U64();
    if (!reader.failed()) list.Advance(gtid);
  }
  if (reader.failed()) return CutOff(event);
  return list;
}

Result<uint64_t> ParseXid(const BinlogEvent& event) {
  ByteReader reader(event.body);
  const uint64_t xid = reader.U64();
  if (reader.failed()) return CutOff(event);
  return xid;
}

std::string XaPrepareEvent::Text() const {
  const auto hex = [](std::string_view bytes) {
    std::string text = "X'";
    for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
    return text + "'";
  };
  return hex(global_id) + "," + hex(branch) + "," + std::to_string(format);
}

Result<XaPrepareEvent> ParseXaPrepare(const BinlogEvent& event) {
  ByteReader reader(event.body);
  XaPrepareEvent out;
  out.one_phase = reader.U8() != 0;
  out.format = reader.U32();
  const uint32_t global_size = reader.U32();
  const uint32_t branch_size = reader.U32();
  out.global_id = reader.Bytes(global_size);
  out.branch = reader.Bytes(branch_size);
  if (reader.failed()) return CutOff(event);
  return out;
}

Result<std::string_view> ParseRowsQuery(const BinlogEvent& event) {
  if (event.type == EventType::kAnnotateRows) return event.body;
  if (event.body.empty()) return CutOff(event);
  return event.body.substr(1);  // the length, modulo 256
}

Result<HeartbeatEvent> ParseHeartbeat(const BinlogEvent& event) {
  HeartbeatEvent out;
  if (event.type == EventType::kHeartbeat) {
    out.file = event.body;
    out.position = event.end_position;
    return out;
  }
  ByteReader reader(event.body);
  while (reader.remaining() > 0 && !reader.failed()) {
    const uint8_t field = reader.U8();
    if (field == 0) break;
    const std::string_view value = reader.LengthEncodedBytes();
    if (field == 1) out.file = value;
    if (field == 2) out.position = ByteReader(value).LengthEncoded();
  }
  if (reader.failed()) return CutOff(event);
  return out;
}

Result<IncidentEvent> ParseIncident(const BinlogEvent& event) {
  ByteReader reader(event.body);
  IncidentEvent out;
  out.code = reader.U16();
  if (reader.failed()) return CutOff(event);
  if (reader.remaining() > 0) out.message = reader.Bytes(reader.U8());
  if (reader.failed()) return CutOff(event);
  return out;
}

}  // namespace driftless::mysql
