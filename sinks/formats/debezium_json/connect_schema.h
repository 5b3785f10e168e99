#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/types/logical_type.h"
#include "sinks/formats/json/json_index.h"

namespace driftless::debezium {

// The type words of Kafka Connect's JSON schemas (org.apache.kafka.connect.json.JsonSchema).
enum class ConnectType : uint8_t {
  kBoolean,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat,
  kDouble,
  kString,
  kBytes,
  kArray,
  kMap,
  kStruct,
};

// One schema node: a field of a struct, an element of an array, a key or value of a map.
struct ConnectField {
  std::string field;  // its name inside a struct
  ConnectType type = ConnectType::kString;
  std::string semantic;  // "io.debezium.time.Date"; empty where the node has no name
  bool optional = false;
  std::optional<int32_t> scale;  // parameters of Decimal
  std::optional<int32_t> precision;
  std::optional<int32_t> length;       // parameter of Bits
  std::string default_json;            // the default as JSON text; empty where there is none
  std::vector<ConnectField> children;  // struct: fields; array: the element; map: key and value

  const ConnectField* Find(std::string_view name) const;
};

// Parses the "schema" part of a record. Errors: kInvalidInput.
Result<ConnectField> ParseConnectSchema(std::string_view json);

// The logical type that a Debezium field means by itself, nullability included: the choice where no
// DDL says more. DECIMAL beyond 38 digits and decimals of varying scale are STRING, durations in
// microseconds BIGINT, times with a zone, XML, UUID, JSON and geometry STRING (geometry as JSON
// text), SET an ARRAY<STRING>.
LogicalType LogicalTypeOf(const ConnectField& field);

}  // namespace driftless::debezium
