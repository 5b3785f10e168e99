#include "sinks/formats/message_reader.h"

#include <charconv>

namespace driftless {

bool MessageReader::ReadText(JsonCursor* cursor, std::string* scratch, std::string_view* text) {
  *text = {};
  if (!cursor->IsNull() && !ReadJsonString(cursor->Token(), scratch, text)) {
    return Fail("a string was expected here", cursor->Offset());
  }
  cursor->Advance();
  return true;
}

bool MessageReader::ReadNumber(JsonCursor* cursor, int64_t* number) {
  if (!cursor->IsNull()) {
    const std::string_view token = cursor->Token();
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), *number);
    if (error != std::errc() || end != token.data() + token.size()) {
      return Fail("a whole number was expected here", cursor->Offset());
    }
  }
  cursor->Advance();
  return true;
}

}  // namespace driftless
