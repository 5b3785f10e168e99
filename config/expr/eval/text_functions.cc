#include <openssl/evp.h>
#include <wctype.h>

#include <algorithm>
#include <charconv>
#include <clocale>

#include "config/expr/eval/function_table.h"
#include "config/expr/eval/text_positions.h"
#include "schema/base/bytes_text.h"
#include "schema/base/utf8.h"

namespace driftless::flink {

size_t ByteOfCodePoint(std::string_view text, int64_t index) {
  size_t at = 0;
  for (; index > 0 && at < text.size(); --index) {
    at += std::max<size_t>(Utf8SequenceLength(text, at), 1);
  }
  return at;
}

std::string_view Substring(std::string_view text, int64_t start, int64_t length) {
  if (start < 0) {
    start += Utf8Length(text);
    if (start < 0) return {};
  } else if (start > 0) {
    --start;
  }
  const size_t begin = ByteOfCodePoint(text, start);
  text.remove_prefix(begin);
  return length < 0 ? text : text.substr(0, ByteOfCodePoint(text, length));
}

int64_t PositionOf(std::string_view part, std::string_view text, int64_t from) {
  if (from < 1) return 0;
  const size_t begin = ByteOfCodePoint(text, from - 1);
  const size_t found = text.find(part, begin);
  if (found == std::string_view::npos) return 0;
  return Utf8Length(text.substr(0, found)) + 1;
}

namespace {

// ---- letters -----------------------------------------------------------------------------------

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

char32_t Decode(std::string_view text, size_t at, size_t length) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  switch (length) {
    case 2: return ((byte(0) & 0x1Fu) << 6) | (byte(1) & 0x3Fu);
    case 3: return ((byte(0) & 0x0Fu) << 12) | ((byte(1) & 0x3Fu) << 6) | (byte(2) & 0x3Fu);
    case 4:
      return ((byte(0) & 0x07u) << 18) | ((byte(1) & 0x3Fu) << 12) | ((byte(2) & 0x3Fu) << 6) |
             (byte(3) & 0x3Fu);
    default: return byte(0);
  }
}

void AppendCodePoint(char32_t c, std::vector<uint8_t>* out) {
  if (c < 0x80) {
    out->push_back(static_cast<uint8_t>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<uint8_t>(0xC0 | (c >> 6)));
    out->push_back(static_cast<uint8_t>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<uint8_t>(0xE0 | (c >> 12)));
    out->push_back(static_cast<uint8_t>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<uint8_t>(0x80 | (c & 0x3F)));
  } else {
    out->push_back(static_cast<uint8_t>(0xF0 | (c >> 18)));
    out->push_back(static_cast<uint8_t>(0x80 | ((c >> 12) & 0x3F)));
    out->push_back(static_cast<uint8_t>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<uint8_t>(0x80 | (c & 0x3F)));
  }
}

// The C library's own table of Unicode letters, whatever the process's locale is.
locale_t Unicode() {
  static const locale_t kLocale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return kLocale;
}
char32_t Upper(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z' ? c - 32 : c;
  return Unicode() == nullptr ? c : towupper_l(static_cast<wint_t>(c), Unicode());
}
char32_t Lower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return Unicode() == nullptr ? c : towlower_l(static_cast<wint_t>(c), Unicode());
}

template <bool kUpper>
void ChangeLetters(Call& c, int64_t row) {
  const std::string_view text = c.Str(0, row);
  std::vector<uint8_t>& out = c.out().values;
  if (IsAscii(text)) {
    const size_t at = out.size();
    out.resize(at + text.size());
    for (size_t i = 0; i < text.size(); ++i) {
      const char ch = text[i];
      out[at + i] = static_cast<uint8_t>(kUpper ? (ch >= 'a' && ch <= 'z' ? ch - 32 : ch)
                                                : (ch >= 'A' && ch <= 'Z' ? ch + 32 : ch));
    }
    return;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8SequenceLength(text, at);
    if (length == 0) {
      out.push_back(static_cast<uint8_t>(text[at++]));
      continue;
    }
    const char32_t point = Decode(text, at, length);
    if (kUpper && point == 0xDF) {
      c.Append("SS");  // the one letter of Latin that becomes two
    } else {
      AppendCodePoint(kUpper ? Upper(point) : Lower(point), &out);
    }
    at += length;
  }
}

