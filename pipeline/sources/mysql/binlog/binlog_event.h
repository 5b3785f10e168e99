#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless::mysql {

// Events of the binary logs of MySQL and MariaDB ("MySQL Internals Manual", "Binary Log Event";
// MariaDB Knowledge Base, "2-Binlog Event Header"). Numbers above 50 are MariaDB's.
enum class EventType : uint8_t {
  kUnknown = 0,
  kQuery = 2,
  kStop = 3,
  kRotate = 4,
  kIntVar = 5,
  kRand = 13,
  kUserVar = 14,
  kFormatDescription = 15,
  kXid = 16,
  kBeginLoadQuery = 17,
  kExecuteLoadQuery = 18,
  kTableMap = 19,
  kWriteRowsV1 = 23,
  kUpdateRowsV1 = 24,
  kDeleteRowsV1 = 25,
  kIncident = 26,
  kHeartbeat = 27,
  kIgnorable = 28,
  kRowsQuery = 29,
  kWriteRows = 30,
  kUpdateRows = 31,
  kDeleteRows = 32,
  kGtid = 33,
  kAnonymousGtid = 34,
  kPreviousGtids = 35,
  kTransactionContext = 36,
  kViewChange = 37,
  kXaPrepare = 38,
  kPartialUpdateRows = 39,
  kTransactionPayload = 40,
  kHeartbeatV2 = 41,
  kGtidTagged = 42,
  kAnnotateRows = 160,
  kBinlogCheckpoint = 161,
  kMariaGtid = 162,
  kMariaGtidList = 163,
  kStartEncryption = 164,
  kQueryCompressed = 165,
  kWriteRowsCompressedV1 = 166,
  kUpdateRowsCompressedV1 = 167,
  kDeleteRowsCompressedV1 = 168,
  kWriteRowsCompressed = 169,
  kUpdateRowsCompressed = 170,
  kDeleteRowsCompressed = 171,
};

// "WRITE_ROWS"; "event 77" for an unknown one.
std::string ToString(EventType type);
bool IsRowsEvent(EventType type);

// One event: views into the bytes that were read.
struct BinlogEvent {
  static constexpr uint16_t kInUse = 0x0001;
  static constexpr uint16_t kArtificial = 0x0020;
  static constexpr uint16_t kIgnorable = 0x0080;
  static constexpr uint16_t kSkipReplication = 0x8000;
  static constexpr size_t kHeaderSize = 19;

  EventType type = EventType::kUnknown;
  uint32_t timestamp = 0;  // seconds since 1970
  uint32_t server_id = 0;
  uint16_t flags = 0;
  // Where the event ends in its file. 0 in artificial events, inside of a compressed transaction,
  // and on MariaDB 11.4 and newer inside of transactions; modulo 2^32 in larger files.
  uint32_t end_position = 0;
  bool is_mariadb = false;  // who wrote it
  std::string_view body;    // between header and checksum
  std::string_view bytes;   // all of it

  bool IsArtificial() const { return (flags & kArtificial) != 0; }
};

// What a FORMAT_DESCRIPTION says of the events behind it.
struct BinlogFormat {
  std::string server_version;  // "9.7.4", "10.11.19-MariaDB-log"
  bool is_mariadb = false;
  bool has_checksum = false;  // CRC32 behind each event
  uint32_t created = 0;       // the server started at this time; 0 where the file goes on a log
};

// Takes events apart and checks their checksums. Follows the format descriptions of one stream or
// file; one thread.
class EventReader {
 public:
  // One whole event, with its header. Errors: kInvalidInput (cut off, another length than its
  // header says, a body that cannot be), kCorrupt (checksum), kUnsupported (a checksum algorithm
  // that is not known; a log of MySQL before 5.0).
  Result<BinlogEvent> Read(std::string_view bytes);
  // An event of a TRANSACTION_PAYLOAD: never a checksum.
  static Result<BinlogEvent> ReadInner(std::string_view bytes);

  const BinlogFormat& format() const { return format_; }
  bool has_format() const { return has_format_; }

 private:
  Result<void> ReadFormat(const BinlogEvent& event);
  BinlogFormat format_;
  bool has_format_ = false;
};

}  // namespace driftless::mysql
