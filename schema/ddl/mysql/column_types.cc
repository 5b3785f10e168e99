#include "schema/ddl/mysql/column_types.h"

#include <algorithm>

#include "schema/ddl/mysql/parser.h"

namespace driftless::mysql {
namespace {

Error Refused(std::string message) { return MakeError(ErrorKind::kRefused, std::move(message)); }

std::string ForColumn(std::string_view name) { return " for column '" + std::string(name) + "'"; }

int64_t DefaultIntegerWidth(const ColumnType& type) {
  switch (type.base) {
    case BaseType::kTinyInt: return type.is_unsigned ? 3 : 4;
    case BaseType::kSmallInt: return type.is_unsigned ? 5 : 6;
    case BaseType::kMediumInt: return type.is_unsigned ? 8 : 9;
    case BaseType::kInt: return type.is_unsigned ? 10 : 11;
    default: return 20;
  }
}

bool IsInteger(BaseType base) { return base <= BaseType::kBigInt; }

std::string QuoteMembers(const std::vector<std::string>& members) {
  std::string text = "(";
  for (const std::string& member : members) {
    if (text.size() > 1) text += ",";
    text += "'";
    for (char c : member) {
      switch (c) {
        case '\'': text += "''"; break;
        case '\\': text += "\\\\"; break;
        case '\n': text += "\\n"; break;
        case '\r': text += "\\r"; break;
        case '\0': text += "\\0"; break;
        default: text += c;
      }
    }
    text += "'";
  }
  return text + ")";
}

std::string_view BaseName(const ColumnType& type) {
  switch (type.base) {
    case BaseType::kTinyInt: return "tinyint";
    case BaseType::kSmallInt: return "smallint";
    case BaseType::kMediumInt: return "mediumint";
    case BaseType::kInt: return "int";
    case BaseType::kBigInt: return "bigint";
    case BaseType::kDecimal: return "decimal";
    case BaseType::kFloat: return "float";
    case BaseType::kDouble: return "double";
    case BaseType::kBit: return "bit";
    case BaseType::kChar: return "char";
    case BaseType::kVarChar: return "varchar";
    case BaseType::kBinary: return "binary";
    case BaseType::kVarBinary: return "varbinary";
    case BaseType::kTinyText: return "tinytext";
    case BaseType::kText: return "text";
    case BaseType::kMediumText: return "mediumtext";
    case BaseType::kLongText: return "longtext";
    case BaseType::kTinyBlob: return "tinyblob";
    case BaseType::kBlob: return "blob";
    case BaseType::kMediumBlob: return "mediumblob";
    case BaseType::kLongBlob: return "longblob";
    case BaseType::kEnum: return "enum";
    case BaseType::kSet: return "set";
    case BaseType::kJson: return "json";
    case BaseType::kDate: return "date";
    case BaseType::kTime: return "time";
    case BaseType::kDateTime: return "datetime";
    case BaseType::kTimestamp: return "timestamp";
    case BaseType::kYear: return "year";
    case BaseType::kGeometry: return type.geometry;
    case BaseType::kVector: return "vector";
    case BaseType::kUuid: return "uuid";
    case BaseType::kInet4: return "inet4";
    case BaseType::kInet6: return "inet6";
    case BaseType::kXml: return "xmltype";
  }
  return "";
}

// As information_schema prints a resolved type.
std::string PrintType(const ColumnType& type, const ServerSettings& settings) {
  std::string text(BaseName(type));
  if (IsInteger(type.base)) {
    const bool is_tinyint1 =
        type.base == BaseType::kTinyInt && type.length == 1 && !type.is_unsigned;
    if (!settings.HidesIntegerWidth() || type.zerofill || is_tinyint1) {
      text += "(" + std::to_string(type.length) + ")";
    }
  } else if (type.decimals >= 0) {
    text += "(" + std::to_string(type.length) + "," + std::to_string(type.decimals) + ")";
  } else if (type.length >= 0) {
    text += "(" + std::to_string(type.length) + ")";
  }
  if (type.base == BaseType::kEnum || type.base == BaseType::kSet)
    text += QuoteMembers(type.members);
  if (type.is_unsigned) text += " unsigned";
  if (type.zerofill) text += " zerofill";
  if (type.compressed) text += " /*M!100301 COMPRESSED*/";
  return text;
}

Result<void> ResolveInteger(std::string_view name, ColumnType* type) {
  if (type->length > 255)
    return Refused("display width out of range" + ForColumn(name) + " (max = 255)");
  if (type->length <= 0) type->length = DefaultIntegerWidth(*type);
  return {};
}

Result<void> ResolveDecimal(std::string_view name, const ServerSettings& settings,
                            ColumnType* type) {
  const int64_t scale_max = settings.IsMariaDb() ? 38 : 30;
  if (type->decimals < 0) type->decimals = 0;
  if (type->length <= 0) type->length = 10;
  if (type->length > 65) {
    return Refused("too big precision " + std::to_string(type->length) + ForColumn(name) +
                   "; the maximum is 65");
  }
  if (type->decimals > scale_max) {
    return Refused("too big scale " + std::to_string(type->decimals) + ForColumn(name) +
                   "; the maximum is " + std::to_string(scale_max));
  }
  if (type->decimals > type->length) {
    return Refused("for DECIMAL(M,D), M must be >= D (column '" + std::string(name) + "')");
  }
  return {};
}

Result<void> ResolveFloat(std::string_view name, ColumnType* type) {
  if (type->decimals < 0) {
    if (type->length > 53) return Refused("incorrect column specifier" + ForColumn(name));
    if (type->base == BaseType::kFloat && type->length > 24) type->base = BaseType::kDouble;
    type->length = -1;
    return {};
  }
  if (type->decimals > 30) {
    return Refused("too big scale " + std::to_string(type->decimals) + ForColumn(name) +
                   "; the maximum is 30");
  }
  if (type->length > 255) {
    return Refused("display width out of range" + ForColumn(name) + " (max = 255)");
  }
  if (type->decimals > type->length) {
    return Refused("for FLOAT(M,D) and DOUBLE(M,D), M must be >= D (column '" + std::string(name) +
                   "')");
  }
  return {};
}

// Charset and collation of a character column (Reference Manual, 12.3.5).
Result<Charset> ResolveCharset(const ColumnType& type, std::string_view collation,
                               const Charset& table_defaults, const ServerSettings& settings) {
  Charset result = type.charset.empty() ? table_defaults : type.charset;
  if (!collation.empty()) {
    Charset found = FindCollation(collation, settings);
    if (found.empty()) return Refused("unknown collation '" + std::string(collation) + "'");
    const bool any_unicode = found.collation.rfind("uca1400_", 0) == 0;
    if (!type.charset.empty() && found.charset != type.charset.charset && !any_unicode) {
      return Refused("COLLATION '" + std::string(collation) + "' is not valid for CHARACTER SET '" +
                     type.charset.charset + "'");
    }
    if (any_unicode) found.charset = result.charset;
    return found;
  }
  if (type.binary_attribute) result.collation = BinaryCollation(result.charset);
  return result;
}

Result<void> ResolveCharacter(std::string_view name, const Charset& charset, ColumnType* type) {
  const int max_bytes = MaxBytesPerCharacter(charset.charset);
  if (type->base == BaseType::kChar) {
    if (type->length < 0) type->length = 1;
    if (type->length > 255) {
      return Refused("column length too big" + ForColumn(name) + " (max = 255); use BLOB or TEXT");
    }
  } else if (type->base == BaseType::kVarChar && type->length > 65535 / max_bytes) {
    return Refused("column length too big" + ForColumn(name) +
                   " (max = " + std::to_string(65535 / max_bytes) + "); use BLOB or TEXT");
  } else if (type->base == BaseType::kText && type->length > 0) {
    type->base = TextTypeForBytes(static_cast<uint64_t>(type->length) * max_bytes, false);
    type->length = -1;
  }
  if (IsTextType(type->base)) type->length = -1;
  return {};
}

// A character type in charset "binary" is a type of bytes.
BaseType BytesType(BaseType base) {
  switch (base) {
    case BaseType::kChar: return BaseType::kBinary;
    case BaseType::kVarChar: return BaseType::kVarBinary;
    case BaseType::kTinyText: return BaseType::kTinyBlob;
    case BaseType::kText: return BaseType::kBlob;
    case BaseType::kMediumText: return BaseType::kMediumBlob;
    case BaseType::kLongText: return BaseType::kLongBlob;
    default: return base;
  }
}

Result<void> ResolveMembers(std::string_view name, ColumnType* type) {
  for (size_t i = 0; i < type->members.size(); ++i) {
    const auto rest = type->members.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::find(rest, type->members.end(), type->members[i]) != type->members.end()) {
      return Refused("column '" + std::string(name) + "' has duplicated value '" +
                     type->members[i] + "' in " + (type->base == BaseType::kEnum ? "ENUM" : "SET"));
    }
    if (type->base == BaseType::kSet && type->members[i].find(',') != std::string::npos) {
      return Refused("illegal set value '" + type->members[i] + "'" + ForColumn(name));
    }
  }
  if (type->base == BaseType::kSet && type->members.size() > 64) {
    return Refused("too many strings" + ForColumn(name) + " and SET");
  }
  return {};
}

Result<void> ResolveOther(std::string_view name, const ServerSettings& settings, ColumnType* type) {
  switch (type->base) {
    case BaseType::kBit:
      if (type->length == 0 && !settings.IsMariaDb()) {
        return Refused("invalid size" + ForColumn(name));
      }
      if (type->length > 64)
        return Refused("display width out of range" + ForColumn(name) + " (max = 64)");
      if (type->length <= 0) type->length = 1;
      return {};
    case BaseType::kBinary:
      if (type->length < 0) type->length = 1;
      if (type->length > 255) {
        return Refused("column length too big" + ForColumn(name) +
                       " (max = 255); use BLOB or TEXT");
      }
      return {};
    case BaseType::kVarBinary:
      if (type->length > 65535) {
        return Refused("column length too big" + ForColumn(name) +
                       " (max = 65535); use BLOB or TEXT");
      }
      return {};
    case BaseType::kTime:
    case BaseType::kDateTime:
    case BaseType::kTimestamp:
      if (type->length > 6) {
        return Refused("too big precision " + std::to_string(type->length) + ForColumn(name) +
                       "; the maximum is 6");
      }
      if (type->length == 0) type->length = -1;
      return {};
    case BaseType::kYear:
      if (type->length >= 0 && type->length != 4 && !settings.IsMariaDb() &&
          settings.Version() >= 50700) {
        return Refused("supports only YEAR or YEAR(4) column" + ForColumn(name));
      }
      if (settings.HidesIntegerWidth())
        type->length = -1;
      else if (type->length < 0)
        type->length = 4;
      type->is_unsigned = type->zerofill = false;
      return {};
    case BaseType::kVector:
      if (type->length < 0) type->length = 2048;
      if (type->length == 0 || type->length > 16383) {
        return Refused("a VECTOR has 1 to 16383 dimensions (column '" + std::string(name) + "')");
      }
      return {};
    case BaseType::kGeometry:
      if (type->geometry == "geometrycollection" && !settings.IsMariaDb() &&
          settings.Version() >= 80000) {
        type->geometry = "geomcollection";
      }
      return {};
    case BaseType::kEnum:
    case BaseType::kSet: return ResolveMembers(name, type);
    default: return {};
  }
}

}  // namespace

