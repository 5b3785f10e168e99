#include "pipeline/sources/mysql/binlog/transcoder.h"

#include <fmt/format.h>
#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "pipeline/sources/mysql/binlog/charset_tables.h"
#include "schema/base/utf8.h"

namespace driftless::mysql {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Name {
  std::string_view charset;
  const char* iconv;  // null: UTF-8 itself
  int unit;           // bytes of the smallest character
};
// glibc's names of MySQL's character sets of more than one byte; charset_tables.h has the others.
constexpr Name kNames[] = {
    {"utf8mb4", nullptr, 1},     {"utf8mb3", nullptr, 1}, {"utf8", nullptr, 1},
    {"binary", nullptr, 1},      {"big5", "BIG5", 1},     {"cp932", "CP932", 1},
    {"eucjpms", "EUC-JP-MS", 1}, {"euckr", "UHC", 1},     {"gb18030", "GB18030", 1},
    {"gb2312", "GB2312", 1},     {"gbk", "GBK", 1},       {"sjis", "SJIS", 1},
    {"ujis", "EUC-JP", 1},       {"ucs2", "UCS-2BE", 2},  {"utf16", "UTF-16BE", 2},
    {"utf16le", "UTF-16LE", 2},  {"utf32", "UTF-32BE", 4}};

bool IsAscii(std::string_view text) {
  const char* at = text.data();
  size_t left = text.size();
  uint64_t seen = 0;
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    seen |= word;
  }
  for (; left > 0; ++at, --left) seen |= static_cast<uint8_t>(*at);
  return (seen & 0x8080808080808080ULL) == 0;
}

// Of the Basic Multilingual Plane.
void AppendUtf8(uint16_t character, std::string* out) {
  if (character < 0x80) {
    *out += static_cast<char>(character);
  } else if (character < 0x800) {
    *out +=
        {static_cast<char>(0xC0 | character >> 6), static_cast<char>(0x80 | (character & 0x3F))};
  } else {
    *out += {static_cast<char>(0xE0 | character >> 12),
             static_cast<char>(0x80 | (character >> 6 & 0x3F)),
             static_cast<char>(0x80 | (character & 0x3F))};
  }
}

void AppendRepaired(std::string_view text, std::string* out) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8SequenceLength(text, at);
    if (length == 0) {
      *out += kReplacement;
      ++at;
    } else {
      *out += text.substr(at, length);
      at += length;
    }
  }
}

}  // namespace

struct Transcoder::Impl {
  enum class Kind { kUtf8, kTable, kIconv };
  Kind kind = Kind::kUtf8;
  int unit = 1;
  iconv_t converter = reinterpret_cast<iconv_t>(-1);
  std::array<uint8_t, 256> lengths{};
  std::array<std::array<char, 4>, 256> characters{};
  bool keeps_ascii = true;  // kTable: bytes below 128 are themselves
  std::span<const CharacterOverride> overrides;
  enum class Family : uint8_t { kUnits, kSjis, kUjis, kGb18030, kOther } family = Family::kOther;
  bool is_big5 = false;
  bool has_private = false;
  std::string scratch;
  std::string source;

  ~Impl() {
    if (converter != reinterpret_cast<iconv_t>(-1)) iconv_close(converter);
  }
  void FillTable(const CharsetTable& table);
  void Convert(std::string_view text, std::string* out);
  void ConvertByIconv(std::string_view text, std::string* out);
  size_t LengthAt(std::string_view text, size_t at) const;
  void AppendRefused(std::string_view bytes, std::string* out) const;
  std::optional<uint16_t> OverrideOf(std::string_view character) const;
  void ConvertByTable(std::string_view text, std::string* out) const {
    for (const char c : text) {
      const auto byte = static_cast<uint8_t>(c);
      out->append(characters[byte].data(), lengths[byte]);
    }
  }
};

void Transcoder::Impl::FillTable(const CharsetTable& table) {
  std::string text;
  for (uint16_t byte = 0; byte < 256; ++byte) {
    text.clear();
    AppendUtf8(table[byte], &text);
    lengths[byte] = static_cast<uint8_t>(text.size());
    std::memcpy(characters[byte].data(), text.data(), text.size());
    if (byte < 128 && table[byte] != byte) keeps_ascii = false;
  }
}

// Bytes of the character there.
size_t Transcoder::Impl::LengthAt(std::string_view text, size_t at) const {
  const auto lead = static_cast<uint8_t>(text[at]);
  size_t length = lead <= 0x80 || lead == 0xFF ? 1 : 2;
  switch (family) {
    case Family::kUnits: length = static_cast<size_t>(unit); break;
    case Family::kSjis:
      if (lead == 0xA0 || (lead > 0xA0 && lead < 0xE0)) length = 1;
      break;
    case Family::kUjis:
      if (lead <= 0xA0) length = lead == 0x8E ? 2 : lead == 0x8F ? 3 : 1;
      break;
    case Family::kGb18030:
      if (length == 2 && at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9') {
        length = 4;
      }
      break;
    case Family::kOther: break;
  }
  return std::min(length, text.size() - at);
}

