#include "config/expr/typing.h"

#include <algorithm>

#include "config/expr/functions.h"
#include "config/expr/lexer.h"
#include "config/options/suggest.h"

namespace driftless::flink {
namespace {

bool IsNumeric(const LogicalType& t) {
  return t.IsInteger() || t.kind() == TypeKind::kFloat || t.kind() == TypeKind::kDouble ||
         t.kind() == TypeKind::kDecimal;
}
bool IsApproximate(const LogicalType& t) {
  return t.kind() == TypeKind::kFloat || t.kind() == TypeKind::kDouble;
}
bool IsDateTime(const LogicalType& t) {
  return t.IsTimestamp() || t.kind() == TypeKind::kDate || t.kind() == TypeKind::kTime;
}

LogicalType AsDecimal(const LogicalType& t) {
  switch (t.kind()) {
    case TypeKind::kTinyInt: return LogicalType::Decimal(3, 0);
    case TypeKind::kSmallInt: return LogicalType::Decimal(5, 0);
    case TypeKind::kInt: return LogicalType::Decimal(10, 0);
    case TypeKind::kBigInt: return LogicalType::Decimal(19, 0);
    default: return t;
  }
}

// Keeps integral digits when precision runs over 38 (Flink's DecimalType rules).
LogicalType Capped(int precision, int scale) {
  constexpr int kMost = LogicalType::kMaxDecimalPrecision;
  if (precision <= kMost) return LogicalType::Decimal(precision, scale);
  const int whole = precision - scale;
  const int least_scale = std::min(scale, 6);
  return LogicalType::Decimal(kMost, std::max(kMost - whole, least_scale));
}

LogicalType DecimalResult(std::string_view op, const LogicalType& left, const LogicalType& right) {
  const LogicalType a = AsDecimal(left);
  const LogicalType b = AsDecimal(right);
  const int p1 = a.precision(), s1 = a.scale(), p2 = b.precision(), s2 = b.scale();
  if (op == "*") return Capped(p1 + p2 + 1, s1 + s2);
  if (op == "/") {
    const int scale = std::max(6, s1 + p2 + 1);
    return Capped(p1 - s1 + s2 + scale, scale);
  }
  const int scale = std::max(s1, s2);
  if (op == "%") return Capped(std::min(p1 - s1, p2 - s2) + scale, scale);
  return Capped(std::max(p1 - s1, p2 - s2) + scale + 1, scale);
}

LogicalType WiderNumber(const LogicalType& a, const LogicalType& b) {
  if (IsApproximate(a) || IsApproximate(b)) {
    return a.kind() == TypeKind::kFloat && b.kind() == TypeKind::kFloat ? LogicalType::Float()
                                                                        : LogicalType::Double();
  }
  if (a.kind() == TypeKind::kDecimal || b.kind() == TypeKind::kDecimal) {
    const LogicalType x = AsDecimal(a);
    const LogicalType y = AsDecimal(b);
    const int scale = std::max(x.scale(), y.scale());
    return Capped(std::max(x.precision() - x.scale(), y.precision() - y.scale()) + scale, scale);
  }
  return std::max(a.kind(), b.kind()) == a.kind() ? a.Nullable() : b.Nullable();
}

// Calcite's names, as its messages show them.
std::string CalciteName(const LogicalType& t) {
  if (t.kind() == TypeKind::kInt) return "INTEGER";
  if (t.kind() == TypeKind::kVarChar) return "VARCHAR(" + std::to_string(t.length()) + ")";
  if (t.kind() == TypeKind::kVarBinary) return "VARBINARY(" + std::to_string(t.length()) + ")";
  return t.ToStringIgnoringNullability();
}

// Without length, precision and scale.
std::string RootName(const LogicalType& t) {
  const std::string name = CalciteName(t);
  return t.kind() == TypeKind::kVarChar ? "VARCHAR" : name.substr(0, name.find('('));
}

std::string FamilyName(const LogicalType& t) {
  if (IsNumeric(t)) return "NUMERIC";
  if (t.IsCharacter()) return "CHARACTER";
  if (t.IsBytes()) return "BINARY";
  if (t.IsTimestamp()) return "TIMESTAMP";
  return t.ToStringIgnoringNullability();
}

constexpr std::string_view SupportedForms(std::string_view op) {
  if (op == "+") {
    return "'<NUMERIC> + <NUMERIC>'\n'<DATETIME_INTERVAL> + <DATETIME_INTERVAL>'\n"
           "'<DATETIME> + <DATETIME_INTERVAL>'\n'<DATETIME_INTERVAL> + <DATETIME>'";
  }
  if (op == "-") {
    return "'<NUMERIC> - <NUMERIC>'\n'<DATETIME_INTERVAL> - <DATETIME_INTERVAL>'\n"
           "'<DATETIME> - <DATETIME_INTERVAL>'";
  }
  if (op == "*") {
    return "'<NUMERIC> * <NUMERIC>'\n'<DATETIME_INTERVAL> * <NUMERIC>'\n"
           "'<NUMERIC> * <DATETIME_INTERVAL>'";
  }
  if (op == "/") return "'<NUMERIC> / <NUMERIC>'\n'<DATETIME_INTERVAL> / <NUMERIC>'";
  if (op == "%") return "'<EXACT_NUMERIC> % <EXACT_NUMERIC>'";
  if (op == "AND") return "'<BOOLEAN> AND <BOOLEAN>'";
  if (op == "OR") return "'<BOOLEAN> OR <BOOLEAN>'";
  if (op == "||") return "'<STRING> || <STRING>'";
  return {};
}

Error CannotApply(std::string_view op, const LogicalType& a, const LogicalType& b) {
  std::string text = "Cannot apply '" + std::string(op) + "' to arguments of type '<" +
                     CalciteName(a) + "> " + std::string(op) + " <" + CalciteName(b) + ">'.";
  std::string forms(SupportedForms(op));
  if (forms.empty()) {
    const std::string o(op);
    forms = "'<COMPARABLE_TYPE> " + o + " <COMPARABLE_TYPE>'";
  }
  return SqlError(kCalciteValidator, text + " Supported form(s): " + forms);
}

class Inference {
 public:
  explicit Inference(const Scope& scope) : scope_(scope) {}

