#include "config/expr/expr_print.h"

#include "config/expr/reserved_words.h"
#include "config/expr/typing.h"

namespace driftless::flink {
namespace {

int Strength(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kBinary:
      if (expr.text == "OR") return 22;
      if (expr.text == "AND") return 24;
      if (expr.text == "+" || expr.text == "-") return 40;
      if (expr.text == "*" || expr.text == "/" || expr.text == "%" || expr.text == "||") return 60;
      if (expr.text.ends_with("LIKE") || expr.text.ends_with("TO")) return 32;
      return 30;
    case ExprKind::kUnary: return expr.text == "NOT" ? 26 : 80;
    case ExprKind::kPostfix: return 28;
    case ExprKind::kBetween:
    case ExprKind::kIn: return 32;
    default: return 1000;
  }
}

// Calcite's name of a type inside CAST: INT is INTEGER, STRING stays.
std::string CastTypeText(const LogicalType& type) {
  if (type.kind() == TypeKind::kInt) return "INTEGER";
  return type.ToStringIgnoringNullability();
}

class Printer {
 public:
  explicit Printer(PrintStyle style) : style_(style) {}

  std::string Print(const Expr& e) const {
    switch (e.kind) {
      case ExprKind::kColumn: return Path(e.path);
      case ExprKind::kStar: return e.path.empty() ? "*" : Path(e.path) + ".*";
      case ExprKind::kNumber:
      case ExprKind::kKeyword: return e.text;
      case ExprKind::kString: return QuoteString(e.text);
      case ExprKind::kTyped: return e.text + (e.text == "X" ? "" : " ") + QuoteString(e.path[0]);
      case ExprKind::kInterval:
        if (e.text.starts_with('-')) {
          return "INTERVAL -" + QuoteString(e.text.substr(1)) + " " + e.path[0];
        }
        return "INTERVAL " + QuoteString(e.text) + " " + e.path[0];
      case ExprKind::kCall: return Call(e);
      case ExprKind::kUnary: return e.text + " " + Operand(e.args[0], Strength(e));
      case ExprKind::kPostfix: return Operand(e.args[0], Strength(e)) + " " + e.text;
      case ExprKind::kBinary: {
        std::string text = Operand(e.args[0], Strength(e)) + " " + e.text + " " +
                           Operand(e.args[1], Strength(e) + 1);
        if (e.args.size() > 2) text += " ESCAPE " + Print(e.args[2]);
        return text;
      }
      case ExprKind::kBetween:
        return Operand(e.args[0], 33) + " " + e.text + " ASYMMETRIC " + Operand(e.args[1], 33) +
               " AND " + Operand(e.args[2], 33);
      case ExprKind::kIn:
        return Operand(e.args[0], 33) + " " + e.text + " (" + List(e.args, 1) + ")";
      case ExprKind::kCast:
        return e.text + "(" + Print(e.args[0]) + " AS " + CastTypeText(e.type) + ")";
      case ExprKind::kCase: return Case(e);
      case ExprKind::kArray: return "ARRAY[" + List(e.args, 0) + "]";
      case ExprKind::kMap: return "MAP[" + List(e.args, 0) + "]";
      case ExprKind::kRow: return "ROW(" + List(e.args, 0) + ")";
      case ExprKind::kItem: return Operand(e.args[0], 1000) + "[" + Print(e.args[1]) + "]";
    }
    return {};
  }

 private:
  static std::string Path(const std::vector<std::string>& path) {
    std::string text;
    for (const auto& part : path) text += (text.empty() ? "" : ".") + QuoteName(part);
    return text;
  }

  std::string Operand(const Expr& e, int least) const {
    return Strength(e) < least ? "(" + Print(e) + ")" : Print(e);
  }

  std::string List(const std::vector<Expr>& items, size_t from) const {
    std::string text;
    for (size_t i = from; i < items.size(); ++i) text += (i > from ? ", " : "") + Print(items[i]);
    return text;
  }

