#include "pipeline/sources/mysql/binlog/transcoder.h"

#include <fmt/format.h>
#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "schema/base/utf8.h"

namespace driftless::mysql {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Name {
  std::string_view charset;
  const char* iconv;  // null: UTF-8 itself, or a table of ours
  int unit;           // bytes of the smallest character
};
// glibc's names of MySQL's character sets. latin1 is cp1252 with the five holes filled.
constexpr Name kNames[] = {{"utf8mb4", nullptr, 1},
                           {"utf8mb3", nullptr, 1},
                           {"ascii", nullptr, 1},
                           {"utf8", nullptr, 1},
                           {"binary", nullptr, 1},
                           {"latin1", "CP1252", 1},
                           {"armscii8", "ARMSCII-8", 1},
                           {"cp1250", "CP1250", 1},
                           {"cp1251", "CP1251", 1},
                           {"cp1256", "CP1256", 1},
                           {"cp1257", "CP1257", 1},
                           {"cp850", "CP850", 1},
                           {"cp852", "CP852", 1},
                           {"cp866", "CP866", 1},
                           {"dec8", "DEC-MCS", 1},
                           {"geostd8", "GEORGIAN-PS", 1},
                           {"greek", "ISO-8859-7", 1},
                           {"hebrew", "ISO-8859-8", 1},
                           {"hp8", "HP-ROMAN8", 1},
                           {"koi8r", "KOI8-R", 1},
                           {"koi8u", "KOI8-U", 1},
                           {"latin2", "ISO-8859-2", 1},
                           {"latin5", "ISO-8859-9", 1},
                           {"latin7", "ISO-8859-13", 1},
                           {"macce", "MAC-CENTRALEUROPE", 1},
                           {"macroman", "MACINTOSH", 1},
                           {"swe7", "SEN_850200_B", 1},
                           {"tis620", "TIS-620", 1},
                           {"big5", "BIG5", 1},
                           {"cp932", "CP932", 1},
                           {"eucjpms", "EUC-JP-MS", 1},
                           {"euckr", "EUC-KR", 1},
                           {"gb18030", "GB18030", 1},
                           {"gb2312", "GB2312", 1},
                           {"gbk", "GBK", 1},
                           {"sjis", "SJIS", 1},
                           {"ujis", "EUC-JP", 1},
                           {"ucs2", "UCS-2BE", 2},
                           {"utf16", "UTF-16BE", 2},
                           {"utf16le", "UTF-16LE", 2},
                           {"utf32", "UTF-32BE", 4}};

constexpr std::string_view kManyBytes[] = {"big5",   "cp932",   "eucjpms", "euckr", "gb18030",
                                           "gb2312", "gbk",     "sjis",    "ujis",  "ucs2",
                                           "utf16",  "utf16le", "utf32"};

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
  std::string scratch;
  std::string source;

  ~Impl() {
    if (converter != reinterpret_cast<iconv_t>(-1)) iconv_close(converter);
  }
  void FillTable(bool is_latin1);
  void Convert(std::string_view text, std::string* out);
  void ConvertByTable(std::string_view text, std::string* out) const {
    for (const char c : text) {
      const auto byte = static_cast<uint8_t>(c);
      out->append(characters[byte].data(), lengths[byte]);
    }
  }
};

void Transcoder::Impl::FillTable(bool is_latin1) {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    text.clear();
    Convert({&c, 1}, &text);
    if (is_latin1 && text == kReplacement) text = {'\xC2', c};  // U+0081 and its like
    lengths[byte] = static_cast<uint8_t>(text.size());
    std::memcpy(characters[byte].data(), text.data(), text.size());
    if (byte < 128 && (text.size() != 1 || text[0] != c)) keeps_ascii = false;
  }
}

// By iconv; a character that it refuses is replaced.
void Transcoder::Impl::Convert(std::string_view text, std::string* out) {
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
    *out += kReplacement;
    const size_t skipped = std::min(left, static_cast<size_t>(unit));
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
  if (name != nullptr) impl->converter = iconv_open("UTF-8", name->iconv);
  if (impl->converter == reinterpret_cast<iconv_t>(-1)) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("text in character set \"{}\" cannot be read", charset))
        .Hint("convert the column to utf8mb4 at the source, or leave the table out");
  }
  impl->unit = name->unit;
  impl->kind = Impl::Kind::kIconv;
  const bool many_bytes =
      std::find(std::begin(kManyBytes), std::end(kManyBytes), charset) != std::end(kManyBytes);
  if (!many_bytes) {
    impl->FillTable(charset == "latin1");
    impl->kind = Impl::Kind::kTable;
  } else {
    impl->keeps_ascii = false;
  }
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
