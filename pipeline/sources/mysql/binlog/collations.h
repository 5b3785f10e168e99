#pragma once

#include <cstdint>
#include <string_view>

namespace driftless::mysql {

// The character set of a collation by its number, of both servers (information_schema.COLLATIONS of
// MySQL 9.7.4 and MariaDB 10.11.19; from 2048 on MariaDB's uca1400). Empty where it is not known.
std::string_view CharsetOfCollation(uint32_t collation);

}  // namespace driftless::mysql
