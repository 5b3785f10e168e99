#include "pipeline/script/script_checks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "pipeline/script/script_rows.h"
#include "schema/base/json_writer.h"
#include "schema/types/decimal.h"

namespace driftless {
namespace {

bool IsContent(const ScriptLine& line) { return !line.text.empty() && line.text[0] != '#'; }

Error BadLine(const ScriptLine& line, std::string usage) {
  return MakeError(ErrorKind::kParse, "write: " + std::move(usage)).At(line.line, line.column);
}

// "expected:\n  a\n  b\nis:\n  c"
std::string Difference(const std::vector<ScriptLine>& expected,
                       const std::vector<std::string>& actual) {
  std::string text = "expected:\n";
  bool any = false;
  for (const ScriptLine& line : expected) {
    if (!IsContent(line)) continue;
    text += "  " + line.text + "\n";
    any = true;
  }
  if (!any) text += "  (nothing)\n";
  text += "is:\n";
  for (const std::string& line : actual) text += "  " + line + "\n";
  if (actual.empty()) text += "  (nothing)\n";
  text.pop_back();
  return text;
}

// Pairs every expectation with one thing that it describes; false where some are left over.
template <typename Expected, typename Actual, typename Matches>
bool MatchAll(const std::vector<Expected>& expected, const std::vector<Actual>& actual,
              Matches matches) {
  if (expected.size() != actual.size()) return false;
  std::vector<bool> taken(actual.size(), false);
  for (const Expected& wanted : expected) {
    bool found = false;
    for (size_t i = 0; i < actual.size() && !found; ++i) {
      if (taken[i] || !matches(wanted, actual[i])) continue;
      taken[i] = found = true;
    }
    if (!found) return false;
  }
  return true;
}

// The words of a line that begins with an optional sink, a table and an event.
struct EventLine {
  std::string sink;  // empty: any
  std::string table;
  std::string event;
  std::vector<std::string> rest;
};

Result<EventLine> ParseEventLine(const ScriptLine& line, size_t rest_min, size_t rest_max,
                                 const std::string& usage) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<std::string> words, SplitWords(line.text, line.line));
  EventLine parsed;
  const bool without_sink = words.size() >= 2 && ParseEventTag(words[1]).has_value();
  const size_t first = without_sink ? 0 : 1;
  if (words.size() < first + 2 || !ParseEventTag(words[first + 1])) return BadLine(line, usage);
  if (!without_sink) parsed.sink = words[0];
  parsed.table = words[first];
  parsed.event = words[first + 1];
  parsed.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(first) + 2, words.end());
  if (parsed.rest.size() < rest_min || parsed.rest.size() > rest_max) return BadLine(line, usage);
  return parsed;
}

Result<std::vector<EventLine>> ParseEventLines(const std::vector<ScriptLine>& lines,
                                               size_t rest_min, size_t rest_max,
                                               const std::string& usage) {
  std::vector<EventLine> parsed;
  for (const ScriptLine& line : lines) {
    if (!IsContent(line)) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(EventLine event, ParseEventLine(line, rest_min, rest_max, usage));
    parsed.push_back(std::move(event));
  }
  return parsed;
}

bool Matches(const EventLine& wanted, const SinkTableKey& table, EventKind event) {
  return (wanted.sink.empty() || wanted.sink == table.sink) &&
         wanted.table == table.table.ToString() && wanted.event == Tag(event);
}

bool Mentions(const Verdict& verdict, const std::string& text) {
  const auto in = [&](const std::string& where) { return where.find(text) != std::string::npos; };
  return in(verdict.reason) || in(verdict.cell) || in(verdict.rows) || in(verdict.rule) ||
         std::any_of(verdict.rewrites.begin(), verdict.rewrites.end(), in);
}

std::string Say(const AuditRecord& record) {
  std::string text = record.sink.sink + " " + record.sink.table.ToString() + " " +
                     std::string(Tag(record.event)) + " " +
                     std::string(ToString(record.verdict.kind)) + " \"" + record.verdict.reason;
  for (const std::string& rewrite : record.verdict.rewrites) text += "; " + rewrite;
  text += "\" (" + record.verdict.rule;
  if (!record.verdict.cell.empty()) text += ", " + record.verdict.cell;
  return text + ")";
}

std::string Say(const TextRow& row) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  for (const auto& [name, value] : row) {
    json.Key(name);
    if (value) {
      json.String(*value);
    } else {
      json.Null();
    }
  }
  json.EndObject();
  return text;
}

