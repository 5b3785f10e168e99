#include "sinks/formats/avro/avro.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace driftless::avro {
namespace {

constexpr std::string_view kSchema = R"({"type":"record","name":"r","namespace":"a.b","fields":[
  {"name":"n","type":"int","field-id":7},
  {"name":"l","type":["null","long"],"default":null},
  {"name":"s","type":"string"},
  {"name":"d","type":"double"},{"name":"f","type":"float"},{"name":"b","type":"boolean"},
  {"name":"x","type":{"type":"fixed","name":"six","size":6}},
  {"name":"e","type":{"type":"enum","name":"en","symbols":["A","B"]}},
  {"name":"a","type":{"type":"array","items":["null","long"],"element-id":9}},
  {"name":"m","type":{"type":"map","values":"bytes"}},
  {"name":"again","type":"six"}]})";

void WriteRecord(int i, Encoder* out) {
  out->Int(-i);
  out->Union(i % 2);
  if (i % 2 == 1) out->Long(int64_t{1} << (i % 63));
  out->String(std::string(static_cast<size_t>(i % 90), 'x'));
  out->Double(i / 3.0);
  out->Float(1.5F);
  out->Boolean(i % 3 == 0);
  out->Fixed("abcdef");
  out->Int(1);
  out->BeginItems(2);
  out->Union(0);
  out->Union(1);
  out->Long(INT64_MIN);
  out->EndItems();
  out->BeginItems(1);
  out->String("k");
  out->Bytes(std::string_view("\0v", 2));
  out->EndItems();
  out->Fixed("ghijkl");
}

std::string MakeFile(Codec codec, int records) {
  FileWriter writer(kSchema, codec, {{"more", "metadata"}}, "0123456789abcdef");
  for (int i = 0; i < records; ++i) {
    WriteRecord(i, &writer.encoder());
    EXPECT_TRUE(writer.EndRecord());
  }
  return *writer.Finish();
}

Result<int> ReadAll(std::string_view bytes) {
  DRIFTLESS_ASSIGN_OR_RETURN(FileReader reader, FileReader::Open(bytes));
  Datum datum;
  for (int i = 0;; ++i) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, reader.Next(&datum));
    if (!more) return i;
  }
}

TEST(AvroTest, FilesComeBackInEveryCodec) {
  for (const Codec codec : {Codec::kNull, Codec::kDeflate, Codec::kZstandard}) {
    const std::string file = MakeFile(codec, 3000);  // several blocks
    Result<FileReader> reader = FileReader::Open(file);
    ASSERT_TRUE(reader) << reader.error().ToString();
    EXPECT_EQ(reader->metadata().at("more"), "metadata");
    EXPECT_EQ(reader->schema().name, "a.b.r");
    EXPECT_EQ(reader->schema().IndexOfId(7), 0);
    EXPECT_EQ(reader->schema().fields[8].type->element_id, 9);
    Datum datum;
    for (int i = 0; i < 3000; ++i) {
      ASSERT_TRUE(*reader->Next(&datum));
      EXPECT_EQ(datum.children[0].number, -i);
      EXPECT_EQ(datum.children[1].is_null(), i % 2 == 0);
      if (i % 2 == 1) {
        EXPECT_EQ(datum.children[1].number, int64_t{1} << (i % 63));
      }
      EXPECT_EQ(datum.children[2].text, std::string(static_cast<size_t>(i % 90), 'x'));
      EXPECT_EQ(datum.children[3].real, i / 3.0);
      EXPECT_EQ(datum.children[4].real, 1.5);
      EXPECT_EQ(datum.children[5].number, i % 3 == 0);
      EXPECT_EQ(datum.children[6].text, "abcdef");
      EXPECT_EQ(datum.children[7].number, 1);
      ASSERT_EQ(datum.children[8].children.size(), 2U);
      EXPECT_TRUE(datum.children[8].children[0].is_null());
      EXPECT_EQ(datum.children[8].children[1].number, INT64_MIN);
      EXPECT_EQ(datum.children[9].children[1].text, std::string_view("\0v", 2));
      EXPECT_EQ(datum.children[10].text, "ghijkl");
    }
    EXPECT_FALSE(*reader->Next(&datum));
  }
}

