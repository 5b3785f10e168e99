#include "schema/ddl/mysql/query_columns.h"

#include <algorithm>
#include <array>
#include <optional>

#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/column_types.h"
#include "schema/ddl/mysql/keywords.h"

namespace driftless::mysql {
namespace {

// What is known of one expression.
struct Value {
  ColumnType type;
  bool nullable = true;
  std::string comment;
  std::string name;              // of a column reference
  int64_t digits = 0;            // numbers: characters that print one, sign included
  std::optional<Column> column;  // a plain column reference keeps all of it
};

bool IsInteger(const Value& value) { return value.type.base <= BaseType::kBigInt; }
bool IsReal(const Value& value) {
  return value.type.base == BaseType::kFloat || value.type.base == BaseType::kDouble;
}
bool IsDecimal(const Value& value) { return value.type.base == BaseType::kDecimal; }
bool IsText(const Value& value) { return IsCharacterType(value.type.base); }

int64_t IntegerDigits(const ColumnType& type) {
  switch (type.base) {
    case BaseType::kTinyInt: return type.is_unsigned ? 3 : 4;
    case BaseType::kSmallInt: return type.is_unsigned ? 5 : 6;
    case BaseType::kMediumInt: return type.is_unsigned ? 8 : 9;
    case BaseType::kInt: return type.is_unsigned ? 10 : 11;
    default: return 20;
  }
}

int64_t Precision(const Value& value) {
  if (IsDecimal(value)) return value.type.length;
  return value.type.is_unsigned || value.digits <= 1 ? value.digits : value.digits - 1;
}
int64_t Scale(const Value& value) { return IsDecimal(value) ? value.type.decimals : 0; }

// One table of a FROM clause.
struct Source {
  std::string alias;
  std::vector<Column> columns;
};

class QueryReader {
 public:
  QueryReader(std::string_view sql, std::span<const Token> query, const TableLookup& lookup,
              const ServerSettings& settings, const Charset& connection)
      : sql_(sql), tokens_(query), lookup_(lookup), settings_(settings), connection_(connection) {
    end_.begin = end_.end = sql.size();
  }

  bool ReadWhole(std::vector<Column>* columns) {
    if (!ReadQuery(columns)) return false;
    return At(0).kind == TokenKind::kEnd || Fail("the end of the statement");
  }
  const QueryError& error() const { return error_; }

 private:
  const Token& At(size_t ahead) const {
    return pos_ + ahead < tokens_.size() ? tokens_[pos_ + ahead] : end_;
  }
  bool Is(std::string_view word, size_t ahead = 0) const { return At(ahead).Is(word); }
  bool Accept(std::string_view word) {
    if (!Is(word)) return false;
    ++pos_;
    return true;
  }
  bool Expect(std::string_view word) {
    return Accept(word) || Fail("\"" + std::string(word) + "\"");
  }
  bool Fail(const std::string& expected) {
    return FailAt(ErrorKind::kParse, At(0).begin, "expected " + expected + " in the query");
  }
  bool Unknown(const std::string& what) {
    return FailAt(ErrorKind::kUnsupported, At(0).begin,
                  "cannot derive the column that " + what + " gives");
  }
  bool FailAt(ErrorKind kind, size_t at, std::string message) {
    if (error_.message.empty()) error_ = {kind, at, std::move(message)};
    return false;
  }
  bool AtName(size_t ahead = 0) const {
    const Token& token = At(ahead);
    if (token.kind == TokenKind::kQuoted) return true;
    return token.kind == TokenKind::kWord &&
           (token.after_dot || !IsReserved(token.upper, settings_));
  }

  bool ReadQuery(std::vector<Column>* columns);
  bool ReadQueryTerm(std::vector<Column>* columns);
  bool ReadSelect(std::vector<Column>* columns);
  bool ReadValues(std::vector<Column>* columns);
  bool ReadWith();
  bool ReadFrom();
  bool ReadTableFactor(bool nullable);
  bool SkipTo(std::initializer_list<std::string_view> words);
  bool SkipParentheses();
  bool ReadItem(std::vector<Column>* columns);
  bool Expand(const std::string& alias, size_t at, std::vector<Column>* columns);
  Column ToColumn(const Value& value, std::string name) const;
  bool Merge(std::vector<Column>* left, const std::vector<Column>& right);

  bool ReadExpression(Value* out) { return ReadOr(out); }
  bool ReadOr(Value* out);
  bool ReadComparison(Value* out);
  bool ReadSum(Value* out);
  bool ReadProduct(Value* out);
  bool ReadUnary(Value* out);
  bool ReadPrimary(Value* out);
  bool ReadLiteral(Value* out, bool* matched);
  bool ReadColumn(Value* out);
  bool ReadCase(Value* out);
  bool ReadCast(Value* out);
  bool ReadFunction(Value* out);
  bool ReadAggregate(const std::string& name, Value* out);
  bool ReadArguments(std::vector<Value>* arguments);
  bool Combine(const Value& a, const Value& b, Value* out);
  bool Arithmetic(std::string_view op, Value a, const Value& b, Value* out);

