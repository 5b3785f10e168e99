#include "sinks/iceberg/partition.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "schema/types/decimal.h"
#include "schema/types/time.h"
#include "sinks/iceberg/single_value.h"

namespace driftless::iceberg {
namespace {

// "bucket[16]" -> ("bucket", 16).
bool SplitTransform(std::string_view text, std::string_view* name, int64_t* width) {
  const size_t open = text.find('[');
  *name = text.substr(0, open);
  if (open == std::string_view::npos) return true;
  const auto [end, error] =
      std::from_chars(text.data() + open + 1, text.data() + text.size(), *width);
  return error == std::errc() && end + 1 == text.data() + text.size() && *end == ']' && *width > 0;
}

int64_t FloorDiv(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - static_cast<int64_t>(value % divisor < 0);
}

int64_t Days(const LogicalType& type, const ColumnView& view, int64_t row) {
  if (type.kind() == TypeKind::kDate) return view.Fixed<int32_t>(row);
  const int64_t per_day = type.IsNanos() ? 86'400'000'000'000 : 86'400'000'000;
  return FloorDiv(view.Fixed<int64_t>(row), per_day);
}

// Years and months since 1970 of a day (proleptic Gregorian calendar).
void YearAndMonth(int64_t days, int64_t* years, int64_t* months) {
  const int64_t z = days + 719468;
  const int64_t era = FloorDiv(z, 146097);
  const int64_t doe = z - era * 146097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const int64_t mp = (5 * doy + 2) / 153;
  const int64_t month = mp < 10 ? mp + 3 : mp - 9;
  *years = yoe + era * 400 + (month <= 2 ? 1 : 0) - 1970;
  *months = *years * 12 + month - 1;
}

std::string Int32(int64_t value) {
  const auto narrow = static_cast<int32_t>(value);
  return std::string(reinterpret_cast<const char*>(&narrow), sizeof narrow);
}

int64_t FloorMod(int64_t value, int64_t width) { return ((value % width) + width) % width; }

std::string Truncated(const LogicalType& type, int64_t width, const ColumnView& view, int64_t row) {
  switch (type.kind()) {
    case TypeKind::kInt: {
      const int64_t value = view.Fixed<int32_t>(row);
      return Int32(value - FloorMod(value, width));
    }
    case TypeKind::kBigInt: {
      const auto value = view.Fixed<int64_t>(row);
      const auto cut = static_cast<int64_t>(static_cast<uint64_t>(value) -
                                            static_cast<uint64_t>(FloorMod(value, width)));
      return std::string(reinterpret_cast<const char*>(&cut), sizeof cut);
    }
    case TypeKind::kDecimal: {
      const auto value = view.Fixed<__int128>(row);
      return DecimalBytes(value - ((value % width) + width) % width);
    }
    default: return TruncateLower(type, view.Bytes(row), static_cast<size_t>(width));
  }
}

void AppendEscaped(std::string_view text, std::string* out) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '*';
    if (plain) {
      *out += c;
    } else {
      *out += '%';
      *out += kDigits[byte >> 4];
      *out += kDigits[byte & 15];
    }
  }
}

template <typename T>
T Value(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

// For directory names, which nobody reads back.
std::string ValueText(std::string_view transform, const LogicalType& type, std::string_view bytes) {
  std::string text;
  if (transform == "year") return std::to_string(Value<int32_t>(bytes) + 1970);
  switch (type.kind()) {
    case TypeKind::kBoolean: return bytes == std::string_view("\1", 1) ? "true" : "false";
    case TypeKind::kInt: return std::to_string(Value<int32_t>(bytes));
    case TypeKind::kDate: AppendDate(Value<int32_t>(bytes), &text); return text;
    case TypeKind::kFloat: return std::to_string(Value<float>(bytes));
    case TypeKind::kDouble: return std::to_string(Value<double>(bytes));
    case TypeKind::kDecimal:
      AppendDecimal(DecimalFromBytes(bytes), type.scale(), &text);
      return text;
    case TypeKind::kVarChar: return std::string(bytes);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
      for (const char c : bytes) {
        static constexpr char kHex[] = "0123456789abcdef";
        text += kHex[static_cast<uint8_t>(c) >> 4];
        text += kHex[static_cast<uint8_t>(c) & 15];
      }
      return text;
    default: return std::to_string(Value<int64_t>(bytes));
  }
}

}  // namespace

