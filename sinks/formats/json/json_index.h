#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace driftless {

// Readable bytes that must follow every text given to JsonIndex (simdjson reads whole vectors).
inline constexpr size_t kJsonPadding = 64;

// The structural index of one JSON text: the offsets of its braces, brackets, colons and commas and
// of the first byte of each scalar, found by simdjson's first stage, which also checks UTF-8 and
// the quoting ("Parsing Gigabytes of JSON per Second", Langdale and Lemire, section 3.1). Decoders
// walk the index themselves (JsonCursor), so that a value goes from the text straight into a
// column, and a part of the text may be read twice, or not at all.
class JsonIndex {
 public:
  JsonIndex();
  ~JsonIndex();
  JsonIndex(const JsonIndex&) = delete;
  JsonIndex& operator=(const JsonIndex&) = delete;

  // `text` must stay unchanged while cursors walk it, and be followed by kJsonPadding readable
  // bytes. False where it is no UTF-8, has an open string or control characters in one, or nothing
  // in it; error() says which.
  bool Build(std::string_view text);
  const char* error() const { return error_; }
  // The part of another index, of many texts one behind the other, that is about `text`, which lies
  // in that one's and begins with a value. False: it does not. Cursors then walk the other index,
  // and their offsets are of its text. Texts taken in their order cost a few steps each.
  bool TakePart(const JsonIndex& whole, std::string_view text);

  std::string_view text() const { return text_; }
  const uint32_t* begin() const { return begin_; }
  const uint32_t* end() const { return end_; }  // end()[0] is the text's length

 private:
  struct Stage1;
  std::unique_ptr<Stage1> stage1_;
  std::string_view text_;
  const uint32_t* begin_ = nullptr;
  const uint32_t* end_ = nullptr;
  const char* error_ = "";
  const uint32_t* next_part_ = nullptr;  // where the next part of the same index probably begins
};

// Walks a JsonIndex. Cheap to copy: a copy remembers a place. It never reads past the index; a
// malformed text makes a walk end with failed().
class JsonCursor {
 public:
  JsonCursor() = default;
  explicit JsonCursor(const JsonIndex& index)
      : text_(index.text().data()), at_(index.begin()), end_(index.end()) {}

  bool valid() const { return text_ != nullptr; }
  bool done() const { return at_ >= end_; }
  // First byte of the value (or mark) that the cursor is at; '\0' at the end of the text.
  char Peek() const { return at_ < end_ ? text_[*at_] : '\0'; }
  // The scalar at the cursor with its quotes, without the white space behind it.
  std::string_view Token() const {
    const char* begin = text_ + at_[0];
    const char* stop = text_ + at_[1];
    while (stop > begin && static_cast<unsigned char>(stop[-1]) <= ' ') --stop;
    return {begin, static_cast<size_t>(stop - begin)};
  }
  // Offset of the cursor in the text, for error messages.
  size_t Offset() const { return at_ < end_ ? *at_ : 0; }
  bool IsNull() const { return Peek() == 'n' && Token() == std::string_view("null"); }

  // Goes past the value at the cursor, whatever it is. False where the text ends before it does.
  bool Skip() {
    if (at_ < end_ && !IsMark(text_[*at_])) [[likely]] {
      ++at_;
      return true;
    }
    return SkipContainer();
  }
  void Advance() { ++at_; }
  // The text of the value at the cursor, which then stands behind it; empty where it is cut off.
  std::string_view RawValue() {
    const char* begin = text_ + *at_;
    if (!Skip()) return {};
    const char* last = text_ + at_[-1];
    if (*last == '}' || *last == ']') return {begin, static_cast<size_t>(last - begin) + 1};
    const char* stop = text_ + at_[0];
    while (stop > begin && static_cast<unsigned char>(stop[-1]) <= ' ') --stop;
    return {begin, static_cast<size_t>(stop - begin)};
  }

 private:
  friend class JsonObjectWalk;
  friend class JsonArrayWalk;
  static bool IsMark(char c) { return c == '{' || c == '[' || c == '}' || c == ']'; }
  bool SkipContainer() {
    int depth = 0;
    while (at_ < end_) {
      const char c = text_[*at_++];
      if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (--depth <= 0) return depth == 0;
      }
    }
    return false;
  }
  const char* text_ = nullptr;
  const uint32_t* at_ = nullptr;
  const uint32_t* end_ = nullptr;
};

// Visits the fields of the object at a cursor:
//   JsonObjectWalk walk(&cursor);
//   while (walk.Next(&key)) { ...read or Skip() exactly one value... }
//   if (walk.failed()) ...
// Then the cursor stands behind the object. Keys are raw: escapes are not resolved.
class JsonObjectWalk {
 public:
  explicit JsonObjectWalk(JsonCursor* cursor) : cursor_(*cursor) {
    if (cursor_.Peek() != '{') {
      failed_ = true;
    } else {
      cursor_.Advance();
    }
  }
  [[gnu::always_inline]] bool Next(std::string_view* key) {
    if (failed_) return false;
    if (cursor_.Peek() == '}') {
      cursor_.Advance();
      return false;
    }
    if (!first_) {
      if (cursor_.Peek() != ',') return Fail();
      cursor_.Advance();
    }
    first_ = false;
    // A key, its colon, and at least one byte of the value.
    if (cursor_.end_ - cursor_.at_ < 3 || cursor_.text_[cursor_.at_[1]] != ':') return Fail();
    const std::string_view token = cursor_.Token();
    if (token.size() < 2 || token.front() != '"' || token.back() != '"') return Fail();
    *key = token.substr(1, token.size() - 2);
    cursor_.at_ += 2;
    return true;
  }
  bool failed() const { return failed_; }

 private:
  bool Fail() {
    failed_ = true;
    return false;
  }
  JsonCursor& cursor_;
  bool first_ = true;
  bool failed_ = false;
};

// The same for the elements of an array.
class JsonArrayWalk {
 public:
  explicit JsonArrayWalk(JsonCursor* cursor) : cursor_(*cursor) {
    if (cursor_.Peek() != '[') {
      failed_ = true;
    } else {
      cursor_.Advance();
    }
  }
  bool Next() {
    if (failed_) return false;
    if (cursor_.Peek() == ']') {
      cursor_.Advance();
      return false;
    }
    if (!first_) {
      if (cursor_.Peek() != ',') return Fail();
      cursor_.Advance();
    }
    first_ = false;
    if (cursor_.done()) return Fail();
    return true;
  }
  bool failed() const { return failed_; }

 private:
  bool Fail() {
    failed_ = true;
    return false;
  }
  JsonCursor& cursor_;
  bool first_ = true;
  bool failed_ = false;
};

// Goes past a whole value and checks its grammar (RFC 8259), which Skip() does not.
bool SkipChecked(JsonCursor* cursor);

// Resolves the escapes of the inside of a JSON string (RFC 8259, 7) behind what `out` holds. False
// where an escape is malformed or half of a surrogate pair: such text has no UTF-8 form.
bool AppendJsonUnescaped(std::string_view inside, std::string* out);

// The string token `"..."` as text: a view of it where nothing is escaped, else unescaped into
// `scratch`. False where the token is no string or an escape is malformed.
bool ReadJsonString(std::string_view token, std::string* scratch, std::string_view* text);

// The text as it stands between the quotes of a JSON key as common writers print it (Jackson,
// simdjson, Python: escapes only for quotes, backslashes and control characters).
std::string JsonKeyOf(std::string_view name);

}  // namespace driftless