// Equal texts, or equal as decimal numbers: 1.5 is 1.50.
bool SameValue(const std::string& a, const std::string& b) {
  if (a == b) return true;
  Int128 left = 0;
  Int128 right = 0;
  return ParseDecimal(a, 38, 19, &left) == DecimalText::kOk &&
         ParseDecimal(b, 38, 19, &right) == DecimalText::kOk && left == right;
}

bool Matches(const std::vector<JsonField>& wanted, const TextRow& row) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const JsonField& field) {
    const auto value = row.find(field.name);
    if (value == row.end()) return false;
    if (field.is_null || !value->second) return field.is_null && !value->second;
    return SameValue(field.text, *value->second);
  });
}

std::string KeyLine(std::string_view what, const std::vector<std::string>& names) {
  std::string text = std::string(what) + " (";
  for (size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + names[i];
  return text + ")";
}

// A column's line without its comment, in the spelling that both sides are compared in.
std::string ColumnLine(const std::string& name, const LogicalType& type) {
  return name + " " + type.ToString();
}

// What one expected line says, in that spelling; the comment apart.
struct SchemaLine {
  std::string text;  // only the name where any_type
  bool any_type = false;
  std::optional<std::string> comment;
};

Result<SchemaLine> ParseSchemaLine(const ScriptLine& line) {
  SchemaLine parsed;
  std::string text = line.text;
  const size_t comment = text.find(" comment \"");
  if (comment != std::string::npos) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto words, SplitWords(text.substr(comment), line.line));
    if (words.size() != 2) return BadLine(line, "NAME TYPE comment \"TEXT\"");
    parsed.comment = words[1];
    text.resize(comment);
  }
  if (text.starts_with("primary key (") || text.starts_with("partitioned by (")) {
    parsed.text = text;
    return parsed;
  }
  const bool quoted = text.starts_with('"');
  const size_t end = quoted ? text.find('"', 1) : text.find(' ');
  if (end == std::string::npos || end + 1 >= text.size()) {
    return BadLine(line, "NAME TYPE, primary key (A, B), partitioned by (A), or no table");
  }
  const std::string name = quoted ? text.substr(1, end - 1) : text.substr(0, end);
  if (text.substr(end + 1) == "*") {
    parsed.text = name;
    parsed.any_type = true;
    return parsed;
  }
  auto type = ParseLogicalType(text.substr(end + 1));
  if (!type) return BadLine(line, "NAME TYPE; " + type.error().message());
  parsed.text = ColumnLine(name, *type);
  return parsed;
}

}  // namespace

Result<std::string> CheckVerdicts(const std::vector<ScriptLine>& expected,
                                  const std::vector<AuditRecord>& all) {
  const std::string usage = "[SINK] TABLE EVENT VERDICT [\"TEXT\"]";
  DRIFTLESS_ASSIGN_OR_RETURN(const auto wanted, ParseEventLines(expected, 1, 2, usage));
  // Changed defaults are recorded and never sent; every MODIFY of a nullability brings one.
  const bool names_defaults = std::any_of(wanted.begin(), wanted.end(), [](const EventLine& line) {
    return line.event == Tag(EventKind::kDefaultChange);
  });
  std::vector<AuditRecord> actual;
  for (const AuditRecord& record : all) {
    if (names_defaults || record.event != EventKind::kDefaultChange) actual.push_back(record);
  }
  // Sink tables decide beside each other: only the order inside one of them is told by the script.
  std::vector<bool> told(actual.size());
  const auto tell = [&](const EventLine& line) {
    std::set<SinkTableKey> passed;
    for (size_t i = 0; i < actual.size(); ++i) {
      if (told[i]) continue;
      const Verdict& verdict = actual[i].verdict;
      if (passed.count(actual[i].sink) == 0 && Matches(line, actual[i].sink, actual[i].event) &&
          line.rest[0] == ToString(verdict.kind) &&
          (line.rest.size() < 2 || Mentions(verdict, line.rest[1]))) {
        told[i] = true;
        return true;
      }
      passed.insert(actual[i].sink);
    }
    return false;
  };
  const bool equal =
      wanted.size() == actual.size() && std::all_of(wanted.begin(), wanted.end(), tell);
  if (equal) return std::string();
  std::vector<std::string> lines;
  for (const AuditRecord& record : actual) lines.push_back(Say(record));
  return Difference(expected, lines);
}

