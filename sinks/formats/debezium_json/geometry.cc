#include "sinks/formats/debezium_json/geometry.h"

#include <bit>
#include <cstring>

#include "schema/base/json_writer.h"

namespace driftless::debezium {
namespace {

constexpr uint32_t kHasSrid = 0x20000000;  // extended WKB
constexpr int kMaxDepth = 32;

constexpr std::string_view kNames[] = {
    "",           "Point",           "LineString",   "Polygon",
    "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"};

class Reader {
 public:
  Reader(std::string_view bytes, std::string* out) : bytes_(bytes), out_(*out) {}

  bool Geometry(std::optional<int64_t> srid) { return Whole(0, &srid) && at_ == bytes_.size(); }

 private:
  struct Head {
    uint32_t type = 0;
  };

  // One geometry with its head; `srid` is null for those inside of a collection.
  bool Whole(int depth, const std::optional<int64_t>* srid) {
    Head head;
    if (depth > kMaxDepth || !ReadHead(&head)) return false;
    out_ += "{\"type\":\"";
    out_ += kNames[head.type];
    out_ += head.type == 7 ? "\",\"geometries\":" : "\",\"coordinates\":";
    const bool ok =
        head.type == 7 ? List([&] { return Whole(depth + 1, nullptr); }) : Coordinates(head.type);
    if (!ok) return false;
    if (srid != nullptr) out_ += ",\"srid\":" + std::to_string(srid->value_or(own_srid_));
    out_ += '}';
    return true;
  }

  bool Coordinates(uint32_t type) {
    switch (type) {
      case 1: return Position();
      case 2: return Positions();
      case 3: return List([&] { return Positions(); });
      default:  // MultiPoint, MultiLineString, MultiPolygon: whole geometries inside
        return List([&] {
          Head head;
          return ReadHead(&head) && head.type == type - 3 && Coordinates(head.type);
        });
    }
  }

  template <typename Item>
  bool List(Item item) {
    uint32_t count = 0;
    if (!ReadWord(&count)) return false;
    out_ += '[';
    for (uint32_t i = 0; i < count; ++i) {
      if (i > 0) out_ += ',';
      if (!item()) return false;
    }
    out_ += ']';
    return true;
  }

  bool Positions() {
    return List([&] { return Position(); });
  }

  bool Position() {
    double x = 0;
    double y = 0;
    if (!ReadDouble(&x) || !ReadDouble(&y)) return false;
    out_ += '[';
    AppendJsonDouble(x, &out_);
    out_ += ',';
    AppendJsonDouble(y, &out_);
    out_ += ']';
    return true;
  }

  bool ReadHead(Head* head) {
    if (at_ >= bytes_.size() || static_cast<unsigned char>(bytes_[at_]) > 1) return false;
    little_endian_ = bytes_[at_++] == 1;
    uint32_t word = 0;
    if (!ReadWord(&word)) return false;
    if ((word & kHasSrid) != 0) {
      uint32_t srid = 0;
      if (!ReadWord(&srid)) return false;
      own_srid_ = srid;
    }
    head->type = word & ~kHasSrid;
    return head->type >= 1 && head->type <= 7;
  }

  bool ReadWord(uint32_t* word) {
    if (bytes_.size() - at_ < 4) return false;
    std::memcpy(word, bytes_.data() + at_, 4);
    if (!little_endian_) *word = __builtin_bswap32(*word);
    at_ += 4;
    return true;
  }
  bool ReadDouble(double* value) {
    if (bytes_.size() - at_ < 8) return false;
    uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + at_, 8);
    if (!little_endian_) word = __builtin_bswap64(word);
    *value = std::bit_cast<double>(word);
    at_ += 8;
    return true;
  }

  std::string_view bytes_;
  std::string& out_;
  size_t at_ = 0;
  bool little_endian_ = true;
  int64_t own_srid_ = 0;
};

}  // namespace

bool AppendGeometryJson(std::string_view wkb, std::optional<int64_t> srid, std::string* out) {
  const size_t before = out->size();
  if (Reader(wkb, out).Geometry(srid)) return true;
  out->resize(before);
  return false;
}

}  // namespace driftless::debezium
