#pragma once

#include <string>
#include <string_view>

#include "schema/ddl/mysql/dialect.h"

namespace driftless::mysql {

// A character set and a collation of it, as the server names them.
struct Charset {
  std::string charset;
  std::string collation;
  bool empty() const { return charset.empty(); }
  friend bool operator==(const Charset&, const Charset&) = default;
};

// The charset with its default collation; "utf8" is utf8mb3. Empty where it is unknown.
Charset FindCharset(std::string_view name, const ServerSettings& settings);

// The collation with its charset. Empty where no known charset begins the name.
Charset FindCollation(std::string_view name, const ServerSettings& settings);

// Bytes that one character takes at most; 4 for an unknown charset.
int MaxBytesPerCharacter(std::string_view charset);

// The charset's binary collation: what the attribute BINARY means.
std::string BinaryCollation(std::string_view charset);

}  // namespace driftless::mysql
