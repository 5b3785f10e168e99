#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

// Apache Avro object container files ("Apache Avro Specification 1.12", sections "Data
// Serialization and Deserialization" and "Object Container Files"): what the metadata of Paimon and
// Iceberg is stored in. The writer keeps the schema text as it is given, so that field-id,
// element-id, logicalType and default reach the file.
namespace driftless::avro {

enum class Kind : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kRecord,
  kEnum,
  kArray,
  kMap,
  kUnion,
  kFixed
};

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

struct Field {
  std::string name;
  int32_t field_id = -1;  // Iceberg's property "field-id"
  SchemaPtr type;
};

// A parsed schema. References to named types are resolved; a type that contains itself is refused.
struct Schema {
  Kind kind = Kind::kNull;
  std::string name;  // kRecord, kEnum, kFixed: full name
  std::string logical_type;
  std::vector<Field> fields;         // kRecord
  std::vector<std::string> symbols;  // kEnum
  std::vector<SchemaPtr> children;   // kArray: item; kMap: value; kUnion: branches
  int32_t element_id = -1;           // "element-id"; kMap: "value-id"
  int64_t size = 0;                  // kFixed: bytes
  int64_t min_bytes = 0;             // fewest bytes that a value takes
  int64_t nodes = 1;                 // of the type written out in full

  int IndexOf(std::string_view field) const;  // kRecord: -1 where there is no such field
  int IndexOfId(int32_t field_id) const;
};

// Errors: kCorrupt.
Result<SchemaPtr> ParseSchema(std::string_view json);

// One decoded value. A union shows its branch's value. Texts and bytes point into the reader's
// block.
struct Datum {
  const Schema* schema = nullptr;  // never a union
  int64_t number = 0;              // boolean, int, long, enum (index)
  double real = 0;                 // float, double
  std::string_view text;           // bytes, string, fixed
  std::vector<Datum> children;     // record: by field; array: items; map: key and value by turns

  bool is_null() const { return schema == nullptr || schema->kind == Kind::kNull; }
};

enum class Codec : uint8_t { kNull, kDeflate, kZstandard };
// Paimon's and Iceberg's option texts: "none", "null", "deflate", "gzip", "zlib", "zstd",
// "zstandard". Errors: kUnsupported.
Result<Codec> ParseCodec(std::string_view text);

// Binary encoding of single values, appended to `out`.
class Encoder {
 public:
  explicit Encoder(std::string* out) : out_(out) {}
  void Null() {}
  void Boolean(bool value) { out_->push_back(value ? '\1' : '\0'); }
  void Int(int32_t value) { Long(value); }
  void Long(int64_t value);
  void Float(float value);
  void Double(double value);
  void Bytes(std::string_view value);
  void String(std::string_view value) { Bytes(value); }
  void Fixed(std::string_view value) { out_->append(value); }
  void Union(int64_t branch) { Long(branch); }
  // Arrays and maps: the items follow; an empty one is the end marker alone.
  void BeginItems(size_t count) {
    if (count > 0) Long(static_cast<int64_t>(count));
  }
  void EndItems() { out_->push_back('\0'); }

 private:
  std::string* out_;
};

using Metadata = std::map<std::string, std::string>;

// Writes one container file into memory. Every record is checked against the schema (CHECK): a
// malformed one would make a table unreadable.
class FileWriter {
 public:
  // `schema_json` must parse (CHECK). `metadata`: further header entries. `sync`: the marker
  // between blocks; random where it is empty.
  FileWriter(std::string_view schema_json, Codec codec, const Metadata& metadata = {},
             std::string_view sync = {});

  // Append one record's encoding here, then call EndRecord.
  Encoder& encoder() { return encoder_; }
  Result<void> EndRecord();
  Result<std::string> Finish();
  // Bytes so far; the open block counts unpacked.
  size_t size() const { return file_.size() + block_.size(); }

 private:
  Result<void> FlushBlock();

  SchemaPtr schema_;
  Codec codec_;
  std::string sync_;
  std::string file_;
  std::string block_;
  size_t checked_ = 0;  // bytes of block_ that hold whole records
  int64_t records_ = 0;
  Encoder encoder_{&block_};
};

// Reads one container file. Proof against any input: errors are kCorrupt (kUnsupported for a codec
// that is not built in), memory is bounded by the file's size and a limit per block.
class FileReader {
 public:
  static Result<FileReader> Open(std::string_view bytes);  // `bytes` outlive the reader

  const Schema& schema() const { return *schema_; }
  const Metadata& metadata() const { return metadata_; }
  // The next record; false at the end. The datum's texts are valid until the next call.
  Result<bool> Next(Datum* record);

 private:
  Result<bool> NextBlock();

  std::string_view rest_;
  SchemaPtr schema_;
  Metadata metadata_;
  Codec codec_ = Codec::kNull;
  std::string sync_;
  std::unique_ptr<std::string> block_ = std::make_unique<std::string>();
  std::string_view block_rest_;  // of *block_
  int64_t records_left_ = 0;
};

}  // namespace driftless::avro
