#include "schema/types/logical_type.h"

#include <array>
#include <cctype>
#include <optional>

#include "schema/base/check.h"

namespace driftless {
namespace {

const std::vector<RowField>& NoChildren() {
  static const std::vector<RowField> none;
  return none;
}

// Between quotes, with each quote inside doubled.
std::string Quote(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (char c : text) {
    if (c == quote) quoted += quote;
    quoted += c;
  }
  return quoted + quote;
}

}  // namespace

LogicalType LogicalType::Array(LogicalType element) {
  LogicalType type(TypeKind::kArray, 0, 0);
  type.children_ = std::make_shared<const std::vector<RowField>>(
      std::vector<RowField>{{"element", std::move(element), ""}});
  return type;
}

LogicalType LogicalType::Map(LogicalType key, LogicalType value) {
  LogicalType type(TypeKind::kMap, 0, 0);
  type.children_ = std::make_shared<const std::vector<RowField>>(
      std::vector<RowField>{{"key", std::move(key), ""}, {"value", std::move(value), ""}});
  return type;
}

LogicalType LogicalType::Multiset(LogicalType element) {
  LogicalType type(TypeKind::kMultiset, 0, 0);
  type.children_ = std::make_shared<const std::vector<RowField>>(
      std::vector<RowField>{{"element", std::move(element), ""}});
  return type;
}

LogicalType LogicalType::Row(std::vector<RowField> fields) {
  LogicalType type(TypeKind::kRow, 0, 0);
  type.children_ = std::make_shared<const std::vector<RowField>>(std::move(fields));
  return type;
}

const std::vector<RowField>& LogicalType::children() const {
  return children_ ? *children_ : NoChildren();
}

PhysicalKind LogicalType::physical() const {
  switch (kind_) {
    case TypeKind::kBoolean: return PhysicalKind::kBit;
    case TypeKind::kTinyInt: return PhysicalKind::kFixed8;
    case TypeKind::kSmallInt: return PhysicalKind::kFixed16;
    case TypeKind::kInt:
    case TypeKind::kFloat:
    case TypeKind::kDate: return PhysicalKind::kFixed32;
    case TypeKind::kBigInt:
    case TypeKind::kDouble:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return PhysicalKind::kFixed64;
    case TypeKind::kDecimal: return PhysicalKind::kFixed128;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
    case TypeKind::kVariant: return PhysicalKind::kVariable;
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset: return PhysicalKind::kList;
    case TypeKind::kRow: return PhysicalKind::kStruct;
  }
  DRIFTLESS_CHECK(false && "unknown type kind");
  return PhysicalKind::kVariable;
}

std::string LogicalType::ToStringIgnoringNullability() const {
  const std::string p = std::to_string(precision_);
  switch (kind_) {
    case TypeKind::kBoolean: return "BOOLEAN";
    case TypeKind::kTinyInt: return "TINYINT";
    case TypeKind::kSmallInt: return "SMALLINT";
    case TypeKind::kInt: return "INT";
    case TypeKind::kBigInt: return "BIGINT";
    case TypeKind::kFloat: return "FLOAT";
    case TypeKind::kDouble: return "DOUBLE";
    case TypeKind::kDecimal: return "DECIMAL(" + p + ", " + std::to_string(scale_) + ")";
    case TypeKind::kChar: return "CHAR(" + p + ")";
    case TypeKind::kVarChar: return precision_ == kMaxLength ? "STRING" : "VARCHAR(" + p + ")";
    case TypeKind::kBinary: return "BINARY(" + p + ")";
    case TypeKind::kVarBinary: return precision_ == kMaxLength ? "BYTES" : "VARBINARY(" + p + ")";
    case TypeKind::kDate: return "DATE";
    case TypeKind::kTime: return "TIME(" + p + ")";
    case TypeKind::kTimestamp: return "TIMESTAMP(" + p + ")";
    case TypeKind::kTimestampLtz: return "TIMESTAMP_LTZ(" + p + ")";
    case TypeKind::kTimestampTz: return "TIMESTAMP_TZ(" + p + ")";
    case TypeKind::kArray: return "ARRAY<" + children()[0].type.ToString() + ">";
    case TypeKind::kMap:
      return "MAP<" + children()[0].type.ToString() + ", " + children()[1].type.ToString() + ">";
    case TypeKind::kMultiset: return "MULTISET<" + children()[0].type.ToString() + ">";
    case TypeKind::kRow: {
      std::string text = "ROW<";
      for (size_t i = 0; i < children().size(); ++i) {
        if (i > 0) text += ", ";
        text += Quote(children()[i].name, '`') + " " + children()[i].type.ToString();
        if (!children()[i].comment.empty()) text += " " + Quote(children()[i].comment, '\'');
      }
      return text + ">";
    }
    case TypeKind::kVariant: return "VARIANT";
  }
  DRIFTLESS_CHECK(false && "unknown type kind");
  return "";
}

std::string LogicalType::ToString() const {
  return ToStringIgnoringNullability() + (nullable_ ? "" : " NOT NULL");
}

LogicalType EntriesType(const LogicalType& map_or_multiset) {
  const auto& children = map_or_multiset.children();
  const LogicalType value =
      map_or_multiset.kind() == TypeKind::kMap ? children[1].type : LogicalType::Int().NotNull();
  return LogicalType::Row({{"key", children[0].type, ""}, {"value", value, ""}});
}

bool LogicalType::EqualsIgnoringNullability(const LogicalType& other) const {
  return kind_ == other.kind_ && precision_ == other.precision_ && scale_ == other.scale_ &&
         (children_ == other.children_ || children() == other.children());
}

bool operator==(const LogicalType& a, const LogicalType& b) {
  return a.nullable_ == b.nullable_ && a.EqualsIgnoringNullability(b);
}

// ---- parsing ---------------------------------------------------------------------------------

namespace {

class TypeParser {
 public:
  explicit TypeParser(std::string_view text) : text_(text) {}

