#include "pipeline/state/positions.h"

#include <utility>

namespace driftless {
namespace {

Error Damaged(std::string_view what, std::string_view text) {
  return MakeError(ErrorKind::kCorrupt, "the stored " + std::string(what) + " \"" +
                                            std::string(text) + "\" does not parse")
      .Hint("The state folder is damaged; restore it or start from a new one.");
}

// Fields stand between tabs, lines end with \n; both and the backslash are escaped inside a field.
void AppendField(std::string_view field, std::string* line) {
  if (!line->empty()) line->push_back('\t');
  for (const char c : field) {
    if (c == '\t') {
      *line += "\\t";
    } else if (c == '\n') {
      *line += "\\n";
    } else if (c == '\\') {
      *line += "\\\\";
    } else {
      line->push_back(c);
    }
  }
}

std::string Line(std::initializer_list<std::string_view> fields) {
  std::string line;
  for (const std::string_view field : fields) AppendField(field, &line);
  return line + "\n";
}

std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields(1);
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      fields.emplace_back();
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      const char c = line[++i];
      fields.back().push_back(c == 't' ? '\t' : c == 'n' ? '\n' : c);
    } else {
      fields.back().push_back(line[i]);
    }
  }
  return fields;
}

Result<void> ParseMoveLine(std::string_view line, CutMove* move) {
  const std::vector<std::string> fields = Fields(line);
  const std::string& kind = fields[0];
  if (kind == "base" && fields.size() == 2) {
    DRIFTLESS_ASSIGN_OR_RETURN(move->base, ParseCutPosition(fields[1]));
    return {};
  }
  if (fields.size() < 2) return Damaged("cut", line);
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath table, DecodeTablePath(fields[1]));
  if (kind == "behind" && fields.size() == 2) {
    move->left_behind.insert(table);
  } else if (kind == "table" && fields.size() == 2) {
    move->tables.try_emplace(table);
  } else if (kind == "at" && fields.size() == 3) {
    DRIFTLESS_ASSIGN_OR_RETURN(move->tables[table].base, ParseCutPosition(fields[2]));
  } else if (kind == "feed" && fields.size() == 4) {
    DRIFTLESS_ASSIGN_OR_RETURN(const TablePath source, DecodeTablePath(fields[2]));
    DRIFTLESS_ASSIGN_OR_RETURN(move->tables[table].feeds[source], ParseCutPosition(fields[3]));
  } else {
    return Damaged("cut", line);
  }
  return {};
}

}  // namespace

bool SinkPositions::Covers(const TablePath& table, const TablePath& source,
                           const Point& point) const {
  const auto it = tables.find(table);
  if (it == tables.end()) return base.Covers(point);
  const TablePosition& own = it->second;
  if (own.base.has_value() ? own.base->Covers(point) : base.Covers(point)) return true;
  const auto feed = own.feeds.find(source);
  return feed != own.feeds.end() && feed->second.Covers(point);
}

void Apply(const CutMove& move, const std::set<TablePath>& voided, SinkPositions* positions) {
  std::map<TablePath, TablePosition> tables;
  const auto stay = [&](const TablePath& table) {
    TablePosition own = positions->tables[table];
    if (!own.base.has_value()) own.base = positions->base;
    tables[table] = std::move(own);
  };
  if (move.base.has_value()) {
    for (const TablePath& table : move.left_behind) stay(table);
    for (const TablePath& table : voided) stay(table);
  } else {
    tables = positions->tables;
  }
  for (const auto& [table, position] : move.tables) {
    if (voided.contains(table)) continue;
    if (position.empty()) {
      tables.erase(table);
    } else {
      tables[table] = position;
    }
  }
  positions->tables = std::move(tables);
  if (move.base.has_value()) positions->base = *move.base;
}

std::string Serialize(const CutMove& move) {
  std::string text;
  if (move.base.has_value()) text += Line({"base", move.base->Serialize()});
  for (const TablePath& table : move.left_behind) text += Line({"behind", EncodeTablePath(table)});
  for (const auto& [table, position] : move.tables) {
    const std::string name = EncodeTablePath(table);
    text += Line({"table", name});
    if (position.base.has_value()) text += Line({"at", name, position.base->Serialize()});
    for (const auto& [source, feed] : position.feeds) {
      text += Line({"feed", name, EncodeTablePath(source), feed.Serialize()});
    }
  }
  return text;
}

Result<CutMove> ParseCutMove(std::string_view text) {
  CutMove move;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return Damaged("cut", text);
    DRIFTLESS_TRY(ParseMoveLine(text.substr(0, end), &move));
    text.remove_prefix(end + 1);
  }
  return move;
}

std::string EncodeTablePath(const TablePath& path) {
  std::string text;
  const auto part = [&](const std::string& name) {
    for (const char c : name) {
      if (c == '.' || c == '\\') text.push_back('\\');
      text.push_back(c);
    }
  };
  if (!path.catalog.empty()) {
    part(path.catalog);
    text.push_back('.');
  }
  part(path.database);
  text.push_back('.');
  part(path.table);
  return text;
}

Result<TablePath> DecodeTablePath(std::string_view text) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      parts.back().push_back(text[++i]);
    } else if (text[i] == '.') {
      parts.emplace_back();
    } else {
      parts.back().push_back(text[i]);
    }
  }
  if (parts.size() == 2) return TablePath{"", parts[0], parts[1]};
  if (parts.size() == 3) return TablePath{parts[0], parts[1], parts[2]};
  return Damaged("table name", text);
}

}  // namespace driftless
