#include "pipeline/sources/mysql/binlog/binlog_event.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "pipeline/sources/mysql/binlog/byte_reader.h"

namespace driftless::mysql {
namespace {

constexpr size_t kChecksumSize = 4;

Error Malformed(std::string message) {
  return MakeError(ErrorKind::kInvalidInput, std::move(message));
}

BinlogEvent SplitHeader(std::string_view bytes) {
  ByteReader reader(bytes);
  BinlogEvent event;
  event.timestamp = reader.U32();
  event.type = static_cast<EventType>(reader.U8());
  event.server_id = reader.U32();
  reader.U32();  // the length, which the caller has compared
  event.end_position = reader.U32();
  event.flags = reader.U16();
  event.bytes = bytes;
  event.body = bytes.substr(BinlogEvent::kHeaderSize);
  return event;
}

Result<void> CheckLength(std::string_view bytes) {
  if (bytes.size() < BinlogEvent::kHeaderSize) {
    return Malformed(
        fmt::format("an event of {} bytes is shorter than an event's header", bytes.size()));
  }
  const uint64_t said = LoadLittle(reinterpret_cast<const uint8_t*>(bytes.data()) + 9, 4);
  if (said == bytes.size()) return {};
  return Malformed(
      fmt::format("the event has {} bytes, but its header says {}", bytes.size(), said));
}

// The checksum of all bytes before the last four. A description whose file is still open was
// written with the flag unset, which is set later without a new checksum.
bool ChecksumFits(std::string_view bytes, EventType type) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  const size_t size = bytes.size() - kChecksumSize;
  uLong crc = crc32(0, nullptr, 0);
  if (type == EventType::kFormatDescription && (data[17] & BinlogEvent::kInUse) != 0) {
    Bytef header[BinlogEvent::kHeaderSize];
    std::memcpy(header, data, sizeof header);
    header[17] &= static_cast<Bytef>(~BinlogEvent::kInUse);
    crc = crc32(crc, header, sizeof header);
    crc = crc32_z(crc, data + sizeof header, size - sizeof header);
  } else {
    crc = crc32_z(crc, data, size);
  }
  return crc == LoadLittle(data + size, kChecksumSize);
}

}  // namespace

std::string ToString(EventType type) {
  switch (type) {
    case EventType::kUnknown: return "UNKNOWN";
    case EventType::kQuery: return "QUERY";
    case EventType::kStop: return "STOP";
    case EventType::kRotate: return "ROTATE";
    case EventType::kIntVar: return "INTVAR";
    case EventType::kRand: return "RAND";
    case EventType::kUserVar: return "USER_VAR";
    case EventType::kFormatDescription: return "FORMAT_DESCRIPTION";
    case EventType::kXid: return "XID";
    case EventType::kBeginLoadQuery: return "BEGIN_LOAD_QUERY";
    case EventType::kExecuteLoadQuery: return "EXECUTE_LOAD_QUERY";
    case EventType::kTableMap: return "TABLE_MAP";
    case EventType::kWriteRowsV1: return "WRITE_ROWS_V1";
    case EventType::kUpdateRowsV1: return "UPDATE_ROWS_V1";
    case EventType::kDeleteRowsV1: return "DELETE_ROWS_V1";
    case EventType::kIncident: return "INCIDENT";
    case EventType::kHeartbeat: return "HEARTBEAT";
    case EventType::kIgnorable: return "IGNORABLE";
    case EventType::kRowsQuery: return "ROWS_QUERY";
    case EventType::kWriteRows: return "WRITE_ROWS";
    case EventType::kUpdateRows: return "UPDATE_ROWS";
    case EventType::kDeleteRows: return "DELETE_ROWS";
    case EventType::kGtid: return "GTID";
    case EventType::kAnonymousGtid: return "ANONYMOUS_GTID";
    case EventType::kPreviousGtids: return "PREVIOUS_GTIDS";
    case EventType::kTransactionContext: return "TRANSACTION_CONTEXT";
    case EventType::kViewChange: return "VIEW_CHANGE";
    case EventType::kXaPrepare: return "XA_PREPARE";
    case EventType::kPartialUpdateRows: return "PARTIAL_UPDATE_ROWS";
    case EventType::kTransactionPayload: return "TRANSACTION_PAYLOAD";
    case EventType::kHeartbeatV2: return "HEARTBEAT_V2";
    case EventType::kGtidTagged: return "GTID_TAGGED";
    case EventType::kAnnotateRows: return "ANNOTATE_ROWS";
    case EventType::kBinlogCheckpoint: return "BINLOG_CHECKPOINT";
    case EventType::kMariaGtid: return "GTID (MariaDB)";
    case EventType::kMariaGtidList: return "GTID_LIST";
    case EventType::kStartEncryption: return "START_ENCRYPTION";
    case EventType::kQueryCompressed: return "QUERY_COMPRESSED";
    case EventType::kWriteRowsCompressedV1: return "WRITE_ROWS_COMPRESSED_V1";
    case EventType::kUpdateRowsCompressedV1: return "UPDATE_ROWS_COMPRESSED_V1";
    case EventType::kDeleteRowsCompressedV1: return "DELETE_ROWS_COMPRESSED_V1";
    case EventType::kWriteRowsCompressed: return "WRITE_ROWS_COMPRESSED";
    case EventType::kUpdateRowsCompressed: return "UPDATE_ROWS_COMPRESSED";
    case EventType::kDeleteRowsCompressed: return "DELETE_ROWS_COMPRESSED";
  }
  return "event " + std::to_string(static_cast<int>(type));
}