void InitCap(Call& c, int64_t row) {
  const std::string_view text = c.Str(0, row);
  bool first = true;
  for (size_t at = 0; at < text.size();) {
    const size_t length = std::max<size_t>(Utf8SequenceLength(text, at), 1);
    const char32_t point = Decode(text, at, length);
    AppendCodePoint(first ? Upper(point) : Lower(point), &c.out().values);
    const bool is_word = point >= 0x80 || (point >= '0' && point <= '9') ||
                         (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z');
    first = !is_word;
    at += length;
  }
}

// Java's String.length(): UTF-16 units would count a letter outside of the basic plane twice; SQL
// counts letters.
void CharLength(Call& c, int64_t row) { c.PutInt(row, Utf8Length(c.Str(0, row))); }

// ---- trimming and padding
// ------------------------------------------------------------------------

bool InSet(std::string_view set, std::string_view text, size_t at, size_t length) {
  return set.find(text.substr(at, length)) != std::string_view::npos;
}

std::string_view TrimLeft(std::string_view text, std::string_view set) {
  while (!text.empty()) {
    const size_t length = std::max<size_t>(Utf8SequenceLength(text, 0), 1);
    if (!InSet(set, text, 0, length)) break;
    text.remove_prefix(length);
  }
  return text;
}
std::string_view TrimRight(std::string_view text, std::string_view set) {
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    if (!InSet(set, text, begin, text.size() - begin)) break;
    text = text.substr(0, begin);
  }
  return text;
}

void Trim(Call& c, int64_t row) {
  std::string_view text = c.Str(1, row);
  const std::string_view set = c.Str(0, row);
  if (c.word != "TRAILING") text = TrimLeft(text, set);
  if (c.word != "LEADING") text = TrimRight(text, set);
  c.Append(text);
}
std::string_view SetOf(Call& c, int64_t row) { return c.args.size() > 1 ? c.Str(1, row) : " "; }
void LTrim(Call& c, int64_t row) { c.Append(TrimLeft(c.Str(0, row), SetOf(c, row))); }
void RTrim(Call& c, int64_t row) { c.Append(TrimRight(c.Str(0, row), SetOf(c, row))); }
void BTrim(Call& c, int64_t row) {
  c.Append(TrimRight(TrimLeft(c.Str(0, row), SetOf(c, row)), SetOf(c, row)));
}

// A row must not ask for more than a value can hold.
constexpr int64_t kLongestText = int64_t{64} << 20;

template <bool kLeft>
void Pad(Call& c, int64_t row) {
  const std::string_view text = c.Str(0, row);
  const int64_t wanted = c.Int(1, row);
  const std::string_view pad = c.Str(2, row);
  const int64_t length = Utf8Length(text);
  if (wanted < 0 || (pad.empty() && wanted > length) || wanted > kLongestText) {
    return c.PutNull(row);
  }
  if (wanted <= length) return c.Append(Utf8Prefix(text, wanted));
  if (!kLeft) c.Append(text);
  const int64_t pad_length = Utf8Length(pad);
  int64_t left = wanted - length;
  for (; left >= pad_length; left -= pad_length) c.Append(pad);
  c.Append(Utf8Prefix(pad, left));
  if (kLeft) c.Append(text);
}

void Repeat(Call& c, int64_t row) {
  const std::string_view text = c.Str(0, row);
  const int64_t times = c.Int(1, row);
  if (times > 0 && static_cast<int64_t>(text.size()) > kLongestText / times) {
    return c.Fail(row, "REPEAT makes more than 64 MiB");
  }
  for (int64_t i = 0; i < times; ++i) c.Append(text);
}

// ---- parts
// ---------------------------------------------------------------------------------------

