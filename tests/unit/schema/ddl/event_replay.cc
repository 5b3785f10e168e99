#include "tests/unit/schema/ddl/event_replay.h"

#include <simdjson.h>

#include <algorithm>
#include <stdexcept>

#include "schema/ddl/mysql/column_types.h"

namespace driftless {
namespace {

using simdjson::dom::element;

std::string Text(element value, const char* key) {
  std::string_view text;
  return value[key].get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

ReplayColumn ParseColumn(element value, const mysql::ServerSettings& settings) {
  ReplayColumn column;
  column.name = Text(value, "name");
  column.type = NormalType(Text(value, "type"), settings);
  column.nullable = value["null"].get_bool().value();
  column.comment = Text(value, "comment");
  return column;
}

[[noreturn]] void Refuse(const std::string& what) { throw std::runtime_error(what); }

ReplayTable& Require(ReplayState* state, const std::string& table) {
  auto found = state->find(table);
  if (found == state->end()) Refuse("event on unknown table " + table);
  return found->second;
}

size_t Find(const ReplayTable& table, const std::string& name) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
  }
  Refuse("event on unknown column " + name);
}

void Insert(element event, ReplayColumn column, ReplayTable* table) {
  const element position = event["position"].value();
  const std::string at = Text(position, "at");
  size_t index = table->columns.size();
  if (at == "FIRST") index = 0;
  if (at == "AFTER") index = Find(*table, Text(position, "ref")) + 1;
  table->columns.insert(table->columns.begin() + static_cast<std::ptrdiff_t>(index),
                        std::move(column));
}

void CreateTable(element event, const std::string& name, const mysql::ServerSettings& settings,
                 ReplayState* state) {
  if (state->contains(name)) Refuse("create of known table " + name);
  ReplayTable table;
  for (element column : simdjson::dom::array(event["columns"].get_array())) {
    table.columns.push_back(ParseColumn(column, settings));
  }
  table.comment = Text(event, "comment");
  (*state)[name] = std::move(table);
}

void AlterColumn(element event, const std::string& kind, const mysql::ServerSettings& settings,
                 ReplayTable* table) {
  const size_t index = Find(*table, Text(event, "column"));
  ReplayColumn& column = table->columns[index];
  if (kind == "drop.column") {
    table->columns.erase(table->columns.begin() + static_cast<std::ptrdiff_t>(index));
  } else if (kind == "alter.column.type") {
    column.type = NormalType(Text(event, "to"), settings);
  } else if (kind == "relax.nullability") {
    column.nullable = true;
  } else if (kind == "tighten.nullability") {
    column.nullable = false;
  } else if (kind == "alter.column.comment") {
    column.comment = Text(event, "to");
  } else if (kind == "alter.column.position") {
    ReplayColumn moved = column;
    table->columns.erase(table->columns.begin() + static_cast<std::ptrdiff_t>(index));
    Insert(event, std::move(moved), table);
  } else {
    Refuse("unknown event " + kind);
  }
}

void ReplayOne(element event, const mysql::ServerSettings& settings, ReplayState* state) {
  const std::string kind = Text(event, "kind");
  const std::string name = Text(event, "table");
  if (kind == "create.table") {
    CreateTable(event, name, settings, state);
    return;
  }
  ReplayTable& table = Require(state, name);
  if (kind == "drop.table") {
    state->erase(name);
  } else if (kind == "truncate.table") {
    return;
  } else if (kind == "rename.table") {
    if (state->contains(Text(event, "to"))) Refuse("rename onto a known table");
    ReplayTable moved = std::move(table);
    state->erase(name);
    (*state)[Text(event, "to")] = std::move(moved);
  } else if (kind == "add.column") {
    ReplayColumn column = ParseColumn(event["column"].value(), settings);
    for (const ReplayColumn& other : table.columns) {
      if (other.name == column.name) Refuse("add of known column " + column.name);
    }
    Insert(event, std::move(column), &table);
  } else if (kind == "rename.column") {
    const auto renames = event["renames"].get_object().value();
    for (ReplayColumn& column : table.columns) {
      std::string_view to;
      if (renames[column.name].get(to) == simdjson::SUCCESS) column.name = std::string(to);
    }
  } else if (kind == "alter.table.comment") {
    table.comment = Text(event, "to");
  } else {
    AlterColumn(event, kind, settings, &table);
  }
}

}  // namespace

std::string ToString(const ReplayState& state) {
  std::string text;
  for (const auto& [name, table] : state) {
    text += name + " comment '" + table.comment + "'\n";
    for (const ReplayColumn& column : table.columns) {
      text += "  " + column.name + " " + column.type + (column.nullable ? "" : " NOT NULL") + " '" +
              column.comment + "' was " + column.identity + "\n";
    }
  }
  return text;
}

std::string NormalType(std::string_view text, const mysql::ServerSettings& settings) {
  std::string type(text);
  const size_t comment = type.find(" /*M!");  // MariaDB's COMPRESSED
  if (comment != std::string::npos) type.resize(comment);
  auto resolved = mysql::ParseTypeText(type, {"utf8mb4", "utf8mb4_bin"}, settings);
  if (!resolved) return "not a type: " + resolved.error().ToString();
  std::string normal = mysql::MapType(resolved->type, settings).ToString();
  for (const std::string& member : resolved->type.members) normal += "'" + member + "'";
  return normal;
}

ReplayState ParseState(std::string_view json, const mysql::ServerSettings& settings) {
  simdjson::dom::parser parser;
  ReplayState state;
  for (auto [name, value] :
       simdjson::dom::object(parser.parse(simdjson::padded_string(json)).get_object())) {
    ReplayTable table;
    for (element column : simdjson::dom::array(value["columns"].get_array())) {
      table.columns.push_back(ParseColumn(column, settings));
      table.columns.back().identity = std::string(name) + "." + table.columns.back().name;
    }
    table.comment = Text(value, "comment");
    state[std::string(name)] = std::move(table);
  }
  return state;
}

void Replay(std::string_view events_json, const mysql::ServerSettings& settings,
            ReplayState* state) {
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(events_json);
  for (element event : simdjson::dom::array(parser.parse(padded).get_array()))
    ReplayOne(event, settings, state);
}

}  // namespace driftless