  Value Integer(int64_t digits, bool nullable) const;
  Value Text(int64_t length, bool nullable) const;
  Value Simple(BaseType base, bool nullable, int64_t length = -1) const;
  int64_t TextLength(const Value& value) const;

  std::string_view sql_;
  std::span<const Token> tokens_;
  const TableLookup& lookup_;
  const ServerSettings& settings_;
  const Charset& connection_;
  size_t pos_ = 0;
  Token end_;
  std::vector<Source> sources_;
  std::vector<Source> with_;
  QueryError error_;
};

Value QueryReader::Simple(BaseType base, bool nullable, int64_t length) const {
  Value value;
  value.type.base = base;
  value.type.length = length;
  value.nullable = nullable;
  return value;
}

// An integer result that prints in so many characters: INT where that suffices.
Value QueryReader::Integer(int64_t digits, bool nullable) const {
  Value value = Simple(digits >= 10 ? BaseType::kBigInt : BaseType::kInt, nullable);
  value.digits = digits;
  return value;
}

Value QueryReader::Text(int64_t length, bool nullable) const {
  Value value = Simple(BaseType::kVarChar, nullable, length);
  value.type.charset = connection_;
  return value;
}

int64_t QueryReader::TextLength(const Value& value) const {
  if (IsInteger(value)) return value.digits;
  if (IsDecimal(value)) return value.type.length + 2;
  if (value.type.base == BaseType::kChar || value.type.base == BaseType::kVarChar) {
    return value.type.length;
  }
  return -1;
}

// ---------------------------------------------------------------- queries

bool QueryReader::SkipParentheses() {
  if (!Expect("(")) return false;
  for (int depth = 1; depth > 0; ++pos_) {
    if (At(0).kind == TokenKind::kEnd) return Fail("\")\"");
    if (Is("(")) ++depth;
    if (Is(")")) --depth;
  }
  return true;
}

// Moves to the first of the words outside of parentheses, or to the end or a closing parenthesis.
bool QueryReader::SkipTo(std::initializer_list<std::string_view> words) {
  while (At(0).kind != TokenKind::kEnd && !Is(")")) {
    for (std::string_view word : words) {
      if (Is(word)) return true;
    }
    if (Is("(")) {
      if (!SkipParentheses()) return false;
    } else {
      ++pos_;
    }
  }
  return true;
}

bool QueryReader::ReadWith() {
  Accept("RECURSIVE");
  do {
    if (!AtName()) return Fail("a name");
    Source source;
    source.alias = At(0).text;
    ++pos_;
    std::vector<std::string> names;
    if (Accept("(")) {
      do {
        names.push_back(At(0).text);
        ++pos_;
      } while (Accept(","));
      if (!Expect(")")) return false;
    }
    if (!Expect("AS") || !Expect("(") || !ReadQuery(&source.columns) || !Expect(")")) return false;
    for (size_t i = 0; i < names.size() && i < source.columns.size(); ++i) {
      source.columns[i].name = names[i];
    }
    with_.push_back(std::move(source));
  } while (Accept(","));
  return true;
}

bool QueryReader::ReadQuery(std::vector<Column>* columns) {
  if (Accept("WITH") && !ReadWith()) return false;
  if (!ReadQueryTerm(columns)) return false;
  while (Is("UNION") || Is("EXCEPT") || Is("INTERSECT")) {
    ++pos_;
    if (!Accept("ALL")) Accept("DISTINCT");
    std::vector<Column> right;
    if (!ReadQueryTerm(&right) || !Merge(columns, right)) return false;
  }
  return SkipTo({});
}

bool QueryReader::ReadQueryTerm(std::vector<Column>* columns) {
  if (Accept("(")) return ReadQuery(columns) && Expect(")");
  if (Accept("TABLE")) {
    std::vector<Source> outer = std::move(sources_);
    sources_.clear();
    if (!ReadTableFactor(/*nullable=*/false)) return false;
    *columns = std::move(sources_[0].columns);
    sources_ = std::move(outer);
    return SkipTo({"UNION", "EXCEPT", "INTERSECT"});
  }
  if (Accept("VALUES")) return ReadValues(columns);
  if (!Accept("SELECT")) return Fail("SELECT");
  return ReadSelect(columns);
}

bool QueryReader::ReadValues(std::vector<Column>* columns) {
  if (!Expect("ROW") || !Expect("(")) return false;
  for (int index = 0; index == 0 || Accept(","); ++index) {
    Value value;
    if (!ReadExpression(&value)) return false;
    columns->push_back(ToColumn(value, "column_" + std::to_string(index)));
  }
  if (!Expect(")")) return false;
  if (Is(",")) return Unknown("VALUES with several rows");
  return true;
}

// The tables are read first: the select list needs them.
bool QueryReader::ReadSelect(std::vector<Column>* columns) {
  static constexpr std::string_view kModifiers[] = {
      "ALL",           "DISTINCT",         "DISTINCTROW",        "HIGH_PRIORITY",
      "STRAIGHT_JOIN", "SQL_SMALL_RESULT", "SQL_BIG_RESULT",     "SQL_BUFFER_RESULT",
      "SQL_NO_CACHE",  "SQL_CACHE",        "SQL_CALC_FOUND_ROWS"};
  bool skipped = true;
  while (skipped) {
    skipped = false;
    for (std::string_view word : kModifiers) skipped = skipped || Accept(word);
  }
  const size_t items = pos_;
  std::vector<Source> outer = std::move(sources_);
  sources_.clear();
  if (!SkipTo({"FROM", "UNION", "EXCEPT", "INTERSECT"})) return false;
  if (Accept("FROM") && !Is("DUAL") && !ReadFrom()) return false;
  if (!SkipTo({"UNION", "EXCEPT", "INTERSECT"})) return false;
  const size_t behind = pos_;
  pos_ = items;
  do {
    if (!ReadItem(columns)) return false;
  } while (Accept(","));
  const bool complete = At(0).kind == TokenKind::kEnd || pos_ == behind || Is("FROM") ||
                        Is("WHERE") || Is("LIMIT") || Is("ORDER") || Is("GROUP") || Is("HAVING") ||
                        Is("FOR") || Is("INTO");
  if (!complete) return Fail("\",\" or FROM");
  pos_ = behind;
  sources_ = std::move(outer);
  return true;
}

bool QueryReader::ReadFrom() {
  if (!ReadTableFactor(/*nullable=*/false)) return false;
  while (true) {
    bool nullable = false;
    if (Accept(",")) {
    } else if (Is("JOIN") || Is("INNER") || Is("CROSS") || Is("STRAIGHT_JOIN")) {
      if (!Accept("JOIN") && !Accept("STRAIGHT_JOIN")) {
        ++pos_;
        if (!Expect("JOIN")) return false;
      }
    } else if (Is("LEFT") || Is("RIGHT")) {
      const bool right = Is("RIGHT");
      ++pos_;
      Accept("OUTER");
      if (!Expect("JOIN")) return false;
      nullable = !right;
      for (Source& source : sources_) {
        for (Column& column : source.columns) {
          if (right) column.type = column.type.Nullable();
        }
      }
    } else if (Is("NATURAL")) {
      return Unknown("a NATURAL JOIN");
    } else {
      return true;
    }
    if (!ReadTableFactor(nullable)) return false;
    if (Is("USING")) return Unknown("a join with USING");
    if (Accept("ON")) {
      if (!SkipTo({",", "JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "NATURAL", "WHERE", "GROUP",
                   "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT"})) {
        return false;
      }
    }
  }
}

bool QueryReader::ReadTableFactor(bool nullable) {
  Source source;
  if (Is("(")) {
    ++pos_;
    if (!Is("SELECT") && !Is("WITH") && !Is("TABLE") && !Is("VALUES") && !Is("(")) {
      return Unknown("a join in parentheses");
    }
    if (!ReadQuery(&source.columns) || !Expect(")")) return false;
  } else {
    if (!AtName()) return Fail("a table name");
    TableName name;
    name.at = At(0).begin;
    name.table = At(0).text;
    ++pos_;
    if (Accept(".")) {
      name.database = std::move(name.table);
      name.table = At(0).text;
      ++pos_;
    }
    source.alias = name.table;
    const auto found = std::find_if(with_.begin(), with_.end(), [&](const Source& with) {
      return name.database.empty() && EqualsIgnoringCase(with.alias, name.table);
    });
    if (found != with_.end()) {
      source.columns = found->columns;
    } else {
      auto table = lookup_(name);
      if (!table) return FailAt(table.error().kind(), name.at, table.error().message());
      source.columns = (*table)->columns;
    }
    if (Accept("PARTITION") && !SkipParentheses()) return false;
  }
  const bool as = Accept("AS");
  if (as || (AtName() && !Is("WHERE"))) {
    if (!AtName()) return Fail("an alias");
    source.alias = At(0).text;
    ++pos_;
  }
  for (Column& column : source.columns) {
    if (nullable) column.type = column.type.Nullable();
  }
  sources_.push_back(std::move(source));
  return true;
}

bool QueryReader::Expand(const std::string& alias, size_t at, std::vector<Column>* columns) {
  bool found = false;
  for (const Source& source : sources_) {
    if (!alias.empty() && !EqualsIgnoringCase(source.alias, alias)) continue;
    found = true;
    for (const Column& column : source.columns) {
      if (column.source.is_invisible) continue;
      Value value;
      value.column = column;
      columns->push_back(ToColumn(value, column.name));
    }
  }
  return found || FailAt(ErrorKind::kRefused, at, "unknown table '" + alias + "' in the query");
}

bool QueryReader::ReadItem(std::vector<Column>* columns) {
  const size_t at = At(0).begin;
  if (Accept("*")) return Expand("", at, columns);
  if (AtName() && Is(".", 1) && Is("*", 2)) {
    const std::string alias = At(0).text;
    pos_ += 3;
    return Expand(alias, at, columns);
  }
  Value value;
  const size_t first = pos_;
  if (!ReadExpression(&value)) return false;
  std::string name = value.name;
  if (Accept("AS") || AtName() || At(0).kind == TokenKind::kString) {
    if (!AtName() && At(0).kind != TokenKind::kString) return Fail("an alias");
    name = At(0).text;
    ++pos_;
  } else if (name.empty()) {
    name = sql_.substr(tokens_[first].begin, tokens_[pos_ - 1].end - tokens_[first].begin);
  }
  columns->push_back(ToColumn(value, std::move(name)));
  return true;
}

Column QueryReader::ToColumn(const Value& value, std::string name) const {
  Column column;
  if (value.column) {
    column = *value.column;
    column.id = 0;
    column.source.is_auto_increment = column.source.is_generated = false;
    column.source.is_invisible = false;
    column.source.on_update.clear();
    if (value.column->source.is_auto_increment) {
      column.default_value = {DefaultValue::Kind::kLiteral, "0"};
    }
  } else {
    column.type = column.type.WithNullability(value.nullable);
    const auto resolved = ResolveType(value.type, "", connection_, name, settings_);
    if (resolved) SetColumnType(*resolved, settings_, &column);
    column.comment = value.comment;
    if (value.nullable) column.default_value.kind = DefaultValue::Kind::kNull;
  }
  column.name = std::move(name);
  return column;
}

// The columns of a UNION hold what either side holds.
bool QueryReader::Merge(std::vector<Column>* left, const std::vector<Column>& right) {
  if (left->size() != right.size()) {
    return FailAt(ErrorKind::kRefused, At(0).begin,
                  "the used SELECT statements have a different number of columns");
  }
  for (size_t i = 0; i < left->size(); ++i) {
    Column& a = (*left)[i];
    const Column& b = right[i];
    const bool nullable = a.type.nullable() || b.type.nullable();
    if (a.source.type_text != b.source.type_text) {
      const bool texts = a.type.kind() == TypeKind::kVarChar && b.type.kind() == a.type.kind() &&
                         a.source.charset == b.source.charset;
      if (!texts) return Unknown("a UNION of " + a.source.type_text + " and " + b.source.type_text);
      if (a.type.length() < b.type.length()) {
        a.type = b.type;
        a.source.type_text = b.source.type_text;
      }
    }
    a.type = a.type.WithNullability(nullable);
    a.comment.clear();
  }
  return true;
}

// ---------------------------------------------------------------- expressions

bool QueryReader::ReadOr(Value* out) {
  const bool negated = Accept("NOT");
  if (!ReadComparison(out)) return false;
  bool logical = negated;
  bool nullable = out->nullable;
  while (Is("AND") || Is("OR") || Is("XOR") || Is("&&")) {
    ++pos_;
    Accept("NOT");
    Value right;
    if (!ReadComparison(&right)) return false;
    logical = true;
    nullable = nullable || right.nullable;
  }
  if (logical) *out = Integer(1, nullable);
  return true;
}

bool QueryReader::ReadComparison(Value* out) {
  static constexpr std::string_view kComparisons[] = {"=", "<", ">", "<=", ">=", "<>", "!=", "<=>"};
  if (!ReadSum(out)) return false;
  while (true) {
    bool nullable = out->nullable;
    Value right;
    const auto comparison = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                                         [&](std::string_view word) { return Is(word); });
    if (comparison != std::end(kComparisons)) {
      ++pos_;
      if (!ReadSum(&right)) return false;
      nullable = *comparison != "<=>" && (nullable || right.nullable);
    } else if (Accept("IS")) {
      Accept("NOT");
      if (!Accept("NULL") && !Accept("TRUE") && !Accept("FALSE")) return Fail("NULL");
      nullable = false;
    } else if (Is("LIKE") || Is("REGEXP") || Is("RLIKE") || Is("IN") || Is("BETWEEN") ||
               (Is("NOT") && (Is("LIKE", 1) || Is("REGEXP", 1) || Is("RLIKE", 1) || Is("IN", 1) ||
                              Is("BETWEEN", 1)))) {
      Accept("NOT");
      const bool between = Is("BETWEEN");
      const bool in = Is("IN");
      ++pos_;
      if (in ? !SkipParentheses() : !ReadSum(&right)) return false;
      nullable = nullable || right.nullable;
      if (between && (!Expect("AND") || !ReadSum(&right))) return false;
      nullable = nullable || (!in && right.nullable);
    } else {
      return true;
    }
    *out = Integer(1, nullable);
  }
}

bool QueryReader::ReadSum(Value* out) {
  if (!ReadProduct(out)) return false;
  while (Is("+") || Is("-")) {
    const std::string op = At(0).text;
    ++pos_;
    Value right;
    if (!ReadProduct(&right) || !Arithmetic(op, *out, right, out)) return false;
  }
  return true;
}

bool QueryReader::ReadProduct(Value* out) {
  if (!ReadUnary(out)) return false;
  while (Is("*") || Is("/") || Is("%") || Is("DIV") || Is("MOD")) {
    const std::string op = At(0).kind == TokenKind::kWord ? At(0).upper : At(0).text;
    ++pos_;
    Value right;
    if (!ReadUnary(&right) || !Arithmetic(op, *out, right, out)) return false;
  }
  return true;
}

// `a` is a copy: `out` may be the same value.
bool QueryReader::Arithmetic(std::string_view op, Value a, const Value& b, Value* out) {
  const bool exact = (IsInteger(a) || IsDecimal(a)) && (IsInteger(b) || IsDecimal(b));
  const bool nullable = a.nullable || b.nullable;
  if ((IsReal(a) || IsReal(b)) && op != "DIV") {
    const bool numbers = (IsReal(a) || exact || IsInteger(a) || IsDecimal(a)) &&
                         (IsReal(b) || IsInteger(b) || IsDecimal(b));
    if (!numbers) return Unknown("arithmetic on text");
    *out = Simple(BaseType::kDouble, nullable || op == "/" || op == "%");
    return true;
  }
  if (!exact) return Unknown("arithmetic on text or dates");
  if (a.type.is_unsigned || b.type.is_unsigned) return Unknown("arithmetic on unsigned numbers");
  const int64_t scale = std::max(Scale(a), Scale(b));
  if (op == "/") {
    const int64_t result_scale = std::min<int64_t>(Scale(a) + 4, 30);
    *out = Simple(BaseType::kDecimal, true);
    out->type.length = std::min<int64_t>(Precision(a) + 4 + Scale(b), 65);
    out->type.decimals = result_scale;
    return true;
  }
  if (op == "DIV" || op == "%" || op == "MOD") {
    if (!IsInteger(a) || !IsInteger(b)) return Unknown("DIV or MOD of decimals");
    *out = Simple(settings_.IsMariaDb() ? BaseType::kBigInt : a.type.base, true);
    if (op == "DIV" && !settings_.IsMariaDb() && a.type.base != BaseType::kBigInt) {
      out->type.base = BaseType::kInt;
    }
    out->digits = a.digits;
    return true;
  }
  if (IsInteger(a) && IsInteger(b)) {
    const int64_t digits = op == "*" ? a.digits + b.digits : std::max(a.digits, b.digits) + 1;
    *out = Integer(std::min<int64_t>(digits, 21), nullable);
    return true;
  }
  *out = Simple(BaseType::kDecimal, nullable);
  if (op == "*") {
    out->type.decimals = std::min<int64_t>(Scale(a) + Scale(b), 30);
    out->type.length = std::min<int64_t>(Precision(a) + Precision(b), 65);
  } else {
    const int64_t whole = std::max(Precision(a) - Scale(a), Precision(b) - Scale(b));
    out->type.decimals = scale;
    out->type.length = std::min<int64_t>(whole + scale + 1, 65);
  }
  return true;
}

bool QueryReader::ReadUnary(Value* out) {
  if (Accept("+")) return ReadUnary(out);
  if (Accept("-")) {
    if (!ReadUnary(out)) return false;
    const bool literal = !out->column.has_value();
    Value value = *out;
    value.column.reset();
    value.name.clear();
    value.comment.clear();
    if (IsInteger(value)) {
      const bool widens = settings_.IsMariaDb() && !literal && value.digits >= 10;
      ++value.digits;
      if (widens) value.type.base = BaseType::kBigInt;
    } else if (!IsDecimal(value) && !IsReal(value)) {
      return Unknown("the negation of text");
    }
    *out = value;
    return true;
  }
  if (Is("!") || Is("~")) return Unknown("an operator on bits");
  return ReadPrimary(out);
}

bool QueryReader::ReadPrimary(Value* out) {
  if (Is("(")) {
    if (Is("SELECT", 1) || Is("WITH", 1)) return Unknown("a subquery");
    ++pos_;
    return ReadExpression(out) && Expect(")");
  }
  bool matched = false;
  if (!ReadLiteral(out, &matched)) return false;
  if (matched) return true;
  if (Accept("CASE")) return ReadCase(out);
  if (Is("CAST") && Is("(", 1)) return ReadCast(out);
  if (Is("CURRENT_TIMESTAMP") || Is("CURRENT_DATE") || Is("CURRENT_TIME") ||
      (At(0).kind == TokenKind::kWord && !At(0).after_dot && Is("(", 1))) {
    return ReadFunction(out);
  }
  if (AtName()) return ReadColumn(out);
  return Fail("an expression");
}

bool QueryReader::ReadLiteral(Value* out, bool* matched) {
  const Token& token = At(0);
  *matched = true;
  switch (token.kind) {
    case TokenKind::kString:
    case TokenKind::kNational: {
      std::string text;
      while (At(0).kind == TokenKind::kString || At(0).kind == TokenKind::kNational) {
        text += At(0).text;
        ++pos_;
      }
      const auto length = std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      });
      *out = Text(length, false);
      if (length == 0 && settings_.IsMariaDb()) out->type.base = BaseType::kChar;
      return true;
    }
    case TokenKind::kNumber: {
      const std::string text = token.text;
      ++pos_;
      const size_t dot = text.find('.');
      if (text.find_first_of("eE") != std::string::npos) {
        *out = Simple(BaseType::kDouble, false);
      } else if (dot != std::string::npos) {
        *out = Simple(BaseType::kDecimal, false);
        out->type.decimals = static_cast<int64_t>(text.size() - dot - 1);
        out->type.length = std::max<int64_t>(
            static_cast<int64_t>(std::max<size_t>(dot, 1)) + out->type.decimals, 1);
      } else {
        *out = Integer(static_cast<int64_t>(text.size()), false);
      }
      return true;
    }
    case TokenKind::kHex:
    case TokenKind::kBits: {
      const size_t per_byte = token.kind == TokenKind::kHex ? 2 : 8;
      *out = Simple(BaseType::kVarBinary, false,
                    static_cast<int64_t>((token.text.size() + per_byte - 1) / per_byte));
      ++pos_;
      return true;
    }
    default: break;
  }
  if (Accept("NULL")) {
    *out = Simple(settings_.IsMariaDb() ? BaseType::kBinary : BaseType::kVarBinary, true, 0);
    return true;
  }
  if (Accept("TRUE") || Accept("FALSE")) {
    *out = Integer(1, false);
    return true;
  }
  if ((Is("DATE") || Is("TIMESTAMP") || Is("TIME")) && At(1).kind == TokenKind::kString) {
    *out = Simple(Is("DATE")   ? BaseType::kDate
                  : Is("TIME") ? BaseType::kTime
                               : BaseType::kDateTime,
                  false);
    pos_ += 2;
    return true;
  }
  *matched = false;
  return true;
}