bool IsRowsEvent(EventType type) {
  const auto code = static_cast<int>(type);
  return (code >= 23 && code <= 25) || (code >= 30 && code <= 32) ||
         type == EventType::kPartialUpdateRows || (code >= 166 && code <= 171);
}

Result<BinlogEvent> EventReader::Read(std::string_view bytes) {
  DRIFTLESS_TRY(CheckLength(bytes));
  BinlogEvent event = SplitHeader(bytes);
  const auto fail = [&](ErrorKind kind, std::string message) {
    return MakeError(kind, ToString(event.type) + " event: " + std::move(message))
        .Position("end position " + std::to_string(event.end_position));
  };
  if (event.type == EventType::kFormatDescription) {
    DRIFTLESS_TRY(ReadFormat(event));
  }
  event.is_mariadb = format_.is_mariadb;
  bool has_checksum = format_.has_checksum;
  if (!has_format_ && event.type == EventType::kRotate) {
    // The first event of a dump comes before the description that says whether it has a checksum.
    has_checksum = event.body.size() >= 8 + kChecksumSize && ChecksumFits(bytes, event.type);
  } else if (!has_format_) {
    return fail(ErrorKind::kInvalidInput, "comes before any FORMAT_DESCRIPTION");
  }
  // A description has room for a checksum, and the checksum, even where its algorithm is none; it
  // is zero then.
  if (event.type == EventType::kFormatDescription && !has_checksum) {
    event.body.remove_suffix(std::min(event.body.size(), kChecksumSize));
    return event;
  }
  if (!has_checksum) return event;
  if (event.body.size() < kChecksumSize) {
    return fail(ErrorKind::kInvalidInput, "too short for its checksum");
  }
  if (!ChecksumFits(bytes, event.type)) {
    return std::move(fail(ErrorKind::kCorrupt, "the checksum does not fit its bytes"))
        .Hint("the log was damaged on its way or on the server's disk");
  }
  event.body.remove_suffix(kChecksumSize);
  return event;
}

Result<BinlogEvent> EventReader::ReadInner(std::string_view bytes) {
  DRIFTLESS_TRY(CheckLength(bytes));
  return SplitHeader(bytes);
}

Result<void> EventReader::ReadFormat(const BinlogEvent& event) {
  ByteReader reader(event.body);
  const uint16_t version = reader.U16();
  std::string_view server = reader.Bytes(50);
  const uint32_t created = reader.U32();
  const uint8_t header_size = reader.U8();
  if (reader.failed() || reader.remaining() < 1) {
    return Malformed("FORMAT_DESCRIPTION event: cut off");
  }
  if (version != 4 || header_size != BinlogEvent::kHeaderSize) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("the binary log has format version {} with headers of {} bytes; "
                                 "version 4 with 19 bytes (MySQL 5.0 and newer) can be read",
                                 version, header_size));
  }
  server = server.substr(0, std::min(server.size(), server.find('\0')));
  BinlogFormat format;
  format.server_version = server;
  format.is_mariadb = server.find("MariaDB") != std::string_view::npos;
  format.created = created;
  // Servers that know checksums (MySQL 5.6.1, MariaDB 5.3) end the description with the algorithm
  // and four bytes.
  if (reader.remaining() >= 1 + kChecksumSize) {
    const auto algorithm = static_cast<uint8_t>(event.body[event.body.size() - kChecksumSize - 1]);
    if (algorithm > 1) {
      return MakeError(
          ErrorKind::kUnsupported,
          fmt::format("the binary log's checksum algorithm {} is not known", algorithm));
    }
    format.has_checksum = algorithm == 1;
  }
  format_ = std::move(format);
  has_format_ = true;
  return {};
}

}  // namespace driftless::mysql
