#include "config/expr/eval/compile.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "config/expr/eval/function_table.h"
#include "config/expr/eval/interval.h"
#include "config/expr/eval/nodes.h"
#include "config/expr/eval/patterns.h"
#include "config/expr/eval/time_nodes.h"
#include "config/expr/functions.h"
#include "config/options/suggest.h"
#include "schema/base/bytes_text.h"
#include "schema/types/decimal.h"

namespace driftless::flink {

std::vector<const FunctionForm*> FindForms(std::string_view name) {
  std::vector<const FunctionForm*> found;
  for (const auto forms :
       {TextForms(), PatternForms(), NumberForms(), TimeForms(), JsonForms(), ListForms()}) {
    for (const FunctionForm& form : forms) {
      if (form.name == name) found.push_back(&form);
    }
  }
  return found;
}

namespace {

bool IsNumeric(const LogicalType& type) {
  return type.IsInteger() || type.kind() == TypeKind::kFloat || type.kind() == TypeKind::kDouble ||
         type.kind() == TypeKind::kDecimal;
}
bool IsDateTime(const LogicalType& type) {
  return type.IsTimestamp() || type.kind() == TypeKind::kDate || type.kind() == TypeKind::kTime;
}
bool IsWord(const Expr& e) {
  return e.kind == ExprKind::kKeyword && e.text != "NULL" && e.text != "TRUE" &&
         e.text != "FALSE" && e.text != "UNKNOWN";
}

// Values that are worked out have no blanks at the end, so nothing is filled up.
LogicalType Plain(const LogicalType& type) {
  if (type.kind() == TypeKind::kChar) {
    return LogicalType::VarChar(type.length()).WithNullability(type.nullable());
  }
  return type;
}

LogicalType FormType(char letter, const LogicalType& first, const LogicalType& result) {
  switch (letter) {
    case 's': return LogicalType::String();
    case 'y': return LogicalType::Bytes();
    case 'l': return LogicalType::BigInt();
    case 'd': return LogicalType::Double();
    case 'b': return LogicalType::Boolean();
    case 'D': return LogicalType::Date();
    case 't': return LogicalType::Timestamp(6);
    case 'z': return LogicalType::TimestampLtz(6);
    case 'T': return LogicalType::Time(6);
    case 'v': return LogicalType::Variant();
    case 'e': return first.children()[0].type;
    case 'f': return first;
    default: return result;
  }
}

// How well an argument fits a form: 2 as it is, 1 by a cast, 0 not at all.
int Fits(char letter, const Expr& e, const NodePtr& node) {
  if (letter == 'w') return IsWord(e) ? 2 : 0;
  if (IsWord(e)) return 0;
  const LogicalType& type = node->type;
  if (letter == '*' || node->IsNullLiteral()) return 2;
  switch (letter) {
    case 's': return type.IsCharacter() ? 2 : 1;
    case 'y': return type.IsCharacter() || type.IsBytes() ? 2 : 1;
    case 'l': return type.IsInteger() ? 2 : IsNumeric(type) ? 1 : 0;
    case 'n': return IsNumeric(type) ? 2 : 0;
    case 'd': return IsNumeric(type) ? 2 : 0;
    case 'b': return type.kind() == TypeKind::kBoolean ? 2 : 0;
    case 't':
    case 'z': return IsDateTime(type) ? 2 : type.IsCharacter() ? 1 : 0;
    default: return 1;
  }
}

// There is no type for a distance in time: as a value of its own it is its text.
Result<NodePtr> TextOfInterval(const Expr& e) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, IntervalText(e));
  const auto length = static_cast<int32_t>(text.size());
  return MakeTextLiteral(LogicalType::VarChar(length).NotNull(), text);
}

class Compiler {
 public:
  Compiler(const Scope& scope, const TimeZone& zone, std::vector<size_t>* inputs)
      : scope_(scope), zone_(zone), inputs_(inputs) {
    columns_.resize(scope.columns.size());
  }

