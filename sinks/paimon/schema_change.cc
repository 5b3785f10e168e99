#include "sinks/paimon/schema_change.h"

#include <simdjson.h>

#include <algorithm>
#include <set>

#include "schema/base/json_writer.h"
#include "schema/base/letter_case.h"
#include "sinks/paimon/types.h"

namespace driftless::paimon {
namespace {

namespace dom = simdjson::dom;
using Kind = ColumnChange::Kind;

constexpr std::pair<Kind, std::string_view> kActions[] = {
    {Kind::kAdd, "addColumn"},
    {Kind::kDrop, "dropColumn"},
    {Kind::kRename, "renameColumns"},
    {Kind::kSetType, "updateColumnType"},
    {Kind::kRelax, "relaxColumnNullability"},
    {Kind::kMove, "updateColumnPosition"},
    {Kind::kSetComment, "updateColumnComment"},
    {Kind::kSetTableComment, "updateComment"}};

std::string Quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

std::string PlaceText(const std::optional<std::string>& after) {
  if (!after) return "";
  return after->empty() ? " first" : " after " + Quoted(*after);
}

Error Refused(std::string what) { return MakeError(ErrorKind::kRefused, std::move(what)); }

// The index of a column, if need be without regard to letter case; -1 where there is none, or
// several.
int Lookup(const PaimonSchema& schema, std::string_view name) {
  if (const int exact = schema.IndexOf(name); exact >= 0) return exact;
  int found = -1;
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (!EqualsIgnoringCase(schema.fields[i].name, name)) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

Result<size_t> Need(const PaimonSchema& schema, std::string_view name) {
  const int index = Lookup(schema, name);
  if (index < 0) return Refused("the table has no column " + std::string(name));
  return static_cast<size_t>(index);
}

bool IsIn(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Where a column goes; fields.size() is the end.
Result<size_t> PlaceIndex(const PaimonSchema& schema, const std::optional<std::string>& after) {
  if (!after) return schema.fields.size();
  if (after->empty()) return size_t{0};
  DRIFTLESS_ASSIGN_OR_RETURN(const size_t index, Need(schema, *after));
  return index + 1;
}

void NumberRowMembers(const LogicalType& type, int32_t* highest, std::vector<int32_t>* ids) {
  for (const RowField& child : type.children()) {
    if (type.kind() == TypeKind::kRow) ids->push_back(++*highest);
    NumberRowMembers(child.type, highest, ids);
  }
}

// Options that name columns: bucket-key, sequence.field, "fields.<column>.<what>".
void RenameInOptions(const std::vector<std::pair<std::string, std::string>>& names,
                     std::map<std::string, std::string>* options) {
  const auto renamed = [&](const std::string& name) {
    for (const auto& [from, to] : names) {
      if (from == name) return to;
    }
    return name;
  };
  std::map<std::string, std::string> result;
  for (const auto& [key, value] : *options) {
    if (key == "bucket-key" || key == "sequence.field") {
      std::string list;
      size_t begin = 0;
      while (begin <= value.size()) {
        const size_t end = std::min(value.find(',', begin), value.size());
        list += (list.empty() ? "" : ",") + renamed(value.substr(begin, end - begin));
        begin = end + 1;
      }
      result[key] = list;
    } else if (key.starts_with("fields.") && key.find('.', 7) != std::string::npos) {
      const size_t dot = key.find('.', 7);
      result["fields." + renamed(key.substr(7, dot - 7)) + key.substr(dot)] = value;
    } else {
      result[key] = value;
    }
  }
  *options = std::move(result);
}

Result<void> Rename(const ColumnChange& change, PaimonSchema* schema) {
  std::vector<std::pair<size_t, std::string>> fields;
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [from, to] : change.renames) {
    if (Lookup(*schema, from) < 0 && schema->IndexOf(to) >= 0 && change.renames.size() == 1) {
      return {};  // somebody renamed it already
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const size_t index, Need(*schema, from));
    if (IsIn(schema->partition_keys, schema->fields[index].name)) {
      return Refused("the partition column " + from + " cannot be renamed");
    }
    fields.emplace_back(index, to);
    names.emplace_back(schema->fields[index].name, to);
  }
  for (const auto& [index, to] : fields) schema->fields[index].name = to;
  std::set<std::string_view> unique;
  for (const PaimonField& field : schema->fields) {
    if (!unique.insert(field.name).second) {
      return Refused("the table would have two columns called " + field.name);
    }
  }
  for (std::string& key : schema->primary_keys) {
    for (const auto& [from, to] : names) {
      if (key != from) continue;
      key = to;
      break;
    }
  }
  RenameInOptions(names, &schema->options);
  return {};
}

Result<void> Add(const ColumnChange& change, PaimonSchema* schema) {
  if (const PaimonField* existing = schema->Find(change.name)) {
    if (existing->type == change.type) return {};
    return Refused("the table has a column " + change.name + " of type " +
                   existing->type.ToString() + " already");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const size_t at, PlaceIndex(*schema, change.after));
  PaimonField field =
      MakeField(change.name, change.type, change.comment, &schema->highest_field_id);
  schema->fields.insert(schema->fields.begin() + static_cast<ptrdiff_t>(at), std::move(field));
  return {};
}

Result<void> Drop(const ColumnChange& change, PaimonSchema* schema) {
  const int index = Lookup(*schema, change.name);
  if (index < 0) return {};
  const std::string& name = schema->fields[static_cast<size_t>(index)].name;
  if (IsIn(schema->primary_keys, name) || IsIn(schema->partition_keys, name)) {
    return Refused("the key column " + name + " cannot be dropped");
  }
  if (schema->fields.size() == 1) return Refused("a table needs a column");
  schema->fields.erase(schema->fields.begin() + index);
  return {};
}

Result<void> SetType(const ColumnChange& change, PaimonSchema* schema) {
  DRIFTLESS_ASSIGN_OR_RETURN(const size_t index, Need(*schema, change.name));
  PaimonField& field = schema->fields[index];
  if (field.type.EqualsIgnoringNullability(change.type)) return {};
  if (IsIn(schema->primary_keys, field.name) || IsIn(schema->partition_keys, field.name)) {
    return Refused("the type of the key column " + field.name + " cannot be changed");
  }
  if (!CanChangeType(field.type, change.type)) {
    return Refused("Paimon cannot change " + field.name + " from " + field.type.ToString() +
                   " to " + change.type.ToString());
  }
  field.type = change.type.WithNullability(field.type.nullable());
  return {};
}

Result<void> Move(const ColumnChange& change, PaimonSchema* schema) {
  DRIFTLESS_ASSIGN_OR_RETURN(const size_t index, Need(*schema, change.name));
  PaimonField field = schema->fields[index];
  schema->fields.erase(schema->fields.begin() + static_cast<ptrdiff_t>(index));
  DRIFTLESS_ASSIGN_OR_RETURN(const size_t at, PlaceIndex(*schema, change.after));
  schema->fields.insert(schema->fields.begin() + static_cast<ptrdiff_t>(at), std::move(field));
  return {};
}

Result<void> Apply(const ColumnChange& change, PaimonSchema* schema) {
  switch (change.kind) {
    case Kind::kAdd: return Add(change, schema);
    case Kind::kDrop: return Drop(change, schema);
    case Kind::kRename: return Rename(change, schema);
    case Kind::kSetType: return SetType(change, schema);
    case Kind::kMove: return Move(change, schema);
    case Kind::kSetTableComment: schema->comment = change.comment; return {};
    case Kind::kRelax:
    case Kind::kSetComment: break;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const size_t index, Need(*schema, change.name));
  PaimonField& field = schema->fields[index];
  if (change.kind == Kind::kSetComment) {
    field.description = change.comment;
    return {};
  }
  if (IsIn(schema->primary_keys, field.name)) {
    return Refused("the key column " + field.name + " cannot become nullable");
  }
  field.type = field.type.Nullable();
  return {};
}

// ---- payload ---------------------------------------------------------------------------------

Error Bad(std::string what) {
  return MakeError(ErrorKind::kCorrupt, "a Paimon plan's payload: " + std::move(what));
}

std::string Text(const dom::object& json, std::string_view key) {
  std::string_view text;
  return json[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

Result<ColumnChange> ReadChange(const dom::object& json) {
  ColumnChange change;
  const std::string action = Text(json, "action");
  const auto* known =
      std::ranges::find(kActions, action, &std::pair<Kind, std::string_view>::second);
  if (known == std::end(kActions)) return Bad("unknown action \"" + action + "\"");
  change.kind = known->first;
  change.name = Text(json, "name");
  change.comment = Text(json, "comment");
  if (const std::string type = Text(json, "type"); !type.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(change.type, ParseLogicalType(type));
  }
  std::string_view after;
  if (json["after"].get(after) == simdjson::SUCCESS) change.after = std::string(after);
  dom::array renames;
  if (json["renames"].get(renames) == simdjson::SUCCESS) {
    for (const dom::element item : renames) {
      std::string_view from;
      std::string_view to;
      if (item.at(0).get(from) != simdjson::SUCCESS || item.at(1).get(to) != simdjson::SUCCESS) {
        return Bad("a rename without two names");
      }
      change.renames.emplace_back(from, to);
    }
  }
  return change;
}

}  // namespace

PaimonField MakeField(std::string name, const LogicalType& type, std::string comment,
                      int32_t* highest_field_id) {
  PaimonField field;
  field.id = ++*highest_field_id;
  field.name = std::move(name);
  field.type = type;
  field.description = std::move(comment);
  NumberRowMembers(type, highest_field_id, &field.nested_ids);
  return field;
}

std::string Describe(const ColumnChange& change) {
  switch (change.kind) {
    case Kind::kAdd:
      return "add column " + Quoted(change.name) + " " + change.type.ToString() +
             PlaceText(change.after);
    case Kind::kDrop: return "drop column " + Quoted(change.name);
    case Kind::kRename: {
      std::string text;
      for (const auto& [from, to] : change.renames) {
        text +=
            (text.empty() ? "" : ", ") + ("rename column " + Quoted(from) + " to " + Quoted(to));
      }
      return text;
    }
    case Kind::kSetType:
      return "change type of column " + Quoted(change.name) + " to " +
             change.type.ToStringIgnoringNullability();
    case Kind::kRelax: return "make column " + Quoted(change.name) + " nullable";
    case Kind::kMove: return "move column " + Quoted(change.name) + PlaceText(change.after);
    case Kind::kSetComment: return "change comment of column " + Quoted(change.name);
    case Kind::kSetTableComment: return "change comment of the table";
  }
  return "";
}

Result<void> ApplyChanges(const std::vector<ColumnChange>& changes, PaimonSchema* schema) {
  for (const ColumnChange& change : changes) DRIFTLESS_TRY(Apply(change, schema));
  return {};
}

std::string EncodeSchemaCommit(const SchemaCommit& commit) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("change").String(commit.change);
  if (commit.create) json.Key("create").Raw(SchemaToJson(*commit.create));
  json.Key("changes").BeginArray();
  for (const ColumnChange& change : commit.changes) {
    json.BeginObject().Key("action");
    for (const auto& [kind, action] : kActions) {
      if (kind == change.kind) json.String(action);
    }
    if (!change.name.empty()) json.Key("name").String(change.name);
    if (change.kind == Kind::kAdd || change.kind == Kind::kSetType) {
      json.Key("type").String(change.type.ToString());
    }
    if (!change.comment.empty()) json.Key("comment").String(change.comment);
    if (change.after) json.Key("after").String(*change.after);
    if (!change.renames.empty()) {
      json.Key("renames").BeginArray();
      for (const auto& [from, to] : change.renames) {
        json.BeginArray().String(from).String(to).EndArray();
      }
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
  return text;
}

Result<SchemaCommit> DecodeSchemaCommit(std::string_view payload) {
  dom::parser parser;
  dom::object root;
  if (const auto error = parser.parse(payload.data(), payload.size()).get(root)) {
    return Bad(simdjson::error_message(error));
  }
  SchemaCommit commit;
  commit.change = Text(root, "change");
  dom::element create;
  if (root["create"].get(create) == simdjson::SUCCESS) {
    DRIFTLESS_ASSIGN_OR_RETURN(commit.create, ParseSchemaJson(simdjson::minify(create)));
  }
  dom::array changes;
  if (root["changes"].get(changes) != simdjson::SUCCESS) return Bad("no changes");
  for (const dom::element item : changes) {
    dom::object object;
    if (item.get(object) != simdjson::SUCCESS) return Bad("a change is no object");
    DRIFTLESS_ASSIGN_OR_RETURN(ColumnChange change, ReadChange(object));
    commit.changes.push_back(std::move(change));
  }
  return commit;
}

}  // namespace driftless::paimon
