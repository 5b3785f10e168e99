#include <algorithm>
#include <charconv>
#include <cstring>

#include "schema/types/decimal.h"
#include "schema/types/time.h"
#include "sinks/formats/debezium_json/geometry.h"
#include "sinks/formats/debezium_json/value_plan.h"

// Values of Canal's messages, all of them strings, and what MySQL's readers share: zero dates, and
// ENUM, SET and BIT as numbers.
namespace driftless::debezium {
namespace {

bool ReadUnsigned(std::string_view text, uint64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// Characters up to U+00FF to the bytes of their numbers. False where there is another one.
bool Latin1Bytes(std::string_view text, std::string* out) {
  out->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      *out += text[i];
    } else if ((c == 0xC2 || c == 0xC3) && i + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[++i]);
      *out += static_cast<char>((c & 3) << 6 | (next & 0x3F));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

// 0000-00-00 and dates with a month or day of zero are no dates: NULL where the column can be, else
// the epoch, as from the binary log.
bool ValueDecoder::AppendZeroDate(const ValuePlan& plan, ColumnBuilder* column) {
  if (plan.nullable) {
    column->AppendNull();
  } else {
    column->AppendInt(0);
  }
  return true;
}

bool ValueDecoder::DecodeSetList(JsonCursor* cursor, ColumnBuilder* column) {
  JsonArrayWalk walk(cursor);
  while (walk.Next()) {
    std::string_view member;
    if (!ReadJsonString(cursor->Token(), &scratch_, &member)) {
      return Fail("the members of a SET were expected");
    }
    column->child(0).AppendBytes(member);
    cursor->Advance();
  }
  if (walk.failed()) return Fail("the members of a SET were expected");
  column->CloseList();
  return true;
}

bool ValueDecoder::DecodeQuoted(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column) {
  std::string_view text;
  if (!ReadJsonString(cursor->Token(), &scratch_, &text)) {
    return Fail("the string is malformed, or has half of a surrogate pair");
  }
  cursor->Advance();
  switch (plan.kind) {
    case ValueKind::kBoolean: return DecodeBoolean(plan, text, column);
    case ValueKind::kInteger: return DecodeInteger(plan, text, column);
    case ValueKind::kFloat:
    case ValueKind::kDouble: return DecodeFloating(plan, text, column);
    case ValueKind::kDecimal: {
      Int128 value = 0;
      if (ParseDecimal(text, plan.precision, plan.scale, &value) != DecimalText::kOk) {
        return Fail("a number of the column's precision and scale was expected here");
      }
      column->AppendInt128(value);
      return true;
    }
    case ValueKind::kText:
    case ValueKind::kBits:
    case ValueKind::kSet: return DecodeMembers(plan, text, column);
    case ValueKind::kDecimalText:
    case ValueKind::kTimeText: column->AppendBytes(text); return true;
    case ValueKind::kDate:
    case ValueKind::kTime:
    case ValueKind::kTimestamp: return DecodeQuotedTime(plan, text, column);
    case ValueKind::kBytes:
    case ValueKind::kGeometryText:
    case ValueKind::kGeometryBytes: return DecodeLatin1(plan, text, column);
    case ValueKind::kList:
    case ValueKind::kMap:
    case ValueKind::kRow: break;
  }
  return Fail("lists, maps and structs as text are not read");
}

// ENUM is the number of its member from 1 (0 is MySQL's ''), SET a bit for each, BIT a number.
bool ValueDecoder::DecodeMembers(const ValuePlan& plan, std::string_view text,
                                 ColumnBuilder* column) {
  uint64_t number = 0;
  const bool is_number = ReadUnsigned(text, &number);
  if (plan.kind == ValueKind::kBits) {
    // Programs that write Canal's form have no numbers here, but the bytes.
    if (plan.wire == Wire::kCanal && !plan.members_are_numbers) {
      return DecodeLatin1(plan, text, column);
    }
    if (!is_number) return Fail("a number was expected for a BIT value");
    const auto length = static_cast<size_t>(std::max(plan.length, 1));
    if (length < sizeof number && number >> (8 * length) != 0) {
      return Fail("there are more bits than fit");
    }
    uint8_t* bytes = column->AppendUninitialized(length);
    for (size_t i = 0; i < length; ++i) {
      const size_t shift = 8 * (length - 1 - i);
      bytes[i] = shift >= 64 ? 0 : static_cast<uint8_t>(number >> shift);
    }
    return true;
  }
  const bool counts = plan.members_are_numbers && is_number;
  if (plan.kind == ValueKind::kSet) {
    if (!counts) {
      for (size_t at = 0; at < text.size();) {
        const size_t comma = std::min(text.find(',', at), text.size());
        column->child(0).AppendBytes(text.substr(at, comma - at));
        at = comma + 1;
      }
    } else {
      if (plan.members.size() < 64 && number >> plan.members.size() != 0) {
        return Fail("the SET has no such member");
      }
      for (size_t i = 0; i < plan.members.size(); ++i) {
        if ((number >> i & 1) != 0) column->child(0).AppendBytes(plan.members[i]);
      }
    }
    column->CloseList();
    return true;
  }
  if (!counts || plan.members.empty()) {
    column->AppendBytes(text);
    return true;
  }
  if (number > plan.members.size()) return Fail("the ENUM has no such member");
  column->AppendBytes(number == 0 ? std::string_view() : plan.members[number - 1]);
  return true;
}

bool ValueDecoder::DecodeQuotedTime(const ValuePlan& plan, std::string_view text,
                                    ColumnBuilder* column) {
  if (plan.kind == ValueKind::kDate) {
    int64_t days = 0;
    const TimeText read = ParseDate(text, &days);
    if (read == TimeText::kZero) return AppendZeroDate(plan, column);
    if (read != TimeText::kOk || days != static_cast<int32_t>(days)) {
      return Fail("a date was expected here");
    }
    column->AppendInt(days);
    return true;
  }
  if (plan.kind == ValueKind::kTime) {
    int64_t nanos = 0;
    bool inexact = false;
    if (ParseTime(text, &nanos, &inexact) != TimeText::kOk || inexact) {
      return Fail("a time was expected here");
    }
    column->AppendInt(plan.nanos ? nanos : nanos / 1000);  // exact: MySQL has microseconds at most
    return true;
  }
  ParsedTimestamp parsed;
  const TimeText read = ParseTimestamp(text, &parsed);
  if (read == TimeText::kZero) return AppendZeroDate(plan, column);
  int64_t value = 0;
  if (read != TimeText::kOk || !(plan.nanos ? ToNanos(parsed, &value) : ToMicros(parsed, &value))) {
    return Fail("a timestamp was expected here");
  }
  if (plan.is_moment && !parsed.has_zone) {
    value = LocalToUtc(value, plan.nanos ? TimestampUnit::kNanos : TimestampUnit::kMicros, zone_);
  }
  column->AppendInt(value);
  return true;
}

bool ValueDecoder::DecodeLatin1(const ValuePlan& plan, std::string_view text,
                                ColumnBuilder* column) {
  if (plan.kind == ValueKind::kGeometryText && text.starts_with('{')) {  // our own sink's text
    column->AppendBytes(text);
    return true;
  }
  if (!Latin1Bytes(text, &bytes_)) {
    return Fail("bytes as ISO-8859-1 characters were expected here");
  }
  if (plan.kind != ValueKind::kGeometryText) {
    column->AppendBytes(bytes_);
    return true;
  }
  // MySQL's own form: the SRID, then WKB.
  uint32_t srid = 0;
  if (bytes_.size() < sizeof srid) return Fail("the geometry is too short");
  std::memcpy(&srid, bytes_.data(), sizeof srid);
  std::string json;
  if (!AppendGeometryJson(std::string_view(bytes_).substr(sizeof srid), srid, &json)) {
    return Fail("the geometry's wkb is not understood");
  }
  column->AppendBytes(json);
  return true;
}

}  // namespace driftless::debezium
