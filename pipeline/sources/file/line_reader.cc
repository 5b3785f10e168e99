#include "pipeline/sources/file/line_reader.h"

#include <algorithm>
#include <cstring>

namespace driftless {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteStream> stream, size_t line_bytes_max)
    : stream_(std::move(stream)),
      line_bytes_max_(line_bytes_max),
      buffer_(kBufferBytes + kPadding) {}

Result<size_t> LineReader::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    searched_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ + kPadding >= buffer_.size()) {
    if (end_ > line_bytes_max_) {
      return MakeError(ErrorKind::kInvalidInput,
                       "the line is longer than " + std::to_string(line_bytes_max_) + " bytes")
          .Hint("Raise line-bytes-max if that is meant; else the file is not one record a line.");
    }
    buffer_.resize(buffer_.size() * 2);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      const size_t got, stream_->Read(buffer_.data() + end_, buffer_.size() - kPadding - end_));
  if (head_is_read_ && head_.size() < kHeadBytes) {
    head_.append(buffer_.data() + end_, std::min(got, kHeadBytes - head_.size()));
  }
  end_ += got;
  return got;
}

Result<LineReader::Got> LineReader::Next(std::string_view* line) {
  for (;;) {
    const char* from = buffer_.data() + searched_;
    const auto* stop = static_cast<const char*>(std::memchr(from, '\n', end_ - searched_));
    if (stop != nullptr) {
      const char* begin = buffer_.data() + begin_;
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
  const std::string_view line(buffer_.data() + begin_, end_ - begin_);
  offset_ += line.size();
  begin_ = searched_ = end_;
  return line;
}

Result<void> LineReader::SkipTo(uint64_t offset, std::string head) {
  head_ = std::move(head);
  head_is_read_ = false;
  begin_ = searched_ = end_ = 0;
  offset_ = offset;
  if (!stream_->is_packed()) return stream_->Seek(offset);
  while (offset > 0) {
    const size_t want = std::min<uint64_t>(offset, buffer_.size() - kPadding);
    DRIFTLESS_ASSIGN_OR_RETURN(const size_t got, stream_->Read(buffer_.data(), want));
    if (got == 0) {
      return MakeError(ErrorKind::kInvalidInput,
                       "the file is shorter than it was: the place to go on is not there");
    }
    offset -= got;
  }
  return {};
}

}  // namespace driftless