bool QueryReader::ReadColumn(Value* out) {
  const size_t at = At(0).begin;
  std::vector<std::string> names = {At(0).text};
  ++pos_;
  while (Accept(".")) {
    names.push_back(At(0).text);
    ++pos_;
  }
  const std::string& name = names.back();
  const std::string table = names.size() > 1 ? names[names.size() - 2] : "";
  const Column* found = nullptr;
  for (const Source& source : sources_) {
    if (!table.empty() && !EqualsIgnoringCase(source.alias, table)) continue;
    for (const Column& column : source.columns) {
      if (!EqualsIgnoringCase(column.name, name)) continue;
      if (found != nullptr) {
        return FailAt(ErrorKind::kRefused, at, "column '" + name + "' in the query is ambiguous");
      }
      found = &column;
    }
  }
  if (found == nullptr) {
    return FailAt(ErrorKind::kRefused, at, "unknown column '" + name + "' in the query");
  }
  const auto type = ParseTypeText(found->source.type_text,
                                  {found->source.charset, found->source.collation}, settings_);
  *out = Value();
  if (type) out->type = type->type;
  out->nullable = found->type.nullable();
  out->comment = found->comment;
  out->name = name;
  if (IsInteger(*out)) out->digits = IntegerDigits(out->type);
  out->column = *found;
  return true;
}

