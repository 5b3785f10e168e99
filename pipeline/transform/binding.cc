#include "pipeline/transform/binding.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "schema/base/json_reader.h"
#include "schema/base/json_writer.h"

namespace driftless {
namespace {

void AddOnce(ColumnId column, std::vector<ColumnId>* columns) {
  std::erase(*columns, column);
  columns->push_back(column);
}

void WriteIds(const std::vector<ColumnId>& ids, JsonWriter* json) {
  json->BeginArray();
  for (const ColumnId id : ids) json->Int(id);
  json->EndArray();
}

Error Damaged() {
  return MakeError(ErrorKind::kCorrupt, "the binding of a transform in the state is damaged")
      .Hint("The state folder is damaged; restore it or start from a new one.");
}

bool ReadIds(simdjson::dom::element element, std::vector<ColumnId>* ids) {
  simdjson::dom::array array;
  if (element.get(array) != simdjson::SUCCESS) return false;
  for (const simdjson::dom::element item : array) {
    uint64_t id = 0;
    if (item.get(id) != simdjson::SUCCESS) return false;
    ids->push_back(static_cast<ColumnId>(id));
  }
  return true;
}

}  // namespace

ColumnId ComputedColumnId(std::string_view name) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return 0x80000000u | (hash & 0x7FFFFFF0u);
}

const Binding::Name* Binding::Find(uint64_t incarnation, std::string_view name) const {
  return Find(tables_, incarnation, name);
}

const Binding::Name* Binding::FindInherited(uint64_t incarnation, std::string_view name) const {
  return Find(inherited_, incarnation, name);
}

Binding Binding::Inherit(const Binding& other) {
  Binding binding;
  binding.computed_ = other.computed_;
  binding.inherited_ = other.inherited_;
  for (const auto& [incarnation, table] : other.tables_) {
    for (const auto& [name, bound] : table.names) {
      binding.inherited_[incarnation].names[name] = bound;
    }
  }
  return binding;
}

void Binding::TakeOver(const Binding& other, uint64_t incarnation, bool same_texts) {
  computed_.insert(other.computed_.begin(), other.computed_.end());
  if (tables_.contains(incarnation) || inherited_.contains(incarnation)) return;
  if (const auto inherited = other.inherited_.find(incarnation);
      inherited != other.inherited_.end()) {
    inherited_[incarnation] = inherited->second;
  }
  const auto known = other.tables_.find(incarnation);
  if (known == other.tables_.end()) return;
  if (same_texts) {
    tables_[incarnation] = known->second;
  } else {
    for (const auto& [name, bound] : known->second.names)
      inherited_[incarnation].names[name] = bound;
  }
}

const Binding::Name* Binding::Find(const std::map<uint64_t, Table>& tables, uint64_t incarnation,
                                   std::string_view name) {
  const auto table = tables.find(incarnation);
  if (table == tables.end()) return nullptr;
  const auto found = table->second.names.find(name);
  return found == table->second.names.end() ? nullptr : &found->second;
}

void Binding::Bind(uint64_t incarnation, const std::string& name, ColumnId column,
                   const LogicalType& type) {
  Name& bound = tables_[incarnation].names[name];
  AddOnce(column, &bound.columns);
  bound.type = type;
}

void Binding::Override(uint64_t incarnation, const std::string& name, ColumnId column) {
  AddOnce(column, &tables_[incarnation].overrides[name]);
}

const std::vector<ColumnId>* Binding::Overridden(uint64_t incarnation,
                                                 std::string_view name) const {
  const auto table = tables_.find(incarnation);
  if (table == tables_.end()) return nullptr;
  const auto found = table->second.overrides.find(name);
  return found == table->second.overrides.end() ? nullptr : &found->second;
}

std::optional<ColumnId> Binding::Computed(std::string_view name) const {
  const auto found = computed_.find(name);
  return found == computed_.end() ? std::nullopt : std::optional(found->second);
}

void Binding::RenameComputed(const std::string& from, const std::string& to) {
  const ColumnId column = Computed(from).value_or(ComputedColumnId(from));
  std::set<ColumnId> used = {column};
  for (const auto& [name, id] : computed_) used.insert(id);
  ColumnId other = column;
  while (used.contains(other)) ++other;
  computed_[from] = other;
  computed_[to] = column;
}

// {"1": {"names": {"a": {"columns": [3], "type": "INT"}}, "overrides": {"b": [4]}},
//  "computed": {"c": 2147483664}}
std::string Binding::Serialize() const {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  for (const auto& [incarnation, table] : tables_) {
    json.Key(std::to_string(incarnation)).BeginObject().Key("names").BeginObject();
    for (const auto& [name, bound] : table.names) {
      json.Key(name).BeginObject().Key("columns");
      WriteIds(bound.columns, &json);
      json.Key("type").String(bound.type.ToString()).EndObject();
    }
    json.EndObject().Key("overrides").BeginObject();
    for (const auto& [name, columns] : table.overrides) {
      json.Key(name);
      WriteIds(columns, &json);
    }
    json.EndObject().EndObject();
  }
  if (!computed_.empty()) {
    json.Key("computed").BeginObject();
    for (const auto& [name, id] : computed_) json.Key(name).Int(id);
    json.EndObject();
  }
  if (!inherited_.empty()) {
    Binding inherited;
    inherited.tables_ = inherited_;
    json.Key("inherited").String(inherited.Serialize());
  }
  json.EndObject();
  return text;
}

Result<Binding> Binding::Parse(std::string_view text) {
  Binding binding;
  simdjson::dom::parser parser;
  simdjson::dom::object root;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) return Damaged();
  for (const auto& [key, value] : root) {
    std::string_view inherited;
    if (key == "inherited" && value.get(inherited) == simdjson::SUCCESS) {
      DRIFTLESS_ASSIGN_OR_RETURN(Binding other, Parse(inherited));
      binding.inherited_ = std::move(other.tables_);
      continue;
    }
    simdjson::dom::object computed;
    if (key == "computed" && value.get(computed) == simdjson::SUCCESS) {
      for (const auto& [name, column] : computed) {
        uint64_t id = 0;
        if (column.get(id) != simdjson::SUCCESS) return Damaged();
        binding.computed_[std::string(name)] = static_cast<ColumnId>(id);
      }
      continue;
    }
    uint64_t incarnation = 0;
    std::from_chars(key.data(), key.data() + key.size(), incarnation);
    Table& table = binding.tables_[incarnation];
    simdjson::dom::object names;
    simdjson::dom::object overrides;
    if (value.at_key("names").get(names) != simdjson::SUCCESS ||
        value.at_key("overrides").get(overrides) != simdjson::SUCCESS) {
      return Damaged();
    }
    for (const auto& [name, bound] : names) {
      Name& entry = table.names[std::string(name)];
      std::string_view type_text;
      simdjson::dom::element columns;
      if (bound.at_key("columns").get(columns) != simdjson::SUCCESS ||
          !ReadIds(columns, &entry.columns) ||
          bound.at_key("type").get(type_text) != simdjson::SUCCESS) {
        return Damaged();
      }
      DRIFTLESS_ASSIGN_OR_RETURN(entry.type, ParseLogicalType(type_text));
    }
    for (const auto& [name, columns] : overrides) {
      if (!ReadIds(columns, &table.overrides[std::string(name)])) return Damaged();
    }
  }
  return binding;
}

}  // namespace driftless