  Result<LogicalType> Visit(Expr* e) {
    DRIFTLESS_ASSIGN_OR_RETURN(e->result, TypeOf(e));
    return e->result;
  }

 private:
  static bool IsNull(const Expr& e) { return e.kind == ExprKind::kKeyword && e.text == "NULL"; }
  static bool IsInterval(const Expr& e) {
    if (e.kind == ExprKind::kInterval) return true;
    return e.kind == ExprKind::kBinary && IsInterval(e.args[0]) && IsInterval(e.args[1]);
  }

  Result<LogicalType> TypeOf(Expr* e) {
    switch (e->kind) {
      case ExprKind::kColumn: return Column(*e);
      case ExprKind::kStar: return SqlError(kCalciteValidator, "Unknown identifier '*'");
      case ExprKind::kNumber:
        // Calcite keeps literals in 64 bits; elsewhere a constant may be as long as a DECIMAL.
        if (scope_.is_query && e->text.size() > 19 &&
            e->text.find_first_not_of("0123456789") == std::string::npos) {
          return SqlError(kCalciteValidator, "Numeric literal '" + e->text + "' out of range");
        }
        return Number(e->text);
      case ExprKind::kString:
        return LogicalType::Char(static_cast<int32_t>(CharacterCount(e->text))).NotNull();
      case ExprKind::kKeyword:
        if (e->text == "NULL") return LogicalType::String();
        if (e->text == "TRUE" || e->text == "FALSE") return LogicalType::Boolean().NotNull();
        return LogicalType::Boolean();
      case ExprKind::kTyped:
        if (e->text == "X") {
          const auto bytes = static_cast<int32_t>(e->path[0].size() / 2);
          return LogicalType::Binary(std::max(bytes, 1)).NotNull();
        }
        if (e->text == "DATE") return LogicalType::Date().NotNull();
        if (e->text == "TIME") return LogicalType::Time(0).NotNull();
        return LogicalType::Timestamp(FractionDigits(e->path[0])).NotNull();
      case ExprKind::kInterval: return LogicalType::BigInt().NotNull();
      case ExprKind::kUnary:
      case ExprKind::kPostfix:
      case ExprKind::kBinary:
      case ExprKind::kBetween:
      case ExprKind::kIn: return Operator(e);
      case ExprKind::kCast: {
        DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType from, Visit(&e->args[0]));
        return e->type.WithNullability(from.nullable() || e->text == "TRY_CAST" ||
                                       IsNull(e->args[0]));
      }
      case ExprKind::kCase: return Case(e);
      case ExprKind::kCall: return Call(e);
      default: return Collection(e);
    }
  }