// The type that holds either value: of IF, CASE, IFNULL and COALESCE.
bool QueryReader::Combine(const Value& a, const Value& b, Value* out) {
  const bool nullable = a.nullable && b.nullable;
  const auto is_null = [](const Value& value) {
    return !value.column && value.type.length == 0 &&
           (value.type.base == BaseType::kVarBinary || value.type.base == BaseType::kBinary);
  };
  Value result;
  if (is_null(a) || is_null(b)) {
    result = is_null(a) ? b : a;
  } else if (IsInteger(a) && IsInteger(b) && a.type.is_unsigned == b.type.is_unsigned) {
    result = a.type.base < b.type.base ? b : a;
    result.digits = std::max(a.digits, b.digits);
  } else if ((IsDecimal(a) || IsInteger(a)) && (IsDecimal(b) || IsInteger(b))) {
    const int64_t whole = std::max(Precision(a) - Scale(a), Precision(b) - Scale(b));
    result = Simple(BaseType::kDecimal, nullable);
    result.type.decimals = std::max(Scale(a), Scale(b));
    result.type.length = whole + result.type.decimals;
  } else if (IsText(a) && IsText(b) && TextLength(a) >= 0 && TextLength(b) >= 0) {
    result = Text(std::max(TextLength(a), TextLength(b)), nullable);
    result.type.charset = a.type.charset;
  } else if (a.type.base == b.type.base && a.type.length == b.type.length) {
    result = a;
  } else {
    return Unknown("a choice between different types");
  }
  result.column.reset();
  result.comment.clear();
  result.name.clear();
  result.nullable = nullable;
  *out = std::move(result);
  return true;
}

