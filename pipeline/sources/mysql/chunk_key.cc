#include "pipeline/sources/mysql/chunk_key.h"

#include <fmt/format.h>

#include <charconv>

#include "pipeline/sources/mysql/connection.h"
#include "schema/types/time.h"

namespace driftless::mysql {
namespace {

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return text;
}

int Sign(const auto& a, const auto& b) { return a < b ? -1 : b < a ? 1 : 0; }

Int128 FixedValue(const ColumnView& view, PhysicalKind kind, int64_t row) {
  switch (kind) {
    case PhysicalKind::kFixed8: return view.Fixed<int8_t>(row);
    case PhysicalKind::kFixed16: return view.Fixed<int16_t>(row);
    case PhysicalKind::kFixed32: return view.Fixed<int32_t>(row);
    case PhysicalKind::kFixed64: return view.Fixed<int64_t>(row);
    default: return view.Fixed<Int128>(row);
  }
}

}  // namespace

// Not ENUM and SET (ordered by number, read as text), BIT, TIME (cut at a day), floats, booleans
// (all but 0 is true) and columns of which a key has only the beginning.
std::optional<ChunkKey::Order> ChunkKey::OrderOf(const Column& column) {
  using Kind = Order::Kind;
  const std::string& text = column.source.type_text;
  for (const char* type : {"enum", "set", "bit", "tiny", "medium", "long", "text", "blob"}) {
    if (text.starts_with(type) && !text.starts_with("tinyint") && !text.starts_with("mediumint")) {
      return std::nullopt;
    }
  }
  switch (column.type.kind()) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kDecimal: return Order{Kind::kNumber, "", ""};
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return Order{Kind::kTime, "", ""};
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
      if (!text.starts_with("binary") && !text.starts_with("varbinary")) return std::nullopt;
      return Order{Kind::kBytes, "", ""};
    case TypeKind::kChar:
    case TypeKind::kVarChar:
      if (!text.starts_with("char") && !text.starts_with("varchar")) return std::nullopt;
      if (column.source.charset.empty() || column.source.collation.empty()) return std::nullopt;
      return Order{Kind::kText, column.source.charset, column.source.collation};
    default: return std::nullopt;
  }
}

Result<ChunkKey> ChunkKey::Make(const TableSchema& schema, const std::string& chosen) {
  ChunkKey key;
  key.table_ = QuoteName(schema.path.database) + "." + QuoteName(schema.path.table);
  key.schema_columns_ = schema.columns;
  const auto add = [&](size_t index) {
    std::optional<Order> order = OrderOf(schema.columns[index]);
    if (!order) return false;
    key.columns_.push_back(index);
    key.order_ += fmt::format("{} {} {} {};", schema.columns[index].id,
                              static_cast<int>(order->kind), order->charset, order->collation);
    key.orders_.push_back(std::move(*order));
    return true;
  };
  if (chosen.empty()) {
    for (const ColumnId id : schema.primary_key) {
      if (!add(static_cast<size_t>(schema.IndexOf(id)))) break;
    }
    return key;
  }
  const auto refuse = [&](std::string_view why) {
    return MakeError(ErrorKind::kInvalidConfig,
                     fmt::format("scan.incremental.snapshot.chunk.key-column: column {} of table "
                                 "{} {}",
                                 chosen, schema.path.ToString(), why))
        .Hint(
            "Name a number, date, binary or text column; where the table has a primary key, one "
            "of its columns.");
  };
  const int index = schema.IndexOfNameIgnoringCase(chosen);
  if (index < 0) return refuse("does not exist");
  // An update of another column could move a row between chunks, and the log need not say whence.
  if (!schema.primary_key.empty() && !schema.IsKey(schema.columns[index].id)) {
    return refuse("is not of its primary key");
  }
  if (!add(static_cast<size_t>(index))) return refuse("has no order that can be followed");
  return key;
}

std::string ChunkKey::Name(size_t at) const {
  return QuoteName(schema_columns_[columns_[at]].name);
}

std::string ChunkKey::Literal(size_t at, const std::string& text) const {
  switch (orders_[at].kind) {
    case Order::Kind::kNumber: return text;
    case Order::Kind::kTime: return "'" + text + "'";
    case Order::Kind::kBytes: return "x'" + Hex(text) + "'";
    case Order::Kind::kText: return "_utf8mb4 x'" + Hex(text) + "'";
  }
  return {};
}

