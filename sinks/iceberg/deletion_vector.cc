#include "sinks/iceberg/deletion_vector.h"

#include <zlib.h>
#include <roaring/roaring64map.hh>

#include <algorithm>
#include <utility>

#include "schema/base/json_writer.h"

namespace driftless::iceberg {
namespace {

constexpr std::string_view kVectorMagic = "\xD1\xD3\x39\x64";
constexpr std::string_view kPuffinMagic = "PFA1";
constexpr int32_t kRowPositionId = 2147483645;

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

void AppendBigEndian(uint32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) *out += static_cast<char>(value >> shift);
}
void AppendLittleEndian(uint32_t value, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) *out += static_cast<char>(value >> shift);
}
uint32_t BigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

Error Bad(const std::string& what) {
  return MakeError(ErrorKind::kCorrupt, "a deletion vector " + what);
}

}  // namespace

Result<std::vector<int64_t>> DecodeDeletionVector(std::string_view blob) {
  if (blob.size() < 12) return Bad("is too short");
  const std::string_view vector = blob.substr(4, blob.size() - 8);
  if (BigEndian(blob) != vector.size()) return Bad("has another length than it says");
  if (!vector.starts_with(kVectorMagic)) return Bad("has a wrong magic number");
  if (BigEndian(blob.substr(blob.size() - 4)) != Crc(vector)) return Bad("has a wrong checksum");
  try {
    const std::string bitmap(vector.substr(kVectorMagic.size()));  // the library wants it aligned
    const auto rows = Roaring64Map::readSafe(bitmap.data(), bitmap.size());
    std::vector<uint64_t> positions(rows.cardinality());
    rows.toUint64Array(positions.data());
    return std::vector<int64_t>(positions.begin(), positions.end());
  } catch (const std::exception& e) {
    return Bad(std::string("cannot be read: ") + e.what());
  }
}

std::string EncodeDeletionVector(std::span<const int64_t> positions) {
  Roaring64Map rows;
  for (const int64_t position : positions) rows.add(static_cast<uint64_t>(position));
  rows.runOptimize();
  // The library stores whole words: it wants an aligned beginning.
  std::string bitmap(rows.getSizeInBytes(), '\0');
  rows.write(bitmap.data());
  std::string vector(kVectorMagic);
  vector += bitmap;
  std::string blob;
  AppendBigEndian(static_cast<uint32_t>(vector.size()), &blob);
  blob += vector;
  AppendBigEndian(Crc(vector), &blob);
  return blob;
}

std::string EncodeDeletionVectors(std::span<const DeletedRows> deleted,
                                  std::vector<DataFile>* entries) {
  std::string file(kPuffinMagic);
  std::string footer;
  JsonWriter json(&footer);
  json.BeginObject().Key("blobs").BeginArray();
  for (const DeletedRows& rows : deleted) {
    const std::string blob = EncodeDeletionVector(rows.positions);
    DataFile entry;
    entry.content = FileContent::kPositionDeletes;
    entry.format = "PUFFIN";
    entry.record_count = static_cast<int64_t>(rows.positions.size());
    entry.referenced_data_file = rows.path;
    entry.content_offset = static_cast<int64_t>(file.size());
    entry.content_size = static_cast<int64_t>(blob.size());
    json.BeginObject().Key("type").String("deletion-vector-v1").Key("fields").BeginArray();
    json.Int(kRowPositionId).EndArray().Key("snapshot-id").Int(-1).Key("sequence-number").Int(-1);
    json.Key("offset").Int(file.size()).Key("length").Int(blob.size());
    json.Key("properties").BeginObject().Key("referenced-data-file").String(rows.path);
    json.Key("cardinality").String(std::to_string(entry.record_count)).EndObject().EndObject();
    entries->push_back(std::move(entry));
    file += blob;
  }
  json.EndArray().Key("properties").BeginObject().Key("created-by").String("driftless");
  json.EndObject().EndObject();
  file += kPuffinMagic;
  file += footer;
  AppendLittleEndian(static_cast<uint32_t>(footer.size()), &file);
  AppendLittleEndian(0, &file);  // flags: the footer is not compressed
  file += kPuffinMagic;
  for (DataFile& entry : *entries) entry.size = static_cast<int64_t>(file.size());
  return file;
}

Result<std::vector<DataFile>> WriteDeletionVectors(const FilePlace& place,
                                                   std::vector<DeletedRows> deleted,
                                                   const PartitionTuple& partition) {
  for (DeletedRows& rows : deleted) {
    std::ranges::sort(rows.positions);
    const auto twice = std::ranges::unique(rows.positions);
    rows.positions.erase(twice.begin(), twice.end());
  }
  std::vector<DataFile> entries;
  const std::string bytes = EncodeDeletionVectors(deleted, &entries);
  const std::string path = place.directory + "/" + place.names->Next("deletes", ".puffin");
  DRIFTLESS_TRY(place.files->store()->Put(path, bytes));
  for (DataFile& entry : entries) {
    entry.path = place.files->Uri(path);
    entry.partition = partition;
  }
  return entries;
}

}  // namespace driftless::iceberg
