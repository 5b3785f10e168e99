// Text of MySQL's character sets as the servers themselves convert it. tests/e2e/mysql_parity.py
// compares every byte of every set with a server; here are those where other converters differ.
#include "pipeline/sources/mysql/binlog/transcoder.h"

#include <gtest/gtest.h>

namespace driftless::mysql {
namespace {

std::string Utf8(std::string_view charset, std::string_view bytes) {
  auto transcoder = Transcoder::Make(charset);
  EXPECT_TRUE(transcoder) << charset;
  if (!transcoder) return "";
  std::string text;
  transcoder->Append(bytes, &text);
  return text;
}

TEST(Transcoder, ReadsOneByteSetsAsTheServersDo) {
  EXPECT_EQ(Utf8("latin1", "\x80\x81\xE9"), "€\xC2\x81é");
  EXPECT_EQ(Utf8("keybcs2", "\x80\xA8\xE1z"), "Čšßz");
  EXPECT_EQ(Utf8("cp866", "\xFC\xFD"), "ⁿ²");
  EXPECT_EQ(Utf8("greek", "\xA1\xA2\xE1"), "ʽʼα");
  EXPECT_EQ(Utf8("koi8u", "\x95"), "•");
  EXPECT_EQ(Utf8("swe7", "$@[\\]^`{|}~\x7F"), "$ÉÄÖÅÜéäöåü?");
  EXPECT_EQ(Utf8("hebrew", "\xC0"), "?");  // no character: what the servers show
}

TEST(Transcoder, ReadsLongerSetsAsTheServersDo) {
  EXPECT_EQ(Utf8("sjis", "a\\~\x81\x5F\xB1\x83\x5C"), "a\\~\\ｱソ");
  EXPECT_EQ(Utf8("cp932", "\\~\x81\x5F"), "\\~＼");
  EXPECT_EQ(Utf8("euckr", "\x81\x41\xB0\xA1"), "갂가");
  EXPECT_EQ(Utf8("ujis", "\xF5\xA1\xA1\xC0\xA4\xA2\x8E\xB1"), "\xEE\x80\x80\\あｱ");
  EXPECT_EQ(Utf8("big5", "\xA1\x45\xA4\xA4"), "•中");
  EXPECT_EQ(Utf8("gb18030", "\xA6\xD9\x81\x30\x81\x30\xD6\xD0"), "\xEE\x9E\x8D\xC2\x80中");
  EXPECT_EQ(Utf8("cp932",
                 "a\x81\xAE"
                 "b"),
            "a?b");  // a code without a character, as a whole
  EXPECT_EQ(Utf8("euckr", "\xA2\xEC\x80"), "??");
  EXPECT_EQ(Utf8("ucs2", std::string_view("\0a\x20\xAC", 4)), "a€");
}

TEST(Transcoder, KnowsEverySetOfTheServers) {
  for (const char* charset :
       {"armscii8", "ascii",   "big5",     "binary", "cp1250",  "cp1251", "cp1256",
        "cp1257",   "cp850",   "cp852",    "cp866",  "cp932",   "dec8",   "eucjpms",
        "euckr",    "gb18030", "gb2312",   "gbk",    "geostd8", "greek",  "hebrew",
        "hp8",      "keybcs2", "koi8r",    "koi8u",  "latin1",  "latin2", "latin5",
        "latin7",   "macce",   "macroman", "sjis",   "swe7",    "tis620", "ucs2",
        "ujis",     "utf16",   "utf16le",  "utf32",  "utf8mb3", "utf8mb4"}) {
    EXPECT_TRUE(Transcoder::Make(charset)) << charset;
  }
  const auto unknown = Transcoder::Make("klingon");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().ToString().find("utf8mb4"), std::string::npos);
}

}  // namespace
}  // namespace driftless::mysql
