#include <algorithm>
#include <charconv>
#include <utility>

#include "config/expr/expr_parser.h"

namespace driftless::flink {
namespace {

class TypeParser {
 public:
  explicit TypeParser(TokenCursor* cursor) : c_(*cursor) {}

  Result<LogicalType> Parse() {
    DRIFTLESS_ASSIGN_OR_RETURN(LogicalType type, Base());
    while (true) {
      size_t ahead = 0;
      bool nullable = true;
      if (c_.Is("NOT") && c_.Is("NULL", 1)) {
        nullable = false;
        ahead = 2;
      } else if (c_.Is("NULL")) {
        ahead = 1;
      }
      const bool array = c_.Is("ARRAY", ahead);
      if (!array && !c_.Is("MULTISET", ahead)) break;
      c_.Rewind(c_.position() + ahead + 1);
      type = array ? LogicalType::Array(type.WithNullability(nullable))
                   : LogicalType::Multiset(type.WithNullability(nullable));
    }
    if (c_.Accept("NOT", "NULL")) return type.NotNull();
    c_.Accept("NULL");
    return type;
  }

 private:
  // "(n)" or "(n, m)"; -1 where not written.
  Result<std::pair<int64_t, int64_t>> Parameters(int most) {
    std::pair<int64_t, int64_t> values{-1, -1};
    if (!c_.Accept("(")) return values;
    DRIFTLESS_ASSIGN_OR_RETURN(values.first, Number());
    if (most > 1 && c_.Accept(",")) {
      DRIFTLESS_ASSIGN_OR_RETURN(values.second, Number());
    }
    DRIFTLESS_TRY(c_.Expect(")"));
    return values;
  }

  Result<int64_t> Number() {
    const Token& token = c_.Peek();
    int64_t value = 0;
    const char* end = token.text.data() + token.text.size();
    if (token.kind != TokenKind::kNumber ||
        std::from_chars(token.text.data(), end, value).ptr != end) {
      return c_.Unexpected();
    }
    if (value > LogicalType::kMaxLength) {
      return SqlError("org.apache.calcite.runtime.CalciteException",
                      "Literal '" + token.text + "' can not be parsed to type 'java.lang.Integer'");
    }
    c_.Next();
    return value;
  }

  Result<LogicalType> Sized(LogicalType (*make)(int32_t), int32_t otherwise, int32_t most) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto parameters, Parameters(1));
    const int64_t given = parameters.first < 0 ? otherwise : parameters.first;
    return make(static_cast<int32_t>(std::min<int64_t>(given, most)));
  }

  Result<LogicalType> Decimal() {
    DRIFTLESS_ASSIGN_OR_RETURN(auto p, Parameters(2));
    if (p.first < 0) p.first = 10;
    if (p.second < 0) p.second = 0;
    p.first = std::min<int64_t>(p.first, LogicalType::kMaxDecimalPrecision);
    if (p.first < 1) {
      return SqlError(kValidationException,
                      "Decimal precision must be between 1 and 38 (both inclusive).");
    }
    if (p.second > p.first) {
      return SqlError(kValidationException, "Decimal scale must be between 0 and the precision " +
                                                std::to_string(p.first) + " (both inclusive).");
    }
    return LogicalType::Decimal(static_cast<int32_t>(p.first), static_cast<int32_t>(p.second));
  }

