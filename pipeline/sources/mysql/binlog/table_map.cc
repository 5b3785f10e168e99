#include "pipeline/sources/mysql/binlog/table_map.h"

#include <algorithm>

#include "pipeline/sources/mysql/binlog/byte_reader.h"

namespace driftless::mysql {
namespace {

Error Malformed(const TableMap& map, std::string_view what) {
  return MakeError(ErrorKind::kInvalidInput,
                   "TABLE_MAP event of " + map.path().ToString() + ": " + std::string(what));
}

// Optional metadata (MySQL's Table_map_event::Optional_metadata_field_type).
enum MetadataField : uint8_t {
  kSignedness = 1,
  kDefaultCharset = 2,
  kColumnCharset = 3,
  kColumnName = 4,
  kSetMembers = 5,
  kEnumMembers = 6,
  kSimplePrimaryKey = 8,
  kPrimaryKeyWithPrefix = 9,
  kMembersDefaultCharset = 10,
  kMembersColumnCharset = 11,
  kVisibility = 12,
};

bool IsNumeric(WireType type) {
  switch (type) {
    case WireType::kTiny:
    case WireType::kShort:
    case WireType::kInt24:
    case WireType::kLong:
    case WireType::kLongLong:
    case WireType::kDecimal:
    case WireType::kFloat:
    case WireType::kDouble:
    case WireType::kYear: return true;
    default: return false;
  }
}

bool IsCharacter(WireType type) {
  switch (type) {
    case WireType::kString:
    case WireType::kVarString:
    case WireType::kVarChar:
    case WireType::kBlob:
    case WireType::kBlobCompressed:
    case WireType::kVarCharCompressed: return true;
    default: return false;
  }
}

// CHAR, BINARY, ENUM and SET have one code; the real type and the length are in the two bytes of
// metadata, the length's high bits mixed into the type.
void ReadStringType(uint32_t first, uint32_t second, WireColumn* column) {
  if (first == static_cast<uint32_t>(WireType::kEnum) ||
      first == static_cast<uint32_t>(WireType::kSet)) {
    column->type = static_cast<WireType>(first);
    column->length = second;
  } else if ((first & 0x30) != 0x30) {
    column->length = second | ((first & 0x30) ^ 0x30) << 4;
  } else {
    column->length = second;
  }
}

bool ReadTypeMetadata(ByteReader* meta, WireColumn* column) {
  switch (column->type) {
    case WireType::kFloat:
    case WireType::kDouble:
    case WireType::kTimestamp:
    case WireType::kDateTime:
    case WireType::kTime:
    case WireType::kBlob:
    case WireType::kBlobCompressed:
    case WireType::kJson:
    case WireType::kGeometry:
    case WireType::kVector: column->length = meta->U8(); return true;
    case WireType::kBit: {
      const uint32_t bits = meta->U8();
      column->length = bits + meta->U8() * 8U;
      return column->length >= 1 && column->length <= 64;
    }
    case WireType::kDecimal:
      column->length = meta->U8();
      column->scale = meta->U8();
      return column->length >= 1 && column->length <= 65 && column->scale <= column->length;
    case WireType::kVarChar:
    case WireType::kVarString:
    case WireType::kVarCharCompressed: column->length = meta->U16(); return true;
    case WireType::kString:
    case WireType::kEnum:
    case WireType::kSet: {
      const uint32_t first = meta->U8();
      ReadStringType(first, meta->U8(), column);
      const bool is_members = column->type == WireType::kEnum || column->type == WireType::kSet;
      return !is_members || (column->length >= 1 && column->length <= 8);
    }
    case WireType::kTiny:
    case WireType::kShort:
    case WireType::kLong:
    case WireType::kLongLong:
    case WireType::kInt24:
    case WireType::kDate:
    case WireType::kYear:
    case WireType::kTimestampOld:
    case WireType::kTimeOld:
    case WireType::kDateTimeOld: return true;
  }
  return false;
}

bool LengthIsPossible(const WireColumn& column) {
  switch (column.type) {
    case WireType::kTimestamp:
    case WireType::kDateTime:
    case WireType::kTime: return column.length <= 6;
    case WireType::kBlob:
    case WireType::kBlobCompressed:
    case WireType::kJson:
    case WireType::kGeometry:
    case WireType::kVector: return column.length >= 1 && column.length <= 4;
    default: return true;
  }
}

class OptionalMetadata {
 public:
  OptionalMetadata(TableMap* map, bool is_mariadb_geometry)
      : map_(*map), counts_geometry_(is_mariadb_geometry) {}

  bool Read(ByteReader* reader) {
    while (reader->remaining() > 0) {
      const uint8_t field = reader->U8();
      ByteReader value(reader->LengthEncodedBytes());
      if (reader->failed()) return false;
      ReadField(field, &value);
      if (value.failed()) return false;
    }
    return true;
  }

 private:
  template <typename Wanted, typename Use>
  void Each(Wanted wanted, Use use) {
    for (WireColumn& column : map_.columns) {
      if (wanted(column)) use(column);
    }
  }
  bool IsCharacterHere(const WireColumn& column) const {
    return IsCharacter(column.type) || (counts_geometry_ && column.type == WireType::kGeometry);
  }
  static bool HasMembers(const WireColumn& column) {
    return column.type == WireType::kEnum || column.type == WireType::kSet;
  }

