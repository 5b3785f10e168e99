#include "pipeline/sources/debezium/row_schema.h"

#include <algorithm>
#include <charconv>

#include "sinks/formats/json/json_index.h"

namespace driftless::debezium {
namespace {

bool IsWholeNumber(std::string_view token) {
  if (!token.empty() && token[0] == '-') token.remove_prefix(1);
  return !token.empty() &&
         std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool FitsBigInt(std::string_view token) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  return error == std::errc() && end == token.data() + token.size();
}

bool IsNumber(std::string_view token) {
  return !token.empty() && (token[0] == '-' || (token[0] >= '0' && token[0] <= '9'));
}

LogicalType TypeOfValue(std::string_view value) {
  if (value == "true" || value == "false") return LogicalType::Boolean();
  if (IsWholeNumber(value)) {
    if (FitsBigInt(value)) return LogicalType::BigInt();
    return value.size() <= 38 ? LogicalType::Decimal(38, 0) : LogicalType::String();
  }
  return IsNumber(value) ? LogicalType::Double() : LogicalType::String();
}

Result<std::string> NameOf(std::string_view raw_key) {
  std::string name;
  if (!AppendJsonUnescaped(raw_key, &name)) {
    return MakeError(ErrorKind::kInvalidInput, "a field's name has a malformed escape");
  }
  return name;
}

Result<std::vector<std::string>> NamesOfKey(std::string_view key) {
  std::vector<std::string> names;
  if (key.empty() || key.front() != '{') return names;
  std::string padded(key);
  padded.append(kJsonPadding, ' ');
  JsonIndex index;
  if (!index.Build({padded.data(), key.size()})) {
    return MakeError(ErrorKind::kInvalidInput, std::string("the key: ") + index.error());
  }
  JsonCursor cursor(index);
  JsonObjectWalk walk(&cursor);
  std::string_view raw;
  while (walk.Next(&raw)) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string name, NameOf(raw));
    names.push_back(std::move(name));
    if (!cursor.Skip()) break;
  }
  if (walk.failed()) return MakeError(ErrorKind::kInvalidInput, "the record's key is malformed");
  return names;
}

// The default that a Connect schema gives, where its JSON text reads the same as the value.
DefaultValue DefaultOf(const ConnectField& field) {
  const std::string& json = field.default_json;
  if (json.empty() || !field.semantic.empty()) return {};
  if (json == "null") return {DefaultValue::Kind::kNull, ""};
  switch (field.type) {
    case ConnectType::kBytes:
    case ConnectType::kArray:
    case ConnectType::kMap:
    case ConnectType::kStruct: return {};
    default: break;
  }
  if (json.front() != '"') return {DefaultValue::Kind::kLiteral, json};
  std::string text;
  if (!AppendJsonUnescaped(std::string_view(json).substr(1, json.size() - 2), &text)) return {};
  return {DefaultValue::Kind::kLiteral, text};
}

// Collects the parts of one statement: each part sees the schema that the one before it left.
class PartsBuilder {
 public:
  explicit PartsBuilder(TableSchemaPtr before) : current_(std::move(before)) {}

  const TableSchema& current() const { return *current_; }
  // `next` is the schema behind the part.
  void Add(ChangeDetail detail, TableSchema next) {
    SchemaChange change;
    change.part = static_cast<uint32_t>(parts_.size());
    change.detail = std::move(detail);
    change.before = current_;
    next.version = current_->version + 1;
    change.after = std::make_shared<const TableSchema>(std::move(next));
    current_ = change.after;
    parts_.push_back(std::move(change));
  }
  std::vector<SchemaChange> Take() { return std::move(parts_); }

 private:
  TableSchemaPtr current_;
  std::vector<SchemaChange> parts_;
};

// Where a column stands that has `left` before it (0: it is the first).
ColumnPlace PlaceBehind(const TableSchema& schema, ColumnId left) {
  if (left == 0)
    return {schema.columns.empty() ? ColumnPlace::Kind::kLast : ColumnPlace::Kind::kFirst};
  if (schema.columns.back().id == left) return {ColumnPlace::Kind::kLast};
  return {ColumnPlace::Kind::kAfter, left};
}

void AddNew(const RowShape& shape, PartsBuilder* parts) {
  AddColumns add;
  TableSchema next = parts->current();
  ColumnId left = 0;
  for (const RowShape::Field& field : shape.fields) {
    const Column* known = next.FindName(field.name);
    if (known != nullptr) {
      left = known->id;
      continue;
    }
    Column column;
    column.id = next.next_column_id++;
    column.name = field.name;
    column.type = field.type;
    column.default_value = field.default_value;
    column.source = field.source;
    column.comment = field.comment;
    const ColumnPlace place = PlaceBehind(next, left);
    const int at = left == 0 ? 0 : next.IndexOf(left) + 1;
    next.columns.insert(next.columns.begin() + at, column);
    left = column.id;
    add.items.push_back({std::move(column), place});
  }
  if (!add.items.empty()) parts->Add(std::move(add), std::move(next));
}

