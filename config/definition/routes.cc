#include "config/definition/routes.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "config/definition/regex.h"

namespace driftless {
namespace {

constexpr int kGroupsMax = 99;

// A piece of a sink-table template.
struct Piece {
  enum class Kind : uint8_t { kLiteral, kSeparator, kTableName, kGroup };
  Kind kind = Kind::kLiteral;
  std::string text;
  int group = 0;
};

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// "db.order_\.*, db.item" -> "(?:db\.order_.*)|(?:db\.item)".
std::string ToRegex(std::string_view source_table) {
  std::string regex;
  while (!source_table.empty()) {
    const size_t comma = source_table.find(',');
    const std::string_view entry = Trim(source_table.substr(0, comma));
    source_table.remove_prefix(comma == std::string_view::npos ? source_table.size() : comma + 1);
    if (entry.empty()) continue;
    if (!regex.empty()) regex += '|';
    regex += "(?:";
    for (size_t i = 0; i < entry.size(); ++i) {
      if (entry[i] == '\\' && i + 1 < entry.size()) {
        if (entry[i + 1] != '.') regex += entry[i];
        regex += entry[++i];
      } else if (entry[i] == '.') {
        regex += "\\.";
      } else {
        regex += entry[i];
      }
    }
    regex += ')';
  }
  return regex;
}

void AddLiteral(char c, std::vector<Piece>* pieces) {
  if (c == '.') {
    pieces->push_back({Piece::Kind::kSeparator, "", 0});
    return;
  }
  if (pieces->empty() || pieces->back().kind != Piece::Kind::kLiteral) {
    pieces->push_back({Piece::Kind::kLiteral, "", 0});
  }
  pieces->back().text += c;
}

std::vector<Piece> ParseWithSymbol(std::string_view sink_table, std::string_view symbol) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < sink_table.size();) {
    if (sink_table.substr(i).starts_with(symbol)) {
      pieces.push_back({Piece::Kind::kTableName, "", 0});
      i += symbol.size();
    } else {
      AddLiteral(sink_table[i++], &pieces);
    }
  }
  return pieces;
}

// As java.util.regex.Matcher.appendReplacement reads a replacement: a group number takes as many
// digits as there are groups for; a backslash makes the next character literal.
Result<std::vector<Piece>> ParseWithGroups(std::string_view sink_table, int group_count) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < sink_table.size(); ++i) {
    const char c = sink_table[i];
    if (c == '\\' && i + 1 < sink_table.size()) {
      const char next = sink_table[++i];
      if (pieces.empty() || pieces.back().kind != Piece::Kind::kLiteral) {
        pieces.push_back({Piece::Kind::kLiteral, "", 0});
      }
      pieces.back().text += next;
      continue;
    }
    if (c != '$') {
      AddLiteral(c, &pieces);
      continue;
    }
    const auto digit_at = [&](size_t at) {
      const bool is_digit =
          at < sink_table.size() && sink_table[at] >= '0' && sink_table[at] <= '9';
      return is_digit ? sink_table[at] - '0' : -1;
    };
    int group = digit_at(i + 1);
    if (group < 0 || group > group_count) {
      return MakeError(ErrorKind::kInvalidConfig,
                       group < 0
                           ? fmt::format("\"$\" in sink-table \"{}\" names no group", sink_table)
                           : fmt::format("sink-table \"{}\" names group {}; source-table has {}",
                                         sink_table, group, group_count))
          .Hint(group < 0 ? "Write \\$ for a dollar sign in a name."
                          : "Groups are the ( ) of source-table, counted from 1.");
    }
    ++i;
    for (int digit = digit_at(i + 1); digit >= 0 && group * 10 + digit <= group_count;
         digit = digit_at(++i + 1)) {
      group = group * 10 + digit;
    }
    pieces.push_back({Piece::Kind::kGroup, "", group});
  }
  return pieces;
}

Result<TablePath> PathOf(std::vector<std::string> parts, std::string_view what) {
  const bool has_empty = std::any_of(parts.begin(), parts.end(), [](auto& p) { return p.empty(); });
  if (has_empty || parts.empty() || parts.size() > 3) {
    return MakeError(ErrorKind::kInvalidConfig, fmt::format("{} is not a table name", what))
        .Hint("A sink table is \"database.table\", or one or three such parts.");
  }
  TablePath path;
  path.table = std::move(parts.back());
  if (parts.size() > 1) path.database = std::move(parts[parts.size() - 2]);
  if (parts.size() > 2) path.catalog = std::move(parts[0]);
  return path;
}

}  // namespace

