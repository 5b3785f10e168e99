#include "config/expr/functions.h"

#include <algorithm>
#include <iterator>

#include "config/expr/typing.h"

namespace driftless::flink {
namespace {

// Sorted by name: searched by halves.
constexpr FunctionInfo kFunctions[] = {
    {"ABS", 1, 1, FunctionResult::kSameAsFirst},
    {"ACOS", 1, 1, FunctionResult::kDouble},
    {"ARRAY_CONTAINS", 2, 2, FunctionResult::kNullBoolean},
    {"ARRAY_POSITION", 2, 2, FunctionResult::kNullInt},
    {"ASCII", 1, 1, FunctionResult::kInt},
    {"ASIN", 1, 1, FunctionResult::kDouble},
    {"ATAN", 1, 1, FunctionResult::kDouble},
    {"AVG", 1, 1, FunctionResult::kSameAsFirst},
    {"BIN", 1, 1, FunctionResult::kString},
    {"BTRIM", 1, 2, FunctionResult::kString},
    {"CARDINALITY", 1, 1, FunctionResult::kInt},
    {"CEIL", 1, 2, FunctionResult::kSameAsFirst},
    {"CEILING", 1, 2, FunctionResult::kSameAsFirst},
    {"CHARACTER_LENGTH", 1, 1, FunctionResult::kInt},
    {"CHAR_LENGTH", 1, 1, FunctionResult::kInt},
    {"CHR", 1, 1, FunctionResult::kString},
    {"COALESCE", 1, -1, FunctionResult::kSameAsFirst},
    {"CONCAT", 1, -1, FunctionResult::kString},
    {"CONCAT_WS", 1, -1, FunctionResult::kString},
    {"CONVERT_TZ", 3, 3, FunctionResult::kNullString},
    {"COS", 1, 1, FunctionResult::kDouble},
    {"COUNT", 0, -1, FunctionResult::kBigInt},
    {"CURRENT_DATE", 0, 0, FunctionResult::kDate},
    {"CURRENT_ROW_TIMESTAMP", 0, 0, FunctionResult::kLtz3},
    {"CURRENT_TIME", 0, 0, FunctionResult::kTime},
    {"CURRENT_TIMESTAMP", 0, 0, FunctionResult::kLtz3},
    {"DATE_ADD", 2, 2, FunctionResult::kString},
    {"DATE_FORMAT", 2, 2, FunctionResult::kString},
    {"DATE_FORMAT_TZ", 2, 3, FunctionResult::kString},
    {"DAYOFMONTH", 1, 1, FunctionResult::kBigInt},
    {"DAYOFWEEK", 1, 1, FunctionResult::kBigInt},
    {"DAYOFYEAR", 1, 1, FunctionResult::kBigInt},
    {"DEGREES", 1, 1, FunctionResult::kDouble},
    {"ELEMENT", 1, 1, FunctionResult::kElement},
    {"ENDSWITH", 2, 2, FunctionResult::kBoolean},
    {"EXP", 1, 1, FunctionResult::kDouble},
    {"EXTRACT", 2, 2, FunctionResult::kBigInt},
    {"FLOOR", 1, 2, FunctionResult::kSameAsFirst},
    {"FROM_BASE64", 1, 1, FunctionResult::kString},
    {"FROM_BASE64_BINARY", 1, 1, FunctionResult::kBytes},
    {"FROM_UNIXTIME", 1, 2, FunctionResult::kNullString},
    {"HEX", 1, 1, FunctionResult::kString},
    {"HOUR", 1, 1, FunctionResult::kBigInt},
    {"IF", 3, 3, FunctionResult::kSameAsLast},
    {"IFNULL", 2, 2, FunctionResult::kSameAsFirst},
    {"INITCAP", 1, 1, FunctionResult::kString},
    {"INSTR", 2, 2, FunctionResult::kInt},
    {"IS_JSON", 1, 2, FunctionResult::kBoolean},
    {"JSON_EXISTS", 2, 2, FunctionResult::kNullBoolean},
    {"JSON_QUERY", 2, 2, FunctionResult::kNullString},
    {"JSON_STRING", 1, 1, FunctionResult::kNullString},
    {"JSON_VALUE", 2, 2, FunctionResult::kNullString},
    {"LAST_VALUE", 1, 1, FunctionResult::kSameAsFirst},
    {"LEFT", 2, 2, FunctionResult::kString},
    {"LN", 1, 1, FunctionResult::kDouble},
    {"LOCALTIME", 0, 0, FunctionResult::kTime},
    {"LOCALTIMESTAMP", 0, 0, FunctionResult::kTimestamp3},
    {"LOCATE", 2, 3, FunctionResult::kInt},
    {"LOG", 1, 2, FunctionResult::kDouble},
    {"LOG10", 1, 1, FunctionResult::kDouble},
    {"LOG2", 1, 1, FunctionResult::kDouble},
    {"LOWER", 1, 1, FunctionResult::kSameAsFirst},
    {"LPAD", 3, 3, FunctionResult::kNullString},
    {"LTRIM", 1, 2, FunctionResult::kString},
    {"MAX", 1, 1, FunctionResult::kSameAsFirst},
    {"MD5", 1, 1, FunctionResult::kString},
    {"MIN", 1, 1, FunctionResult::kSameAsFirst},
    {"MINUTE", 1, 1, FunctionResult::kBigInt},
    {"MOD", 2, 2, FunctionResult::kSameAsLast},
    {"MONTH", 1, 1, FunctionResult::kBigInt},
    {"NOW", 0, 0, FunctionResult::kLtz3},
    {"NULLIF", 2, 2, FunctionResult::kSameAsFirst},
    {"OVERLAY", 3, 4, FunctionResult::kString},
    {"PARSE_JSON", 1, 2, FunctionResult::kVariant},
    {"PARSE_URL", 2, 3, FunctionResult::kNullString},
    {"PI", 0, 0, FunctionResult::kDouble},
    {"POSITION", 2, 2, FunctionResult::kInt},
    {"POWER", 2, 2, FunctionResult::kDouble},
    {"PROCTIME", 0, 0, FunctionResult::kLtz3},
    {"QUARTER", 1, 1, FunctionResult::kBigInt},
    {"RADIANS", 1, 1, FunctionResult::kDouble},
    {"RAND", 0, 1, FunctionResult::kDouble},
    {"REGEXP", 2, 2, FunctionResult::kBoolean},
    {"REGEXP_COUNT", 2, 2, FunctionResult::kNullInt},
    {"REGEXP_EXTRACT", 2, 3, FunctionResult::kNullString},
    {"REGEXP_EXTRACT_ALL", 2, 3, FunctionResult::kStringArray},
    {"REGEXP_INSTR", 2, 2, FunctionResult::kNullInt},
    {"REGEXP_REPLACE", 3, 3, FunctionResult::kString},
    {"REGEXP_SUBSTR", 2, 2, FunctionResult::kNullString},
    {"REPEAT", 2, 2, FunctionResult::kString},
    {"REPLACE", 3, 3, FunctionResult::kString},
    {"REVERSE", 1, 1, FunctionResult::kString},
    {"RIGHT", 2, 2, FunctionResult::kString},
    {"ROUND", 1, 2, FunctionResult::kSameAsFirst},
    {"RPAD", 3, 3, FunctionResult::kNullString},
    {"RTRIM", 1, 2, FunctionResult::kString},
    {"SECOND", 1, 1, FunctionResult::kBigInt},
    {"SHA1", 1, 1, FunctionResult::kString},
    {"SHA224", 1, 1, FunctionResult::kString},
    {"SHA256", 1, 1, FunctionResult::kString},
    {"SHA384", 1, 1, FunctionResult::kString},
    {"SHA512", 1, 1, FunctionResult::kString},
    {"SIGN", 1, 1, FunctionResult::kSameAsFirst},
    {"SIN", 1, 1, FunctionResult::kDouble},
    {"SPLIT_INDEX", 3, 3, FunctionResult::kNullString},
    {"SQRT", 1, 1, FunctionResult::kDouble},
    {"STARTSWITH", 2, 2, FunctionResult::kBoolean},
    {"SUBSTR", 2, 3, FunctionResult::kString},
    {"SUBSTRING", 2, 3, FunctionResult::kString},
    {"SUM", 1, 1, FunctionResult::kSameAsFirst},
    {"TAN", 1, 1, FunctionResult::kDouble},
    {"TIMESTAMPADD", 3, 3, FunctionResult::kSameAsLast},
    {"TIMESTAMPDIFF", 3, 3, FunctionResult::kInt},
    {"TIMESTAMP_DIFF", 3, 3, FunctionResult::kNullInt},
    {"TO_BASE64", 1, 1, FunctionResult::kString},
    {"TO_DATE", 1, 2, FunctionResult::kNullDate},
    {"TO_TIMESTAMP", 1, 3, FunctionResult::kNullTimestamp3},
    {"TO_TIMESTAMP_LTZ", 1, 3, FunctionResult::kNullLtz3},
    {"TRIM", 1, 3, FunctionResult::kSameAsLast},
    {"TRUNCATE", 1, 2, FunctionResult::kSameAsFirst},
    {"TRY_PARSE_JSON", 1, 2, FunctionResult::kVariant},
    {"TYPEOF", 1, 2, FunctionResult::kString},
    {"UNIX_TIMESTAMP", 0, 2, FunctionResult::kBigInt},
    {"UPPER", 1, 1, FunctionResult::kSameAsFirst},
    {"URL_DECODE", 1, 1, FunctionResult::kNullString},
    {"URL_ENCODE", 1, 1, FunctionResult::kNullString},
    {"UUID", 0, 0, FunctionResult::kString},
    {"WEEK", 1, 1, FunctionResult::kBigInt},
    {"YEAR", 1, 1, FunctionResult::kBigInt},
};

LogicalType Longest(const LogicalType& type) {
  return type.kind() == TypeKind::kChar ? LogicalType::VarChar(type.length()) : type;
}

}  // namespace

const FunctionInfo* FindFunction(std::string_view upper) {
  const auto* end = std::end(kFunctions);
  const auto* found = std::lower_bound(
      std::begin(kFunctions), end, upper,
      [](const FunctionInfo& info, std::string_view name) { return info.name < name; });
  return found != end && found->name == upper ? found : nullptr;
}

bool IsBuiltInFunction(std::string_view upper) { return FindFunction(upper) != nullptr; }

const std::vector<std::string_view>& BuiltInFunctions() {
  static const std::vector<std::string_view>* const kNames = [] {
    auto* names = new std::vector<std::string_view>;
    for (const FunctionInfo& info : kFunctions) names->push_back(info.name);
    return names;
  }();
  return *kNames;
}

LogicalType FunctionType(const FunctionInfo& function, const std::vector<LogicalType>& arguments) {
  const bool nullable = std::any_of(arguments.begin(), arguments.end(),
                                    [](const LogicalType& type) { return type.nullable(); });
  switch (function.result) {
    case FunctionResult::kString: return LogicalType::String().WithNullability(nullable);
    case FunctionResult::kNullString: return LogicalType::String();
    case FunctionResult::kSameAsFirst:
      if (arguments[0].kind() == TypeKind::kDecimal &&
          (function.name == "SUM" || function.name == "AVG")) {
        const int32_t scale = arguments[0].scale();
        return LogicalType::Decimal(LogicalType::kMaxDecimalPrecision,
                                    function.name == "SUM" ? scale : std::max(scale, 6))
            .WithNullability(nullable);
      }
      return arguments[0].WithNullability(nullable || function.name == "NULLIF");
    case FunctionResult::kSameAsLast: return Longest(arguments.back()).WithNullability(nullable);
    case FunctionResult::kInt: return LogicalType::Int().WithNullability(nullable);
    case FunctionResult::kBigInt:
      return LogicalType::BigInt().WithNullability(nullable && function.name != "COUNT");
    case FunctionResult::kDouble: return LogicalType::Double().WithNullability(nullable);
    case FunctionResult::kBoolean:
      return LogicalType::Boolean().WithNullability(nullable && function.name != "IS_JSON");
    case FunctionResult::kDate: return LogicalType::Date().NotNull();
    case FunctionResult::kNullDate: return LogicalType::Date();
    case FunctionResult::kTime: return LogicalType::Time(0).NotNull();
    case FunctionResult::kNullTimestamp3: return LogicalType::Timestamp(3);
    case FunctionResult::kTimestamp3: return LogicalType::Timestamp(3).NotNull();
    case FunctionResult::kNullLtz3: return LogicalType::TimestampLtz(3);
    case FunctionResult::kLtz3: return LogicalType::TimestampLtz(3).NotNull();
    case FunctionResult::kNullInt: return LogicalType::Int();
    case FunctionResult::kNullBoolean: return LogicalType::Boolean();
    case FunctionResult::kBytes: return LogicalType::Bytes().WithNullability(nullable);
    case FunctionResult::kVariant: return LogicalType::Variant().WithNullability(nullable);
    case FunctionResult::kStringArray: return LogicalType::Array(LogicalType::String());
    case FunctionResult::kElement:
      return arguments[0].kind() == TypeKind::kArray ? arguments[0].children()[0].type.Nullable()
                                                     : arguments[0].Nullable();
  }
  return LogicalType::String();
}

}  // namespace driftless::flink