void DropMissing(const RowShape& shape, PartsBuilder* parts) {
  DropColumns drop;
  TableSchema next = parts->current();
  for (const Column& column : parts->current().columns) {
    const bool stays = std::any_of(shape.fields.begin(), shape.fields.end(),
                                   [&](const auto& field) { return field.name == column.name; });
    if (!stays) drop.columns.push_back(column.id);
  }
  if (drop.columns.empty()) return;
  for (ColumnId id : drop.columns) {
    next.columns.erase(next.columns.begin() + next.IndexOf(id));
    std::erase(next.primary_key, id);
  }
  parts->Add(std::move(drop), std::move(next));
}

void ChangeTypes(const RowShape& shape, PartsBuilder* parts) {
  AlterColumnTypes alter;
  TableSchema next = parts->current();
  for (const RowShape::Field& field : shape.fields) {
    Column& column = next.columns[static_cast<size_t>(next.IndexOfName(field.name))];
    if (!field.type_is_known || column.type.EqualsIgnoringNullability(field.type)) continue;
    const LogicalType to = field.type.WithNullability(column.type.nullable());
    alter.items.push_back(
        {column.id, column.type, to, column.source.type_text, field.source.type_text});
    column.type = to;
    column.source = field.source;
  }
  if (!alter.items.empty()) parts->Add(std::move(alter), std::move(next));
}

template <typename Part>
void ChangeNullability(const RowShape& shape, bool nullable, PartsBuilder* parts) {
  Part part;
  TableSchema next = parts->current();
  for (const RowShape::Field& field : shape.fields) {
    Column& column = next.columns[static_cast<size_t>(next.IndexOfName(field.name))];
    if (!field.type_is_known || field.type.nullable() != nullable ||
        column.type.nullable() == nullable) {
      continue;
    }
    part.columns.push_back(column.id);
    column.type = column.type.WithNullability(nullable);
  }
  if (!part.columns.empty()) parts->Add(std::move(part), std::move(next));
}

void Move(const RowShape& shape, PartsBuilder* parts) {
  MoveColumns move;
  TableSchema next = parts->current();
  ColumnId left = 0;
  for (size_t i = 0; i < shape.fields.size() && i < next.columns.size(); ++i) {
    const int at = next.IndexOfName(shape.fields[i].name);
    const ColumnId id = next.columns[static_cast<size_t>(at)].id;
    if (static_cast<size_t>(at) != i) {
      const Column column = next.columns[static_cast<size_t>(at)];
      next.columns.erase(next.columns.begin() + at);
      move.items.push_back({id, PlaceBehind(next, left)});
      next.columns.insert(next.columns.begin() + static_cast<std::ptrdiff_t>(i), column);
    }
    left = id;
  }
  if (!move.items.empty()) parts->Add(std::move(move), std::move(next));
}

std::vector<ColumnId> KeyIds(const TableSchema& schema, const std::vector<std::string>& names) {
  std::vector<ColumnId> ids;
  for (const std::string& name : names) {
    const Column* column = schema.FindName(name);
    if (column == nullptr) return {};  // a key of other fields than the row's is no primary key
    ids.push_back(column->id);
  }
  return ids;
}

void ChangeKey(const RowShape& shape, PartsBuilder* parts) {
  TableSchema next = parts->current();
  KeyChange key{next.primary_key, KeyIds(next, shape.key)};
  if (!shape.key_is_known || key.from == key.to) return;
  if (key.to.empty() && !shape.key.empty()) return;  // of fields that the row does not have
  next.primary_key = key.to;
  parts->Add(std::move(key), std::move(next));
}

}  // namespace

const ConnectField* EmbeddedSchema::Row() const {
  const ConnectField* row = value.Find("after");
  return row != nullptr ? row : value.Find("before");
}

Result<EmbeddedSchema> ParseEmbedded(std::string_view value_schema) {
  EmbeddedSchema schema;
  DRIFTLESS_ASSIGN_OR_RETURN(schema.value, ParseConnectSchema(value_schema));
  const ConnectField* row = schema.Row();
  if (row == nullptr || row->type != ConnectType::kStruct) {
    return MakeError(ErrorKind::kInvalidInput,
                     "the record's embedded schema has no struct \"after\" or \"before\"");
  }
  return schema;
}

Result<RowShape> ShapeOfSchema(const EmbeddedSchema& schema, std::string_view key_schema) {
  RowShape shape;
  for (const ConnectField& field : schema.Row()->children) {
    shape.fields.push_back({field.field, LogicalTypeOf(field), true, DefaultOf(field), {}, ""});
  }
  if (key_schema.empty()) return shape;
  DRIFTLESS_ASSIGN_OR_RETURN(const ConnectField key, ParseConnectSchema(key_schema));
  for (const ConnectField& field : key.children) shape.key.push_back(field.field);
  return shape;
}