  Result<LogicalType> Timestamp() {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto p, Parameters(1));
    const auto precision = static_cast<int32_t>(p.first < 0 ? 6 : std::min<int64_t>(p.first, 9));
    if (c_.Accept("WITHOUT")) {
      DRIFTLESS_TRY(c_.Expect("TIME"));
      DRIFTLESS_TRY(c_.Expect("ZONE"));
    } else if (c_.Is("WITH") && c_.Is("LOCAL", 1)) {
      c_.Rewind(c_.position() + 2);
      DRIFTLESS_TRY(c_.Expect("TIME"));
      DRIFTLESS_TRY(c_.Expect("ZONE"));
      return LogicalType::TimestampLtz(precision);
    }
    return LogicalType::Timestamp(precision);
  }

  Result<LogicalType> Time() {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto p, Parameters(1));
    if (c_.Accept("WITHOUT")) {
      DRIFTLESS_TRY(c_.Expect("TIME"));
      DRIFTLESS_TRY(c_.Expect("ZONE"));
    }
    const int64_t precision = std::max<int64_t>(p.first, 0);
    // Calcite caps what it does not know at 3 (recorded from Flink 2.3.0).
    return LogicalType::Time(precision > 9 ? 3 : static_cast<int32_t>(precision));
  }

  Result<LogicalType> Row() {
    const bool angle = c_.Accept("<");
    if (!angle) DRIFTLESS_TRY(c_.Expect("("));
    const std::string_view close = angle ? ">" : ")";
    std::vector<RowField> fields;
    if (c_.Accept("<>")) return LogicalType::Row({});
    if (!c_.Accept(close)) {
      do {
        RowField field;
        DRIFTLESS_ASSIGN_OR_RETURN(field.name, c_.ExpectName());
        DRIFTLESS_ASSIGN_OR_RETURN(field.type, Parse());
        if (c_.Peek().kind == TokenKind::kString) c_.Next();  // a comment, which Flink drops
        fields.push_back(std::move(field));
      } while (c_.Accept(","));
      DRIFTLESS_TRY(c_.Expect(close));
    }
    return LogicalType::Row(std::move(fields));
  }

  Result<LogicalType> Base() {
    const Token token = c_.Peek();
    if (token.kind == TokenKind::kQuotedName) return Unknown();
    if (token.kind != TokenKind::kName) return c_.Unexpected();
    const std::string& word = token.upper;
    const size_t start = c_.position();
    c_.Next();
    constexpr int32_t kMax = LogicalType::kMaxLength;
    if (word == "BOOLEAN") return LogicalType::Boolean();
    if (word == "TINYINT") return LogicalType::TinyInt();
    if (word == "SMALLINT") return LogicalType::SmallInt();
    if (word == "INT" || word == "INTEGER") return LogicalType::Int();
    if (word == "BIGINT") return LogicalType::BigInt();
    if (word == "FLOAT") return LogicalType::Float();
    if (word == "REAL") return SqlError(kTableException, "Type is not supported: REAL");
    if (word == "DOUBLE") {
      c_.Accept("PRECISION");
      return LogicalType::Double();
    }
    if (word == "DECIMAL" || word == "DEC" || word == "NUMERIC") return Decimal();
    if (word == "CHAR" || word == "CHARACTER") {
      if (c_.Accept("VARYING")) return Sized(&LogicalType::VarChar, kMax, kMax);
      return Sized(&LogicalType::Char, 1, kMax);
    }
    if (word == "VARCHAR") return Sized(&LogicalType::VarChar, kMax, kMax);
    if (word == "STRING") return LogicalType::String();
    if (word == "BINARY") {
      if (c_.Accept("VARYING")) return Sized(&LogicalType::VarBinary, kMax, kMax);
      return Sized(&LogicalType::Binary, 1, kMax);
    }
    if (word == "VARBINARY") return Sized(&LogicalType::VarBinary, kMax, kMax);
    if (word == "BYTES") return LogicalType::Bytes();
    if (word == "DATE") return LogicalType::Date();
    if (word == "TIME") return Time();
    if (word == "TIMESTAMP") return Timestamp();
    if (word == "TIMESTAMP_LTZ") return Sized(&LogicalType::TimestampLtz, 6, 9);
    if (word == "VARIANT") return LogicalType::Variant();
    if (word == "ROW") return Row();
    if (word == "ARRAY" || word == "MULTISET") {
      DRIFTLESS_TRY(c_.Expect("<"));
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType element, Parse());
      DRIFTLESS_TRY(c_.Expect(">"));
      return word == "ARRAY" ? LogicalType::Array(std::move(element))
                             : LogicalType::Multiset(std::move(element));
    }
    if (word == "MAP") {
      DRIFTLESS_TRY(c_.Expect("<"));
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType key, Parse());
      DRIFTLESS_TRY(c_.Expect(","));
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType value, Parse());
      DRIFTLESS_TRY(c_.Expect(">"));
      return LogicalType::Map(std::move(key), std::move(value));
    }
    c_.Rewind(start);
    if (!c_.IsName()) return c_.Unexpected();
    return Unknown();
  }

  Error Unknown() {
    const Token token = c_.Peek();
    auto path = c_.ExpectPath();
    if (!path) return std::move(path).error();
    std::string name;
    for (const auto& part : *path) name += (name.empty() ? "" : ".") + part;
    return std::move(SqlError(kCalciteValidator, "Unknown identifier '" + name + "'"))
        .At(token.line, token.column);
  }

  TokenCursor& c_;
};

}  // namespace

Result<LogicalType> ParseType(TokenCursor* cursor) { return TypeParser(cursor).Parse(); }

}  // namespace driftless::flink