struct RoutePattern::Compiled {
  std::shared_ptr<const RE2> regex;
  std::shared_ptr<const RE2> any_case;
  std::vector<Piece> pieces;
  std::string sink_table;
  bool names_many = false;  // the source pattern can match more than one table
};

Result<RoutePattern> RoutePattern::Parse(std::string_view source_table, std::string_view sink_table,
                                         std::string_view replace_symbol) {
  auto compiled = std::make_shared<Compiled>();
  const std::string regex = ToRegex(source_table);
  if (regex.empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "source-table names no table")
        .Hint("Write database.table; \\.* stands for every name.");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(compiled->regex, CompileRegex(regex, LetterCase::kSensitive));
  DRIFTLESS_ASSIGN_OR_RETURN(compiled->any_case, CompileRegex(regex, LetterCase::kInsensitive));
  const int group_count = compiled->regex->NumberOfCapturingGroups();
  if (group_count > kGroupsMax) {
    return MakeError(ErrorKind::kInvalidConfig,
                     fmt::format("source-table has more than {} groups", kGroupsMax));
  }
  compiled->sink_table = Trim(sink_table);
  if (replace_symbol.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(compiled->pieces,
                               ParseWithGroups(compiled->sink_table, group_count));
  } else {
    compiled->pieces = ParseWithSymbol(compiled->sink_table, replace_symbol);
  }
  compiled->names_many = source_table.find_first_of("\\*+?[]{}|,") != std::string_view::npos;
  RoutePattern pattern;
  pattern.compiled_ = std::move(compiled);
  if (std::none_of(pattern.compiled_->pieces.begin(), pattern.compiled_->pieces.end(),
                   [](const Piece& piece) { return piece.kind >= Piece::Kind::kTableName; })) {
    DRIFTLESS_TRY(ParseConstant(*pattern.compiled_));
  }
  return pattern;
}

Result<TablePath> RoutePattern::ParseConstant(const Compiled& compiled) {
  std::vector<std::string> parts(1);
  for (const Piece& piece : compiled.pieces) {
    if (piece.kind == Piece::Kind::kSeparator) {
      parts.emplace_back();
    } else {
      parts.back() += piece.text;
    }
  }
  return PathOf(std::move(parts), fmt::format("sink-table \"{}\"", compiled.sink_table));
}

Result<std::optional<TablePath>> RoutePattern::Apply(const TablePath& source) const {
  const std::string id = source.ToString();
  const int count = compiled_->regex->NumberOfCapturingGroups();
  std::array<re2::StringPiece, kGroupsMax + 1> groups;
  if (!compiled_->regex->Match(id, 0, id.size(), RE2::ANCHOR_BOTH, groups.data(), count + 1)) {
    return std::optional<TablePath>();
  }
  // Offsets in `id` of the dots that separate its parts; all other dots belong to names.
  const size_t table_dot = id.size() - source.table.size() - 1;
  const size_t catalog_dot = source.catalog.size();
  const auto separates = [&](size_t offset) {
    if (source.database.empty() && source.catalog.empty()) return false;
    return offset == table_dot || (!source.catalog.empty() && offset == catalog_dot);
  };
  std::vector<std::string> parts(1);
  for (const Piece& piece : compiled_->pieces) {
    switch (piece.kind) {
      case Piece::Kind::kLiteral: parts.back() += piece.text; break;
      case Piece::Kind::kSeparator: parts.emplace_back(); break;
      case Piece::Kind::kTableName: parts.back() += source.table; break;
      case Piece::Kind::kGroup: {
        const re2::StringPiece group = groups[piece.group];
        for (size_t i = 0; i < group.size(); ++i) {
          if (separates(static_cast<size_t>(group.data() - id.data()) + i)) {
            parts.emplace_back();
          } else {
            parts.back() += group[i];
          }
        }
        break;
      }
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      TablePath path,
      PathOf(std::move(parts), fmt::format("what sink-table \"{}\" makes of source table {}",
                                           compiled_->sink_table, id)));
  return std::optional<TablePath>(std::move(path));
}

bool RoutePattern::MatchesIgnoringCase(const TablePath& source) const {
  return RE2::FullMatch(source.ToString(), *compiled_->any_case);
}

bool RoutePattern::is_many_to_one() const {
  const bool is_constant =
      std::none_of(compiled_->pieces.begin(), compiled_->pieces.end(),
                   [](const Piece& piece) { return piece.kind >= Piece::Kind::kTableName; });
  return is_constant && compiled_->names_many;
}

}  // namespace driftless
