#include "pipeline/sources/mysql/binlog/json_binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "pipeline/sources/mysql/binlog/packed.h"
#include "schema/base/json_writer.h"

namespace driftless::mysql {
namespace {

constexpr int kMaxDepth = 128;  // the server's is 100

enum ValueType : uint8_t {
  kSmallObject = 0,
  kLargeObject = 1,
  kSmallArray = 2,
  kLargeArray = 3,
  kLiteral = 4,
  kInt16 = 5,
  kUInt16 = 6,
  kInt32 = 7,
  kUInt32 = 8,
  kInt64 = 9,
  kUInt64 = 10,
  kDouble = 11,
  kString = 12,
  kOpaque = 15,
};

bool IsContainer(uint8_t type) { return type <= kLargeArray; }
bool IsInline(uint8_t type, bool large) {
  return type == kLiteral || type == kInt16 || type == kUInt16 ||
         (large && (type == kInt32 || type == kUInt32));
}

// As my_gcvt prints it: the shortest digits that read back the same, plain for exponents within
// 15 digits of the point.
void AppendDouble(double value, std::string* out) {
  if (value == 0) {
    *out += std::signbit(value) ? "-0.0" : "0.0";
    return;
  }
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
  const size_t e = text.find('e');
  if (e == std::string_view::npos) {  // not finite: no JSON value is
    *out += "null";
    return;
  }
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  int exponent = 0;
  std::string_view exponent_text = text.substr(e + 1);
  if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  const int point = exponent + 1;  // digits before the point
  const int count = static_cast<int>(digits.size());
  if (text[0] == '-') *out += '-';
  if (point < -14 || point > 15) {
    *out += digits[0];
    if (count > 1) *out += '.' + digits.substr(1);
    *out += 'e' + std::to_string(exponent);
  } else if (point <= 0) {
    *out += "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  } else if (count <= point) {
    *out += digits + std::string(static_cast<size_t>(point - count), '0') + ".0";
  } else {
    *out += digits.substr(0, static_cast<size_t>(point)) + '.' +
            digits.substr(static_cast<size_t>(point));
  }
}

void AppendBase64(std::string_view bytes, std::string* out) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t at = 0; at < bytes.size(); at += 3) {
    // The server breaks lines of 76 letters; inside of a string that is an escape.
    if (at > 0 && at % 57 == 0) *out += "\\n";
    uint32_t word = 0;
    const size_t left = std::min<size_t>(3, bytes.size() - at);
    for (size_t i = 0; i < 3; ++i) {
      word = word << 8 | (i < left ? static_cast<uint8_t>(bytes[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      *out += i <= left ? kAlphabet[word >> (18 - 6 * i) & 63] : '=';
    }
  }
}

void AppendQuoted(std::string_view text, std::string* out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  *out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': *out += "\\\""; break;
      case '\\': *out += "\\\\"; break;
      case '\b': *out += "\\b"; break;
      case '\f': *out += "\\f"; break;
      case '\n': *out += "\\n"; break;
      case '\r': *out += "\\r"; break;
      case '\t': *out += "\\t"; break;
      default:
        if (static_cast<uint8_t>(c) < 0x20) {
          *out += "\\u00";
          *out += kDigits[c >> 4];
          *out += kDigits[c & 15];
        } else {
          *out += c;
        }
    }
  }
  *out += '"';
}

// Types of opaque values are those of columns.
bool AppendOpaque(uint8_t type, std::string_view data, std::string* out) {
  constexpr uint8_t kDecimal = 246;
  constexpr uint8_t kDate = 10;
  constexpr uint8_t kTime = 11;
  constexpr uint8_t kDateTime = 12;
  constexpr uint8_t kTimestamp = 7;
  const auto* bytes = reinterpret_cast<const uint8_t*>(data.data());
  if (type == kDecimal) {
    if (data.size() < 2) return false;
    const int precision = bytes[0];
    const int scale = bytes[1];
    if (precision < 1 || precision > 65 || scale > precision) return false;
    if (data.size() != 2U + static_cast<size_t>(PackedDecimalSize(precision, scale))) return false;
    return AppendPackedDecimal(bytes + 2, precision, scale, out);
  }
  if (type != kDate && type != kTime && type != kDateTime && type != kTimestamp) {
    *out += fmt::format("\"base64:type{}:", type);
    AppendBase64(data, out);
    *out += '"';
    return true;
  }
  if (data.size() != 8) return false;
  auto packed = static_cast<int64_t>(LoadLittle(bytes, 8));
  const bool negative = packed < 0;
  if (packed == INT64_MIN) return false;
  if (negative) packed = -packed;
  const PackedMoment moment = Unpack(static_cast<uint64_t>(packed) >> 24);
  const int64_t micros = packed & 0xffffff;
  auto to = std::back_inserter(*out);
  if (type == kDate) {
    fmt::format_to(to, "\"{:04}-{:02}-{:02}\"", moment.year, moment.month, moment.day);
  } else if (type == kTime) {
    const int64_t hours = packed >> 36 & 0x3ff;
    fmt::format_to(to, "\"{}{:02}:{:02}:{:02}.{:06}\"", negative ? "-" : "", hours, moment.minute,
                   moment.second, micros);
  } else {
    fmt::format_to(to, "\"{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}\"", moment.year, moment.month,
                   moment.day, moment.hour, moment.minute, moment.second, micros);
  }
  return true;
}

uint64_t StringLength(ByteReader* reader) {
  uint64_t length = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    const uint8_t byte = reader->U8();
    length |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return length;
  }
  reader->Fail();
  return 0;
}