Result<std::string> CheckHolds(const std::vector<ScriptLine>& expected,
                               const std::vector<AuditRecord>& actual) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto wanted,
                             ParseEventLines(expected, 0, 0, "[SINK] TABLE EVENT"));
  const bool equal = MatchAll(wanted, actual, [](const EventLine& line, const AuditRecord& record) {
    return Matches(line, record.sink, record.event);
  });
  if (equal) return std::string();
  std::vector<std::string> lines;
  for (const AuditRecord& record : actual) {
    lines.push_back(record.sink.sink + " " + record.sink.table.ToString() + " " +
                    std::string(Tag(record.event)));
  }
  return Difference(expected, lines);
}

Result<std::string> CheckDivergences(const std::vector<ScriptLine>& expected,
                                     const std::vector<Divergence>& actual) {
  const std::string usage = "[SINK] TABLE EVENT COLUMN|- [\"TEXT\"] [rows N]";
  DRIFTLESS_ASSIGN_OR_RETURN(auto wanted, ParseEventLines(expected, 1, 4, usage));
  std::map<const EventLine*, std::string> counts;
  for (EventLine& line : wanted) {
    std::vector<std::string>& words = line.rest;
    if (words.size() >= 3 && words[words.size() - 2] == "rows") {
      counts[&line] = words.back();
      words.resize(words.size() - 2);
    }
  }
  const auto column_of = [](const Divergence& divergence) {
    return divergence.column == 0 ? std::string("-") : divergence.column_name;
  };
  const bool equal = MatchAll(wanted, actual, [&](const EventLine& line, const Divergence& is) {
    return Matches(line, is.sink, is.event) && line.rest[0] == column_of(is) &&
           (line.rest.size() < 2 || is.text.find(line.rest[1]) != std::string::npos) &&
           (!counts.contains(&line) || counts[&line] == std::to_string(is.rows));
  });
  if (equal) return std::string();
  std::vector<std::string> lines;
  for (const Divergence& is : actual) {
    lines.push_back(is.sink.sink + " " + is.sink.table.ToString() + " " +
                    std::string(Tag(is.event)) + " " + column_of(is) + " \"" + is.text +
                    "\" rows " + std::to_string(is.rows));
  }
  return Difference(expected, lines);
}

Result<std::string> CheckSchema(const std::vector<ScriptLine>& expected, const SinkTable* actual) {
  std::vector<std::string> lines;
  std::vector<std::string> comments;
  if (actual != nullptr) {
    for (const SinkColumn& column : actual->columns) {
      lines.push_back(ColumnLine(column.name, column.type));
      comments.push_back(column.comment);
    }
    if (!actual->primary_key.empty()) lines.push_back(KeyLine("primary key", actual->primary_key));
    if (!actual->partition_keys.empty()) {
      lines.push_back(KeyLine("partitioned by", actual->partition_keys));
    }
  } else {
    lines.push_back("no table");
  }
  std::vector<ScriptLine> content;
  for (const ScriptLine& line : expected) {
    if (IsContent(line)) content.push_back(line);
  }
  bool equal = content.size() == lines.size();
  for (size_t i = 0; equal && i < content.size(); ++i) {
    if (content[i].text == "no table") {
      equal = actual == nullptr;
      continue;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const SchemaLine wanted, ParseSchemaLine(content[i]));
    const bool same = wanted.any_type
                          ? i < comments.size() && wanted.text == actual->columns[i].name
                          : wanted.text == lines[i];
    equal = same && (!wanted.comment || (i < comments.size() && *wanted.comment == comments[i]));
  }
  if (equal) return std::string();
  for (size_t i = 0; i < comments.size(); ++i) {
    if (!comments[i].empty()) lines[i] += " comment \"" + comments[i] + "\"";
  }
  return Difference(expected, lines);
}

Result<std::string> CheckRows(const std::vector<ScriptLine>& expected,
                              const std::vector<TextRow>& actual) {
  std::vector<std::vector<JsonField>> wanted;
  for (const ScriptLine& line : expected) {
    if (!IsContent(line)) continue;
    auto fields = ParseJsonRow(line.text);
    if (!fields) return std::move(fields).error().At(line.line, line.column);
    wanted.push_back(*std::move(fields));
  }
  const bool equal = MatchAll(
      wanted, actual, [](const auto& fields, const TextRow& row) { return Matches(fields, row); });
  if (equal) return std::string();
  std::vector<std::string> lines;
  for (const TextRow& row : actual) lines.push_back(Say(row));
  return Difference(expected, lines);
}

}  // namespace driftless
