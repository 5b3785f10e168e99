#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/runtime/items.h"

namespace driftless {

using ParkedItem = std::variant<BatchItem, SchemaItem>;

// A file of parked items. Layout, little-endian:
//   "DRIFTSEG" u32 version (1)
//   records:  u32 length of the payload, u32 CRC-32 of kind and payload, u8 kind, payload
//     kind 1  a table schema as JSON; records behind it name it by its number, from 0
//     kind 2  a batch: u32 schema number, ChangeBatchImage
//     kind 3  a schema change: i64 seen_ms, u32 length, position text, StatementChangeImage
// Written and read front to back. What lies behind the recorded length is cut off at a start, since
// nothing but a crash can have left it.
class SegmentWriter {
 public:
  // Errors: kResourceExhausted (disk full), kPermission.
  static Result<SegmentWriter> Create(const std::string& path);
  SegmentWriter(SegmentWriter&& other) noexcept;
  SegmentWriter& operator=(SegmentWriter&& other) noexcept;
  ~SegmentWriter();

  Result<void> Append(const ParkedItem& item);
  Result<void> Flush();  // readers see everything appended
  Result<void> Sync();   // everything appended is durable when it returns
  int64_t bytes() const { return bytes_; }

 private:
  SegmentWriter(int file, std::string path) : file_(file), path_(std::move(path)) {}
  void AddRecord(uint8_t kind, std::string_view payload);

  int file_ = -1;
  std::string path_;
  std::string buffer_;
  int64_t bytes_ = 0;
  // By identity: a schema that comes again under another pointer is only written once more.
  std::map<const TableSchema*, std::pair<uint32_t, TableSchemaPtr>> schemas_;
};

class SegmentReader {
 public:
  // Reads up to `bytes`. Errors: kNotFound, kCorrupt.
  static Result<SegmentReader> Open(const std::string& path, int64_t bytes);
  SegmentReader(SegmentReader&& other) noexcept;
  SegmentReader& operator=(SegmentReader&& other) noexcept;
  ~SegmentReader();

  // More may be read: the writer has appended and synced.
  void ExtendTo(int64_t bytes) { end_ = bytes; }
  bool AtEnd() const { return at_ >= end_; }
  // The next item; CHECKs !AtEnd(). Errors: kCorrupt, with file and offset.
  Result<ParkedItem> Next();

 private:
  SegmentReader(int file, std::string path, int64_t end)
      : file_(file), path_(std::move(path)), end_(end) {}
  Result<std::string> ReadExactly(size_t size);
  Error Damaged(std::string what) const;

  int file_ = -1;
  std::string path_;
  int64_t end_ = 0;
  int64_t at_ = 0;
  std::vector<TableSchemaPtr> schemas_;
};

}  // namespace driftless