  Result<LogicalType> ParseAll() {
    DRIFTLESS_ASSIGN_OR_RETURN(LogicalType type, ParseType());
    SkipSpace();
    if (at_ != text_.size()) return Fail("unexpected text after the type");
    return type;
  }

 private:
  Error Fail(std::string message) const {
    return MakeError(ErrorKind::kParse, message + " in type \"" + std::string(text_) + "\"")
        .At(1, static_cast<int>(at_) + 1);
  }
  void SkipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string PeekWord() {
    SkipSpace();
    std::string word;
    for (size_t i = at_; i < text_.size(); ++i) {
      const auto c = static_cast<unsigned char>(text_[i]);
      if (!std::isalnum(c) && c != '_') break;
      word += static_cast<char>(std::toupper(c));
    }
    return word;
  }
  bool TakeWord(std::string_view word) {
    if (PeekWord() != word) return false;
    at_ += word.size();
    return true;
  }
  Result<int32_t> Number() {
    SkipSpace();
    int64_t value = 0;
    const size_t start = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      value = value * 10 + (text_[at_++] - '0');
      if (value > LogicalType::kMaxLength) return Fail("number too large");
    }
    if (at_ == start) return Fail("a number was expected");
    return static_cast<int32_t>(value);
  }
  // "(n)" or nothing.
  Result<int32_t> Parameter(int32_t fallback, int32_t min, int32_t max) {
    if (!Take('(')) return fallback;
    DRIFTLESS_ASSIGN_OR_RETURN(int32_t value, Number());
    if (value < min || value > max) {
      return Fail("parameter " + std::to_string(value) + " is not between " + std::to_string(min) +
                  " and " + std::to_string(max));
    }
    if (!Take(')')) return Fail("')' was expected");
    return value;
  }

  Result<LogicalType> ParseType() {
    DRIFTLESS_ASSIGN_OR_RETURN(LogicalType type, ParseBare());
    for (;;) {
      if (TakeWord("NOT")) {
        if (!TakeWord("NULL")) return Fail("NULL was expected after NOT");
        type = type.NotNull();
      } else if (TakeWord("NULL")) {
        type = type.Nullable();
      } else if (TakeWord("ARRAY")) {
        type = LogicalType::Array(type);
      } else if (TakeWord("MULTISET")) {
        type = LogicalType::Multiset(type);
      } else {
        return type;
      }
    }
  }

  Result<LogicalType> Timestamp() {
    DRIFTLESS_ASSIGN_OR_RETURN(int32_t precision, Parameter(6, 0, 9));
    if (TakeWord("WITHOUT")) {
      if (!TakeWord("TIME") || !TakeWord("ZONE")) return Fail("TIME ZONE was expected");
      return LogicalType::Timestamp(precision);
    }
    if (TakeWord("WITH")) {
      const bool local = TakeWord("LOCAL");
      if (!TakeWord("TIME") || !TakeWord("ZONE")) return Fail("TIME ZONE was expected");
      return local ? LogicalType::TimestampLtz(precision) : LogicalType::TimestampTz(precision);
    }
    return LogicalType::Timestamp(precision);
  }

  Result<std::string> FieldName() {
    SkipSpace();
    std::string name;
    if (Take('`')) {
      for (;;) {
        if (at_ >= text_.size()) return Fail("unterminated quoted name");
        const char c = text_[at_++];
        if (c != '`') {
          name += c;
        } else if (at_ < text_.size() && text_[at_] == '`') {
          name += '`';
          ++at_;
        } else {
          return name;
        }
      }
    }
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (!std::isalnum(c) && c != '_' && c < 0x80) break;
      name += text_[at_++];
    }
    if (name.empty()) return Fail("a field name was expected");
    return name;
  }