TEST(AvroTest, AnEmptyFileHasNoRecords) { EXPECT_EQ(*ReadAll(MakeFile(Codec::kZstandard, 0)), 0); }

TEST(AvroTest, EveryTruncationIsAnError) {
  const std::string file = MakeFile(Codec::kNull, 5);
  const size_t header = file.find("0123456789abcdef") + 16;
  for (size_t size = 0; size < file.size(); ++size) {
    const Result<int> read = ReadAll(std::string_view(file).substr(0, size));
    if (size == header) {
      EXPECT_EQ(*read, 0);  // a file may end behind its header
      continue;
    }
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt);
  }
}

TEST(AvroTest, DamagedFilesNeverCrash) {
  std::mt19937 random(7);
  for (const Codec codec : {Codec::kNull, Codec::kDeflate, Codec::kZstandard}) {
    const std::string file = MakeFile(codec, 40);
    for (int round = 0; round < 4000; ++round) {
      std::string damaged = file;
      for (int i = 0; i < 1 + round % 4; ++i) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      (void)ReadAll(damaged);
    }
  }
}

TEST(AvroTest, BadSchemasAreRefused) {
  for (const std::string_view json :
       {"", "{", "7", "\"nothing\"", "[]", R"(["null",["int"]])", R"({"type":"array"})",
        R"({"type":"record","name":"r"})", R"({"type":"record","fields":[]})",
        R"({"type":"record","name":"r","fields":[{"name":"x","type":"r"}]})",
        R"({"type":"record","name":"r","fields":[{"name":"x"}]})",
        R"({"type":"fixed","name":"f","size":-1})", R"({"type":"enum","name":"f"})"}) {
    const Result<SchemaPtr> schema = ParseSchema(json);
    ASSERT_FALSE(schema) << json;
    EXPECT_EQ(schema.error().kind(), ErrorKind::kCorrupt);
  }
  std::string deep = "\"int\"";
  for (int i = 0; i < 100; ++i) deep = R"({"type":"array","items":)" + deep + "}";
  EXPECT_FALSE(ParseSchema(deep));
}

// Types that name each other twice grow exponentially while the text stays small.
TEST(AvroTest, SchemasThatExplodeAreRefused) {
  std::string fields = R"({"name":"t0","type":{"type":"record","name":"r0","fields":[]}})";
  for (int i = 1; i < 40; ++i) {
    const std::string below = "\"r" + std::to_string(i - 1) + "\"";
    fields += R"(,{"name":"t)" + std::to_string(i) + R"(","type":{"type":"record","name":"r)" +
              std::to_string(i) + R"(","fields":[{"name":"a","type":)" + below +
              R"(},{"name":"b","type":)" + below + "}]}}";
  }
  EXPECT_FALSE(ParseSchema(R"({"type":"record","name":"top","fields":[)" + fields + "]}"));
}

TEST(AvroTest, NegativeItemCountsCarryTheirBytes) {
  // Avro allows a block of items as (-count, bytes, items); Java's writers use it.
  std::string file = MakeFile(Codec::kNull, 0);
  std::string record;
  Encoder out(&record);
  FileWriter writer(R"({"type":"array","items":"long"})", Codec::kNull, {}, "0123456789abcdef");
  writer.encoder().Long(-2);
  writer.encoder().Long(2);
  writer.encoder().Long(5);
  writer.encoder().Long(6);
  writer.encoder().EndItems();
  ASSERT_TRUE(writer.EndRecord());
  const std::string bytes = *writer.Finish();
  Result<FileReader> reader = FileReader::Open(bytes);
  Datum datum;
  ASSERT_TRUE(*reader->Next(&datum));
  ASSERT_EQ(datum.children.size(), 2U);
  EXPECT_EQ(datum.children[1].number, 6);
}

TEST(AvroTest, UnknownCodecsSaySo) {
  std::string file = MakeFile(Codec::kNull, 1);
  file.replace(file.find("null", file.find("avro.codec")), 4, "lzma");
  const Result<int> read = ReadAll(file);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace driftless::avro