std::optional<uint16_t> Transcoder::Impl::OverrideOf(std::string_view character) const {
  if (character.size() > 2) return std::nullopt;
  // What only glibc takes for characters.
  const auto lead = static_cast<uint8_t>(character[0]);
  if (character.size() == 1 && lead >= 0x80 && (family != Family::kSjis || lead == 0x80)) {
    return '?';
  }
  uint16_t code = 0;
  for (const char c : character) code = static_cast<uint16_t>(code << 8 | static_cast<uint8_t>(c));
  const bool only_glibcs = code == 0xA3E1 || (code >= 0xC7FD && code <= 0xC7FE) ||
                           (code >= 0xC840 && code <= 0xC8FE) || code >= 0xF9DD;
  if (is_big5 && only_glibcs) return '?';
  // The private characters of ujis, which glibc has not.
  if (has_private && code >= 0xF5A1 && (code & 0xFF) >= 0xA1) {
    return static_cast<uint16_t>(0xE000 + ((code >> 8) - 0xF5) * 94 + (code & 0xFF) - 0xA1);
  }
  const auto found = std::lower_bound(
      overrides.begin(), overrides.end(), code,
      [](const CharacterOverride& known, uint16_t wanted) { return known.code < wanted; });
  if (found == overrides.end() || found->code != code) return std::nullopt;
  return found->character;
}

void Transcoder::Impl::Convert(std::string_view text, std::string* out) {
  if (family == Family::kUnits) return ConvertByIconv(text, out);
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t length = LengthAt(text, at);
    const auto character = OverrideOf(text.substr(at, length));
    if (character) {
      ConvertByIconv(text.substr(begin, at - begin), out);
      AppendUtf8(*character, out);
      begin = at + length;
    }
    at += length;
  }
  ConvertByIconv(text.substr(begin), out);
}

// The servers show codes without a character as '?'. Halves of surrogate pairs they take for
// characters of three bytes, which no UTF-8 has: each of the bytes is replaced.
void Transcoder::Impl::AppendRefused(std::string_view bytes, std::string* out) const {
  uint32_t code = 0;
  for (const char c : bytes) code = code << 8 | static_cast<uint8_t>(c);
  const bool is_half = family == Family::kUnits && code >= 0xD800 && code <= 0xDFFF;
  for (int i = 0; is_half && i < 3; ++i) *out += kReplacement;
  if (!is_half) *out += '?';
}

void Transcoder::Impl::ConvertByIconv(std::string_view text, std::string* out) {
  iconv(converter, nullptr, nullptr, nullptr, nullptr);
  source = text;  // iconv's interface wants bytes that it could write to
  char* in = source.data();
  size_t left = source.size();
  while (left > 0) {
    const size_t at = out->size();
    out->resize(at + left * 4 + 8);
    char* to = out->data() + at;
    size_t room = out->size() - at;
    const size_t done = iconv(converter, &in, &left, &to, &room);
    out->resize(out->size() - room);
    if (done != static_cast<size_t>(-1) || errno == E2BIG) continue;
    const std::string_view rest(in, left);
    const size_t skipped = LengthAt(rest, 0);
    AppendRefused(rest.substr(0, skipped), out);
    in += skipped;
    left -= skipped;
  }
}

Transcoder::Transcoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Transcoder::Transcoder(Transcoder&&) noexcept = default;
Transcoder& Transcoder::operator=(Transcoder&&) noexcept = default;
Transcoder::~Transcoder() = default;

Result<Transcoder> Transcoder::Make(std::string_view charset) {
  const Name* name = nullptr;
  for (const Name& known : kNames) {
    if (known.charset == charset) name = &known;
  }
  auto impl = std::make_unique<Impl>();
  if (name != nullptr && name->iconv == nullptr) return Transcoder(std::move(impl));
  if (CharsetTable table; name == nullptr && FindCharsetTable(charset, &table)) {
    impl->FillTable(table);
    impl->kind = Impl::Kind::kTable;
    return Transcoder(std::move(impl));
  }
  if (name != nullptr) impl->converter = iconv_open("UTF-8", name->iconv);
  if (impl->converter == reinterpret_cast<iconv_t>(-1)) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("text in character set \"{}\" cannot be read", charset))
        .Hint("convert the column to utf8mb4 at the source, or leave the table out");
  }
  impl->unit = name->unit;
  impl->kind = Impl::Kind::kIconv;
  impl->keeps_ascii = false;
  impl->overrides = OverridesOf(charset);
  using Family = Impl::Family;
  impl->family = charset == "sjis" || charset == "cp932"     ? Family::kSjis
                 : charset == "ujis" || charset == "eucjpms" ? Family::kUjis
                 : charset == "gb18030"                      ? Family::kGb18030
                 : charset.starts_with("u")                  ? Family::kUnits
                                                             : Family::kOther;
  impl->is_big5 = charset == "big5";
  impl->has_private = charset == "ujis";
  return Transcoder(std::move(impl));
}

void Transcoder::Append(std::string_view text, ColumnBuilder* column) {
  Impl& impl = *impl_;
  if ((impl.kind == Impl::Kind::kUtf8 || impl.keeps_ascii) && IsAscii(text)) {
    column->AppendBytes(text);
    return;
  }
  if (impl.kind == Impl::Kind::kUtf8 && IsValidUtf8(text)) {
    column->AppendBytes(text);
    return;
  }
  impl.scratch.clear();
  Append(text, &impl.scratch);
  column->AppendBytes(impl.scratch);
}

void Transcoder::Append(std::string_view text, std::string* out) {
  switch (impl_->kind) {
    case Impl::Kind::kUtf8:
      if (IsValidUtf8(text)) {
        *out += text;
      } else {
        AppendRepaired(text, out);
      }
      return;
    case Impl::Kind::kTable: impl_->ConvertByTable(text, out); return;
    case Impl::Kind::kIconv: impl_->Convert(text, out); return;
  }
}

}  // namespace driftless::mysql