  static size_t CharacterCount(std::string_view text) {
    size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    return count;
  }
  static int FractionDigits(std::string_view text) {
    const size_t dot = text.find('.');
    return dot == std::string_view::npos ? 0 : static_cast<int>(text.size() - dot - 1);
  }

  Result<LogicalType> Column(const Expr& e) {
    size_t at = 0;
    if (e.path.size() > 1 && !scope_.table.empty() && e.path[0] == scope_.table) at = 1;
    for (const auto& [name, type] : scope_.columns) {
      if (name != e.path[at]) continue;
      LogicalType found = type;
      for (size_t i = at + 1; i < e.path.size(); ++i) {
        bool has = false;
        if (found.kind() == TypeKind::kRow) {
          for (const auto& field : found.children()) {
            if (field.name != e.path[i]) continue;
            const bool nullable = found.nullable() || field.type.nullable();
            found = LogicalType(field.type).WithNullability(nullable);
            has = true;
            break;
          }
        }
        if (!has) return UnknownColumn(e.path[i], e);
      }
      return found;
    }
    return UnknownColumn(e.path[at], e);
  }

  Error UnknownColumn(const std::string& name, const Expr& e) const {
    return std::move(SqlError(kCalciteValidator,
                              scope_.is_query ? "Column '" + name + "' not found in any table"
                                              : "Unknown identifier '" + name + "'"))
        .At(e.line, e.column);
  }

  static Result<LogicalType> Number(const std::string& text) {
    if (text.find_first_of("eE") != std::string::npos) return LogicalType::Double().NotNull();
    const size_t dot = text.find('.');
    if (dot == std::string::npos) {
      if (text.size() < 10 || (text.size() == 10 && text <= "2147483647")) {
        return LogicalType::Int().NotNull();
      }
      if (text.size() < 19 || (text.size() == 19 && text <= "9223372036854775807")) {
        return LogicalType::BigInt().NotNull();
      }
      return LogicalType::Decimal(static_cast<int32_t>(text.size()), 0).NotNull();
    }
    const auto scale = static_cast<int32_t>(text.size() - dot - 1);
    return LogicalType::Decimal(std::max<int32_t>(static_cast<int32_t>(dot), 1) + scale, scale)
        .NotNull();
  }

  Result<LogicalType> Operator(Expr* e) {
    bool nullable = false;
    for (Expr& arg : e->args) {
      DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, Visit(&arg));
      nullable = nullable || type.nullable();
    }
    if (e->kind == ExprKind::kPostfix) return LogicalType::Boolean().NotNull();
    if (e->kind == ExprKind::kUnary) {
      const LogicalType& type = e->args[0].result;
      if (e->text == "NOT") return LogicalType::Boolean().WithNullability(nullable);
      if (!IsNumeric(type) && !IsInterval(e->args[0])) {
        return SqlError(kCalciteValidator, "Cannot apply '" + e->text + "' to arguments of type '" +
                                               e->text + "<" + CalciteName(type) +
                                               ">'. Supported form(s): '" + e->text +
                                               "<NUMERIC>'\n'" + e->text + "<DATETIME_INTERVAL>'");
      }
      return type;
    }
    if (e->kind == ExprKind::kBetween || e->kind == ExprKind::kIn) {
      return LogicalType::Boolean().WithNullability(nullable);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, Binary(*e));
    return type.WithNullability(nullable && !e->text.ends_with("DISTINCT FROM"));
  }

