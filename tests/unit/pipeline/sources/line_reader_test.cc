#include "pipeline/sources/file/line_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace driftless {
namespace {

// A text that comes in pieces of random size and may end more than once, as a file that grows does.
class PiecedStream : public ByteStream {
 public:
  struct End {
    size_t at = 0;
    bool is_damage = false;
  };
  PiecedStream(std::string text, std::vector<End> ends, uint64_t seed)
      : text_(std::move(text)), ends_(std::move(ends)), random_(seed) {}

  Result<size_t> Read(char* out, size_t size) override {
    size_t stop = text_.size();
    if (next_end_ < ends_.size()) {
      const End& end = ends_[next_end_];
      if (end.at == at_) {
        ++next_end_;
        if (end.is_damage) return MakeError(ErrorKind::kCorrupt, "damaged");
        return size_t{0};
      }
      stop = end.at;
    }
    const size_t n = std::min({stop - at_, size, static_cast<size_t>(1 + random_() % 300'000)});
    std::memcpy(out, text_.data() + at_, n);
    at_ += n;
    return n;
  }
  Result<void> Seek(uint64_t offset) override {
    at_ = offset;
    return {};
  }
  bool is_packed() const override { return false; }
  Result<uint64_t> StoredSize() const override { return text_.size(); }
  std::string Identity() const override { return "1:1"; }

 private:
  std::string text_;
  std::vector<End> ends_;
  std::mt19937_64 random_;
  size_t at_ = 0;
  size_t next_end_ = 0;
};

struct Text {
  std::string text;
  std::vector<std::string> lines;
};

// Short lines mostly, some longer than the room between two pieces, one longer than a piece.
Text MakeText(uint64_t seed) {
  std::mt19937_64 random(seed);
  Text made;
  for (int i = 0; i < 3000; ++i) {
    size_t size = random() % 900;
    if (i % 100 == 7) size = 30'000 + random() % 60'000;
    if (i == 1500) size = 1'300'000;
    std::string line(size, static_cast<char>('a' + i % 26));
    made.text += line + (i % 5 == 0 ? "\r\n" : "\n");
    made.lines.push_back(std::move(line));
  }
  return made;
}

TEST(LineReaderTest, GivesEveryLineWhateverThePieces) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Text text = MakeText(seed);
    LineReader reader(
        std::make_unique<PiecedStream>(text.text, std::vector<PiecedStream::End>{}, seed + 10),
        64 << 20);
    std::string_view line;
    uint64_t offset = 0;
    for (size_t i = 0; i < text.lines.size(); ++i) {
      const auto got = reader.Next(&line);
      ASSERT_TRUE(got.has_value());
      ASSERT_EQ(*got, LineReader::Got::kLine);
      ASSERT_EQ(line, text.lines[i]) << i;
      offset += text.lines[i].size() + (i % 5 == 0 ? 2 : 1);
      ASSERT_EQ(reader.offset(), offset);
    }
    EXPECT_EQ(*reader.Next(&line), LineReader::Got::kEnd);
    EXPECT_EQ(reader.head(), text.text.substr(0, LineReader::kHeadBytes));
  }
}

TEST(LineReaderTest, GoesOnWhereAFileGrewInsideOfALine) {
  const std::string text = "one\ntwo\nthree\n";
  std::vector<PiecedStream::End> ends;
  for (const size_t at : {4, 6, 6, 10, 14}) ends.push_back({at, false});
  LineReader reader(std::make_unique<PiecedStream>(text, ends, 4), 100);
  std::string lines;
  int ended = 0;
  int partial = 0;
  std::string_view line;
  while (lines != "one,two,three,") {
    const auto got = reader.Next(&line);
    ASSERT_TRUE(got.has_value());
    if (*got == LineReader::Got::kLine) lines += std::string(line) + ",";
    ended += *got == LineReader::Got::kEnd ? 1 : 0;
    partial += *got == LineReader::Got::kPartial ? 1 : 0;
    ASSERT_LT(ended + partial, 10);
  }
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(partial, 3);
}

TEST(LineReaderTest, LinesBeforeADamageComeBeforeTheError) {
  const std::string text = "one\ntwo\nthr";
  LineReader reader(
      std::make_unique<PiecedStream>(text, std::vector<PiecedStream::End>{{text.size(), true}}, 5),
      100);
  std::string_view line;
  ASSERT_EQ(*reader.Next(&line), LineReader::Got::kLine);
  EXPECT_EQ(line, "one");
  ASSERT_EQ(*reader.Next(&line), LineReader::Got::kLine);
  EXPECT_EQ(line, "two");
  const auto got = reader.Next(&line);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().kind(), ErrorKind::kCorrupt);
}

TEST(LineReaderTest, ALineBeyondTheLimitIsAnError) {
  const std::string text = "short\n" + std::string(2'000'000, 'x') + "\n";
  LineReader reader(std::make_unique<PiecedStream>(text, std::vector<PiecedStream::End>{}, 6),
                    1'000'000);
  std::string_view line;
  ASSERT_EQ(*reader.Next(&line), LineReader::Got::kLine);
  const auto got = reader.Next(&line);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().kind(), ErrorKind::kInvalidInput);
}

TEST(LineReaderTest, GoesOnBehindAPosition) {
  const Text text = MakeText(9);
  LineReader reader(std::make_unique<PiecedStream>(text.text, std::vector<PiecedStream::End>{}, 8),
                    64 << 20);
  uint64_t offset = 0;
  for (size_t i = 0; i < 1700; ++i) offset += text.lines[i].size() + (i % 5 == 0 ? 2 : 1);
  ASSERT_TRUE(reader.SkipTo(offset, "head").has_value());
  std::string_view line;
  for (size_t i = 1700; i < text.lines.size(); ++i) {
    ASSERT_EQ(*reader.Next(&line), LineReader::Got::kLine);
    ASSERT_EQ(line, text.lines[i]) << i;
  }
  EXPECT_EQ(reader.offset(), text.text.size());
  EXPECT_EQ(reader.head(), "head");
}

}  // namespace
}  // namespace driftless
