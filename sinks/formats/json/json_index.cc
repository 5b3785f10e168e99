#include "sinks/formats/json/json_index.h"

#include <simdjson.h>

#include <algorithm>

#include "schema/base/check.h"
#include "schema/base/json_writer.h"

namespace driftless {
namespace {

constexpr size_t kMaxTextBytes = 1u << 31;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hex digits at `at`, or -1.
int32_t CodeUnit(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return -1;
  int32_t unit = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const int digit = HexDigit(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// \uXXXX at text[at..at+4), a second half behind it included. Returns the bytes used, 0 on error.
size_t AppendUnicodeEscape(std::string_view text, size_t at, std::string* out) {
  const int32_t unit = CodeUnit(text, at);
  if (unit < 0) return 0;
  if (unit < 0xD800 || unit > 0xDFFF) {
    AppendUtf8(static_cast<uint32_t>(unit), out);
    return 4;
  }
  if (unit > 0xDBFF || text.substr(at + 4, 2) != "\\u") return 0;
  const int32_t low = CodeUnit(text, at + 6);
  if (low < 0xDC00 || low > 0xDFFF) return 0;
  AppendUtf8(0x10000 + ((static_cast<uint32_t>(unit) - 0xD800) << 10) +
                 (static_cast<uint32_t>(low) - 0xDC00),
             out);
  return 10;
}

// RFC 8259, 6.
bool IsNumber(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > begin;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const bool zero = at < text.size() && text[at] == '0';
  if (zero) ++at;
  if (!zero && !digits()) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

bool IsScalar(std::string_view token) {
  if (token.empty()) return false;
  if (token.front() == '"') return token.size() >= 2 && token.back() == '"';
  return token == "true" || token == "false" || token == "null" || IsNumber(token);
}

const char* Explain(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR: return "the text is not valid UTF-8";
    case simdjson::UNCLOSED_STRING: return "a string is not closed: the record is cut off";
    case simdjson::UNESCAPED_CHARS: return "a control character stands inside a string";
    case simdjson::EMPTY: return "there is no JSON value";
    default: return simdjson::error_message(code);
  }
}

}  // namespace

struct JsonIndex::Stage1 {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  size_t capacity = 0;
};

JsonIndex::JsonIndex() : stage1_(std::make_unique<Stage1>()) {}
JsonIndex::~JsonIndex() = default;

bool JsonIndex::Build(std::string_view text) {
  text_ = {};
  begin_ = end_ = nullptr;
  if (text.empty()) {
    error_ = Explain(simdjson::EMPTY);
    return false;
  }
  if (text.size() > kMaxTextBytes) {
    error_ = "the record is larger than 2 GiB";
    return false;
  }
  if (stage1_->capacity < text.size()) {
    const size_t capacity = std::max<size_t>(text.size() * 2, 1 << 16);
    simdjson::error_code code = simdjson::SUCCESS;
    if (stage1_->parser == nullptr) {
      code = simdjson::get_active_implementation()->create_dom_parser_implementation(
          capacity, simdjson::DEFAULT_MAX_DEPTH, stage1_->parser);
    } else {
      code = stage1_->parser->allocate(capacity, simdjson::DEFAULT_MAX_DEPTH);
    }
    if (code != simdjson::SUCCESS) {
      error_ = Explain(code);
      return false;
    }
    stage1_->capacity = capacity;
  }
  const auto code = stage1_->parser->stage1(reinterpret_cast<const uint8_t*>(text.data()),
                                            text.size(), simdjson::stage1_mode::regular);
  if (code != simdjson::SUCCESS) {
    error_ = Explain(code);
    return false;
  }
  text_ = text;
  begin_ = stage1_->parser->structural_indexes.get();
  end_ = begin_ + stage1_->parser->n_structural_indexes;
  // simdjson puts the length behind the last index; Token() of the last scalar relies on it.
  DRIFTLESS_CHECK(*end_ == text.size());
  return true;
}

namespace {

// The first index from `at` on that is not below `offset`.
const uint32_t* FirstFrom(const uint32_t* at, const uint32_t* end, uint32_t offset) {
  const uint32_t* low = at;
  for (ptrdiff_t step = 1; at < end && *at < offset; step *= 2) {
    low = at + 1;
    at += std::min(step, end - at);
  }
  return std::lower_bound(low, at, offset);
}

}  // namespace

bool JsonIndex::TakePart(const JsonIndex& whole, std::string_view text) {
  const char* const base = whole.text_.data();
  if (text.empty() || text.data() < base || text.data() + text.size() > base + whole.text_.size()) {
    return false;
  }
  const auto first = static_cast<uint32_t>(text.data() - base);
  const uint32_t* from = next_part_;
  const bool is_before = from > whole.begin_ && from <= whole.end_ && from[-1] < first;
  begin_ = FirstFrom(is_before ? from : whole.begin_, whole.end_, first);
  end_ = FirstFrom(begin_, whole.end_, first + static_cast<uint32_t>(text.size()));
  next_part_ = end_;
  text_ = whole.text_;
  // Else the text begins inside of something: alone it may mean something else.
  return begin_ != end_ && *begin_ == first;
}

bool SkipChecked(JsonCursor* cursor) {
  switch (cursor->Peek()) {
    case '{': {
      JsonObjectWalk walk(cursor);
      std::string_view key;
      while (walk.Next(&key)) {
        if (!SkipChecked(cursor)) return false;
      }
      return !walk.failed();
    }
    case '[': {
      JsonArrayWalk walk(cursor);
      while (walk.Next()) {
        if (!SkipChecked(cursor)) return false;
      }
      return !walk.failed();
    }
    case '\0': return false;
    default: {
      const bool ok = IsScalar(cursor->Token());
      cursor->Advance();
      return ok;
    }
  }
}

bool AppendJsonUnescaped(std::string_view inside, std::string* out) {
  size_t at = 0;
  while (at < inside.size()) {
    const size_t escape = inside.find('\\', at);
    if (escape == std::string_view::npos) break;
    out->append(inside, at, escape - at);
    if (escape + 1 >= inside.size()) return false;
    at = escape + 2;
    switch (inside[escape + 1]) {
      case '"': *out += '"'; break;
      case '\\': *out += '\\'; break;
      case '/': *out += '/'; break;
      case 'b': *out += '\b'; break;
      case 'f': *out += '\f'; break;
      case 'n': *out += '\n'; break;
      case 'r': *out += '\r'; break;
      case 't': *out += '\t'; break;
      case 'u': {
        const size_t used = AppendUnicodeEscape(inside, at, out);
        if (used == 0) return false;
        at += used;
        break;
      }
      default: return false;
    }
  }
  if (at < inside.size()) out->append(inside, at);
  return true;
}

bool ReadJsonString(std::string_view token, std::string* scratch, std::string_view* text) {
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return false;
  const std::string_view inside = token.substr(1, token.size() - 2);
  if (std::memchr(inside.data(), '\\', inside.size()) == nullptr) {
    *text = inside;
    return true;
  }
  scratch->clear();
  if (!AppendJsonUnescaped(inside, scratch)) return false;
  *text = *scratch;
  return true;
}

std::string JsonKeyOf(std::string_view name) {
  std::string quoted;
  AppendJsonString(name, &quoted);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace driftless