Result<RowShape> ShapeOfRow(JsonCursor row, std::string_view key, const TableSchema* known,
                            const InferenceRules& rules) {
  RowShape shape;
  JsonObjectWalk walk(&row);
  std::string_view raw;
  while (walk.Next(&raw)) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string name, NameOf(raw));
    const bool is_null = row.IsNull();
    const std::string_view value = row.RawValue();
    if (value.empty()) break;
    const Column* column = known == nullptr ? nullptr : known->FindName(name);
    const bool is_text = is_null || rules.primitives_are_text;
    LogicalType type = is_text ? LogicalType::String() : TypeOfValue(value);
    const auto fixed = rules.fixed_types.find(name);
    if (fixed != rules.fixed_types.end()) {
      shape.fields.push_back({std::move(name), fixed->second, true, {}, {}, ""});
      continue;
    }
    if (column != nullptr) type = WidenForValue(column->type, value);
    shape.fields.push_back({std::move(name), std::move(type), !is_null, {}, {}, ""});
  }
  if (walk.failed()) return MakeError(ErrorKind::kInvalidInput, "the row image is malformed");
  DRIFTLESS_ASSIGN_OR_RETURN(shape.key, NamesOfKey(key));
  for (RowShape::Field& field : shape.fields) {
    if (std::find(shape.key.begin(), shape.key.end(), field.name) != shape.key.end()) {
      field.type = field.type.NotNull();
    }
  }
  return shape;
}

LogicalType WidenForValue(const LogicalType& type, std::string_view value) {
  if (value == "null" || type.IsCharacter()) return type;
  const LogicalType needed = TypeOfValue(value).WithNullability(type.nullable());
  if (needed == type) return type;
  const TypeKind from = type.kind();
  const TypeKind to = needed.kind();
  const bool from_whole = from == TypeKind::kBigInt || from == TypeKind::kDecimal;
  const bool to_whole = to == TypeKind::kBigInt || to == TypeKind::kDecimal;
  if (from_whole && to_whole) return from == TypeKind::kBigInt ? needed : type;
  // A whole number fits a DOUBLE column as its text did not say otherwise; the reverse needs one.
  if (from == TypeKind::kDouble && to == TypeKind::kBigInt) return type;
  if (from == TypeKind::kBigInt && to == TypeKind::kDouble) return needed;
  return LogicalType::String().WithNullability(type.nullable());
}

std::vector<SchemaChange> DifferenceByName(const TableSchemaPtr& before, const RowShape& shape,
                                           Missing missing) {
  PartsBuilder parts(before);
  RowShape whole;
  const RowShape* wanted = &shape;
  if (missing == Missing::kKept) {
    // Columns that the row lacks stay where they are: behind their left neighbour.
    whole = shape;
    size_t at = 0;
    for (const Column& column : before->columns) {
      const auto found = std::find_if(whole.fields.begin(), whole.fields.end(),
                                      [&](const auto& field) { return field.name == column.name; });
      if (found != whole.fields.end()) {
        at = static_cast<size_t>(found - whole.fields.begin()) + 1;
      } else {
        whole.fields.insert(whole.fields.begin() + static_cast<std::ptrdiff_t>(at),
                            {column.name, column.type, false, {}, {}, ""});
        ++at;
      }
    }
    wanted = &whole;
  }
  AddNew(*wanted, &parts);
  DropMissing(*wanted, &parts);
  ChangeTypes(*wanted, &parts);
  ChangeNullability<RelaxNullability>(*wanted, true, &parts);
  ChangeNullability<TightenNullability>(*wanted, false, &parts);
  Move(*wanted, &parts);
  ChangeKey(*wanted, &parts);
  return parts.Take();
}

RowShape ShapeOfTable(const TableSchema& schema) {
  RowShape shape;
  for (const Column& column : schema.columns) {
    shape.fields.push_back(
        {column.name, column.type, true, column.default_value, column.source, column.comment});
  }
  for (ColumnId id : schema.primary_key) shape.key.push_back(schema.Find(id)->name);
  return shape;
}

TableSchemaPtr SchemaOfShape(const TablePath& path, uint64_t incarnation, const RowShape& shape) {
  auto schema = std::make_shared<TableSchema>();
  schema->path = path;
  schema->incarnation = incarnation;
  for (const RowShape::Field& field : shape.fields) {
    Column& column = schema->AddColumn(field.name, field.type);
    column.default_value = field.default_value;
    column.source = field.source;
    column.comment = field.comment;
  }
  schema->primary_key = KeyIds(*schema, shape.key);
  return schema;
}

}  // namespace driftless::debezium
