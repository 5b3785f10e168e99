#include "sinks/iceberg/schema_step.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "schema/base/letter_case.h"
#include "sinks/iceberg/default_value.h"
#include "sinks/iceberg/nested_type.h"
#include "sinks/iceberg/partition.h"
#include "sinks/iceberg/sort_order.h"
#include "sinks/iceberg/types.h"

namespace driftless::iceberg {
namespace {

std::vector<std::string_view> SplitTabs(std::string_view line) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = line.find('\t');
    parts.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return parts;
    line.remove_prefix(end + 1);
  }
}

// A column of the step's table before, and what it is called as the step goes on; empty: dropped.
struct Followed {
  std::string now;
  const Field* field = nullptr;
};

// The step's payload lists what happens to columns: "drop\tc" and "rename\ta\tb" (all pairs of a
// line at the same moment).
void Follow(std::string_view effects, std::vector<Followed>* columns) {
  while (!effects.empty()) {
    const size_t end = effects.find('\n');
    const std::vector<std::string_view> parts = SplitTabs(effects.substr(0, end));
    if (parts.size() == 2 && parts[0] == "drop") {
      for (Followed& column : *columns) {
        if (column.now == parts[1]) column.now.clear();
      }
    } else if (parts[0] == "rename") {
      for (Followed& column : *columns) {
        for (size_t i = 1; i + 1 < parts.size(); i += 2) {
          if (column.now != parts[i]) continue;
          column.now = parts[i + 1];
          break;
        }
      }
    }
    if (end == std::string_view::npos) return;
    effects.remove_prefix(end + 1);
  }
}

const Field* FindField(const Schema& schema, const std::string& name) {
  if (const Field* field = schema.FindName(name)) return field;
  for (const Field& field : schema.fields) {
    if (EqualsIgnoringCase(field.name, name)) return &field;
  }
  return nullptr;
}

// `last_id`: the highest id so far; new nested types count on from it.
Result<void> Fill(const SinkColumn& column, int32_t* last_id, Field* field) {
  const bool retype =
      field->type_json.empty() || !field->type.EqualsIgnoringNullability(column.type);
  field->name = column.name;
  field->doc = column.comment;
  if (retype) {
    if (!field->type_json.empty()) {
      const std::string problem = PromotionProblem(field->type, column.type);
      if (!problem.empty()) return MakeError(ErrorKind::kRefused, problem);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(field->type_json, TypeToJson(column.type, last_id));
  }
  field->type = column.type;
  return {};
}

// Readers refuse a table whose default sort order names a column that is not there.
Result<void> CheckSortOrder(const TableMetadata& metadata, const Schema& next) {
  DRIFTLESS_ASSIGN_OR_RETURN(const SortOrder order, DefaultSortOrder(metadata));
  for (const SortField& part : order.fields) {
    const auto has = [&](const Field& field) {
      const std::vector<int32_t> inside = NestedIds(field.type_json);
      return field.id == part.source_id ||
             std::ranges::find(inside, part.source_id) != inside.end();
    };
    if (std::ranges::any_of(next.fields, has)) continue;
    const auto gone = std::ranges::find_if(metadata.schema().fields, has);
    return MakeError(ErrorKind::kRefused,
                     "the table's sort order names column " +
                         (gone == metadata.schema().fields.end() ? std::to_string(part.source_id)
                                                                 : gone->name) +
                         ", which is to go")
        .Hint("give the table another sort order first (ALTER TABLE ... WRITE UNORDERED)");
  }
  return {};
}

// The table's column with the name, that an expression of the option says.
Result<const Field*> SourceOf(const NewTable& table, const std::string& name,
                              std::string_view option) {
  const Field* field = FindField(table.schema, name);
  if (field != nullptr) return field;
  return MakeError(ErrorKind::kUnsupported,
                   std::string(option) + " names " + name + ", which the table does not have");
}

Result<void> AddSortOrder(const std::vector<std::string>& sort, NewTable* table) {
  for (const std::string& expression : sort) {
    std::string source;
    DRIFTLESS_ASSIGN_OR_RETURN(SortField part, ParseSortExpression(expression, &source));
    DRIFTLESS_ASSIGN_OR_RETURN(const Field* field, SourceOf(*table, source, "sort.key"));
    DRIFTLESS_TRY(TransformResult(part.transform, field->type));
    if (field->type.IsNested()) {
      return MakeError(ErrorKind::kUnsupported,
                       "sort.key names " + source + ", whose values have no order");
    }
    part.source_id = field->id;
    table->sort_order.fields.push_back(std::move(part));
  }
  return {};
}

}  // namespace