bool IsTextType(BaseType base) {
  return base >= BaseType::kTinyText && base <= BaseType::kLongText;
}
bool IsBlobType(BaseType base) {
  return base >= BaseType::kTinyBlob && base <= BaseType::kLongBlob;
}
bool IsCharacterType(BaseType base) {
  return base == BaseType::kChar || base == BaseType::kVarChar || IsTextType(base) ||
         base == BaseType::kEnum || base == BaseType::kSet;
}

BaseType TextTypeForBytes(uint64_t bytes, bool is_blob) {
  if (bytes < (1ULL << 8)) return is_blob ? BaseType::kTinyBlob : BaseType::kTinyText;
  if (bytes < (1ULL << 16)) return is_blob ? BaseType::kBlob : BaseType::kText;
  if (bytes < (1ULL << 24)) return is_blob ? BaseType::kMediumBlob : BaseType::kMediumText;
  return is_blob ? BaseType::kLongBlob : BaseType::kLongText;
}

Result<ResolvedType> ResolveType(const ColumnType& type, std::string_view collation,
                                 const Charset& table_defaults, std::string_view name,
                                 const ServerSettings& settings) {
  ResolvedType resolved;
  ColumnType& out = resolved.type;
  out = type;
  if (out.base == BaseType::kJson && settings.IsMariaDb()) {  // an alias there
    out.base = BaseType::kLongText;
    out.charset = {"utf8mb4", "utf8mb4_bin"};
  }
  if (IsCharacterType(out.base)) {
    DRIFTLESS_ASSIGN_OR_RETURN(resolved.charset,
                               ResolveCharset(out, collation, table_defaults, settings));
    DRIFTLESS_TRY(ResolveCharacter(name, resolved.charset, &out));
    if (resolved.charset.charset == "binary") {
      out.base = BytesType(out.base);
      resolved.charset = {};
    }
  }
  if (IsBlobType(out.base)) {
    if (out.length > 0) {
      out.base = TextTypeForBytes(static_cast<uint64_t>(out.length), /*is_blob=*/true);
    }
    out.length = -1;
  }
  if (IsInteger(out.base)) DRIFTLESS_TRY(ResolveInteger(name, &out));
  if (out.base == BaseType::kDecimal) DRIFTLESS_TRY(ResolveDecimal(name, settings, &out));
  if (out.base == BaseType::kFloat || out.base == BaseType::kDouble) {
    DRIFTLESS_TRY(ResolveFloat(name, &out));
  }
  DRIFTLESS_TRY(ResolveOther(name, settings, &out));
  out.charset = resolved.charset;
  resolved.text = PrintType(out, settings);
  return resolved;
}

