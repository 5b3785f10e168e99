#include "pipeline/sources/file/line_reader.h"

#include <algorithm>
#include <cstring>

#include "schema/base/check.h"

namespace driftless {
namespace {

constexpr size_t kPieceBytes = 256 << 10;
constexpr size_t kRoomBytes = 32 << 10;  // for the beginning of a line, before the piece
constexpr size_t kBufferBytes = kRoomBytes + kPieceBytes + LineReader::kPadding;

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteStream> stream, size_t line_bytes_max)
    : stream_(std::move(stream)), line_bytes_max_(line_bytes_max) {
  piece_.buffer.resize(kBufferBytes);
  next_.buffer.resize(kBufferBytes);
}

Result<size_t> LineReader::Fill() {
  if (end_ - begin_ > line_bytes_max_) {
    return MakeError(ErrorKind::kInvalidInput,
                     "the line is longer than " + std::to_string(line_bytes_max_) + " bytes")
        .Hint("Raise line-bytes-max if that is meant; else the file is not one record a line.");
  }
  if (!ahead_.has_begun()) BeginNext();
  DRIFTLESS_ASSIGN_OR_RETURN(const size_t got, ahead_.Wait());
  if (got == 0) return got;  // nothing is read ahead of a file that may grow
  if (head_is_read_ && head_.size() < kHeadBytes) {
    head_.append(next_.buffer.data() + kRoomBytes, std::min(got, kHeadBytes - head_.size()));
  }
  end_ - begin_ <= kRoomBytes ? TakeNext(got) : AppendNext(got);
  BeginNext();
  return got;
}

void LineReader::BeginNext() {
  ahead_.Begin([this, wants_index = wants_index_]() -> Result<size_t> {
    next_.is_indexed = false;
    DRIFTLESS_ASSIGN_OR_RETURN(const size_t got,
                               stream_->Read(next_.buffer.data() + kRoomBytes, kPieceBytes));
    if (wants_index) MakeIndex(got, &next_);
    return got;
  });
}

// Of the lines that are whole in the piece: quotes tell nothing in the middle of a line. Where one
// of them is no JSON, each is looked at alone.
void LineReader::MakeIndex(size_t got, Piece* piece) {
  const std::string_view text(piece->buffer.data() + kRoomBytes, got);
  const size_t first = text.find('\n');
  const size_t last = text.rfind('\n');
  if (first == last) return;
  if (piece->index == nullptr) piece->index = std::make_unique<JsonIndex>();
  piece->is_indexed = piece->index->Build(text.substr(first + 1, last - first));
}

// Goes on in the other buffer.
void LineReader::TakeNext(size_t got) {
  const size_t rest = end_ - begin_;
  std::memcpy(next_.buffer.data() + kRoomBytes - rest, piece_.buffer.data() + begin_, rest);
  std::swap(piece_, next_);
  if (next_.buffer.size() > kBufferBytes) next_.buffer = std::vector<char>(kBufferBytes);
  begin_ = kRoomBytes - rest;
  searched_ = kRoomBytes;
  end_ = kRoomBytes + got;
}

// A long line grows where it is.
void LineReader::AppendNext(size_t got) {
  std::vector<char>& buffer = piece_.buffer;
  std::memmove(buffer.data(), buffer.data() + begin_, end_ - begin_);
  piece_.is_indexed = false;
  searched_ -= begin_;
  end_ -= begin_;
  begin_ = 0;
  const size_t needed = end_ + got + kPadding;
  if (buffer.size() < needed) buffer.resize(std::max(needed, 2 * buffer.size()));
  std::memcpy(buffer.data() + end_, next_.buffer.data() + kRoomBytes, got);
  end_ += got;
}

Result<LineReader::Got> LineReader::Next(std::string_view* line) {
  for (;;) {
    const char* from = piece_.buffer.data() + searched_;
    const auto* stop = static_cast<const char*>(std::memchr(from, '\n', end_ - searched_));
    if (stop != nullptr) {
      const char* begin = piece_.buffer.data() + begin_;
      size_t size = static_cast<size_t>(stop - begin);
      const size_t whole = size + 1;
      if (size > 0 && begin[size - 1] == '\r') --size;
      *line = {begin, size};
      begin_ += whole;
      searched_ = begin_;
      offset_ += whole;
      return Got::kLine;
    }
    searched_ = end_;
    DRIFTLESS_ASSIGN_OR_RETURN(const size_t got, Fill());
    if (got == 0) return begin_ == end_ ? Got::kEnd : Got::kPartial;
  }
}

std::string_view LineReader::TakePartial() {
  const std::string_view line(piece_.buffer.data() + begin_, end_ - begin_);
  offset_ += line.size();
  begin_ = searched_ = end_;
  return line;
}

Result<void> LineReader::SkipTo(uint64_t offset, std::string head) {
  DRIFTLESS_CHECK(!ahead_.has_begun());
  head_ = std::move(head);
  head_is_read_ = false;
  begin_ = searched_ = end_ = 0;
  offset_ = offset;
  if (!stream_->is_packed()) return stream_->Seek(offset);
  std::vector<char>& buffer = piece_.buffer;
  while (offset > 0) {
    const size_t want = std::min<uint64_t>(offset, buffer.size());
    DRIFTLESS_ASSIGN_OR_RETURN(const size_t got, stream_->Read(buffer.data(), want));
    if (got == 0) {
      return MakeError(ErrorKind::kInvalidInput,
                       "the file is shorter than it was: the place to go on is not there");
    }
    offset -= got;
  }
  return {};
}

}  // namespace driftless