bool AppendScalar(uint8_t type, std::string_view bytes, std::string* out) {
  ByteReader reader(bytes);
  switch (type) {
    case kLiteral: {
      const uint8_t literal = reader.U8();
      if (reader.failed() || literal > 2) return false;
      *out += literal == 0 ? "null" : literal == 1 ? "true" : "false";
      return true;
    }
    case kInt16: AppendInteger(static_cast<int16_t>(reader.U16()), out); break;
    case kUInt16: AppendInteger(reader.U16(), out); break;
    case kInt32: AppendInteger(static_cast<int32_t>(reader.U32()), out); break;
    case kUInt32: AppendInteger(reader.U32(), out); break;
    case kInt64: AppendInteger(static_cast<int64_t>(reader.U64()), out); break;
    case kUInt64: AppendInteger(reader.U64(), out); break;
    case kDouble: AppendDouble(std::bit_cast<double>(reader.U64()), out); break;
    case kString: {
      const uint64_t length = StringLength(&reader);
      AppendQuoted(reader.Bytes(length), out);
      break;
    }
    case kOpaque: {
      const uint8_t column_type = reader.U8();
      const uint64_t length = StringLength(&reader);
      const std::string_view data = reader.Bytes(length);
      return !reader.failed() && AppendOpaque(column_type, data, out);
    }
    default: return false;
  }
  return !reader.failed();
}

// One object or array: where its members are.
class Container {
 public:
  // `bytes` begin behind the type.
  static bool Open(uint8_t type, std::string_view bytes, Container* out) {
    out->large_ = type == kLargeObject || type == kLargeArray;
    out->is_object_ = type == kSmallObject || type == kLargeObject;
    const int width = out->width();
    ByteReader reader(bytes);
    out->count_ = reader.Little(width);
    const uint64_t size = reader.Little(width);
    if (reader.failed() || size > bytes.size()) return false;
    out->bytes_ = bytes.substr(0, size);
    const uint64_t entry = static_cast<uint64_t>(width) + 1 + (out->is_object_ ? width + 2 : 0);
    return out->count_ <= size && 2 * static_cast<uint64_t>(width) + out->count_ * entry <= size;
  }

  bool is_object() const { return is_object_; }
  uint64_t count() const { return count_; }

  bool Key(uint64_t index, std::string_view* key) const {
    ByteReader reader(bytes_.substr(2U * width() + index * (width() + 2U)));
    const uint64_t offset = reader.Little(width());
    const uint64_t length = reader.U16();
    if (offset > bytes_.size() || length > bytes_.size() - offset) return false;
    *key = bytes_.substr(offset, length);
    return true;
  }
  bool Value(uint64_t index, uint8_t* type, std::string_view* value) const {
    uint64_t at = 2U * width() + index * (width() + 1U);
    if (is_object_) at += count_ * (width() + 2U);
    ByteReader reader(bytes_.substr(at));
    *type = reader.U8();
    if (IsInline(*type, large_)) {
      *value = reader.Bytes(static_cast<uint64_t>(width()));
      return !reader.failed();
    }
    const uint64_t offset = reader.Little(width());
    if (reader.failed() || offset > bytes_.size()) return false;
    *value = bytes_.substr(offset);
    return true;
  }

