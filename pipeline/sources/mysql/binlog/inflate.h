#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace driftless::mysql {

// Unpacks what MariaDB's compressed events hold (log_bin_compress): a byte 0x80 | algorithm << 4 |
// bytes of the length, the length in big-endian, a zlib stream. False where it is none.
bool InflateEvent(std::string_view packed, std::string* out);

// Unpacks a value of a MariaDB column with COMPRESSED: empty, or a byte that is 0 (the rest is
// plain) or 0x80 | 8 for a raw stream | bytes of the length. False where it is none.
bool InflateValue(std::string_view packed, std::string* out);

}  // namespace driftless::mysql
