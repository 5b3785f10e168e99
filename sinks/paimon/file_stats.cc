#include "sinks/paimon/file_stats.h"

#include "sinks/lake/key_order.h"
#include "sinks/paimon/binary_row.h"
#include "sinks/paimon/physical_value.h"

namespace driftless::paimon {
namespace {

constexpr size_t kValueStatsLength = 16;  // metadata.stats-mode = truncate(16)
constexpr size_t kKeyStatsLength = 128;

// The first `length` characters. `*cut` says that something was left out.
std::string CutText(const std::string& text, size_t length, bool* cut) {
  size_t at = 0;
  for (size_t characters = 0; at < text.size(); ++characters) {
    if (characters == length) {
      *cut = true;
      return text.substr(0, at);
    }
    ++at;
    while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) ++at;
  }
  *cut = false;
  return text;
}

// An upper bound of at most `length` characters: the last character that can grow does so. Returns
// false where none can.
bool RoundUpText(const std::string& text, size_t length, std::string* bound) {
  bool cut = false;
  *bound = CutText(text, length, &cut);
  if (!cut) return true;
  // Only ASCII characters are raised: the next code point of others may not be a character.
  while (!bound->empty()) {
    const auto last = static_cast<uint8_t>(bound->back());
    if (last < 0x7F) {
      bound->back() = static_cast<char>(last + 1);
      return true;
    }
    bound->pop_back();
  }
  return false;
}

// Puts one bound into a statistics row; null where it is not known.
void SetBound(BinaryRowBuilder* row, int field, const LogicalType& type,
              const lake::ColumnBounds& bounds, bool is_max, size_t text_length) {
  const auto& value = is_max ? bounds.max : bounds.min;
  if (!bounds.has_bounds) {
    row->SetNullOf(field, type);
    return;
  }
  switch (type.kind()) {
    case TypeKind::kBoolean:
    case TypeKind::kTinyInt:
      row->SetFixed(field, static_cast<uint64_t>(std::get<int64_t>(value)), 1);
      return;
    case TypeKind::kSmallInt:
      row->SetFixed(field, static_cast<uint64_t>(std::get<int64_t>(value)), 2);
      return;
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kTime:
      row->SetFixed(field, static_cast<uint64_t>(std::get<int64_t>(value)), 4);
      return;
    case TypeKind::kBigInt:
      row->SetFixed(field, static_cast<uint64_t>(std::get<int64_t>(value)), 8);
      return;
    case TypeKind::kDecimal:
      if (std::holds_alternative<int64_t>(value) && type.precision() <= 18) {
        row->SetFixed(field, static_cast<uint64_t>(std::get<int64_t>(value)), 8);
        return;
      }
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      const int64_t stored = std::get<int64_t>(value);
      if (type.precision() <= 3) {
        row->SetFixed(field, static_cast<uint64_t>(stored), 8);
      } else {
        const TimestampParts parts = SplitTimestamp(LogicalType::Timestamp(6), stored);
        row->SetWideTimestamp(field, parts.millis, parts.nanos_of_milli);
      }
      return;
    }
    case TypeKind::kChar:
    case TypeKind::kVarChar: {
      const std::string& text = std::get<std::string>(value);
      bool cut = false;
      std::string bound;
      if (!is_max) {
        row->SetBytes(field, CutText(text, text_length, &cut));
        return;
      }
      if (RoundUpText(text, text_length, &bound)) {
        row->SetBytes(field, bound);
        return;
      }
      break;
    }
    default: break;
  }
  row->SetNullOf(field, type);
}

// Whether SetBound can say something about a column of this type. NaN has no place in Parquet's
// bounds of floating point columns, so those have none here.
bool HasValueStats(const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
    case TypeKind::kTimestampTz:
    case TypeKind::kVariant: return false;
    case TypeKind::kDecimal: return type.precision() <= 18;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return !type.IsNanos();
    default: return !type.IsNested();
  }
}