Result<MetadataChange> SchemaAfter(const TableMetadata& metadata, const Step& step) {
  const Schema& current = metadata.schema();
  std::vector<Followed> followed;
  for (const SinkColumn& column : step.before.columns) {
    followed.push_back({column.name, FindField(current, column.name)});
  }
  Follow(step.payload, &followed);
  MetadataChange change;
  Schema next = current;
  next.fields.clear();
  change.last_column_id = metadata.last_column_id;
  for (const SinkColumn& column : step.after->columns) {
    const auto known = std::ranges::find(followed, column.name, &Followed::now);
    Field field;
    if (known != followed.end()) {
      if (known->field == nullptr) {
        return MakeError(ErrorKind::kRefused, "the table has no column " + column.name);
      }
      field = *known->field;
    } else if (current.FindName(column.name) != nullptr &&
               std::ranges::none_of(followed, [&](const Followed& other) {
                 return other.field != nullptr && other.field->name == column.name;
               })) {
      return MakeError(ErrorKind::kRefused, "the table has a column " + column.name + " already");
    } else {
      field.id = ++change.last_column_id;
      if (metadata.format_version >= 3) {
        field.initial_default = DefaultJson(column.type, column.default_value);
        field.write_default = field.initial_default;
      }
    }
    DRIFTLESS_TRY(Fill(column, &change.last_column_id, &field));
    next.fields.push_back(std::move(field));
  }
  // Somebody else's columns stay behind the column that they stood behind.
  for (size_t i = 0; i < current.fields.size(); ++i) {
    const Field& field = current.fields[i];
    const bool ours = std::ranges::any_of(
        followed, [&](const Followed& column) { return column.field == &field; });
    if (ours) continue;
    auto at = next.fields.begin();
    for (size_t before = i; before-- > 0;) {
      const auto found = std::ranges::find(next.fields, current.fields[before].id, &Field::id);
      if (found == next.fields.end()) continue;
      at = found + 1;
      break;
    }
    next.fields.insert(at, field);
  }
  for (const PartitionField& part : metadata.FindSpec(metadata.default_spec_id)->fields) {
    if (next.FindId(part.source_id) == nullptr) {
      return MakeError(ErrorKind::kRefused,
                       "the partition field " + part.name + " is made of the column that is to go");
    }
  }
  DRIFTLESS_TRY(CheckSortOrder(metadata, next));
  change.schema = std::move(next);
  if (step.after->comment != metadata.Property("comment", "")) {
    change.set_properties["comment"] = step.after->comment;
  }
  return change;
}

void AddCatalogDefaults(const std::map<std::string, std::string>& catalog,
                        std::map<std::string, std::string>* table) {
  constexpr std::string_view kDefault = "table-default.";
  constexpr std::string_view kOverride = "table-override.";
  for (const auto& [key, value] : catalog) {
    if (key.starts_with(kDefault)) table->emplace(key.substr(kDefault.size()), value);
    if (key.starts_with(kOverride)) (*table)[key.substr(kOverride.size())] = value;
  }
}

Result<NewTable> TableOf(const SinkTable& table, const std::vector<std::string>& partition,
                         const std::vector<std::string>& sort) {
  NewTable created;
  created.properties = table.options;
  if (!table.comment.empty()) created.properties["comment"] = table.comment;
  auto last_id = static_cast<int32_t>(table.columns.size());
  for (const SinkColumn& column : table.columns) {
    Field field;
    field.id = static_cast<int32_t>(created.schema.fields.size()) + 1;
    DRIFTLESS_TRY(Fill(column, &last_id, &field));
    created.schema.fields.push_back(std::move(field));
  }
  for (const std::string& key : table.primary_key) {
    const Field* field = created.schema.FindName(key);
    if (field == nullptr) return MakeError(ErrorKind::kInternal, "no key column " + key);
    created.schema.identifier_ids.push_back(field->id);
  }
  int32_t next_id = 1000;
  for (const std::string& expression : partition) {
    std::string source;
    DRIFTLESS_ASSIGN_OR_RETURN(PartitionField part, ParsePartitionExpression(expression, &source));
    DRIFTLESS_ASSIGN_OR_RETURN(const Field* field, SourceOf(created, source, "partition.key"));
    DRIFTLESS_TRY(TransformResult(part.transform, field->type));
    const auto& ids = created.schema.identifier_ids;
    if (!ids.empty() && std::ranges::find(ids, field->id) == ids.end()) {
      return MakeError(ErrorKind::kUnsupported,
                       "partition column " + source + " is not in the primary key")
          .Hint("equality deletes hold for one partition; partition by columns of the key");
    }
    part.source_id = field->id;
    part.field_id = next_id++;
    created.spec.fields.push_back(std::move(part));
  }
  DRIFTLESS_TRY(AddSortOrder(sort, &created));
  const auto version = created.properties.find("format-version");
  if (version != created.properties.end()) {
    if (version->second != "2" && version->second != "3") {
      return MakeError(ErrorKind::kUnsupported,
                       "format-version = " + version->second + " is not written (2 or 3)");
    }
    created.format_version = version->second == "3" ? 3 : 2;
    created.properties.erase(version);
  }
  return created;
}

}  // namespace driftless::iceberg
