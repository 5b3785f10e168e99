#include "config/expr/eval/interval.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "schema/types/time.h"

namespace driftless::flink {
namespace {

Error Illegal(const Expr& e) {
  return MakeError(ErrorKind::kParse,
                   "Illegal interval literal format '" + e.text + "' for " + e.path[0])
      .At(e.line, e.column);
}

// The units from `first` on, as far as a compound literal goes, with what separates them from the
// next one.
struct Step {
  std::string_view unit;
  char separator;
};
constexpr Step kSteps[] = {{"YEAR", '-'}, {"MONTH", 0},    {"DAY", ' '},
                           {"HOUR", ':'}, {"MINUTE", ':'}, {"SECOND", 0}};

bool TakeNumber(std::string_view* text, int64_t* value) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value);
  if (error != std::errc() || *value < 0) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

// ".5" behind seconds, in micros.
int64_t TakeFraction(std::string_view* text) {
  if (!text->starts_with('.')) return 0;
  text->remove_prefix(1);
  int64_t micros = 0;
  int64_t unit = kMicrosPerSecond / 10;
  while (!text->empty() && (*text)[0] >= '0' && (*text)[0] <= '9') {
    micros += ((*text)[0] - '0') * unit;
    unit /= 10;
    text->remove_prefix(1);
  }
  return micros;
}

}  // namespace

bool IsInterval(const Expr& expr) {
  if (expr.kind == ExprKind::kInterval) return true;
  if (expr.kind == ExprKind::kUnary && expr.text != "NOT") return IsInterval(expr.args[0]);
  return expr.kind == ExprKind::kBinary && (expr.text == "+" || expr.text == "-") &&
         IsInterval(expr.args[0]) && IsInterval(expr.args[1]);
}

Result<Interval> ReadInterval(const Expr& e) {
  if (e.kind == ExprKind::kUnary || e.kind == ExprKind::kBinary) {
    DRIFTLESS_ASSIGN_OR_RETURN(Interval left, ReadInterval(e.args[0]));
    if (e.kind == ExprKind::kUnary) {
      return e.text == "-" ? Interval{-left.months, -left.micros} : left;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const Interval right, ReadInterval(e.args[1]));
    const int64_t sign = e.text == "-" ? -1 : 1;
    return Interval{left.months + sign * right.months, left.micros + sign * right.micros};
  }
  std::string_view first = e.path[0];
  std::string_view last;
  if (const size_t to = first.find(" TO "); to != std::string_view::npos) {
    last = first.substr(to + 4);
    first = first.substr(0, to);
  }
  first = first.substr(0, first.find('('));
  if (last.empty()) last = first;
  std::string_view text = e.text;
  int64_t sign = 1;
  while (text.starts_with('-') || text.starts_with('+')) {
    if (text[0] == '-') sign = -sign;
    text.remove_prefix(1);
  }
  Interval interval;
  const auto add = [&](std::string_view name, int64_t value) {
    const Interval one = IntervalOf(*ParseTimeUnit(name));
    interval.months += one.months * value;
    interval.micros += one.micros * value;
  };
  if (first == last) {
    int64_t value = 0;
    if (!TakeNumber(&text, &value)) return Illegal(e);
    add(first, value);
    if (first == "SECOND") interval.micros += TakeFraction(&text);
    if (!text.empty()) return Illegal(e);
  } else {
    bool within = false;
    for (const Step& step : kSteps) {
      within = within || step.unit == first;
      if (!within) continue;
      int64_t value = 0;
      if (!TakeNumber(&text, &value)) return Illegal(e);
      add(step.unit, value);
      if (step.unit == "SECOND") interval.micros += TakeFraction(&text);
      if (step.unit == last) break;
      if (step.separator == 0 || !text.starts_with(step.separator)) return Illegal(e);
      text.remove_prefix(1);
    }
    if (!text.empty()) return Illegal(e);
  }
  return Interval{sign * interval.months, sign * interval.micros};
}

Result<std::string> IntervalText(const Expr& e) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Interval interval, ReadInterval(e));
  const Expr* literal = &e;
  while (literal->kind != ExprKind::kInterval) literal = &literal->args[0];
  const std::string_view unit = literal->path[0];
  if (unit.starts_with("YEAR") || unit.starts_with("QUARTER") || unit.starts_with("MONTH")) {
    const int64_t months = std::abs(interval.months);
    return fmt::format("{}{}-{:02}", interval.months < 0 ? '-' : '+', months / 12, months % 12);
  }
  const int64_t millis = std::abs(interval.micros) / 1000;
  const int64_t seconds = millis / 1000;
  return fmt::format("{}{} {:02}:{:02}:{:02}.{:03}", interval.micros < 0 ? '-' : '+',
                     seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60,
                     millis % 1000);
}

}  // namespace driftless::flink
