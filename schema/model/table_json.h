#pragma once

#include <string_view>

#include "schema/model/table.h"

namespace driftless {

class JsonObject;
class JsonWriter;

// The parts of a table's description that several of our documents share.
void WriteJson(const TablePath& path, JsonWriter* json);
TablePath ReadTablePath(const JsonObject& object);
void WriteJson(const DefaultValue& value, JsonWriter* json);
DefaultValue ReadDefaultValue(const JsonObject& object);

}  // namespace driftless
