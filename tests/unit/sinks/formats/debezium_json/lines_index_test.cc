#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "sinks/formats/debezium_json/decode.h"

namespace driftless::debezium {
namespace {

const std::vector<std::string>& Records() {
  static const auto* const kRecords = new std::vector<std::string>{
      R"({"before":null,"after":{"id":1,"name":"a \"b\" \\","n":null},"source":{"db":"shop",)"
      R"("table":"t","ts_ms":5,"snapshot":"false"},"op":"c","ts_ms":7,"transaction":null})",
      R"({"before":{"id":1},"after":null,"source":{"db":"shop","table":"t"},"op":"d"})",
      R"({"topic":"x.shop.t","key":{"id":2},"value":{"before":null,"after":{"id":2,"s":"ü"},)"
      R"("source":{"db":"shop","table":"t","gtid":"3-1"},"op":"u","transaction":{"id":"9"}}})",
      R"({"schema":{"type":"struct"},"payload":{"before":null,"after":{"id":3},)"
      R"("source":{"db":"shop","table":"u"},"op":"r"}})",
      R"( { "op" : "c" , "after" : { "id" : [1, {"a": "}"}] } , "source" : { "db" : "d" } } )",
      R"({"source":{"db":"shop"},"ddl":"ALTER TABLE t ADD c INT","tableChanges":[]})",
      R"({"topic":"x","key":null,"value":null})",
      "null",
      "",
      "17",
  };
  return *kRecords;
}

// All that a reader says of a line.
std::string Said(RecordReader* reader, std::string_view line, const JsonIndex* index) {
  Record record;
  if (!reader->ReadLine(line, &record, index)) {
    return std::string("fault: ") + reader->fault() + " at " +
           std::to_string(reader->fault_offset());
  }
  std::string said =
      std::to_string(static_cast<int>(record.kind)) + std::to_string(static_cast<int>(record.op));
  for (const std::string_view text : {record.topic, record.database, record.table,
                                      record.transaction, record.value_schema, record.key}) {
    said.append("|").append(text);
  }
  said += "|" + std::to_string(record.commit_time_ms) + (record.snapshot ? "|snapshot" : "|");
  for (JsonCursor image : {record.before, record.after, record.payload}) {
    said.append("|").append(image.valid() ? image.RawValue() : "-");
  }
  return said;
}

// Lines as they are, and with a character lost, changed or put in: what is read of one does not
// depend on whether its neighbours were indexed with it.
TEST(LinesIndexTest, SaysOfALineWhatItSaysOfTheLineAlone) {
  std::mt19937_64 random(11);
  constexpr std::string_view kMarks = "{}[]\",:\\ n1\t";
  int indexed = 0;
  int faults = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> lines;
    for (int i = 0; i < 6; ++i) {
      std::string line = Records()[random() % Records().size()];
      for (uint64_t n = random() % 3; n > 0 && i % 2 == 0 && !line.empty(); --n) {
        const size_t at = random() % line.size();
        const char mark = kMarks[random() % kMarks.size()];
        switch (random() % 3) {
          case 0: line.erase(at, 1); break;
          case 1: line[at] = mark; break;
          default: line.insert(at, 1, mark); break;
        }
      }
      lines.push_back(std::move(line));
    }
    std::string text;
    std::vector<std::pair<size_t, size_t>> places;
    for (const std::string& line : lines) {
      places.emplace_back(text.size(), line.size());
      text += line + (random() % 4 == 0 ? "\r\n" : "\n");
    }
    const size_t size = text.size();
    text.append(kJsonPadding, '\0');
    JsonIndex index;
    if (!index.Build(std::string_view(text).substr(0, size))) continue;
    ++indexed;
    RecordReader alone;
    RecordReader together;
    for (const auto& [begin, length] : places) {
      const std::string_view line = std::string_view(text).substr(begin, length);
      std::string copy(line);
      copy.append(kJsonPadding, '\0');
      const std::string expected = Said(&alone, std::string_view(copy).substr(0, length), nullptr);
      ASSERT_EQ(Said(&together, line, &index), expected) << line;
      faults += expected.starts_with("fault") ? 1 : 0;
    }
  }
  EXPECT_GT(indexed, 1000);
  EXPECT_GT(faults, 1000);
}

TEST(LinesIndexTest, ALineOutsideOfTheIndexIsReadAlone) {
  std::string text = Records()[0] + "\n";
  const size_t size = text.size();
  text.append(kJsonPadding, '\0');
  JsonIndex index;
  ASSERT_TRUE(index.Build(std::string_view(text).substr(0, size)));
  std::string other = Records()[1];
  const size_t length = other.size();
  other.append(kJsonPadding, '\0');
  RecordReader reader;
  Record record;
  ASSERT_TRUE(reader.ReadLine(std::string_view(other).substr(0, length), &record, &index));
  EXPECT_EQ(record.op, Op::kDelete);
}

}  // namespace
}  // namespace driftless::debezium