  std::string Call(const Expr& e) const {
    if (e.simple) return e.text;
    if (e.text == "TRIM" && e.args.size() == 3) {
      return "TRIM(" + e.args[0].text + " " + Print(e.args[1]) + " FROM " + Print(e.args[2]) + ")";
    }
    if (e.text == "EXTRACT" && e.args.size() == 2) {
      return "EXTRACT(" + e.args[0].text + " FROM " + Print(e.args[1]) + ")";
    }
    if ((e.text == "CEIL" || e.text == "FLOOR") && e.args.size() == 2) {
      return e.text + "(" + Print(e.args[0]) + " TO " + e.args[1].text + ")";
    }
    if (e.text == "NULLIF" && style_ == PrintStyle::kValidated && e.args.size() == 2) {
      return "CASE WHEN " + Operand(e.args[0], 30) + " = " + Operand(e.args[1], 31) +
             " THEN NULL ELSE " + Print(e.args[0]) + " END";
    }
    std::string name = Path(e.path);
    const bool bare = e.path.size() == 1 && !e.quoted;
    if (bare && IsParserFunction(e.text)) name = e.text;
    if (e.path.size() == 1 && style_ == PrintStyle::kValidated && IsBuiltInFunction(e.text) &&
        e.text != "TO_TIMESTAMP_LTZ") {
      name = e.text;
    }
    if (bare && style_ == PrintStyle::kAsWritten && e.path[0] == e.text &&
        (e.text == "CONCAT" || e.text == "CONCAT_WS")) {
      name = QuoteName(e.text);
    }
    return name + (e.distinct ? "(DISTINCT " : "(") + List(e.args, 0) + ")" + Over(e);
  }

  std::string Over(const Expr& e) const {
    if (e.over == nullptr) return "";
    const OverWindow& window = *e.over;
    if (!window.name.empty()) return " OVER " + QuoteName(window.name);
    std::string text;
    if (!window.partition.empty()) text = "PARTITION BY " + List(window.partition, 0);
    for (size_t i = 0; i < window.order.size(); ++i) {
      text += i == 0 ? (text.empty() ? "ORDER BY " : " ORDER BY ") : ", ";
      text += Print(window.order[i]) + (window.descending[i] ? " DESC" : "");
    }
    if (!window.frame.empty()) text += (text.empty() ? "" : " ") + window.frame;
    return " OVER (" + text + ")";
  }

  std::string Case(const Expr& e) const {
    std::string text = "CASE";
    for (size_t i = e.simple ? 1 : 0; i + 1 < e.args.size(); i += 2) {
      const std::string when =
          e.simple ? Operand(e.args[0], 30) + " = " + Operand(e.args[i], 31) : Print(e.args[i]);
      text += " WHEN " + when + " THEN " + Print(e.args[i + 1]);
    }
    return text + " ELSE " + Print(e.args.back()) + " END";
  }

  PrintStyle style_;
};

std::string Quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    out += c;
    if (c == quote) out += c;
  }
  return out + quote;
}

}  // namespace

std::string PrintExpr(const Expr& expr, PrintStyle style) { return Printer(style).Print(expr); }

std::string QuoteName(std::string_view name) { return Quoted(name, '`'); }
std::string QuoteString(std::string_view text) { return Quoted(text, '\''); }

std::string DdlTypeText(const LogicalType& type) {
  std::string text;
  const auto& children = type.children();
  switch (type.kind()) {
    case TypeKind::kVarChar: text = "VARCHAR(" + std::to_string(type.length()) + ")"; break;
    case TypeKind::kVarBinary: text = "VARBINARY(" + std::to_string(type.length()) + ")"; break;
    case TypeKind::kTimestampLtz:
      text = "TIMESTAMP(" + std::to_string(type.precision()) + ") WITH LOCAL TIME ZONE";
      break;
    case TypeKind::kArray: text = "ARRAY<" + DdlTypeText(children[0].type) + ">"; break;
    case TypeKind::kMultiset: text = "MULTISET<" + DdlTypeText(children[0].type) + ">"; break;
    case TypeKind::kMap:
      text = "MAP<" + DdlTypeText(children[0].type) + ", " + DdlTypeText(children[1].type) + ">";
      break;
    case TypeKind::kRow: {
      text = "ROW<";
      for (size_t i = 0; i < children.size(); ++i) {
        text +=
            (i > 0 ? ", " : "") + QuoteName(children[i].name) + " " + DdlTypeText(children[i].type);
      }
      text += ">";
      break;
    }
    default: text = type.ToStringIgnoringNullability();
  }
  return text + (type.nullable() ? "" : " NOT NULL");
}

}  // namespace driftless::flink