  // Bits, the highest of a byte first.
  template <typename Wanted, typename Use>
  void Bits(ByteReader* value, Wanted wanted, Use use) {
    int left = 0;
    uint8_t byte = 0;
    Each(wanted, [&](WireColumn& column) {
      if (left == 0) {
        byte = value->U8();
        left = 8;
      }
      use(column, (byte & 0x80) != 0);
      byte = static_cast<uint8_t>(byte << 1);
      --left;
    });
  }

  template <typename Wanted>
  void DefaultCharset(ByteReader* value, Wanted wanted) {
    const auto common = static_cast<uint32_t>(value->LengthEncoded());
    std::vector<WireColumn*> columns;
    Each(wanted, [&](WireColumn& column) {
      column.collation = common;
      columns.push_back(&column);
    });
    while (value->remaining() > 0 && !value->failed()) {
      const uint64_t index = value->LengthEncoded();
      const auto collation = static_cast<uint32_t>(value->LengthEncoded());
      if (index >= columns.size()) return value->Fail();
      columns[index]->collation = collation;
    }
  }
  template <typename Wanted>
  void ColumnCharset(ByteReader* value, Wanted wanted) {
    Each(wanted, [&](WireColumn& column) {
      column.collation = static_cast<uint32_t>(value->LengthEncoded());
    });
  }
  void Members(ByteReader* value, WireType type) {
    Each([&](const WireColumn& column) { return column.type == type; },
         [&](WireColumn& column) {
           const uint64_t count = value->LengthEncoded();
           column.members.clear();
           for (uint64_t i = 0; i < count && !value->failed(); ++i) {
             column.members.emplace_back(value->LengthEncodedBytes());
           }
         });
  }
  void Names(ByteReader* value) {
    map_.has_names = true;
    for (WireColumn& column : map_.columns) column.name = value->LengthEncodedBytes();
  }
  void PrimaryKey(ByteReader* value, bool with_prefix) {
    map_.has_primary_key = true;
    while (value->remaining() > 0 && !value->failed()) {
      const uint64_t index = value->LengthEncoded();
      if (with_prefix) value->LengthEncoded();
      if (index >= map_.columns.size()) return value->Fail();
      map_.primary_key.push_back(static_cast<uint32_t>(index));
    }
  }

  void ReadField(uint8_t field, ByteReader* value) {
    const auto character = [this](const WireColumn& column) { return IsCharacterHere(column); };
    switch (field) {
      case kSignedness:
        return Bits(
            value, [](const WireColumn& column) { return IsNumeric(column.type); },
            [](WireColumn& column, bool bit) {
              column.is_unsigned = bit;
              column.has_signedness = true;
            });
      case kDefaultCharset: return DefaultCharset(value, character);
      case kColumnCharset: return ColumnCharset(value, character);
      case kColumnName: return Names(value);
      case kSetMembers: return Members(value, WireType::kSet);
      case kEnumMembers: return Members(value, WireType::kEnum);
      case kSimplePrimaryKey: return PrimaryKey(value, /*with_prefix=*/false);
      case kPrimaryKeyWithPrefix: return PrimaryKey(value, /*with_prefix=*/true);
      case kMembersDefaultCharset: return DefaultCharset(value, HasMembers);
      case kMembersColumnCharset: return ColumnCharset(value, HasMembers);
      case kVisibility:
        return Bits(
            value, [](const WireColumn&) { return true; },
            [](WireColumn& column, bool bit) { column.is_visible = bit; });
      default: return;  // geometry types, dimensions of vectors, and newer ones
    }
  }

  TableMap& map_;
  const bool counts_geometry_;
};

}  // namespace

Result<TableMapHead> ParseTableMapHead(const BinlogEvent& event) {
  ByteReader reader(event.body);
  TableMapHead head;
  head.table_id = reader.Little(6);
  head.identity = reader.Rest();
  if (reader.failed()) {
    return MakeError(ErrorKind::kInvalidInput, "TABLE_MAP event: its body is cut off");
  }
  return head;
}

Result<TableMap> ParseTableMap(const BinlogEvent& event) {
  TableMap map;
  DRIFTLESS_ASSIGN_OR_RETURN(const TableMapHead head, ParseTableMapHead(event));
  map.table_id = head.table_id;
  map.identity = head.identity;
  ByteReader reader(head.identity);
  reader.U16();  // flags
  map.database = reader.Bytes(reader.U8());
  reader.U8();
  map.table = reader.Bytes(reader.U8());
  reader.U8();
  const uint64_t count = reader.LengthEncoded();
  const std::string_view types = reader.Bytes(count);
  ByteReader meta(reader.LengthEncodedBytes());
  const std::string_view nullable = reader.Bytes((count + 7) / 8);
  if (reader.failed()) return Malformed(map, "its body is cut off");
  map.columns.resize(count);
  for (size_t i = 0; i < count; ++i) {
    WireColumn& column = map.columns[i];
    column.type = static_cast<WireType>(types[i]);
    column.nullable = ((static_cast<uint8_t>(nullable[i / 8]) >> (i % 8)) & 1) != 0;
    if (!ReadTypeMetadata(&meta, &column) || !LengthIsPossible(column)) {
      return Malformed(map, "column " + std::to_string(i + 1) + " has type " +
                                std::to_string(static_cast<uint8_t>(types[i])) +
                                ", which is not known or not possible");
    }
  }
  if (meta.failed()) return Malformed(map, "the types' metadata is cut off");
  // MariaDB counts columns of geometries among those with a character set, MySQL does not.
  if (OptionalMetadata(&map, event.is_mariadb).Read(&reader)) return map;
  return Malformed(map, "its optional metadata is malformed");
}

}  // namespace driftless::mysql