 private:
  int width() const { return large_ ? 4 : 2; }
  std::string_view bytes_;
  uint64_t count_ = 0;
  bool large_ = false;
  bool is_object_ = false;
};

class Printer {
 public:
  // Members may share bytes in a document that was not made by a server: a limit of the text keeps
  // such a one from growing without end.
  Printer(size_t document_size, std::string* out)
      : out_(*out), limit_(out->size() + 32 * document_size + 64) {}

  bool Print(uint8_t type, std::string_view bytes, int depth) {
    if (!IsContainer(type)) return AppendScalar(type, bytes, &out_) && out_.size() <= limit_;
    Container container;
    if (depth > kMaxDepth || !Container::Open(type, bytes, &container)) return false;
    out_ += container.is_object() ? '{' : '[';
    for (uint64_t i = 0; i < container.count(); ++i) {
      if (i > 0) out_ += ", ";
      if (container.is_object()) {
        std::string_view key;
        if (!container.Key(i, &key)) return false;
        AppendQuoted(key, &out_);
        out_ += ": ";
      }
      uint8_t value_type = 0;
      std::string_view value;
      if (!container.Value(i, &value_type, &value) || !Print(value_type, value, depth + 1)) {
        return false;
      }
    }
    out_ += container.is_object() ? '}' : ']';
    return out_.size() <= limit_;
  }

 private:
  std::string& out_;
  const size_t limit_;
};

// A document that can be changed. Scalars stay views of the bytes they came in.
struct Node {
  uint8_t type = kLiteral;
  std::string_view scalar;
  std::vector<std::pair<std::string, Node>> members;  // objects; arrays have empty names
  bool IsObject() const { return type == kSmallObject || type == kLargeObject; }
  bool IsArray() const { return type == kSmallArray || type == kLargeArray; }
};

bool Load(uint8_t type, std::string_view bytes, int depth, int64_t* budget, Node* node) {
  node->type = type;
  node->scalar = bytes;
  if (--*budget < 0) return false;
  if (!IsContainer(type)) return true;
  Container container;
  if (depth > kMaxDepth || !Container::Open(type, bytes, &container)) return false;
  for (uint64_t i = 0; i < container.count(); ++i) {
    std::string_view key;
    uint8_t value_type = 0;
    std::string_view value;
    if (container.is_object() && !container.Key(i, &key)) return false;
    if (!container.Value(i, &value_type, &value)) return false;
    node->members.emplace_back(std::string(key), Node{});
    if (!Load(value_type, value, depth + 1, budget, &node->members.back().second)) return false;
  }
  return true;
}

bool LoadDocument(std::string_view document, Node* node) {
  if (document.empty()) return false;
  auto budget = static_cast<int64_t>(document.size());
  return Load(static_cast<uint8_t>(document[0]), document.substr(1), 0, &budget, node);
}

bool PrintNode(const Node& node, std::string* out) {
  if (!IsContainer(node.type)) return AppendScalar(node.type, node.scalar, out);
  *out += node.IsObject() ? '{' : '[';
  bool first = true;
  for (const auto& [key, member] : node.members) {
    if (!first) *out += ", ";
    first = false;
    if (node.IsObject()) {
      AppendQuoted(key, out);
      *out += ": ";
    }
    if (!PrintNode(member, out)) return false;
  }
  *out += node.IsObject() ? '}' : ']';
  return true;
}

struct PathLeg {
  bool is_member = false;
  std::string name;
  uint64_t index = 0;
};

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xc0 | code >> 6);
    *out += static_cast<char>(0x80 | (code & 63));
  } else {
    *out += static_cast<char>(0xe0 | code >> 12);
    *out += static_cast<char>(0x80 | (code >> 6 & 63));
    *out += static_cast<char>(0x80 | (code & 63));
  }
}

// The quoted name of a path's member, with JSON's escapes; `at` stands behind the first quote.
bool ReadQuoted(std::string_view path, size_t* at, std::string* name) {
  static constexpr std::string_view kEscapes = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  while (*at < path.size()) {
    const char c = path[(*at)++];
    if (c == '"') return true;
    if (c != '\\') {
      *name += c;
      continue;
    }
    if (*at >= path.size()) return false;
    const char escape = path[(*at)++];
    const size_t known = kEscapes.find(escape);
    if (known != std::string_view::npos) {
      *name += kMeanings[known];
      continue;
    }
    uint32_t code = 0;
    if (escape != 'u' || path.size() - *at < 4) return false;
    const char* from = path.data() + *at;
    if (std::from_chars(from, from + 4, code, 16).ptr != from + 4) return false;
    *at += 4;
    AppendUtf8(code, name);  // the server escapes control characters only
  }
  return false;
}

