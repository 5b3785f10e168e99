#include <re2/re2.h>

#include <memory>

#include "config/definition/regex.h"
#include "config/expr/eval/function_table.h"
#include "config/expr/eval/patterns.h"
#include "config/expr/eval/text_positions.h"
#include "schema/base/utf8.h"

namespace driftless::flink {
namespace {

// A pattern that was compiled; kept while the text of the pattern stays the same.
struct Compiled {
  std::string text;
  std::shared_ptr<const re2::RE2> regex;  // null: not a pattern
};

bool IsMeta(char c) {
  return std::string_view("\\^$.[]|()?*+{}-").find(c) != std::string_view::npos;
}

void AppendQuoted(std::string_view text, std::string* out) {
  for (const char c : text) {
    if (IsMeta(c)) *out += '\\';
    *out += c;
  }
}

// SQL's patterns as regular expressions. `escape` may be empty. LIKE: % and _. SIMILAR TO keeps
// the signs of regular expressions.
std::string FromSqlPattern(std::string_view pattern, std::string_view escape, bool similar) {
  std::string regex = "(?s)^(?:";
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (!escape.empty() && c == escape[0] && i + 1 < pattern.size()) {
      AppendQuoted(pattern.substr(++i, 1), &regex);
    } else if (c == '%') {
      regex += ".*";
    } else if (c == '_') {
      regex += '.';
    } else if (similar && std::string_view("|*+?{}()[]^-").find(c) != std::string_view::npos) {
      regex += c;
    } else {
      AppendQuoted(pattern.substr(i, 1), &regex);
    }
  }
  return regex + ")$";
}

const re2::RE2* Compile(Call& c, std::string_view text, std::string regex) {
  auto compiled = std::make_shared<Compiled>();
  compiled->text = text;
  Result<std::shared_ptr<const re2::RE2>> made = CompileRegex(regex, LetterCase::kSensitive);
  if (made) compiled->regex = *std::move(made);
  c.cache = compiled;
  return compiled->regex.get();
}

const re2::RE2* RegexOf(Call& c, std::string_view text) {
  const auto* cached = static_cast<const Compiled*>(c.cache.get());
  if (cached != nullptr && cached->text == text) return cached->regex.get();
  return Compile(c, text, std::string(text));
}

template <bool kSimilar>
void Like(Call& c, int64_t row) {
  const std::string_view pattern = c.Str(1, row);
  const auto* cached = static_cast<const Compiled*>(c.cache.get());
  const re2::RE2* regex = nullptr;
  if (cached != nullptr && cached->text == pattern) {
    regex = cached->regex.get();
  } else {
    const std::string_view escape = c.args.size() > 2 ? c.Str(2, row) : std::string_view();
    regex = Compile(c, pattern, FromSqlPattern(pattern, escape, kSimilar));
  }
  if (regex == nullptr) return c.Fail(row, "the pattern cannot be read");
  c.PutBool(row, re2::RE2::PartialMatch(c.Str(0, row), *regex));
}

void Regexp(Call& c, int64_t row) {
  const re2::RE2* regex = RegexOf(c, c.Str(1, row));
  if (regex == nullptr) return c.PutNull(row);
  c.PutBool(row, re2::RE2::PartialMatch(c.Str(0, row), *regex));
}

// Calls `visit(match)` for each match, until it says false. A match of nothing moves one letter on.
template <typename Visit>
void EachMatch(const re2::RE2& regex, std::string_view text, Visit visit) {
  std::vector<re2::StringPiece> groups(static_cast<size_t>(regex.NumberOfCapturingGroups()) + 1);
  size_t at = 0;
  while (at <= text.size() &&
         regex.Match(re2::StringPiece(text.data(), text.size()), at, text.size(),
                     re2::RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) {
    if (!visit(groups)) return;
    const auto begin = static_cast<size_t>(groups[0].data() - text.data());
    at = begin + groups[0].size();
    if (groups[0].empty()) {
      if (at >= text.size()) return;
      at += std::max<size_t>(Utf8SequenceLength(text, at), 1);
    }
  }
}

void RegexpReplace(Call& c, int64_t row) {
  const re2::RE2* regex = RegexOf(c, c.Str(1, row));
  if (regex == nullptr) return c.PutNull(row);
  const std::string_view text = c.Str(0, row);
  size_t copied = 0;
  EachMatch(*regex, text, [&](const std::vector<re2::StringPiece>& groups) {
    const auto begin = static_cast<size_t>(groups[0].data() - text.data());
    c.Append(text.substr(copied, begin - copied));
    c.Append(c.Str(2, row));
    copied = begin + groups[0].size();
    return true;
  });
  c.Append(text.substr(copied));
}

void RegexpExtract(Call& c, int64_t row) {
  const re2::RE2* regex = RegexOf(c, c.Str(1, row));
  const int64_t group = c.args.size() > 2 ? c.Int(2, row) : 0;
  if (regex == nullptr || group < 0 || group > regex->NumberOfCapturingGroups()) {
    return c.PutNull(row);
  }
  bool found = false;
  EachMatch(*regex, c.Str(0, row), [&](const std::vector<re2::StringPiece>& groups) {
    const re2::StringPiece& piece = groups[static_cast<size_t>(group)];
    if (piece.data() != nullptr) {
      found = true;
      c.Append({piece.data(), piece.size()});
    }
    return false;
  });
  if (!found) c.PutNull(row);
}

void RegexpSubstr(Call& c, int64_t row) { RegexpExtract(c, row); }

void RegexpCount(Call& c, int64_t row) {
  const re2::RE2* regex = RegexOf(c, c.Str(1, row));
  if (regex == nullptr) return c.PutNull(row);
  int64_t count = 0;
  EachMatch(*regex, c.Str(0, row), [&](const auto&) {
    ++count;
    return true;
  });
  c.PutInt(row, count);
}

void RegexpInstr(Call& c, int64_t row) {
  const re2::RE2* regex = RegexOf(c, c.Str(1, row));
  if (regex == nullptr) return c.PutNull(row);
  const std::string_view text = c.Str(0, row);
  int64_t place = 0;
  EachMatch(*regex, text, [&](const std::vector<re2::StringPiece>& groups) {
    place = Utf8Length(text.substr(0, static_cast<size_t>(groups[0].data() - text.data()))) + 1;
    return false;
  });
  c.PutInt(row, place);
}

// All matches of one group, as an ARRAY<STRING>.
void RegexpExtractAll(Call& c, const EvalBatch& batch) {
  c.Start(batch.rows);
  OwnedColumn& list = c.out();
  OwnedColumn& elements = list.children[0];
  OwnedColumn one;
  const LogicalType text_type = LogicalType::String();
  for (int64_t row = 0; row < batch.rows; ++row) {
    if (!c.Skips(row)) {
      const re2::RE2* regex = RegexOf(c, c.Str(1, row));
      const int64_t group = c.args.size() > 2 ? c.Int(2, row) : 1;
      if (regex == nullptr || group < 0 || group > regex->NumberOfCapturingGroups()) {
        c.PutNull(row);
      } else {
        EachMatch(*regex, c.Str(0, row), [&](const std::vector<re2::StringPiece>& groups) {
          const re2::StringPiece& piece = groups[static_cast<size_t>(group)];
          one.Prepare(text_type, 1);
          one.SetValid(0);
          one.values.assign(piece.data(), piece.data() + piece.size());
          one.offsets.push_back(static_cast<int32_t>(piece.size()));
          elements.AppendRows(text_type, one.view(), 0, 1);
          return true;
        });
      }
    }
    list.offsets.push_back(static_cast<int32_t>(elements.length()));
  }
  c.Finish();
}

}  // namespace

Result<void> CheckPattern(std::string_view function, std::string_view pattern) {
  const bool similar = function == "SIMILAR TO";
  Result<std::shared_ptr<const re2::RE2>> made = CompileRegex(
      similar ? FromSqlPattern(pattern, "", true) : std::string(pattern), LetterCase::kSensitive);
  if (made) return {};
  return MakeError(ErrorKind::kInvalidConfig, made.error().message())
      .Hint("Regular expressions here are RE2's: no lookaround and no back references.");
}

std::span<const FunctionForm> PatternForms() {
  static constexpr FunctionForm kForms[] = {
      {"LIKE", "ss", 'b', kFixedLoop<Like<false>>},
      {"LIKE", "sss", 'b', kFixedLoop<Like<false>>},
      {"SIMILAR TO", "ss", 'b', kFixedLoop<Like<true>>},
      {"SIMILAR TO", "sss", 'b', kFixedLoop<Like<true>>},
      {"REGEXP", "ss", 'b', kFixedLoop<Regexp>},
      {"REGEXP_REPLACE", "sss", 's', kTextLoop<RegexpReplace>},
      {"REGEXP_EXTRACT", "ss", 's', kTextLoop<RegexpExtract>},
      {"REGEXP_EXTRACT", "ssl", 's', kTextLoop<RegexpExtract>},
      {"REGEXP_SUBSTR", "ss", 's', kTextLoop<RegexpSubstr>},
      {"REGEXP_COUNT", "ss", 'l', kFixedLoop<RegexpCount>},
      {"REGEXP_INSTR", "ss", 'l', kFixedLoop<RegexpInstr>},
      {"REGEXP_EXTRACT_ALL", "ss", 'a', RegexpExtractAll},
      {"REGEXP_EXTRACT_ALL", "ssl", 'a', RegexpExtractAll},
  };
  return kForms;
}

}  // namespace driftless::flink
