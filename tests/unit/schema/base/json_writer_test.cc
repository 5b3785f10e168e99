#include "schema/base/json_writer.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

namespace driftless {
namespace {

std::string Written(std::string_view text) {
  std::string json;
  AppendJsonString(text, &json);
  return json;
}

std::string ReadBack(const std::string& json) {
  simdjson::dom::parser parser;
  std::string_view text;
  if (parser.parse(json).get(text) != simdjson::SUCCESS) return "not JSON: " + json;
  return std::string(text);
}

// Strings are looked at eight bytes at a time: each byte at each place of two such words, and
// between neighbours that could hide it.
TEST(JsonWriterTest, EveryByteAtEveryPlace) {
  for (const char around : {'a', '!', '#', '[', ']', ' ', '~', '\x7f'}) {
    for (size_t place = 0; place < 17; ++place) {
      for (int byte = 0; byte < 0x80; ++byte) {
        std::string text(17, around);
        text[place] = static_cast<char>(byte);
        ASSERT_EQ(ReadBack(Written(text)), text) << byte << " at " << place;
      }
      for (int byte = 0x80; byte < 0x100; ++byte) {  // alone, none of them is UTF-8
        std::string text(17, around);
        text[place] = static_cast<char>(byte);
        std::string mended = text;
        mended.replace(place, 1, "\xEF\xBF\xBD");
        ASSERT_EQ(ReadBack(Written(text)), mended) << byte << " at " << place;
      }
    }
  }
}

TEST(JsonWriterTest, LongerCharactersStayWhole) {
  for (const std::string character : {"é", "€", "😀"}) {
    for (size_t place = 0; place < 17; ++place) {
      const std::string text = std::string(place, 'x') + character + std::string(9, '"');
      EXPECT_EQ(ReadBack(Written(text)), text);
    }
  }
}

TEST(JsonWriterTest, ShortEscapes) {
  EXPECT_EQ(Written("a\"b\\c\n\r\t\b\f\x01"), R"("a\"b\\c\n\r\t\b\f\u0001")");
}

}  // namespace
}  // namespace driftless