// (a > 1) OR (a = 1 AND b > 2), with a bound on the first column that every server finds a range
// in: a comparison of rows would not use the index on all of them.
std::string ChunkKey::Condition(const ChunkBound& after, const ChunkBound& through) const {
  const auto side = [&](const ChunkBound& bound, const char* outside, const char* last) {
    std::string any;
    std::string equal;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string value = Literal(i, bound[i]);
      const bool is_last = i + 1 == columns_.size();
      any += fmt::format("{}({}{} {} {})", i == 0 ? "" : " OR ", equal, Name(i),
                         is_last ? last : outside, value);
      equal += fmt::format("{} = {} AND ", Name(i), value);
    }
    if (columns_.size() == 1) return any;
    return fmt::format("{} {}= {} AND ({})", Name(0), outside, Literal(0, bound[0]), any);
  };
  std::string text;
  if (!after.empty()) text = side(after, ">", ">");
  if (through.empty()) return text;
  std::string until = side(through, "<", "<=");
  // NULL comes before all else (only a chosen column of a table without key can be NULL).
  if (after.empty() && schema_columns_[columns_[0]].type.nullable()) {
    until = fmt::format("({} OR {} IS NULL)", until, Name(0));
  }
  return text.empty() ? until : text + " AND " + until;
}

std::string ChunkKey::BoundQuery(const ChunkBound& after, int64_t rows) const {
  std::string names;
  for (size_t i = 0; i < columns_.size(); ++i) names += (i == 0 ? "" : ", ") + Name(i);
  std::string where = Condition(after, {});
  if (where.empty() && schema_columns_[columns_[0]].type.nullable())
    where = Name(0) + " IS NOT NULL";
  return fmt::format("SELECT {} FROM {}{} ORDER BY {} LIMIT {}, 1", names, table_,
                     where.empty() ? "" : " WHERE " + where, names, rows - 1);
}

std::optional<Int128> ChunkKey::Number(size_t at, std::string_view text) const {
  const LogicalType& type = schema_columns_[columns_[at]].type;
  switch (type.kind()) {
    case TypeKind::kDecimal: {
      Int128 value = 0;
      if (ParseDecimal(text, type.precision(), type.scale(), &value) != DecimalText::kOk) return {};
      return value;
    }
    case TypeKind::kDate: {
      int64_t days = 0;
      const TimeText read = ParseDate(text, &days);
      if (read == TimeText::kZero) return Int128{INT64_MIN};
      if (read != TimeText::kOk) return {};
      return days;
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      ParsedTimestamp parsed;
      int64_t micros = 0;
      const TimeText read = ParseTimestamp(text, &parsed);
      if (read == TimeText::kZero) return Int128{INT64_MIN};
      if (read != TimeText::kOk || !ToMicros(parsed, &micros)) return {};
      return micros;
    }
    default: {
      int64_t value = 0;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || stop != text.data() + text.size()) return {};
      return value;
    }
  }
}

std::optional<int> ChunkKey::CompareColumn(size_t at, const ColumnView& view, int64_t row,
                                           const std::string& bound, KnownTextOrder* known,
                                           bool* either) const {
  if (view.IsAbsent(row)) {
    *either = true;
    return 0;
  }
  if (view.IsNull(row)) {
    // A zero date is NULL where the column can be; else NULL is before all.
    return -1;
  }
  const Order& order = orders_[at];
  if (order.kind == Order::Kind::kBytes) return Sign(view.Bytes(row), std::string_view(bound));
  if (order.kind == Order::Kind::kText) {
    return known->Find({order.charset, order.collation, std::string(view.Bytes(row)), bound});
  }
  const PhysicalKind physical = schema_columns_[columns_[at]].type.physical();
  const Int128 value = FixedValue(view, physical, row);
  const std::optional<Int128> limit = Number(at, bound);
  // A zero date of a NOT NULL column was read as the epoch.
  if (!limit || (order.kind == Order::Kind::kTime && value == 0)) {
    *either = true;
    return 0;
  }
  return Sign(value, *limit);
}

ChunkKey::Side ChunkKey::Compare(std::span<const ColumnView> image, int64_t row,
                                 const ChunkBound& bound, KnownTextOrder* known) const {
  bool either = false;
  bool unknown = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::optional<int> compared =
        CompareColumn(i, image[columns_[i]], row, bound[i], known, &either);
    if (either) return Side::kEither;
    if (!compared) {
      unknown = true;
    } else if (*compared != 0) {
      if (unknown) return Side::kUnknown;
      return *compared > 0 ? Side::kBehind : Side::kWithin;
    }
  }
  return unknown ? Side::kUnknown : Side::kWithin;
}

}  // namespace driftless::mysql
