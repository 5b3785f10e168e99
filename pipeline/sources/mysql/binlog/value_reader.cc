#include <fmt/format.h>

#include <arpa/inet.h>

#include <bit>
#include <cmath>

#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "pipeline/sources/mysql/binlog/column_plan.h"
#include "pipeline/sources/mysql/binlog/gtid_set.h"
#include "pipeline/sources/mysql/binlog/inflate.h"
#include "pipeline/sources/mysql/binlog/json_binary.h"
#include "pipeline/sources/mysql/binlog/packed.h"
#include "schema/types/time.h"
#include "sinks/formats/debezium_json/geometry.h"

namespace driftless::mysql {
namespace {

std::string_view View(const uint8_t* at, size_t size) {
  return {reinterpret_cast<const char*>(at), size};
}

uint64_t Integer(const uint8_t* at, const ColumnPlan& plan) {
  const uint64_t value = LoadLittle(at, plan.width);
  if (plan.is_unsigned || plan.width == 8) return value;
  const int shift = 64 - 8 * plan.width;
  return static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
}

// The number of D digits that is nearest: what the server prints of a FLOAT(M,D).
double Rounded(float value, int digits) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, static_cast<double>(value));
  return std::strtod(buffer, nullptr);
}

void AppendMoment(Stored stored, int64_t value, const ColumnPlan& plan, ColumnBuilder* column) {
  if (stored == Stored::kZeroDate && plan.is_nullable) {
    column->AppendNull();
  } else {
    column->AppendInt(stored == Stored::kZeroDate ? 0 : value);
  }
}

// The network bytes of UUID and INET, filled up with the zeros that the log leaves out.
bool Padded(const ColumnPlan& plan, std::string_view bytes, uint8_t (&out)[16]) {
  if (bytes.size() > plan.length) return false;
  std::memset(out, 0, sizeof out);
  std::memcpy(out, bytes.data(), bytes.size());
  return true;
}

}  // namespace

bool ValueReader::Append(ColumnPlan* plan, const uint8_t* at, size_t size, ColumnBuilder* column) {
  switch (plan->kind) {
    case ValueKind::kInteger: column->AppendFixed(Integer(at, *plan)); return true;
    case ValueKind::kBoolean: column->AppendBit(LoadLittle(at, plan->width) != 0); return true;
    case ValueKind::kUnsigned: {
      const uint64_t value = Integer(at, *plan);
      column->AppendInt128(plan->is_unsigned ? static_cast<Int128>(value)
                                             : static_cast<Int128>(static_cast<int64_t>(value)));
      return true;
    }
    case ValueKind::kYear: column->AppendInt(at[0] == 0 ? 0 : 1900 + at[0]); return true;
    case ValueKind::kFloat: column->AppendFixed(LoadLittle(at, 4)); return true;
    case ValueKind::kRoundedFloat: {
      const auto value = std::bit_cast<float>(static_cast<uint32_t>(LoadLittle(at, 4)));
      column->AppendDouble(plan->scale < 0 ? static_cast<double>(value)
                                           : Rounded(value, plan->scale));
      return true;
    }
    case ValueKind::kDouble: column->AppendFixed(LoadLittle(at, 8)); return true;
    case ValueKind::kDecimal: {
      Int128 value = 0;
      if (!ReadPackedDecimal(at, plan->digits, plan->scale, &value)) {
        return Fail("the decimal has a group of more digits than it can have");
      }
      column->AppendInt128(value);
      return true;
    }
    case ValueKind::kDecimalText:
      scratch_.clear();
      if (!AppendPackedDecimal(at, plan->digits, plan->scale, &scratch_)) {
        return Fail("the decimal has a group of more digits than it can have");
      }
      column->AppendBytes(scratch_);
      return true;
    case ValueKind::kEnum: {
      const uint64_t index = LoadLittle(at, plan->width);
      if (index > plan->members.size()) return Fail("the ENUM has no member of this number");
      // 0 is the empty string that the server keeps for a value that was not allowed.
      column->AppendBytes(index == 0 ? std::string_view() : plan->members[index - 1]);
      return true;
    }
    case ValueKind::kSet: return AppendSet(*plan, LoadLittle(at, plan->width), column);
    case ValueKind::kBits: column->AppendBytes(View(at, size)); return true;
    case ValueKind::kDate:
    case ValueKind::kDateTime:
    case ValueKind::kTimestamp:
    case ValueKind::kTime:
    case ValueKind::kOldTimestamp:
    case ValueKind::kOldDateTime:
    case ValueKind::kOldTime:
    case ValueKind::kHiresTimestamp:
    case ValueKind::kHiresDateTime:
    case ValueKind::kHiresTime: return AppendTime(*plan, at, column);
    default: return AppendSized(plan, View(at, size), column);
  }
}

