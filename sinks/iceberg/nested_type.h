#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/types/logical_type.h"

// Types with fields of their own inside: every list element, map key, map value and struct member
// has an id (Iceberg table specification, "Nested Types" and appendix C).
namespace driftless::iceberg {

// A type as table metadata has it, in JSON: "\"long\"", or an object whose fields get the ids
// behind `*last_id`. Errors: kUnsupported.
Result<std::string> TypeToJson(const LogicalType& type, int32_t* last_id);

// The ids inside a type as table metadata has it, depth first: each before what lies below it.
std::vector<int32_t> NestedIds(std::string_view type_json);

// The type with its struct members called as a file calls them; `ids` are its NestedIds. A member
// that the file lacks gets no name.
LogicalType NamedAsIn(const LogicalType& type, const std::vector<int32_t>& ids,
                      const std::map<int32_t, std::string>& names);

}  // namespace driftless::iceberg