  Result<LogicalType> Binary(const Expr& e) {
    const LogicalType& a = e.args[0].result;
    const LogicalType& b = e.args[1].result;
    const std::string& op = e.text;
    const bool null = IsNull(e.args[0]) || IsNull(e.args[1]);
    if (op == "+" || op == "-" || op == "*" || op == "/" || op == "%") {
      const bool left_interval = IsInterval(e.args[0]);
      const bool right_interval = IsInterval(e.args[1]);
      if (right_interval && IsDateTime(a) && (op == "+" || op == "-")) return a;
      if (left_interval && IsDateTime(b) && op == "+") return b;
      if (left_interval && right_interval) return a;
      if (!IsNumeric(a) || !IsNumeric(b) || left_interval || right_interval) {
        return CannotApply(op, a, b);
      }
      if (IsApproximate(a) || IsApproximate(b)) return WiderNumber(a, b);
      if (a.kind() == TypeKind::kDecimal || b.kind() == TypeKind::kDecimal) {
        return DecimalResult(op, a, b);
      }
      if (op == "%") return b;
      return WiderNumber(a, b);
    }
    if (op == "||") {
      if (!null && (!a.IsCharacter() || !b.IsCharacter())) return CannotApply(op, a, b);
      const int64_t length = static_cast<int64_t>(a.length()) + b.length();
      if (a.kind() == TypeKind::kChar && b.kind() == TypeKind::kChar) {
        return LogicalType::Char(static_cast<int32_t>(length));
      }
      return LogicalType::VarChar(
          static_cast<int32_t>(std::min<int64_t>(length, LogicalType::kMaxLength)));
    }
    if (op == "AND" || op == "OR") {
      if (!null && (a.kind() != TypeKind::kBoolean || b.kind() != TypeKind::kBoolean)) {
        return CannotApply(op, a, b);
      }
      return LogicalType::Boolean();
    }
    const bool number_is_text =
        (IsNumeric(a) && b.IsCharacter()) || (a.IsCharacter() && IsNumeric(b));
    if (scope_.refuses_number_is_text && number_is_text && !null && (op == "=" || op == "<>")) {
      return SqlError(kValidationException, "implicit type conversion between " + RootName(a) +
                                                " and " + RootName(b) + " is not supported now");
    }
    if (!null && !LeastRestrictive(a, b) && !number_is_text &&
        !(IsDateTime(a) && b.IsCharacter()) && !(a.IsCharacter() && IsDateTime(b))) {
      return CannotApply(op, a, b);
    }
    return LogicalType::Boolean();
  }

  Result<LogicalType> Case(Expr* e) {
    for (Expr& arg : e->args) DRIFTLESS_TRY(Visit(&arg));
    std::optional<LogicalType> type;
    bool nullable = false;
    for (size_t i = e->simple ? 2 : 1; i < e->args.size(); i += 2) {
      DRIFTLESS_TRY(Merge(e->args[i], "CASE", &type, &nullable));
    }
    DRIFTLESS_TRY(Merge(e->args.back(), "CASE", &type, &nullable));
    return type.value_or(LogicalType::String()).WithNullability(nullable);
  }

