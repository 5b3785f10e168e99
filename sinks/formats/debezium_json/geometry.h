#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace driftless::debezium {

// Appends a geometry in well-known binary form as JSON text with the members of GeoJSON and the
// SRID: {"type":"Point","coordinates":[1,2],"srid":4326}; collections have "geometries". "srid" is
// 0 where none is given. Takes ISO and extended WKB in two dimensions, both byte orders (OGC
// 06-103r4, 8.2). False where the bytes are no such geometry.
bool AppendGeometryJson(std::string_view wkb, std::optional<int64_t> srid, std::string* out);

}  // namespace driftless::debezium