bool QueryReader::ReadCase(Value* out) {
  Value ignored;
  if (!Is("WHEN") && !ReadExpression(&ignored)) return false;
  bool first = true;
  bool nullable = false;
  const auto add = [&] {
    Value value;
    if (!ReadExpression(&value)) return false;
    nullable = nullable || value.nullable;
    if (first) *out = value;
    first = false;
    return Combine(*out, value, out);
  };
  while (Accept("WHEN")) {
    if (!ReadExpression(&ignored) || !Expect("THEN") || !add()) return false;
  }
  if (first) return Fail("WHEN");
  if (Accept("ELSE")) {
    if (!add()) return false;
  } else {
    nullable = true;
  }
  out->nullable = nullable || settings_.IsMariaDb();
  return Expect("END");
}

bool QueryReader::ReadCast(Value* out) {
  pos_ += 2;
  Value value;
  if (!ReadExpression(&value) || !Expect("AS")) return false;
  std::string words;
  int64_t length = -1;
  int64_t decimals = -1;
  while (At(0).kind == TokenKind::kWord) {
    words += (words.empty() ? "" : " ") + At(0).upper;
    ++pos_;
  }
  if (Accept("(")) {
    length = std::atoll(At(0).text.c_str());
    ++pos_;
    if (Accept(",")) {
      decimals = std::atoll(At(0).text.c_str());
      ++pos_;
    }
    if (!Expect(")")) return false;
  }
  while (At(0).kind == TokenKind::kWord) ++pos_;  // CHARACTER SET x
  const bool nullable = value.nullable;
  if (words == "CHAR" || words == "NCHAR") {
    *out = Text(length >= 0 ? length : TextLength(value), nullable);
    if (out->type.length < 0) return Unknown("CAST to CHAR without a length");
  } else if (words == "BINARY") {
    *out = Simple(BaseType::kVarBinary, nullable, length);
    if (length < 0) return Unknown("CAST to BINARY without a length");
  } else if (words.rfind("SIGNED", 0) == 0 || words.rfind("INT", 0) == 0) {
    *out = Integer(20, nullable);
  } else if (words.rfind("UNSIGNED", 0) == 0) {
    *out = Integer(20, nullable);
    out->type.is_unsigned = true;
  } else if (words == "DECIMAL") {
    *out = Simple(BaseType::kDecimal, nullable, length);
    out->type.decimals = decimals;
  } else if (words == "DATE") {
    *out = Simple(BaseType::kDate, true);
  } else if (words == "DATETIME" || words == "TIME") {
    *out = Simple(words == "TIME" ? BaseType::kTime : BaseType::kDateTime, true, length);
  } else if (words.rfind("DOUBLE", 0) == 0 || words == "REAL") {
    *out = Simple(BaseType::kDouble, nullable);
  } else if (words == "FLOAT") {
    *out = Simple(BaseType::kFloat, nullable);
  } else if (words == "JSON" && !settings_.IsMariaDb()) {
    *out = Simple(BaseType::kJson, nullable);
  } else {
    return Unknown("CAST to " + words);
  }
  if (IsText(value) && words == "DECIMAL") out->nullable = value.nullable;
  return Expect(")");
}