  Result<LogicalType> ParseRow() {
    const char close = Take('<') ? '>' : (Take('(') ? ')' : '\0');
    if (close == '\0') return Fail("'<' was expected");
    std::vector<RowField> fields;
    if (Take(close)) return LogicalType::Row(std::move(fields));
    do {
      RowField field;
      DRIFTLESS_ASSIGN_OR_RETURN(field.name, FieldName());
      DRIFTLESS_ASSIGN_OR_RETURN(field.type, ParseType());
      SkipSpace();
      if (Take('\'')) {
        for (;;) {
          if (at_ >= text_.size()) return Fail("unterminated comment");
          const char c = text_[at_++];
          if (c != '\'') {
            field.comment += c;
          } else if (at_ < text_.size() && text_[at_] == '\'') {
            field.comment += '\'';
            ++at_;
          } else {
            break;
          }
        }
      }
      fields.push_back(std::move(field));
    } while (Take(','));
    if (!Take(close)) return Fail("the field list is not closed");
    return LogicalType::Row(std::move(fields));
  }

  Result<LogicalType> ParseBare() {
    const std::string word = PeekWord();
    if (word.empty()) return Fail("a type name was expected");
    const size_t start = at_;
    at_ += word.size();
    if (word == "BOOLEAN") return LogicalType::Boolean();
    if (word == "TINYINT") return LogicalType::TinyInt();
    if (word == "SMALLINT") return LogicalType::SmallInt();
    if (word == "INT" || word == "INTEGER") return LogicalType::Int();
    if (word == "BIGINT") return LogicalType::BigInt();
    if (word == "FLOAT") return LogicalType::Float();
    if (word == "DOUBLE") {
      TakeWord("PRECISION");
      return LogicalType::Double();
    }
    if (word == "DECIMAL" || word == "DEC" || word == "NUMERIC") {
      int32_t precision = 10;
      int32_t scale = 0;
      if (Take('(')) {
        DRIFTLESS_ASSIGN_OR_RETURN(precision, Number());
        if (Take(',')) {
          DRIFTLESS_ASSIGN_OR_RETURN(scale, Number());
        }
        if (!Take(')')) return Fail("')' was expected");
      }
      if (precision < 1 || precision > LogicalType::kMaxDecimalPrecision || scale > precision) {
        return Fail("DECIMAL needs a precision of 1 to 38 and a scale up to it");
      }
      return LogicalType::Decimal(precision, scale);
    }
    if (word == "CHAR" || word == "VARCHAR" || word == "BINARY" || word == "VARBINARY") {
      // Flink has no length 0 in DDL, but MySQL has CHAR(0) and BINARY(0).
      DRIFTLESS_ASSIGN_OR_RETURN(int32_t length, Parameter(1, 0, LogicalType::kMaxLength));
      if (word == "CHAR") return LogicalType::Char(length);
      if (word == "VARCHAR") return LogicalType::VarChar(length);
      if (word == "BINARY") return LogicalType::Binary(length);
      return LogicalType::VarBinary(length);
    }
    if (word == "STRING") return LogicalType::String();
    if (word == "BYTES") return LogicalType::Bytes();
    if (word == "DATE") return LogicalType::Date();
    if (word == "TIME") {
      DRIFTLESS_ASSIGN_OR_RETURN(int32_t precision, Parameter(0, 0, 9));
      if (TakeWord("WITHOUT") && (!TakeWord("TIME") || !TakeWord("ZONE"))) {
        return Fail("TIME ZONE was expected");
      }
      return LogicalType::Time(precision);
    }
    if (word == "TIMESTAMP") return Timestamp();
    if (word == "TIMESTAMP_LTZ" || word == "TIMESTAMP_TZ") {
      DRIFTLESS_ASSIGN_OR_RETURN(int32_t precision, Parameter(6, 0, 9));
      return word == "TIMESTAMP_LTZ" ? LogicalType::TimestampLtz(precision)
                                     : LogicalType::TimestampTz(precision);
    }
    if (word == "VARIANT") return LogicalType::Variant();
    if (word == "ARRAY" || word == "MULTISET") {
      if (!Take('<')) return Fail("'<' was expected");
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType element, ParseType());
      if (!Take('>')) return Fail("'>' was expected");
      return word == "ARRAY" ? LogicalType::Array(element) : LogicalType::Multiset(element);
    }
    if (word == "MAP") {
      if (!Take('<')) return Fail("'<' was expected");
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType key, ParseType());
      if (!Take(',')) return Fail("',' was expected");
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType value, ParseType());
      if (!Take('>')) return Fail("'>' was expected");
      return LogicalType::Map(key, value);
    }
    if (word == "ROW") return ParseRow();
    at_ = start;
    return Fail("unknown type " + word);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<LogicalType> ParseLogicalType(std::string_view text) { return TypeParser(text).ParseAll(); }

}  // namespace driftless