Result<LogicalType> TransformResult(std::string_view transform, const LogicalType& source) {
  std::string_view name;
  int64_t width = 0;
  const bool parsed = SplitTransform(transform, &name, &width);
  const bool has_date = source.kind() == TypeKind::kDate || source.IsTimestamp();
  if (parsed && !source.IsNested()) {
    if (name == "identity" || name == "void") return source.Nullable();
    if (name == "bucket" && width > 0 && source.kind() != TypeKind::kBoolean &&
        source.kind() != TypeKind::kFloat && source.kind() != TypeKind::kDouble) {
      return LogicalType::Int();
    }
    const bool cuts = source.kind() == TypeKind::kInt || source.kind() == TypeKind::kBigInt ||
                      source.kind() == TypeKind::kDecimal || source.IsCharacter() ||
                      source.kind() == TypeKind::kVarBinary;
    if (name == "truncate" && width > 0 && cuts) return source.Nullable();
    if (has_date && (name == "year" || name == "month")) return LogicalType::Int();
    if (has_date && name == "day") return LogicalType::Date();
    if (source.IsTimestamp() && name == "hour") return LogicalType::Int();
  }
  return MakeError(ErrorKind::kUnsupported, "no partition transform " + std::string(transform) +
                                                " of " + source.ToStringIgnoringNullability());
}

Result<Partitioner> Partitioner::Make(const Schema& schema, const PartitionSpec& spec,
                                      const std::vector<int>& image_columns) {
  Partitioner partitioner;
  for (const PartitionField& field : spec.fields) {
    const Field* source = schema.FindId(field.source_id);
    if (source == nullptr) {
      return MakeError(ErrorKind::kUnsupported,
                       "partition field " + field.name + " has no source column in the schema");
    }
    Part part;
    part.name = field.name;
    part.transform = field.transform;
    part.source = source->type;
    DRIFTLESS_ASSIGN_OR_RETURN(part.result, TransformResult(field.transform, source->type));
    std::string_view name;
    (void)SplitTransform(field.transform, &name, &part.width);
    part.transform = name;
    part.column = image_columns[static_cast<size_t>(source - schema.fields.data())];
    partitioner.parts_.push_back(std::move(part));
  }
  return partitioner;
}

PartitionTuple Partitioner::Of(std::span<const ColumnView> views, int64_t row) const {
  PartitionTuple tuple;
  tuple.reserve(parts_.size());
  for (const Part& part : parts_) {
    const ColumnView* view = part.column < 0 ? nullptr : &views[static_cast<size_t>(part.column)];
    if (view == nullptr || view->IsNull(row) || part.transform == "void") {
      tuple.emplace_back();
      continue;
    }
    std::string value;
    int64_t years = 0;
    int64_t months = 0;
    if (part.transform == "identity") {
      AppendSingleValue(part.source, *view, row, &value);
    } else if (part.transform == "bucket") {
      value = Int32((BucketHash(part.source, *view, row) & 0x7fffffff) % part.width);
    } else if (part.transform == "truncate") {
      value = Truncated(part.source, part.width, *view, row);
    } else if (part.transform == "day") {
      value = Int32(Days(part.source, *view, row));
    } else if (part.transform == "hour") {
      const int64_t per_hour = part.source.IsNanos() ? 3'600'000'000'000 : 3'600'000'000;
      value = Int32(FloorDiv(view->Fixed<int64_t>(row), per_hour));
    } else {
      YearAndMonth(Days(part.source, *view, row), &years, &months);
      value = Int32(part.transform == "year" ? years : months);
    }
    tuple.emplace_back(std::move(value));
  }
  return tuple;
}

std::string Partitioner::Path(const PartitionTuple& tuple) const {
  std::string path;
  for (size_t i = 0; i < parts_.size(); ++i) {
    AppendEscaped(parts_[i].name, &path);
    path += '=';
    AppendEscaped(tuple[i] ? ValueText(parts_[i].transform, parts_[i].result, *tuple[i]) : "null",
                  &path);
    path += '/';
  }
  return path;
}

bool IsUnpartitioned(const PartitionSpec& spec) {
  return std::ranges::all_of(spec.fields,
                             [](const PartitionField& field) { return field.transform == "void"; });
}

std::string TupleKey(const PartitionTuple& tuple) {
  std::string key;
  for (const auto& value : tuple) {
    key += value ? std::to_string(value->size()) + ":" + *value : "-";
  }
  return key;
}

Result<PartitionField> ParsePartitionExpression(std::string_view text, std::string* source) {
  PartitionField field;
  const size_t open = text.find('(');
  if (open == std::string_view::npos) {
    *source = std::string(text);
    field.transform = "identity";
    field.name = *source;
    return field;
  }
  std::string_view name;
  int64_t width = 0;
  if (!text.ends_with(')') || !SplitTransform(text.substr(0, open), &name, &width) ||
      (width > 0) != (name == "bucket" || name == "truncate")) {
    return MakeError(ErrorKind::kInvalidConfig,
                     "\"" + std::string(text) + "\" is no partition expression")
        .Hint(
            "Write a column, year(c), month(c), day(c), hour(c), bucket[16](c) or "
            "truncate[4](c).");
  }
  *source = std::string(text.substr(open + 1, text.size() - open - 2));
  field.transform = std::string(text.substr(0, open));
  const std::string suffix = name == "truncate" ? "trunc" : std::string(name);
  field.name = *source + "_" + suffix;
  return field;
}

}  // namespace driftless::iceberg