bool QueryReader::ReadArguments(std::vector<Value>* arguments) {
  if (Accept(")")) return true;
  do {
    Value value;
    if (!ReadExpression(&value)) return false;
    arguments->push_back(std::move(value));
  } while (Accept(","));
  return Expect(")");
}

bool QueryReader::ReadAggregate(const std::string& name, Value* out) {
  if (name == "COUNT") {
    --pos_;
    if (!SkipParentheses()) return false;
    *out = Integer(21, false);
    out->type.base = BaseType::kBigInt;
    return true;
  }
  Accept("DISTINCT");
  Value value;
  if (!ReadExpression(&value) || !Expect(")")) return false;
  if (Is("OVER")) return Unknown("a window function");
  if (name == "MIN" || name == "MAX") {
    *out = value;
    out->column.reset();
    out->name.clear();
    out->nullable = true;
    return true;
  }
  if (IsReal(value)) {
    *out = Simple(BaseType::kDouble, true);
  } else if (IsInteger(value) || IsDecimal(value)) {
    *out = Simple(BaseType::kDecimal, true);
    const bool sum = name == "SUM";
    const int64_t precision =
        IsInteger(value) && value.type.base == BaseType::kBigInt && !value.type.is_unsigned
            ? 19
            : Precision(value);
    out->type.length = std::min<int64_t>(precision + (sum ? 22 : 4), 65);
    out->type.decimals = std::min<int64_t>(Scale(value) + (sum ? 0 : 4), 30);
  } else {
    return Unknown(name + " of text or dates");
  }
  return true;
}