void SubstringFrom(Call& c, int64_t row) { c.Append(Substring(c.Str(0, row), c.Int(1, row), -1)); }
void SubstringFor(Call& c, int64_t row) {
  const int64_t length = c.Int(2, row);
  if (length < 0) return c.PutNull(row);
  c.Append(Substring(c.Str(0, row), c.Int(1, row), length));
}
void Left(Call& c, int64_t row) {
  c.Append(Utf8Prefix(c.Str(0, row), std::max<int64_t>(c.Int(1, row), 0)));
}
void Right(Call& c, int64_t row) {
  const std::string_view text = c.Str(0, row);
  const int64_t wanted = std::max<int64_t>(c.Int(1, row), 0);
  const int64_t length = Utf8Length(text);
  c.Append(text.substr(ByteOfCodePoint(text, std::max<int64_t>(length - wanted, 0))));
}
void Reverse(Call& c, int64_t row) {
  std::string_view text = c.Str(0, row);
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    c.Append(text.substr(begin));
    text = text.substr(0, begin);
  }
}
void Replace(Call& c, int64_t row) {
  std::string_view text = c.Str(0, row);
  const std::string_view what = c.Str(1, row);
  if (what.empty()) return c.Append(text);
  while (true) {
    const size_t found = text.find(what);
    c.Append(text.substr(0, found));
    if (found == std::string_view::npos) return;
    c.Append(c.Str(2, row));
    text.remove_prefix(found + what.size());
  }
}
// OVERLAY(s PLACING r FROM i [FOR n]); n is r's length where it is left out.
void Overlay(Call& c, int64_t row) {
  const std::string_view text = c.Str(0, row);
  const std::string_view with = c.Str(1, row);
  const int64_t from = c.Int(2, row);
  const int64_t length = c.args.size() > 3 ? c.Int(3, row) : Utf8Length(with);
  if (from < 1 || from > Utf8Length(text)) return c.Append(text);
  c.Append(text.substr(0, ByteOfCodePoint(text, from - 1)));
  c.Append(with);
  if (length >= 0) c.Append(text.substr(ByteOfCodePoint(text, from - 1 + length)));
}
void SplitIndex(Call& c, int64_t row) {
  std::string_view text = c.Str(0, row);
  const std::string_view at = c.Str(1, row);
  int64_t index = c.Int(2, row);
  if (index < 0 || at.empty()) return c.PutNull(row);
  while (true) {
    const size_t found = text.find(at);
    if (index == 0) return c.Append(text.substr(0, found));
    if (found == std::string_view::npos) return c.PutNull(row);
    text.remove_prefix(found + at.size());
    --index;
  }
}

void StartsWith(Call& c, int64_t row) { c.PutBool(row, c.Str(0, row).starts_with(c.Str(1, row))); }
void EndsWith(Call& c, int64_t row) { c.PutBool(row, c.Str(0, row).ends_with(c.Str(1, row))); }
void InStr(Call& c, int64_t row) { c.PutInt(row, PositionOf(c.Str(1, row), c.Str(0, row), 1)); }
void Locate(Call& c, int64_t row) {
  const int64_t from = c.args.size() > 2 ? c.Int(2, row) : 1;
  c.PutInt(row, PositionOf(c.Str(0, row), c.Str(1, row), from));
}

// ---- joining
// -------------------------------------------------------------------------------------

// The commonest function: sizes first, then one copy per piece.
void ConcatLoop(Call& c, const EvalBatch& batch) {
  c.Start(batch.rows);
  size_t bytes = 0;
  for (const NodePtr& arg : c.args) {
    if (arg->view.offsets == nullptr) continue;
    const auto size = static_cast<size_t>(arg->view.offsets[arg->view.length]);
    bytes += arg->constant ? size * static_cast<size_t>(batch.rows) : size;
  }
  c.out().values.resize(bytes);
  c.out().offsets.resize(static_cast<size_t>(batch.rows) + 1);
  uint8_t* const begin = c.out().values.data();
  uint8_t* at = begin;
  int32_t* const offsets = c.out().offsets.data();
  for (int64_t row = 0; row < batch.rows; ++row) {
    if (!c.Skips(row)) {
      for (const NodePtr& arg : c.args) {
        const std::string_view piece = arg->Text(row);
        std::copy(piece.begin(), piece.end(), at);
        at += piece.size();
      }
    }
    offsets[row + 1] = static_cast<int32_t>(at - begin);
  }
  c.out().values.resize(static_cast<size_t>(at - begin));
  c.Finish();
}

