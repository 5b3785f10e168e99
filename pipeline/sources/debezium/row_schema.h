#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/events/schema_change.h"
#include "sinks/formats/debezium_json/decode.h"

namespace driftless::debezium {

// A table's shape as a record shows it: from its embedded schema, or from the row itself.
struct RowShape {
  struct Field {
    std::string name;
    LogicalType type;
    bool type_is_known = true;  // false: the value is null, so that any type would do
    DefaultValue default_value;
    SourceAttributes source;
    std::string comment;
  };
  std::vector<Field> fields;
  std::vector<std::string> key;
  bool key_is_known = true;  // false: an empty key says nothing
};

// Of the field "after" ("before" where that is missing) of an embedded value schema, and the fields
// of the key's schema. Errors: kInvalidInput.
struct EmbeddedSchema {
  ConnectField value;  // the whole envelope
  const ConnectField* Row() const;
};
Result<EmbeddedSchema> ParseEmbedded(std::string_view value_schema);
Result<RowShape> ShapeOfSchema(const EmbeddedSchema& schema, std::string_view key_schema);

// What the user says about types that rows would show.
struct InferenceRules {
  bool primitives_are_text = false;  // simple values are STRING
  std::map<std::string, LogicalType> fixed_types;
};

// Of a row without any schema: integers are BIGINT, numbers with a fraction DOUBLE, true and false
// BOOLEAN, everything else STRING (lists and objects as JSON text). Columns that `known` has keep
// its type where the value fits and are widened where not. `key` is the JSON text of the record's
// key, or empty.
Result<RowShape> ShapeOfRow(JsonCursor row, std::string_view key, const TableSchema* known,
                            const InferenceRules& rules);

// The smallest type that holds what the column holds and this JSON value, for rows without schema:
// BIGINT to DECIMAL(38, 0) or DOUBLE, everything else to STRING. `type` itself where the value
// fits.
LogicalType WidenForValue(const LogicalType& type, std::string_view value);

// What the caller takes a missing field for.
enum class Missing : uint8_t { kDropped, kKept };

// The parts that turn `before` into the shape, columns bound by name, in the policy's order; empty
// where nothing differs. A new field is an added column, a field of another place is a moved one.
// Never a rename: that cannot be told from a drop and an add, and a wrong guess would show one
// column's values under another's name. Types of fields that are not known are left alone.
std::vector<SchemaChange> DifferenceByName(const TableSchemaPtr& before, const RowShape& shape,
                                           Missing missing);

// The shape of a schema that is known in full.
RowShape ShapeOfTable(const TableSchema& schema);

// The table that a shape creates, as version 0 of its incarnation.
TableSchemaPtr SchemaOfShape(const TablePath& path, uint64_t incarnation, const RowShape& shape);

}  // namespace driftless::debezium
