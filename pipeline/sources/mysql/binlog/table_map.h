#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sources/mysql/binlog/binlog_event.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// Type codes of columns in a TABLE_MAP (MySQL's enum_field_types, MariaDB's additions).
enum class WireType : uint8_t {
  kTiny = 1,
  kShort = 2,
  kLong = 3,
  kFloat = 4,
  kDouble = 5,
  kTimestampOld = 7,
  kLongLong = 8,
  kInt24 = 9,
  kDate = 10,
  kTimeOld = 11,
  kDateTimeOld = 12,
  kYear = 13,
  kVarChar = 15,
  kBit = 16,
  kTimestamp = 17,
  kDateTime = 18,
  kTime = 19,
  kBlobCompressed = 140,     // MariaDB
  kVarCharCompressed = 141,  // MariaDB
  kVector = 242,
  kJson = 245,
  kDecimal = 246,
  kEnum = 247,
  kSet = 248,
  kBlob = 252,
  kVarString = 253,
  kString = 254,
  kGeometry = 255,
};

struct WireColumn {
  WireType type = WireType::kTiny;
  bool nullable = true;
  // kDecimal: precision and scale; kBit: number of bits; strings and kEnum, kSet: bytes at most;
  // kBlob and its like: bytes of the length; times: digits of the fraction.
  uint32_t length = 0;
  uint8_t scale = 0;
  // Of the optional metadata.
  bool is_unsigned = false;
  bool has_signedness = false;
  uint32_t collation = 0;            // 0: not in the table map
  std::string_view name;             // empty: not in the table map
  std::vector<std::string> members;  // ENUM and SET, in the column's charset; empty: not there
  bool is_visible = true;
};

// A TABLE_MAP. Views lie in the event's bytes: it lives as long as they do.
struct TableMap {
  uint64_t table_id = 0;
  std::string_view database;
  std::string_view table;
  std::vector<WireColumn> columns;
  bool has_names = false;        // binlog_row_metadata=FULL
  bool has_primary_key = false;  // the metadata names one
  std::vector<uint32_t> primary_key;
  // Everything behind the table id: equal bytes have equal columns.
  std::string_view identity;

  TablePath path() const { return {"", std::string(database), std::string(table)}; }
};

// The table that later events call by this number.
Result<TableMap> ParseTableMap(const BinlogEvent& event);
// Only the number and what identifies the map; cheap, for the look-up of a plan that is there.
struct TableMapHead {
  uint64_t table_id = 0;
  std::string_view identity;
};
Result<TableMapHead> ParseTableMapHead(const BinlogEvent& event);

// The number that stands for no table (a statement's last, empty rows event).
inline constexpr uint64_t kNoTable = 0xffffff;

// Where the map does not fit the schema that is tracked for the table: a text that says how, empty
// where it fits. Compares the number of columns, their families of types and parameters, and with
// full metadata their names, signedness and key.
std::string DifferenceOf(const TableMap& map, const TableSchema& schema);

}  // namespace driftless::mysql
