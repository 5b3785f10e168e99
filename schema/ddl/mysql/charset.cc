#include "schema/ddl/mysql/charset.h"

#include "schema/base/letter_case.h"

namespace driftless::mysql {
namespace {

struct Entry {
  std::string_view name;
  std::string_view collation;  // the default one
  int max_bytes;
};

// information_schema.CHARACTER_SETS of MySQL 9.7.4 and MariaDB 10.11.19, which differ in utf8mb4's
// collation (see below) and in gb18030 only.
constexpr Entry kCharsets[] = {
    {"armscii8", "armscii8_general_ci", 1}, {"ascii", "ascii_general_ci", 1},
    {"big5", "big5_chinese_ci", 2},         {"binary", "binary", 1},
    {"cp1250", "cp1250_general_ci", 1},     {"cp1251", "cp1251_general_ci", 1},
    {"cp1256", "cp1256_general_ci", 1},     {"cp1257", "cp1257_general_ci", 1},
    {"cp850", "cp850_general_ci", 1},       {"cp852", "cp852_general_ci", 1},
    {"cp866", "cp866_general_ci", 1},       {"cp932", "cp932_japanese_ci", 2},
    {"dec8", "dec8_swedish_ci", 1},         {"eucjpms", "eucjpms_japanese_ci", 3},
    {"euckr", "euckr_korean_ci", 2},        {"gb18030", "gb18030_chinese_ci", 4},
    {"gb2312", "gb2312_chinese_ci", 2},     {"gbk", "gbk_chinese_ci", 2},
    {"geostd8", "geostd8_general_ci", 1},   {"greek", "greek_general_ci", 1},
    {"hebrew", "hebrew_general_ci", 1},     {"hp8", "hp8_english_ci", 1},
    {"keybcs2", "keybcs2_general_ci", 1},   {"koi8r", "koi8r_general_ci", 1},
    {"koi8u", "koi8u_general_ci", 1},       {"latin1", "latin1_swedish_ci", 1},
    {"latin2", "latin2_general_ci", 1},     {"latin5", "latin5_turkish_ci", 1},
    {"latin7", "latin7_general_ci", 1},     {"macce", "macce_general_ci", 1},
    {"macroman", "macroman_general_ci", 1}, {"sjis", "sjis_japanese_ci", 2},
    {"swe7", "swe7_swedish_ci", 1},         {"tis620", "tis620_thai_ci", 1},
    {"ucs2", "ucs2_general_ci", 2},         {"ujis", "ujis_japanese_ci", 3},
    {"utf16", "utf16_general_ci", 4},       {"utf16le", "utf16le_general_ci", 4},
    {"utf32", "utf32_general_ci", 4},       {"utf8mb3", "utf8mb3_general_ci", 3},
    {"utf8mb4", "utf8mb4_general_ci", 4}};

// "utf8" is the older name of utf8mb3, in charsets and in collations.
std::string ModernName(std::string_view name) {
  std::string lower = LowerCase(name);
  if (lower == "utf8") return "utf8mb3";
  if (lower.rfind("utf8_", 0) == 0) return "utf8mb3" + lower.substr(4);
  return lower;
}

const Entry* Find(std::string_view modern_name) {
  for (const Entry& entry : kCharsets) {
    if (entry.name == modern_name) return &entry;
  }
  return nullptr;
}

}  // namespace

Charset FindCharset(std::string_view name, const ServerSettings& settings) {
  const Entry* entry = Find(ModernName(name));
  if (entry == nullptr) return {};
  Charset found{std::string(entry->name), std::string(entry->collation)};
  const bool modern_mysql = !settings.IsMariaDb() && settings.Version() >= 80001;
  if (found.charset == "utf8mb4" && modern_mysql) found.collation = "utf8mb4_0900_ai_ci";
  return found;
}

Charset FindCollation(std::string_view name, const ServerSettings& settings) {
  const std::string lower = ModernName(name);
  const Entry* entry = Find(lower.substr(0, lower.find('_')));
  if (entry != nullptr) return {std::string(entry->name), lower};
  // MariaDB's collations of any Unicode charset; the charset is then named elsewhere.
  if (settings.IsMariaDb() && lower.rfind("uca1400_", 0) == 0) return {"utf8mb4", lower};
  return {};
}

int MaxBytesPerCharacter(std::string_view charset) {
  const Entry* entry = Find(charset);
  return entry == nullptr ? 4 : entry->max_bytes;
}

std::string BinaryCollation(std::string_view charset) {
  if (charset == "binary") return "binary";
  return std::string(charset) + "_bin";
}

}  // namespace driftless::mysql