bool ValueReader::AppendTime(const ColumnPlan& plan, const uint8_t* at, ColumnBuilder* column) {
  int64_t value = 0;
  Stored stored = Stored::kMoment;
  switch (plan.kind) {
    case ValueKind::kDate: stored = ReadDate(at, &value); break;
    case ValueKind::kDateTime: stored = ReadDateTime(at, plan.digits, &value); break;
    case ValueKind::kTimestamp:
    // A timestamp with a fraction is the same in both forms.
    case ValueKind::kHiresTimestamp: stored = ReadTimestamp(at, plan.digits, &value); break;
    case ValueKind::kTime: value = ReadTime(at, plan.digits); break;
    case ValueKind::kOldTimestamp:
      value = static_cast<int64_t>(LoadLittle(at, 4)) * kMicrosPerSecond;
      if (value == 0) stored = Stored::kZeroDate;
      break;
    case ValueKind::kOldDateTime: stored = ReadOldDateTime(at, &value); break;
    case ValueKind::kOldTime: value = ReadOldTime(at); break;
    case ValueKind::kHiresDateTime: stored = ReadHiresDateTime(at, plan.digits, &value); break;
    default: value = ReadHiresTime(at, plan.digits); break;
  }
  AppendMoment(stored, value, plan, column);
  return true;
}

bool ValueReader::AppendSized(ColumnPlan* plan, std::string_view bytes, ColumnBuilder* column) {
  if (plan->is_compressed) {
    if (!InflateValue(bytes, &inflated_)) return Fail("the compressed value is malformed");
    bytes = inflated_;
  }
  uint8_t address[16];
  char text[INET6_ADDRSTRLEN];
  switch (plan->kind) {
    case ValueKind::kText: plan->transcoder->Append(bytes, column); return true;
    case ValueKind::kBytes: column->AppendBytes(bytes); return true;
    case ValueKind::kPaddedBytes: {
      if (bytes.size() > plan->length) return Fail("the BINARY is longer than its column");
      uint8_t* to = column->AppendUninitialized(plan->length);
      std::memset(to + bytes.size(), 0, plan->length - bytes.size());
      std::memcpy(to, bytes.data(), bytes.size());
      return true;
    }
    case ValueKind::kJson:
      scratch_.clear();
      if (!AppendJsonText(bytes, &scratch_)) return Fail("the binary JSON is malformed");
      column->AppendBytes(scratch_);
      return true;
    case ValueKind::kGeometry: return AppendGeometry(bytes, column);
    case ValueKind::kVector: return AppendVector(bytes, column);
    default: break;
  }
  if (!Padded(*plan, bytes, address)) return Fail("the address or UUID is too long");
  if (plan->kind == ValueKind::kUuid) {
    Uuid uuid;
    std::memcpy(uuid.data(), address, uuid.size());
    column->AppendBytes(UuidText(uuid));
    return true;
  }
  const int family = plan->kind == ValueKind::kInet4 ? AF_INET : AF_INET6;
  if (inet_ntop(family, address, text, sizeof text) == nullptr) return Fail("no address");
  column->AppendBytes(text);
  return true;
}

bool ValueReader::AppendPatchedJson(std::string_view document, std::string_view differences,
                                    ColumnBuilder* column) {
  scratch_.clear();
  if (!AppendPatchedJsonText(document, differences, &scratch_)) {
    return Fail("the differences of the JSON do not fit the value before them");
  }
  column->AppendBytes(scratch_);
  return true;
}

bool ValueReader::AppendSet(const ColumnPlan& plan, uint64_t bits, ColumnBuilder* column) {
  if (plan.members.size() < 64 && (bits >> plan.members.size()) != 0) {
    return Fail("the SET has no member of this number");
  }
  for (; bits != 0; bits &= bits - 1) {
    column->child(0).AppendBytes(plan.members[static_cast<size_t>(std::countr_zero(bits))]);
  }
  column->CloseList();
  return true;
}

bool ValueReader::AppendGeometry(std::string_view bytes, ColumnBuilder* column) {
  if (bytes.size() < 4) return Fail("the geometry is malformed");
  const auto srid =
      static_cast<int64_t>(LoadLittle(reinterpret_cast<const uint8_t*>(bytes.data()), 4));
  scratch_.clear();
  if (!debezium::AppendGeometryJson(bytes.substr(4), srid, &scratch_)) {
    return Fail("the geometry is malformed");
  }
  column->AppendBytes(scratch_);
  return true;
}

bool ValueReader::AppendVector(std::string_view bytes, ColumnBuilder* column) {
  if (bytes.size() % 4 != 0) return Fail("the vector is malformed");
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  for (size_t i = 0; i < bytes.size(); i += 4) column->child(0).AppendFixed(LoadLittle(at + i, 4));
  column->CloseList();
  return true;
}

}  // namespace driftless::mysql
