#pragma once

#include <string>
#include <string_view>

namespace driftless {

void AppendHex(std::string_view bytes, std::string* out);     // lower case, no prefix
void AppendBase64(std::string_view bytes, std::string* out);  // RFC 4648, padded
// Both append to `out` and return false where the text is not of this form. Hex: either letter
// case, no blanks. Base64: no blanks, padding may be left out.
bool DecodeHex(std::string_view text, std::string* out);
bool DecodeBase64(std::string_view text, std::string* out);

}  // namespace driftless