SimpleStats MakeStats(const std::vector<LogicalType>& types,
                      const std::vector<lake::ColumnBounds>& bounds, size_t text_length) {
  SimpleStats stats;
  BinaryRowBuilder low(static_cast<int>(types.size()));
  BinaryRowBuilder high(static_cast<int>(types.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    const int field = static_cast<int>(i);
    SetBound(&low, field, types[i], bounds[i], /*is_max=*/false, text_length);
    SetBound(&high, field, types[i], bounds[i], /*is_max=*/true, text_length);
    stats.null_counts.push_back(bounds[i].null_count);
  }
  stats.min_values = low.Serialized();
  stats.max_values = high.Serialized();
  return stats;
}

// Copies the field of a one-field row into a row of many.
Result<void> CopyField(const LogicalType& type, const std::string& from, int field,
                       BinaryRowBuilder* to) {
  DRIFTLESS_ASSIGN_OR_RETURN(const BinaryRowView view, BinaryRowView::Parse(from, 1));
  if (view.IsNull(0)) {
    to->SetNullOf(field, type);
    return {};
  }
  if (type.physical() == PhysicalKind::kVariable) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view bytes, view.Bytes(0));
    to->SetBytes(field, bytes);
  } else if (type.kind() == TypeKind::kDecimal && type.precision() > 18) {
    DRIFTLESS_ASSIGN_OR_RETURN(const __int128 value, view.Decimal(0, type.precision()));
    to->SetWideDecimal(field, value);
  } else if (type.IsTimestamp() && type.precision() > 3) {
    int32_t nanos = 0;
    DRIFTLESS_ASSIGN_OR_RETURN(const int64_t millis,
                               view.TimestampMillis(0, type.precision(), &nanos));
    to->SetWideTimestamp(field, millis, nanos);
  } else {
    to->SetFixed(field, view.Fixed<uint64_t>(0), 8);
  }
  return {};
}

}  // namespace

Result<void> WidenKeyBounds(const KeyLayout& layout, const FileRows& rows, size_t begin, size_t end,
                            std::vector<KeyBounds>* bounds) {
  bounds->resize(layout.keys.size());
  for (size_t k = 0; k < layout.keys.size(); ++k) {
    const auto column = static_cast<size_t>(layout.keys[k]);
    const LogicalType& type = layout.key_types[k];
    lake::RowRef min = rows.rows[begin];
    lake::RowRef max = rows.rows[k == 0 ? end - 1 : begin];  // the first column is sorted
    for (size_t i = begin; k > 0 && i < end; ++i) {
      const lake::RowRef ref = rows.rows[i];
      const auto compare = [&](lake::RowRef a, lake::RowRef b) {
        return lake::CompareValues(type, rows.images[a.image].columns[column], a.row,
                                   rows.images[b.image].columns[column], b.row);
      };
      if (compare(ref, min) < 0) min = ref;
      if (compare(max, ref) < 0) max = ref;
    }
    const auto row_of = [&](lake::RowRef ref, bool is_max) {
      BinaryRowBuilder row(1);
      const ColumnView& view = rows.images[ref.image].columns[column];
      if (type.IsCharacter()) {
        lake::ColumnBounds text;
        text.has_bounds = true;
        text.min = text.max = std::string(view.Bytes(ref.row));
        SetBound(&row, 0, type, text, is_max, kKeyStatsLength);
      } else {
        row.SetFromColumn(0, type, view, ref.row);
      }
      return row.Serialized();
    };
    KeyBounds& known = (*bounds)[k];
    std::string low = row_of(min, false);
    std::string high = row_of(max, true);
    if (known.low.empty()) {
      known = {std::move(low), std::move(high)};
      continue;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const int lower, CompareBinaryRows({type}, low, known.low));
    if (lower < 0) known.low = std::move(low);
    DRIFTLESS_ASSIGN_OR_RETURN(const int higher, CompareBinaryRows({type}, known.high, high));
    if (higher < 0) known.high = std::move(high);
  }
  return {};
}

Result<SimpleStats> KeyStats(const KeyLayout& layout, const std::vector<KeyBounds>& bounds) {
  SimpleStats stats;
  BinaryRowBuilder low(static_cast<int>(bounds.size()));
  BinaryRowBuilder high(static_cast<int>(bounds.size()));
  for (size_t k = 0; k < bounds.size(); ++k) {
    const int field = static_cast<int>(k);
    DRIFTLESS_TRY(CopyField(layout.key_types[k], bounds[k].low, field, &low));
    DRIFTLESS_TRY(CopyField(layout.key_types[k], bounds[k].high, field, &high));
    stats.null_counts.emplace_back(0);
  }
  stats.min_values = low.Serialized();
  stats.max_values = high.Serialized();
  return stats;
}

void FillValueStats(const PaimonSchema& schema, const lake::ParquetSummary& summary,
                    DataFileMeta* meta) {
  std::vector<LogicalType> types;
  std::vector<lake::ColumnBounds> bounds;
  meta->value_stats_cols.emplace();
  const size_t first = summary.columns.size() - schema.fields.size();
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const PaimonField& field = schema.fields[i];
    if (!HasValueStats(field.type)) continue;
    types.push_back(field.type);
    bounds.push_back(summary.columns[first + i]);
    meta->value_stats_cols->push_back(field.name);
  }
  meta->value_stats = MakeStats(types, bounds, kValueStatsLength);
}

}  // namespace driftless::paimon
