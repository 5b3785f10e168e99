#include "schema/events/point.h"

#include <charconv>
#include <tuple>
#include <vector>

#include "schema/base/check.h"

namespace driftless {
namespace {

auto Order(const Point& p) { return std::tie(p.epoch, p.offset, p.row, p.part); }

template <typename T>
bool TakeNumber(std::string_view* text, T* value) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

bool TakePoint(std::string_view* text, Point* point) {
  return TakeNumber(text, &point->epoch) && TakeChar(text, ':') &&
         TakeNumber(text, &point->offset) && TakeChar(text, ':') && TakeNumber(text, &point->row) &&
         TakeChar(text, '.') && TakeNumber(text, &point->part);
}

}  // namespace

bool Point::Precedes(const Point& other) const {
  DRIFTLESS_CHECK(stream == other.stream);
  return Order(*this) < Order(other);
}

std::string Point::ToString() const {
  return std::to_string(epoch) + ":" + std::to_string(offset) + ":" + std::to_string(row) + "." +
         std::to_string(part);
}

Result<Point> ParsePoint(std::string_view text, StreamId stream) {
  Point point;
  point.stream = stream;
  std::string_view rest = text;
  if (!TakePoint(&rest, &point) || !rest.empty()) {
    return MakeError(ErrorKind::kInvalidInput, "\"" + std::string(text) + "\" is not a point");
  }
  return point;
}

bool CutPosition::Covers(const Point& point) const {
  const auto it = streams_.find(point.stream);
  return it != streams_.end() && !it->second.last.Precedes(point);
}

bool CutPosition::Covers(const ChunkId& chunk) const { return chunks_.contains(chunk); }

void CutPosition::Extend(const Point& point, std::string_view resume) {
  const auto [it, inserted] = streams_.try_emplace(point.stream);
  if (inserted || it->second.last.Precedes(point)) {
    it->second.last = point;
    it->second.resume = resume;
  }
}

void CutPosition::Extend(const ChunkId& chunk) { chunks_.insert(chunk); }

CutPosition CutPosition::Meet(const CutPosition& a, const CutPosition& b) {
  CutPosition meet;
  for (const auto& [id, stream] : a.streams_) {
    const auto other = b.streams_.find(id);
    if (other == b.streams_.end()) continue;
    meet.streams_[id] = other->second.last.Precedes(stream.last) ? other->second : stream;
  }
  for (const ChunkId& chunk : a.chunks_) {
    if (b.chunks_.contains(chunk)) meet.chunks_.insert(chunk);
  }
  return meet;
}

CutPosition CutPosition::Join(const CutPosition& a, const CutPosition& b) {
  CutPosition join = a;
  for (const auto& [id, stream] : b.streams_) join.Extend(stream.last, stream.resume);
  join.chunks_.insert(b.chunks_.begin(), b.chunks_.end());
  return join;
}

bool CutPosition::Covers(const CutPosition& other) const {
  for (const auto& [id, stream] : other.streams_) {
    if (!Covers(stream.last)) return false;
  }
  for (const ChunkId& chunk : other.chunks_) {
    if (!Covers(chunk)) return false;
  }
  return true;
}

std::optional<Point> CutPosition::Last(StreamId stream) const {
  const auto it = streams_.find(stream);
  if (it == streams_.end()) return std::nullopt;
  return it->second.last;
}

const std::string& CutPosition::Resume(StreamId stream) const {
  static const std::string none;
  const auto it = streams_.find(stream);
  return it == streams_.end() ? none : it->second.resume;
}

// One line per stream "s ID POINT LENGTH:RESUME" and per chunk "c TABLE CHUNK"; the resume text is
// length-prefixed because it belongs to the source and may hold anything.
std::string CutPosition::Serialize() const {
  std::string text;
  for (const auto& [id, stream] : streams_) {
    text += "s " + std::to_string(id) + " " + stream.last.ToString() + " " +
            std::to_string(stream.resume.size()) + ":" + stream.resume + "\n";
  }
  for (const ChunkId& chunk : chunks_) {
    text += "c " + std::to_string(chunk.table) + " " + std::to_string(chunk.chunk) + "\n";
  }
  return text;
}

Result<CutPosition> ParseCutPosition(std::string_view text) {
  CutPosition position;
  std::string_view rest = text;
  while (!rest.empty()) {
    bool ok = false;
    if (TakeChar(&rest, 's')) {
      StreamId id = 0;
      CutPosition::Stream stream;
      size_t length = 0;
      ok = TakeChar(&rest, ' ') && TakeNumber(&rest, &id) && TakeChar(&rest, ' ') &&
           TakePoint(&rest, &stream.last) && TakeChar(&rest, ' ') && TakeNumber(&rest, &length) &&
           TakeChar(&rest, ':') && rest.size() > length;
      if (ok) {
        stream.last.stream = id;
        stream.resume = rest.substr(0, length);
        rest.remove_prefix(length);
        position.streams_[id] = stream;
      }
    } else if (TakeChar(&rest, 'c')) {
      ChunkId chunk;
      ok = TakeChar(&rest, ' ') && TakeNumber(&rest, &chunk.table) && TakeChar(&rest, ' ') &&
           TakeNumber(&rest, &chunk.chunk);
      if (ok) position.chunks_.insert(chunk);
    }
    if (!ok || !TakeChar(&rest, '\n')) {
      return MakeError(ErrorKind::kCorrupt, "a stored cut position does not parse")
          .Hint("The state folder is damaged; restore it or start from a new one.");
    }
  }
  return position;
}

}  // namespace driftless
