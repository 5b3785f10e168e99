#pragma once

#include <string_view>

#include "schema/ddl/mysql/dialect.h"

namespace driftless::mysql {

// Whether the server refuses the word (in upper case) as a name without quotes.
bool IsReserved(std::string_view upper, const ServerSettings& settings);

}  // namespace driftless::mysql
