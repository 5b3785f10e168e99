#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sources/file/byte_stream.h"
#include "pipeline/sources/file/read_ahead.h"
#include "sinks/formats/json/json_index.h"

namespace driftless {

// Splits a byte stream into lines without copying them. The next piece of the stream is read, and
// indexed as JSON where that is wanted, on another thread while the lines of this piece are worked
// on; only the line between two pieces is copied.
class LineReader {
 public:
  // Readable bytes behind every line that Next gives (simdjson reads whole vectors).
  static constexpr size_t kPadding = kJsonPadding;

  LineReader(std::unique_ptr<ByteStream> stream, size_t line_bytes_max);

  enum class Got : uint8_t { kLine, kPartial, kEnd };
  // The next line without its end ("\n" or "\r\n"), valid until the next call. kPartial: the
  // stream has nothing more at present and ends inside of a line, which TakePartial gives. Errors:
  // those of the stream, and kInvalidInput for a line longer than the limit.
  Result<Got> Next(std::string_view* line);
  // The rest behind the last line end, as a line. Use it where nothing more will come.
  std::string_view TakePartial();

  // Whether pieces that are read from now on are indexed.
  void IndexAhead(bool wanted) { wants_index_ = wanted; }
  // An index of lines, of the last one given among them where it lies in the index's text; null
  // where there is none. Lines that are no JSON leave a piece without.
  const JsonIndex* index() const { return piece_.is_indexed ? piece_.index.get() : nullptr; }

  // Where the line behind the last one given begins, in bytes of the text.
  uint64_t offset() const { return offset_; }
  // Goes to the place where a line begins, before the first one is read. Packed streams read up to
  // it. `head` is the beginning of the text, which is not read then.
  Result<void> SkipTo(uint64_t offset, std::string head);
  // Not to be read or sought in.
  ByteStream& stream() { return *stream_; }
  // The first kHeadBytes of the text as far as they were read; where reading began later, what
  // SkipTo was given.
  static constexpr size_t kHeadBytes = 1024;
  const std::string& head() const { return head_; }

 private:
  // What was read at once, behind room for the end of the piece before it.
  struct Piece {
    std::vector<char> buffer;
    std::unique_ptr<JsonIndex> index;
    bool is_indexed = false;
  };

  Result<size_t> Fill();
  void BeginNext();
  void TakeNext(size_t got);
  void AppendNext(size_t got);
  static void MakeIndex(size_t got, Piece* piece);

  std::unique_ptr<ByteStream> stream_;
  size_t line_bytes_max_;
  bool wants_index_ = false;
  Piece piece_;
  Piece next_;
  size_t begin_ = 0;     // first byte that was not given
  size_t searched_ = 0;  // no line end in [begin_, searched_)
  size_t end_ = 0;
  uint64_t offset_ = 0;
  std::string head_;
  bool head_is_read_ = true;  // Fill collects it
  ReadAhead ahead_;           // goes first: it writes into next_
};

}  // namespace driftless