bool QueryReader::ReadFunction(Value* out) {
  const std::string name = At(0).upper;
  ++pos_;
  if (name == "CURRENT_TIMESTAMP" || name == "NOW" || name == "CURRENT_TIME" || name == "CURTIME" ||
      name == "CURRENT_DATE" || name == "CURDATE") {
    int64_t digits = -1;
    if (Accept("(")) {
      if (At(0).kind == TokenKind::kNumber) {
        digits = std::atoll(At(0).text.c_str());
        ++pos_;
      }
      if (!Expect(")")) return false;
    }
    const bool is_date = name == "CURRENT_DATE" || name == "CURDATE";
    const bool is_time = name == "CURRENT_TIME" || name == "CURTIME";
    *out = Simple(is_date   ? BaseType::kDate
                  : is_time ? BaseType::kTime
                            : BaseType::kDateTime,
                  false, digits);
    return true;
  }
  if (!Expect("(")) return false;
  if (name == "COUNT" || name == "SUM" || name == "AVG" || name == "MIN" || name == "MAX") {
    return ReadAggregate(name, out);
  }
  static constexpr std::string_view kKnown[] = {
      "CONCAT", "UPPER",    "LOWER",       "UCASE",
      "LCASE",  "LENGTH",   "CHAR_LENGTH", "CHARACTER_LENGTH",
      "IFNULL", "COALESCE", "IF",          "DATE",
      "MONTH",  "DAY",      "HOUR",        "MINUTE",
      "SECOND", "ABS",      "RAND",        "REPLACE",
      "LEFT",   "RIGHT",    "SUBSTRING",   "SUBSTR"};
  if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown)) {
    return Unknown("the function " + name);
  }
  const size_t first = pos_;
  std::vector<Value> arguments;
  if (!ReadArguments(&arguments)) return false;
  const bool any_null = std::any_of(arguments.begin(), arguments.end(),
                                    [](const Value& value) { return value.nullable; });
  if (name == "RAND") {
    *out = Simple(BaseType::kDouble, false);
    return true;
  }
  if (arguments.empty()) return Fail("an argument");
  if (name == "CONCAT") {
    int64_t length = 0;
    for (const Value& value : arguments) {
      if (TextLength(value) < 0) return Unknown("CONCAT of such an argument");
      length += TextLength(value);
    }
    *out = Text(length, any_null);
  } else if (name == "UPPER" || name == "LOWER" || name == "UCASE" || name == "LCASE" ||
             name == "REPLACE" || name == "LEFT" || name == "RIGHT" || name == "SUBSTRING" ||
             name == "SUBSTR") {
    int64_t length = TextLength(arguments[0]);
    if (length < 0) return Unknown(name + " of such an argument");
    const size_t with_length = name == "LEFT" || name == "RIGHT" ? 2 : 3;
    if (name != "REPLACE" && arguments.size() == with_length && pos_ >= first + 2) {
      const Token& last = tokens_[pos_ - 2];
      if (last.kind != TokenKind::kNumber) return Unknown(name + " of a variable length");
      length = std::min<int64_t>(length, std::atoll(last.text.c_str()));
    }
    if (name == "REPLACE" &&
        (arguments.size() != 3 || TextLength(arguments[1]) < TextLength(arguments[2]))) {
      return Unknown("a REPLACE that lengthens");
    }
    *out = Text(length, any_null);
  } else if (name == "LENGTH" || name == "CHAR_LENGTH" || name == "CHARACTER_LENGTH") {
    *out = Simple(BaseType::kInt, any_null);
    out->digits = 10;
  } else if (name == "IFNULL" || name == "COALESCE") {
    *out = arguments[0];
    for (const Value& value : arguments) {
      if (!Combine(*out, value, out)) return false;
    }
    out->nullable = std::all_of(arguments.begin(), arguments.end(),
                                [](const Value& value) { return value.nullable; });
    if (name == "IFNULL" && IsInteger(*out) && !settings_.IsMariaDb() && out->digits >= 10) {
      out->type.base = BaseType::kBigInt;
    }
  } else if (name == "IF") {
    if (arguments.size() != 3) return Fail("three arguments");
    if (!Combine(arguments[1], arguments[2], out)) return false;
    out->nullable = arguments[1].nullable || arguments[2].nullable || settings_.IsMariaDb();
  } else if (name == "DATE") {
    *out = Simple(BaseType::kDate, true);
  } else if (name == "ABS") {
    *out = arguments[0];
    out->column.reset();
    out->comment.clear();
    out->name.clear();
    if (IsInteger(*out) && settings_.IsMariaDb()) out->type.base = BaseType::kBigInt;
  } else {
    *out = Integer(3, true);
  }
  out->name.clear();
  return true;
}

}  // namespace

bool DeriveQueryColumns(std::string_view sql, std::span<const Token> query,
                        const TableLookup& lookup, const ServerSettings& settings,
                        const Charset& connection_charset, std::vector<Column>* columns,
                        QueryError* error) {
  QueryReader reader(sql, query, lookup, settings, connection_charset);
  if (reader.ReadWhole(columns)) return true;
  *error = reader.error();
  return false;
}

}  // namespace driftless::mysql