  static Result<void> Merge(const Expr& value, std::string_view what,
                            std::optional<LogicalType>* type, bool* nullable) {
    *nullable = *nullable || value.result.nullable();
    if (IsNull(value)) return {};
    if (!*type) {
      *type = value.result;
      return {};
    }
    const auto merged = LeastRestrictive(**type, value.result);
    if (!merged) {
      return SqlError(kCalciteValidator,
                      "Illegal mixing of types in " + std::string(what) + " or COALESCE statement");
    }
    *type = merged;
    return {};
  }

  Result<LogicalType> Collection(Expr* e) {
    std::vector<LogicalType> types;
    for (Expr& arg : e->args) {
      DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, Visit(&arg));
      types.push_back(type);
    }
    if (e->kind == ExprKind::kItem) {
      const LogicalType& from = types[0];
      if (from.kind() == TypeKind::kArray) return from.children()[0].type.Nullable();
      if (from.kind() == TypeKind::kMap) return from.children()[1].type.Nullable();
      if (from.kind() == TypeKind::kVariant) return LogicalType::Variant();
      return SqlError(kCalciteValidator, "Cannot apply 'ITEM' to arguments of type 'ITEM(<" +
                                             CalciteName(from) + ">, <" + CalciteName(types[1]) +
                                             ">)'");
    }
    if (e->kind == ExprKind::kRow) {
      std::vector<RowField> fields;
      for (size_t i = 0; i < types.size(); ++i) {
        fields.push_back({"EXPR$" + std::to_string(i), types[i], ""});
      }
      return LogicalType::Row(std::move(fields)).NotNull();
    }
    if (types.empty()) {
      return SqlError(kCalciteValidator, "Require at least 1 argument");
    }
    const size_t step = e->kind == ExprKind::kMap ? 2 : 1;
    LogicalType key = types[0];
    LogicalType value = types[step - 1];
    for (size_t i = step; i + step <= types.size(); i += step) {
      key = LeastRestrictive(key, types[i]).value_or(key);
      value = LeastRestrictive(value, types[i + step - 1]).value_or(value);
    }
    return step == 2 ? LogicalType::Map(key, value).NotNull() : LogicalType::Array(key).NotNull();
  }

  static Result<void> CheckConcat(const Expr& e, const std::vector<LogicalType>& types) {
    std::string names;
    bool texts = true;
    for (size_t i = 0; i < types.size(); ++i) {
      names += (i == 0 ? "<" : ", <") + CalciteName(types[i]) + ">";
      texts = texts && (types[i].IsCharacter() || types[i].IsBytes() || IsNull(e.args[i]));
    }
    if (texts) return {};
    return SqlError(kCalciteValidator, "Cannot apply 'CONCAT' to arguments of type 'CONCAT(" +
                                           names + ")'. Supported form(s): 'CONCAT(<CHARACTER>)'");
  }

  Result<LogicalType> Call(Expr* e) {
    std::vector<LogicalType> types;
    for (Expr& arg : e->args) {
      const bool flag = arg.kind == ExprKind::kKeyword && arg.text != "NULL" &&
                        arg.text != "TRUE" && arg.text != "FALSE";
      if (arg.kind == ExprKind::kStar || flag) {
        types.push_back(LogicalType::BigInt().NotNull());
        continue;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, Visit(&arg));
      types.push_back(type);
    }
    if (e->over != nullptr && e->path.size() == 1) {
      if (e->text == "ROW_NUMBER" || e->text == "RANK" || e->text == "DENSE_RANK") {
        return LogicalType::BigInt().NotNull();
      }
      if ((e->text == "LAG" || e->text == "LEAD" || e->text == "FIRST_VALUE" ||
           e->text == "LAST_VALUE") &&
          !types.empty()) {
        return types[0].Nullable();
      }
    }
    if (e->path.size() == 1) {
      if (e->text == "COALESCE" || e->text == "IFNULL") {
        std::optional<LogicalType> type;
        bool nullable = true;
        for (const Expr& arg : e->args) {
          bool this_nullable = false;
          DRIFTLESS_TRY(Merge(arg, "CASE", &type, &this_nullable));
          nullable = nullable && this_nullable;
        }
        return type.value_or(LogicalType::String()).WithNullability(nullable);
      }
      if (e->text == "IF" && types.size() == 3) {
        std::optional<LogicalType> type;
        bool nullable = false;
        DRIFTLESS_TRY(Merge(e->args[1], "CASE", &type, &nullable));
        DRIFTLESS_TRY(Merge(e->args[2], "CASE", &type, &nullable));
        return type.value_or(LogicalType::String()).WithNullability(nullable);
      }
      if (const FunctionInfo* info = FindFunction(e->text)) {
        const auto count = static_cast<int>(types.size());
        if (count < info->least || (info->most >= 0 && count > info->most)) {
          return SqlError(kCalciteValidator, "Invalid number of arguments to function '" + e->text +
                                                 "'. Was expecting " + std::to_string(info->least) +
                                                 " arguments");
        }
        if (e->text == "TO_TIMESTAMP_LTZ" && count > 1 && types[0].IsCharacter() &&
            !types[1].IsCharacter()) {
          return SqlError(kValidationException,
                          "Unsupported argument type. Expected type of family 'CHARACTER_STRING' "
                          "but actual type was '" +
                              types[1].ToString() + "'.");
        }
        if (e->text == "CONCAT" && scope_.is_query) DRIFTLESS_TRY(CheckConcat(*e, types));
        return FunctionType(*info, types);
      }
    }
    if (scope_.user_function) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<LogicalType> type,
                                 scope_.user_function(e->path, types));
      if (type) return *type;
    }
    std::string signature;
    for (const auto& part : e->path) signature += (signature.empty() ? "" : ".") + part;
    signature += "(";
    for (size_t i = 0; i < types.size(); ++i) {
      signature += (i > 0 ? ", " : "") + std::string("<") + FamilyName(types[i]) + ">";
    }
    Error error =
        SqlError(kCalciteValidator, "No match found for function signature " + signature + ")");
    const std::string_view near = Nearest(e->text, BuiltInFunctions());
    if (!near.empty()) error = std::move(error).Hint("Did you mean " + std::string(near) + "?");
    return std::move(error).At(e->line, e->column);
  }

  const Scope& scope_;
};

}  // namespace

