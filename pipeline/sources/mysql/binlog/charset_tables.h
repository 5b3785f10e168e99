#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace driftless::mysql {

// What the servers' one-byte character sets mean: Unicode for each of their 256 bytes, '?' where
// the servers have none.
using CharsetTable = std::array<uint16_t, 256>;

// False: no such one-byte character set.
bool FindCharsetTable(std::string_view charset, CharsetTable* table);

// A character of one or two bytes that the servers take for another one than glibc's converter of
// the set does: the backslash of sjis, punctuation and Japanese letters of big5. By `code`.
struct CharacterOverride {
  uint16_t code = 0;
  uint16_t character = 0;
};
std::span<const CharacterOverride> OverridesOf(std::string_view charset);

}  // namespace driftless::mysql