bool ParsePath(std::string_view path, std::vector<PathLeg>* legs) {
  if (!path.starts_with('$')) return false;
  size_t at = 1;
  while (at < path.size()) {
    PathLeg leg;
    if (path[at] == '[') {
      const char* from = path.data() + at + 1;
      const auto [end, error] = std::from_chars(from, path.data() + path.size(), leg.index);
      if (error != std::errc() || end == path.data() + path.size() || *end != ']') return false;
      at = static_cast<size_t>(end - path.data()) + 1;
    } else if (path[at] == '.') {
      leg.is_member = true;
      ++at;
      if (at < path.size() && path[at] == '"') {
        ++at;
        if (!ReadQuoted(path, &at, &leg.name)) return false;
      } else {
        const size_t end = std::min(path.find_first_of(".[", at), path.size());
        leg.name = path.substr(at, end - at);
        at = end;
      }
    } else {
      return false;
    }
    legs->push_back(std::move(leg));
  }
  return true;
}

// Members of an object are sorted by length, then by bytes.
bool NameBefore(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// Where the leg leads: an index into the members; their number where there is nothing.
size_t FindMember(const Node& node, const PathLeg& leg) {
  if (leg.is_member) {
    for (size_t i = 0; node.IsObject() && i < node.members.size(); ++i) {
      if (node.members[i].first == leg.name) return i;
    }
    return node.members.size();
  }
  return node.IsArray() ? std::min<uint64_t>(leg.index, node.members.size()) : node.members.size();
}

enum Operation : uint8_t { kReplace = 0, kInsert = 1, kRemove = 2 };

bool Change(uint8_t operation, const std::vector<PathLeg>& legs, Node value, Node* root) {
  if (legs.empty()) {
    if (operation != kReplace) return false;
    *root = std::move(value);
    return true;
  }
  Node* parent = root;
  for (size_t i = 0; i + 1 < legs.size(); ++i) {
    const size_t at = FindMember(*parent, legs[i]);
    if (at == parent->members.size()) return false;
    parent = &parent->members[at].second;
  }
  const PathLeg& last = legs.back();
  auto& members = parent->members;
  if (last.is_member ? !parent->IsObject() : !parent->IsArray()) return false;
  const size_t at = FindMember(*parent, last);
  const auto place = static_cast<std::ptrdiff_t>(at);
  switch (operation) {
    case kReplace:
      if (at == members.size()) return false;
      members[at].second = std::move(value);
      return true;
    case kRemove:
      if (at == members.size()) return false;
      members.erase(members.begin() + place);
      return true;
    case kInsert: {
      if (!last.is_member) {
        members.emplace(members.begin() + place, std::string(), std::move(value));
        return true;
      }
      if (at != members.size()) return false;
      const auto before = std::find_if(members.begin(), members.end(), [&](const auto& member) {
        return NameBefore(last.name, member.first);
      });
      members.emplace(before, last.name, std::move(value));
      return true;
    }
    default: return false;
  }
}

bool ApplyDifferences(std::string_view differences, Node* root) {
  ByteReader reader(differences);
  while (reader.remaining() > 0) {
    const uint8_t operation = reader.U8();
    const std::string_view path = reader.LengthEncodedBytes();
    std::vector<PathLeg> legs;
    if (reader.failed() || operation > kRemove || !ParsePath(path, &legs)) return false;
    Node value;
    if (operation != kRemove) {
      const std::string_view bytes = reader.LengthEncodedBytes();
      if (reader.failed() || !LoadDocument(bytes, &value)) return false;
    }
    if (!Change(operation, legs, std::move(value), root)) return false;
  }
  return true;
}

}  // namespace

bool AppendJsonText(std::string_view document, std::string* out) {
  if (document.empty()) {
    *out += "null";
    return true;
  }
  return Printer(document.size(), out)
      .Print(static_cast<uint8_t>(document[0]), document.substr(1), 0);
}

bool AppendPatchedJsonText(std::string_view document, std::string_view differences,
                           std::string* out) {
  if (differences.empty()) return AppendJsonText(document, out);
  Node root;
  return LoadDocument(document, &root) && ApplyDifferences(differences, &root) &&
         PrintNode(root, out);
}

}  // namespace driftless::mysql
