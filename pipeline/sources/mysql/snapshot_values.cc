#include "pipeline/sources/mysql/snapshot_values.h"

#include <charconv>
#include <cstring>

#include "pipeline/sources/mysql/connection.h"
#include "schema/types/decimal.h"
#include "schema/types/time.h"
#include "sinks/formats/debezium_json/geometry.h"

namespace driftless::mysql {
namespace {

bool IsGeometry(std::string_view type) {
  return type.starts_with("geom") || type.starts_with("point") || type.starts_with("linestring") ||
         type.starts_with("polygon") || type.starts_with("multi");
}

template <typename Number>
bool Read(std::string_view text, Number* number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && stop == text.data() + text.size();
}

}  // namespace

SnapshotColumn::SnapshotColumn(const Column& column)
    : type_(column.type), expression_(QuoteName(column.name)) {
  const std::string_view text = column.source.type_text;
  switch (type_.kind()) {
    case TypeKind::kBoolean: kind_ = text.starts_with("bit") ? Kind::kBit1 : Kind::kBoolean; break;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt: kind_ = Kind::kInteger; break;
    case TypeKind::kFloat:
      // As text the server gives a FLOAT six digits; as a DOUBLE all of them. An addition would
      // lose the sign of -0.
      kind_ = Kind::kFloat;
      expression_ += " * 1.0e0";
      break;
    case TypeKind::kDouble:
      // FLOAT(M,D) is one, too: as text it has its D digits, as the log's values are given.
      // DOUBLE(M,D) would have D digits as well; the log has all of them.
      kind_ = Kind::kDouble;
      if (text.starts_with("double(") || text.starts_with("real(")) expression_ += " * 1.0e0";
      break;
    case TypeKind::kDecimal: kind_ = Kind::kDecimal; break;
    case TypeKind::kDate: kind_ = Kind::kDate; break;
    case TypeKind::kTime: kind_ = Kind::kTime; break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: kind_ = Kind::kTimestamp; break;
    case TypeKind::kArray: kind_ = text.starts_with("vector") ? Kind::kVector : Kind::kSet; break;
    default: kind_ = IsGeometry(text) ? Kind::kGeometry : Kind::kBytes; break;
  }
}

// 0000-00-00 and dates with a month or day of zero are no dates: NULL where the column can be, else
// the epoch.
void SnapshotColumn::AppendZeroDate(ColumnBuilder* out) const {
  if (type_.nullable()) {
    out->AppendNull();
  } else {
    out->AppendInt(0);
  }
}

bool SnapshotColumn::AppendTimestamp(std::string_view text, ColumnBuilder* out) const {
  ParsedTimestamp parsed;
  const TimeText read = ParseTimestamp(text, &parsed);
  int64_t value = 0;
  if (read == TimeText::kZero) {
    AppendZeroDate(out);
    return true;
  }
  if (read != TimeText::kOk || !ToMicros(parsed, &value)) return false;
  out->AppendInt(value);
  return true;
}

bool SnapshotColumn::Append(std::string_view text, ColumnBuilder* out) {
  int64_t number = 0;
  switch (kind_) {
    case Kind::kBoolean:
      if (!Read(text, &number)) return false;
      out->AppendBit(number != 0);
      return true;
    case Kind::kBit1: out->AppendBit(!text.empty() && text.back() != 0); return true;
    case Kind::kInteger:
      if (!Read(text, &number)) return false;
      out->AppendInt(number);
      return true;
    case Kind::kFloat:
    case Kind::kDouble: {
      double value = 0;
      if (!Read(text, &value)) return false;
      kind_ == Kind::kFloat ? out->AppendFloat(static_cast<float>(value))
                            : out->AppendDouble(value);
      return true;
    }
    case Kind::kDecimal: {
      Int128 value = 0;
      if (ParseDecimal(text, type_.precision(), type_.scale(), &value) != DecimalText::kOk) {
        return false;
      }
      out->AppendInt128(value);
      return true;
    }
    case Kind::kBytes: out->AppendBytes(text); return true;
    case Kind::kGeometry: {
      // The server's own form: the SRID, then WKB, as in the log.
      if (text.size() < 4) return false;
      uint32_t srid = 0;
      std::memcpy(&srid, text.data(), sizeof srid);
      std::string json;
      if (!debezium::AppendGeometryJson(text.substr(4), srid, &json)) return false;
      out->AppendBytes(json);
      return true;
    }
    case Kind::kDate: {
      const TimeText read = ParseDate(text, &number);
      if (read == TimeText::kZero) {
        AppendZeroDate(out);
        return true;
      }
      if (read != TimeText::kOk) return false;
      out->AppendInt(number);
      return true;
    }
    case Kind::kTime: {
      bool inexact = false;
      if (ParseTime(text, &number, &inexact) != TimeText::kOk) return false;
      // Exact: the server has microseconds at most.
      out->AppendInt(number / 1000);
      return true;
    }
    case Kind::kTimestamp: return AppendTimestamp(text, out);
    case Kind::kSet:
      while (!text.empty()) {
        const size_t comma = std::min(text.find(','), text.size());
        out->child(0).AppendBytes(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
      }
      out->CloseList();
      return true;
    case Kind::kVector:
      if (text.size() % sizeof(float) != 0) return false;
      for (size_t i = 0; i < text.size(); i += sizeof(float)) {
        float value;
        std::memcpy(&value, text.data() + i, sizeof value);
        out->child(0).AppendFloat(value);
      }
      out->CloseList();
      return true;
  }
  return false;
}

}  // namespace driftless::mysql