void ConcatWs(Call& c, int64_t row) {
  if (c.args[0]->IsNull(row)) return c.PutNull(row);
  bool first = true;
  for (size_t i = 1; i < c.args.size(); ++i) {
    if (c.args[i]->IsNull(row)) continue;
    if (!first) c.Append(c.Str(0, row));
    c.Append(c.Str(i, row));
    first = false;
  }
}

// ---- codes
// ---------------------------------------------------------------------------------------

void ToBase64(Call& c, int64_t row) {
  c.scratch.clear();
  AppendBase64(c.Str(0, row), &c.scratch);
  c.Append(c.scratch);
}
void FromBase64(Call& c, int64_t row) {
  c.scratch.clear();
  if (!DecodeBase64(c.Str(0, row), &c.scratch)) return c.Fail(row, "FROM_BASE64: no base64 text");
  c.Append(c.scratch);
}
void Ascii(Call& c, int64_t row) {
  const std::string_view text = c.Str(0, row);
  c.PutInt(row, text.empty() ? 0 : static_cast<signed char>(text[0]));
}
void Chr(Call& c, int64_t row) {
  const int64_t code = c.Int(0, row);
  if (code >= 0) AppendCodePoint(static_cast<char32_t>(code & 0xFF), &c.out().values);
}
void HexOfInt(Call& c, int64_t row) {
  char buffer[20];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, static_cast<uint64_t>(c.Int(0, row)), 16).ptr;
  for (char* p = buffer; p != end; ++p) *p = *p >= 'a' ? static_cast<char>(*p - 32) : *p;
  c.Append({buffer, static_cast<size_t>(end - buffer)});
}
void HexOfText(Call& c, int64_t row) {
  c.scratch.clear();
  AppendHex(c.Str(0, row), &c.scratch);
  for (char& ch : c.scratch) ch = ch >= 'a' ? static_cast<char>(ch - 32) : ch;
  c.Append(c.scratch);
}
void Bin(Call& c, int64_t row) {
  char buffer[72];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, static_cast<uint64_t>(c.Int(0, row)), 2).ptr;
  c.Append({buffer, static_cast<size_t>(end - buffer)});
}

template <const EVP_MD* (*kDigest)()>
void Digest(Call& c, int64_t row) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const std::string_view text = c.Str(0, row);
  EVP_Digest(text.data(), text.size(), digest, &size, kDigest(), nullptr);
  c.scratch.clear();
  AppendHex({reinterpret_cast<const char*>(digest), size}, &c.scratch);
  c.Append(c.scratch);
}

bool IsUrlSafe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '*' || c == '_';
}
// application/x-www-form-urlencoded, as java.net.URLEncoder.
void UrlEncode(Call& c, int64_t row) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  for (const char ch : c.Str(0, row)) {
    if (IsUrlSafe(ch)) {
      c.Append({&ch, 1});
    } else if (ch == ' ') {
      c.Append("+");
    } else {
      const auto byte = static_cast<unsigned char>(ch);
      const char code[3] = {'%', kDigits[byte >> 4], kDigits[byte & 15]};
      c.Append({code, 3});
    }
  }
}
void UrlDecode(Call& c, int64_t row) {
  const std::string_view text = c.Str(0, row);
  c.scratch.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      c.scratch += ' ';
    } else if (text[i] == '%') {
      if (!DecodeHex(text.substr(i + 1, 2), &c.scratch) || i + 2 >= text.size()) {
        return c.PutNull(row);
      }
      i += 2;
    } else {
      c.scratch += text[i];
    }
  }
  c.Append(c.scratch);
}

}  // namespace