LogicalType MapType(const ColumnType& type, const ServerSettings& settings) {
  const auto length = static_cast<int32_t>(std::max<int64_t>(type.length, 0));
  switch (type.base) {
    case BaseType::kTinyInt:
      if (type.is_unsigned) return LogicalType::SmallInt();
      if (type.length == 1 && settings.tinyint1_is_boolean) return LogicalType::Boolean();
      return LogicalType::TinyInt();
    case BaseType::kSmallInt:
      return type.is_unsigned ? LogicalType::Int() : LogicalType::SmallInt();
    case BaseType::kMediumInt:
    case BaseType::kYear: return LogicalType::Int();
    case BaseType::kInt: return type.is_unsigned ? LogicalType::BigInt() : LogicalType::Int();
    case BaseType::kBigInt:
      return type.is_unsigned ? LogicalType::Decimal(20, 0) : LogicalType::BigInt();
    case BaseType::kDecimal:
      if (type.length > LogicalType::kMaxDecimalPrecision) return LogicalType::String();
      return LogicalType::Decimal(length, static_cast<int32_t>(type.decimals));
    case BaseType::kFloat: return type.decimals >= 0 ? LogicalType::Double() : LogicalType::Float();
    case BaseType::kDouble: return LogicalType::Double();
    case BaseType::kBit:
      return type.length <= 1 ? LogicalType::Boolean() : LogicalType::Binary((length + 7) / 8);
    // Length 0 is no length of a CHAR or BINARY elsewhere; 1 holds its only value too.
    case BaseType::kChar: return LogicalType::Char(std::max(length, 1));
    case BaseType::kBinary: return LogicalType::Binary(std::max(length, 1));
    case BaseType::kVarChar:
      return length == 0 ? LogicalType::String() : LogicalType::VarChar(length);
    case BaseType::kVarBinary:
      return length == 0 ? LogicalType::Bytes() : LogicalType::VarBinary(length);
    case BaseType::kTinyBlob:
    case BaseType::kBlob:
    case BaseType::kMediumBlob:
    case BaseType::kLongBlob: return LogicalType::Bytes();
    case BaseType::kSet: return LogicalType::Array(LogicalType::String());
    case BaseType::kVector: return LogicalType::Array(LogicalType::Float());
    case BaseType::kDate: return LogicalType::Date();
    case BaseType::kTime: return LogicalType::Time(length);
    case BaseType::kDateTime: return LogicalType::Timestamp(length);
    case BaseType::kTimestamp: return LogicalType::TimestampLtz(length);
    default: return LogicalType::String();  // texts, ENUM, JSON, geometries, UUID, INET, XML
  }
}

void SetColumnType(const ResolvedType& resolved, const ServerSettings& settings, Column* column) {
  column->type = MapType(resolved.type, settings).WithNullability(column->type.nullable());
  column->source.type_text = resolved.text;
  column->source.charset = resolved.charset.charset;
  column->source.collation = resolved.charset.collation;
  column->source.enum_values = resolved.type.members;
  column->source.is_unsigned = resolved.type.is_unsigned;
}

}  // namespace driftless::mysql
