#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sources/file/byte_stream.h"

namespace driftless {

// Splits a byte stream into lines without copying them.
class LineReader {
 public:
  // Readable bytes behind every line that Next gives (simdjson reads whole vectors).
  static constexpr size_t kPadding = 64;

  LineReader(std::unique_ptr<ByteStream> stream, size_t line_bytes_max);

  enum class Got : uint8_t { kLine, kPartial, kEnd };
  // The next line without its end ("\n" or "\r\n"), valid until the next call. kPartial: the
  // stream has nothing more at present and ends inside of a line, which TakePartial gives. Errors:
  // those of the stream, and kInvalidInput for a line longer than the limit.
  Result<Got> Next(std::string_view* line);
  // The rest behind the last line end, as a line. Use it where nothing more will come.
  std::string_view TakePartial();

  // Where the line behind the last one given begins, in bytes of the text.
  uint64_t offset() const { return offset_; }
  // Goes to the place where a line begins. Packed streams read up to it. `head` is the beginning of
  // the text, which is not read then.
  Result<void> SkipTo(uint64_t offset, std::string head);
  ByteStream& stream() { return *stream_; }
  // The first kHeadBytes of the text as far as they were read; where reading began later, what
  // SkipTo was given.
  static constexpr size_t kHeadBytes = 1024;
  const std::string& head() const { return head_; }

 private:
  Result<size_t> Fill();

  std::unique_ptr<ByteStream> stream_;
  size_t line_bytes_max_;
  std::vector<char> buffer_;
  size_t begin_ = 0;     // first byte that was not given
  size_t searched_ = 0;  // no line end in [begin_, searched_)
  size_t end_ = 0;
  uint64_t offset_ = 0;
  std::string head_;
  bool head_is_read_ = true;  // Fill collects it
};

}  // namespace driftless