std::span<const FunctionForm> TextForms() {
  static constexpr FunctionForm kForms[] = {
      {"UPPER", "s", 's', kTextLoop<ChangeLetters<true>>},
      {"LOWER", "s", 's', kTextLoop<ChangeLetters<false>>},
      {"INITCAP", "s", 's', kTextLoop<InitCap>},
      {"CHAR_LENGTH", "s", 'l', kFixedLoop<CharLength>},
      {"CHARACTER_LENGTH", "s", 'l', kFixedLoop<CharLength>},
      {"TRIM", "wss", 's', kTextLoop<Trim>},
      {"LTRIM", "s", 's', kTextLoop<LTrim>},
      {"LTRIM", "ss", 's', kTextLoop<LTrim>},
      {"RTRIM", "s", 's', kTextLoop<RTrim>},
      {"RTRIM", "ss", 's', kTextLoop<RTrim>},
      {"BTRIM", "s", 's', kTextLoop<BTrim>},
      {"BTRIM", "ss", 's', kTextLoop<BTrim>},
      {"LPAD", "sls", 's', kTextLoop<Pad<true>>},
      {"RPAD", "sls", 's', kTextLoop<Pad<false>>},
      {"REPEAT", "sl", 's', kTextLoop<Repeat>},
      {"SUBSTR", "sl", 's', kTextLoop<SubstringFrom>},
      {"SUBSTR", "sll", 's', kTextLoop<SubstringFor>},
      {"SUBSTRING", "sl", 's', kTextLoop<SubstringFrom>},
      {"SUBSTRING", "sll", 's', kTextLoop<SubstringFor>},
      {"LEFT", "sl", 's', kTextLoop<Left>},
      {"RIGHT", "sl", 's', kTextLoop<Right>},
      {"REVERSE", "s", 's', kTextLoop<Reverse>},
      {"REPLACE", "sss", 's', kTextLoop<Replace>},
      {"OVERLAY", "ssl", 's', kTextLoop<Overlay>},
      {"OVERLAY", "ssll", 's', kTextLoop<Overlay>},
      {"SPLIT_INDEX", "ssl", 's', kTextLoop<SplitIndex>},
      {"STARTSWITH", "yy", 'b', kFixedLoop<StartsWith>},
      {"ENDSWITH", "yy", 'b', kFixedLoop<EndsWith>},
      {"INSTR", "ss", 'l', kFixedLoop<InStr>},
      {"LOCATE", "ss", 'l', kFixedLoop<Locate>},
      {"LOCATE", "ssl", 'l', kFixedLoop<Locate>},
      {"POSITION", "ss", 'l', kFixedLoop<Locate>},
      {"CONCAT", "s+", 's', ConcatLoop},
      {"||", "s+", 's', ConcatLoop},
      {"CONCAT_WS", "s+", 's', LooseLoop<ConcatWs, true>},
      {"TO_BASE64", "y", 's', kTextLoop<ToBase64>},
      {"FROM_BASE64", "s", 's', kTextLoop<FromBase64>},
      {"FROM_BASE64_BINARY", "s", 'y', kTextLoop<FromBase64>},
      {"ASCII", "s", 'l', kFixedLoop<Ascii>},
      {"CHR", "l", 's', kTextLoop<Chr>},
      {"HEX", "l", 's', kTextLoop<HexOfInt>},
      {"HEX", "s", 's', kTextLoop<HexOfText>},
      {"BIN", "l", 's', kTextLoop<Bin>},
      {"MD5", "s", 's', kTextLoop<Digest<EVP_md5>>},
      {"SHA1", "s", 's', kTextLoop<Digest<EVP_sha1>>},
      {"SHA224", "s", 's', kTextLoop<Digest<EVP_sha224>>},
      {"SHA256", "s", 's', kTextLoop<Digest<EVP_sha256>>},
      {"SHA384", "s", 's', kTextLoop<Digest<EVP_sha384>>},
      {"SHA512", "s", 's', kTextLoop<Digest<EVP_sha512>>},
      {"URL_ENCODE", "s", 's', kTextLoop<UrlEncode>},
      {"URL_DECODE", "s", 's', kTextLoop<UrlDecode>},
  };
  return kForms;
}

}  // namespace driftless::flink