  Result<NodePtr> Compile(const Expr& e) {
    Result<NodePtr> made = Make(e);
    if (!made) {
      if (made.error().line() > 0 || e.line == 0) return made;
      return std::move(made).error().At(e.line, e.column);
    }
    return Folded(*std::move(made));
  }

 private:
  // A node whose arguments never change has one value.
  static NodePtr Folded(NodePtr node) {
    if (node->constant || node->args.empty() || !node->deterministic) return node;
    for (const NodePtr& arg : node->args) {
      if (!arg->constant) return node;
    }
    node->Fold();
    return node;
  }

  Result<NodePtr> Cast(NodePtr node, const LogicalType& to, CastMode mode = CastMode::kStrict) {
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr cast, MakeCast(std::move(node), to, mode, zone_));
    for (NodePtr& arg : cast->args) arg = Folded(std::move(arg));
    return Folded(std::move(cast));
  }
  Result<NodePtr> CompileAs(const Expr& e, const LogicalType& type) {
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr node, Compile(e));
    return Cast(std::move(node), type);
  }
  Result<std::vector<NodePtr>> CompileAll(const std::vector<Expr>& list) {
    std::vector<NodePtr> nodes;
    for (const Expr& e : list) {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr node, Compile(e));
      nodes.push_back(std::move(node));
    }
    return nodes;
  }
  Result<NodePtr> Truth(const Expr& e) { return CompileAs(e, LogicalType::Boolean()); }
  static Error Unsupported(std::string text) {
    return MakeError(ErrorKind::kUnsupported, std::move(text));
  }

  Result<NodePtr> Make(const Expr& e) {
    switch (e.kind) {
      case ExprKind::kColumn: return Column(e);
      case ExprKind::kNumber: return Number(e);
      case ExprKind::kString: return MakeTextLiteral(Plain(e.result), e.text);
      case ExprKind::kKeyword:
        if (e.text == "TRUE" || e.text == "FALSE") {
          return MakeIntLiteral(LogicalType::Boolean().NotNull(), e.text == "TRUE" ? 1 : 0);
        }
        return MakeNullLiteral(e.text == "UNKNOWN" ? LogicalType::Boolean() : e.result);
      case ExprKind::kTyped: return Typed(e);
      case ExprKind::kInterval:
        return Unsupported("an INTERVAL stands only beside + or - and a date or time");
      case ExprKind::kCall: return Call(e);
      case ExprKind::kUnary: return Unary(e);
      case ExprKind::kPostfix: {
        DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, Compile(e.args[0]));
        return MakeIs(std::string_view(e.text).substr(3), std::move(value));
      }
      case ExprKind::kBinary: return Binary(e);
      case ExprKind::kBetween: return Between(e);
      case ExprKind::kIn: return In(e);
      case ExprKind::kCast: {
        const bool is_text_of = e.result.IsCharacter() && IsInterval(e.args[0]);
        DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value,
                                   is_text_of ? TextOfInterval(e.args[0]) : Compile(e.args[0]));
        return Cast(std::move(value), e.result,
                    e.text == "TRY_CAST" ? CastMode::kTry : CastMode::kStrict);
      }
      case ExprKind::kCase: return Case(e);
      case ExprKind::kArray: {
        std::vector<NodePtr> values;
        for (const Expr& arg : e.args) {
          DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, CompileAs(arg, e.result.children()[0].type));
          values.push_back(std::move(value));
        }
        return MakeArray(std::move(values), e.result);
      }
      case ExprKind::kRow: {
        std::vector<NodePtr> values;
        for (size_t i = 0; i < e.args.size(); ++i) {
          DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value,
                                     CompileAs(e.args[i], e.result.children()[i].type));
          values.push_back(std::move(value));
        }
        return MakeRow(std::move(values), e.result);
      }
      case ExprKind::kItem: return Item(e);
      case ExprKind::kMap: return Map(e);
      case ExprKind::kStar: return Unsupported("* cannot stand in an expression");
    }
    return Unsupported("this expression cannot be worked out");
  }

  // A map is a list of its entries.
  Result<NodePtr> Map(const Expr& e) {
    const LogicalType entry = EntriesType(e.result);
    if (entry.children()[0].type.IsNested()) {
      return Unsupported("MAP takes no keys that hold other values");
    }
    std::vector<NodePtr> entries;
    for (size_t i = 0; i + 1 < e.args.size(); i += 2) {
      std::vector<NodePtr> fields;
      for (size_t field = 0; field < 2; ++field) {
        DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value,
                                   CompileAs(e.args[i + field], entry.children()[field].type));
        fields.push_back(std::move(value));
      }
      entries.push_back(Folded(MakeRow(std::move(fields), entry)));
    }
    return MakeMap(std::move(entries), e.result);
  }

  Result<NodePtr> Column(const Expr& e) {
    size_t at = 0;
    if (e.path.size() > 1 && !scope_.table.empty() && e.path[0] == scope_.table) at = 1;
    for (size_t i = 0; i < scope_.columns.size(); ++i) {
      if (scope_.columns[i].first != e.path[at]) continue;
      if (columns_[i] == nullptr) {
        columns_[i] = std::make_shared<ColumnNode>(scope_.columns[i].second, i);
        inputs_->push_back(i);
      }
      NodePtr node = columns_[i];
      for (size_t part = at + 1; part < e.path.size(); ++part) {
        const auto& fields = node->type.children();
        for (size_t field = 0; field < fields.size(); ++field) {
          if (fields[field].name != e.path[part]) continue;
          node = MakeField(node, field, LogicalType(fields[field].type).Nullable());
          break;
        }
      }
      return node;
    }
    return Unsupported("there is no column " + e.path[at]);
  }

  static Result<NodePtr> Number(const Expr& e) {
    const std::string& text = e.text;
    if (e.result.kind() == TypeKind::kDouble) {
      double value = 0;
      std::from_chars(text.data(), text.data() + text.size(), value);
      return MakeDoubleLiteral(e.result, value);
    }
    if (e.result.kind() == TypeKind::kDecimal) {
      Int128 value = 0;
      if (ParseDecimal(text, e.result.precision(), e.result.scale(), &value) != DecimalText::kOk) {
        return Unsupported("Numeric literal '" + text + "' out of range");
      }
      return MakeDecimalLiteral(e.result, value);
    }
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return MakeIntLiteral(e.result, value);
  }

  Result<NodePtr> Typed(const Expr& e) {
    if (e.text == "X") {
      std::string bytes;
      DecodeHex(e.path[0], &bytes);
      return MakeTextLiteral(e.result, bytes);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(
        NodePtr node, Cast(MakeTextLiteral(LogicalType::String().NotNull(), e.path[0]), e.result));
    if (node->errors.any) {
      return MakeError(ErrorKind::kParse, "Illegal " + e.text + " literal '" + e.path[0] + "'");
    }
    return node;
  }

  Result<NodePtr> Unary(const Expr& e) {
    if (e.text == "NOT") {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, Truth(e.args[0]));
      return MakeNot(std::move(value));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, Compile(e.args[0]));
    if (e.text == "+") return value;
    return MakeNegative(std::move(value));
  }

  Result<NodePtr> Binary(const Expr& e) {
    const std::string& op = e.text;
    if (op == "AND" || op == "OR") {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr a, Truth(e.args[0]));
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr b, Truth(e.args[1]));
      return op == "AND" ? MakeAnd(std::move(a), std::move(b)) : MakeOr(std::move(a), std::move(b));
    }
    if (op == "+" || op == "-" || op == "*" || op == "/" || op == "%") return Arithmetic(e);
    if (op == "||") return Named("||", e);
    const bool negated = op.starts_with("NOT ");
    const std::string_view bare = negated ? std::string_view(op).substr(4) : op;
    if (bare == "LIKE" || bare == "SIMILAR TO") {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr like, Named(bare, e));
      return negated ? MakeNot(std::move(like)) : like;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr a, Compile(e.args[0]));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr b, Compile(e.args[1]));
    if (op.ends_with("DISTINCT FROM")) {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr equal, Compare(Comparison::kEqual, a, b));
      return MakeDistinct(std::move(equal), std::move(a), std::move(b), op.starts_with("IS DIST"));
    }
    const Comparison which = op == "="    ? Comparison::kEqual
                             : op == "<>" ? Comparison::kNotEqual
                             : op == "<"  ? Comparison::kLess
                             : op == "<=" ? Comparison::kLessEqual
                             : op == ">"  ? Comparison::kGreater
                                          : Comparison::kGreaterEqual;
    return Compare(which, std::move(a), std::move(b));
  }

  Result<NodePtr> Compare(Comparison op, NodePtr a, NodePtr b) {
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr node, MakeComparison(op, std::move(a), std::move(b), zone_));
    for (NodePtr& arg : node->args) arg = Folded(std::move(arg));
    return Folded(std::move(node));
  }

  Result<NodePtr> Arithmetic(const Expr& e) {
    const bool interval_right = IsInterval(e.args[1]);
    const bool interval_left = IsInterval(e.args[0]);
    if (interval_left && interval_right) {
      return Unsupported("an INTERVAL stands only beside + or - and a date or time");
    }
    if (interval_left || interval_right) {
      DRIFTLESS_ASSIGN_OR_RETURN(Interval interval, ReadInterval(e.args[interval_right ? 1 : 0]));
      if (e.text == "-") interval = {-interval.months, -interval.micros};
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, Compile(e.args[interval_right ? 0 : 1]));
      return MakeAddInterval(std::move(value), interval);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr a, Compile(e.args[0]));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr b, Compile(e.args[1]));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr node,
                               MakeArithmetic(e.text, std::move(a), std::move(b), e.result, zone_));
    for (NodePtr& arg : node->args) arg = Folded(std::move(arg));
    return node;
  }

  Result<NodePtr> Between(const Expr& e) {
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, Compile(e.args[0]));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr low, Compile(e.args[1]));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr high, Compile(e.args[2]));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr above, Compare(Comparison::kGreaterEqual, value, low));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr below, Compare(Comparison::kLessEqual, value, high));
    NodePtr node = Folded(MakeAnd(std::move(above), std::move(below)));
    return e.text.starts_with("NOT") ? MakeNot(std::move(node)) : node;
  }

  Result<NodePtr> In(const Expr& e) {
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, Compile(e.args[0]));
    NodePtr any;
    for (size_t i = 1; i < e.args.size(); ++i) {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr item, Compile(e.args[i]));
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr equal, Compare(Comparison::kEqual, value, item));
      any = any == nullptr ? std::move(equal) : Folded(MakeOr(std::move(any), std::move(equal)));
    }
    if (any == nullptr) return Unsupported("IN needs a list of values");
    return e.text.starts_with("NOT") ? MakeNot(std::move(any)) : any;
  }

  Result<NodePtr> Case(const Expr& e) {
    const LogicalType type = Plain(e.result);
    NodePtr subject;
    size_t i = 0;
    if (e.simple) {
      DRIFTLESS_ASSIGN_OR_RETURN(subject, Compile(e.args[0]));
      i = 1;
    }
    std::vector<NodePtr> conditions;
    std::vector<NodePtr> values;
    for (; i + 1 < e.args.size(); i += 2) {
      NodePtr condition;
      if (subject != nullptr) {
        DRIFTLESS_ASSIGN_OR_RETURN(NodePtr when, Compile(e.args[i]));
        DRIFTLESS_ASSIGN_OR_RETURN(condition, Compare(Comparison::kEqual, subject, when));
      } else {
        DRIFTLESS_ASSIGN_OR_RETURN(condition, Truth(e.args[i]));
      }
      conditions.push_back(std::move(condition));
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, CompileAs(e.args[i + 1], type));
      values.push_back(std::move(value));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr otherwise, CompileAs(e.args.back(), type));
    values.push_back(std::move(otherwise));
    return MakeCase(std::move(conditions), std::move(values), type);
  }

  Result<NodePtr> Item(const Expr& e) {
    if (e.args[0].result.kind() == TypeKind::kVariant) return Named("VARIANT[]", e);
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr from, Compile(e.args[0]));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr index, Compile(e.args[1]));
    return MakeItem(std::move(from), std::move(index), e.result, zone_);
  }

  // ---- functions -------------------------------------------------------------------------------

  Result<NodePtr> Call(const Expr& e) {
    if (e.over != nullptr) {
      return MakeError(ErrorKind::kUnsupported, "OVER cannot be worked out row by row")
          .At(e.line, e.column)
          .Hint("Run the query on Flink.");
    }
    const LogicalType type = Plain(e.result);
    if (e.text == "COALESCE" || e.text == "IFNULL") {
      std::vector<NodePtr> values;
      for (const Expr& arg : e.args) {
        DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, CompileAs(arg, type));
        values.push_back(std::move(value));
      }
      return MakeCoalesce(std::move(values), type);
    }
    if (e.text == "IF") {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr condition, Truth(e.args[0]));
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr then, CompileAs(e.args[1], type));
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr otherwise, CompileAs(e.args[2], type));
      return MakeCase({std::move(condition)}, {std::move(then), std::move(otherwise)}, type);
    }
    if (e.text == "NULLIF") {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, CompileAs(e.args[0], type));
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr other, Compile(e.args[1]));
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr equal, Compare(Comparison::kEqual, value, other));
      return MakeNullIf(std::move(value), std::move(equal), type);
    }
    if (e.text == "MOD") {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr a, Compile(e.args[0]));
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr b, Compile(e.args[1]));
      return MakeArithmetic("%", std::move(a), std::move(b), e.result, zone_);
    }
    if (e.text == "TYPEOF") {
      return MakeTextLiteral(LogicalType::String().NotNull(), e.args[0].result.ToString());
    }
    if (e.text == "ELEMENT") {
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr list, Compile(e.args[0]));
      return MakeItem(std::move(list), MakeIntLiteral(LogicalType::BigInt().NotNull(), 1), e.result,
                      zone_);
    }
    if (e.text == "TIMESTAMPADD") return AddUnits(e);
    return Named(e.text, e);
  }

  Result<NodePtr> AddUnits(const Expr& e) {
    const std::optional<TimeUnit> unit =
        IsWord(e.args[0]) ? ParseTimeUnit(e.args[0].text) : std::nullopt;
    if (!unit) return UnknownUnit(e);
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr amount, CompileAs(e.args[1], LogicalType::BigInt()));
    DRIFTLESS_ASSIGN_OR_RETURN(NodePtr value, CompileAs(e.args[2], e.result));
    return MakeAddInterval(std::move(value), std::move(amount), IntervalOf(*unit));
  }
  static Error UnknownUnit(const Expr& e) {
    return Unsupported(e.text +
                       " needs one of YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND");
  }

  static std::string NameOf(std::string_view name) {
    return name == "VARIANT[]" ? "[]" : std::string(name);
  }

  // A function or an operator of the table.
  Result<NodePtr> Named(std::string_view name, const Expr& e) {
    const std::vector<const FunctionForm*> forms = FindForms(name);
    if (forms.empty()) {
      return Unsupported("function " + std::string(name) + " cannot be worked out row by row");
    }
    std::vector<NodePtr> args;
    for (const Expr& arg : e.args) {
      NodePtr node;
      if (!IsWord(arg)) {
        DRIFTLESS_ASSIGN_OR_RETURN(node, Compile(arg));
      }
      args.push_back(std::move(node));
    }
    const FunctionForm* best = nullptr;
    int best_fit = 0;
    for (const FunctionForm* form : forms) {
      const int fit = FitOf(*form, e, args);
      if (fit > best_fit) {
        best_fit = fit;
        best = form;
      }
    }
    if (best == nullptr) return WrongArguments(name, e, args);
    DRIFTLESS_TRY(CheckPatternOf(name, args));
    return Build(*best, e, std::move(args));
  }

  static char LetterOf(const FunctionForm& form, size_t arg) {
    const std::string_view letters = form.arguments;
    if (letters.ends_with('+') && arg + 1 >= letters.size()) return letters[letters.size() - 2];
    return letters[arg];
  }
  // The worst of its arguments' fits; 0: cannot be called so.
  static int FitOf(const FunctionForm& form, const Expr& e, const std::vector<NodePtr>& args) {
    const bool any_number = form.arguments.ends_with('+');
    if (any_number ? args.empty() : args.size() != form.arguments.size()) return 0;
    int fit = 2;
    for (size_t i = 0; i < args.size(); ++i) {
      fit = std::min(fit, Fits(LetterOf(form, i), e.args[i], args[i]));
    }
    return fit;
  }

  static Error WrongArguments(std::string_view name, const Expr& e,
                              const std::vector<NodePtr>& args) {
    std::string types;
    for (size_t i = 0; i < args.size(); ++i) {
      types += (i > 0 ? ", " : "");
      types += args[i] == nullptr ? e.args[i].text : args[i]->type.ToStringIgnoringNullability();
    }
    return Unsupported(NameOf(name) + " cannot be called with (" + types + ")");
  }

  static Result<void> CheckPatternOf(std::string_view name, const std::vector<NodePtr>& args) {
    const bool has_pattern = name.starts_with("REGEXP") || name == "SIMILAR TO";
    if (!has_pattern || args.size() < 2 || !args[1]->constant || args[1]->IsNull(0)) return {};
    return CheckPattern(name, args[1]->Text(0));
  }

  Result<NodePtr> Build(const FunctionForm& form, const Expr& e, std::vector<NodePtr> args) {
    const LogicalType first = args.empty() || args[0] == nullptr ? LogicalType() : args[0]->type;
    auto call = std::make_shared<flink::Call>(FormType(form.result, first, e.result), form.loop);
    call->zone = zone_;
    call->deterministic = form.deterministic;
    for (size_t i = 0; i < args.size(); ++i) {
      const char letter = LetterOf(form, i);
      if (letter == 'w') {
        call->word = e.args[i].text;
        const bool is_flag = form.name == "TRIM";
        if (!is_flag && !ParseTimeUnit(call->word)) return UnknownUnit(e);
        continue;
      }
      if (letter == '*' || letter == 'n' || (letter == 'y' && args[i]->type.IsBytes())) {
        call->args.push_back(std::move(args[i]));
        continue;
      }
      // A time of the day is a moment of the first day.
      const bool is_time = letter == 't' && args[i]->type.kind() == TypeKind::kTime;
      const LogicalType wanted = is_time         ? LogicalType::Time(6)
                                 : letter == 'y' ? LogicalType::String()
                                                 : FormType(letter, first, e.result);
      DRIFTLESS_ASSIGN_OR_RETURN(NodePtr cast, Cast(std::move(args[i]), wanted));
      call->args.push_back(std::move(cast));
    }
    NodePtr node = call->args.empty() ? NodePtr(call) : Folded(call);
    // The form's length is as long as need be; what typing gives is never shorter than the value.
    if (node->type.IsCharacter() && e.result.IsCharacter()) return node;
    return Cast(std::move(node), Plain(e.result));
  }

  const Scope& scope_;
  const TimeZone zone_;
  std::vector<size_t>* inputs_;
  std::vector<NodePtr> columns_;
};

}  // namespace

Result<NodePtr> CompileExpr(const Expr& expr, const Scope& scope, const TimeZone& zone,
                            std::vector<size_t>* inputs) {
  if (IsInterval(expr)) return TextOfInterval(expr);
  return Compiler(scope, zone, inputs).Compile(expr);
}

}  // namespace driftless::flink