Result<LogicalType> InferType(Expr* expr, const Scope& scope) {
  return Inference(scope).Visit(expr);
}

std::optional<LogicalType> LeastRestrictive(const LogicalType& a, const LogicalType& b) {
  const bool nullable = a.nullable() || b.nullable();
  if (a.EqualsIgnoringNullability(b)) return a.WithNullability(nullable);
  if (IsNumeric(a) && IsNumeric(b)) return WiderNumber(a, b).WithNullability(nullable);
  if (a.IsCharacter() && b.IsCharacter()) {
    const int32_t length = std::max(a.length(), b.length());
    if (a.kind() == TypeKind::kChar && b.kind() == TypeKind::kChar && a.length() == b.length()) {
      return LogicalType::Char(length).WithNullability(nullable);
    }
    return LogicalType::VarChar(length).WithNullability(nullable);
  }
  if (a.IsBytes() && b.IsBytes()) {
    return LogicalType::VarBinary(std::max(a.length(), b.length())).WithNullability(nullable);
  }
  if (a.kind() == TypeKind::kTimestamp && b.kind() == TypeKind::kDate) {
    return a.WithNullability(nullable);
  }
  if (a.kind() == TypeKind::kDate && b.kind() == TypeKind::kTimestamp) {
    return b.WithNullability(nullable);
  }
  if (a.kind() == b.kind() && (a.IsTimestamp() || a.kind() == TypeKind::kTime)) {
    return (a.precision() >= b.precision() ? a : b).WithNullability(nullable);
  }
  if (a.IsTimestamp() && b.IsTimestamp()) {
    return LogicalType::TimestampLtz(std::max(a.precision(), b.precision()))
        .WithNullability(nullable);
  }
  return std::nullopt;
}

}  // namespace driftless::flink
