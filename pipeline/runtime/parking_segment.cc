#include "pipeline/runtime/parking_segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "schema/base/check.h"
#include "schema/events/change_batch_image.h"
#include "schema/events/statement_change_image.h"
#include "schema/history/history.h"

namespace driftless {
namespace {

constexpr std::string_view kMagic{"DRIFTSEG\1\0\0\0", 12};
constexpr uint8_t kSchemaRecord = 1;
constexpr uint8_t kBatchRecord = 2;
constexpr uint8_t kStatementRecord = 3;
constexpr size_t kRecordHeader = 9;
constexpr size_t kBufferBytes = 1 << 20;

template <typename T>
void Put(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T Get(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint32_t Checksum(uint8_t kind, std::string_view payload) {
  uLong sum = crc32(0, &kind, 1);
  sum =
      crc32(sum, reinterpret_cast<const Bytef*>(payload.data()), static_cast<uInt>(payload.size()));
  return static_cast<uint32_t>(sum);
}

Error FileError(const std::string& doing, const std::string& path) {
  const ErrorKind kind = errno == ENOSPC || errno == EDQUOT || errno == EIO
                             ? ErrorKind::kResourceExhausted
                         : errno == ENOENT ? ErrorKind::kNotFound
                                           : ErrorKind::kPermission;
  Error error = MakeError(kind, fmt::format("cannot {} {}: {}", doing, path, std::strerror(errno)));
  if (kind == ErrorKind::kResourceExhausted) {
    error = std::move(error).Hint("Make room on the disk of the state folder, then restart.");
  }
  return error;
}

}  // namespace

// ---- writing ---------------------------------------------------------------------------------

Result<SegmentWriter> SegmentWriter::Create(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return FileError("create", path);
  SegmentWriter writer(file, path);
  // The name must survive a crash as the bytes do.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    fsync(directory);
    close(directory);
  }
  writer.buffer_ = kMagic;
  writer.bytes_ = static_cast<int64_t>(kMagic.size());
  return writer;
}

SegmentWriter::SegmentWriter(SegmentWriter&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      bytes_(other.bytes_),
      schemas_(std::move(other.schemas_)) {}

SegmentWriter& SegmentWriter::operator=(SegmentWriter&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(path_, other.path_);
  std::swap(buffer_, other.buffer_);
  std::swap(bytes_, other.bytes_);
  std::swap(schemas_, other.schemas_);
  return *this;
}

SegmentWriter::~SegmentWriter() {
  if (file_ >= 0) close(file_);
}

void SegmentWriter::AddRecord(uint8_t kind, std::string_view payload) {
  Put<uint32_t>(static_cast<uint32_t>(payload.size()), &buffer_);
  Put<uint32_t>(Checksum(kind, payload), &buffer_);
  buffer_.push_back(static_cast<char>(kind));
  buffer_ += payload;
  bytes_ += static_cast<int64_t>(kRecordHeader + payload.size());
}

Result<void> SegmentWriter::Append(const ParkedItem& item) {
  std::string payload;
  if (const auto* batch = std::get_if<BatchItem>(&item)) {
    const TableSchemaPtr& schema = batch->batch->schema();
    const auto [it, is_new] =
        schemas_.try_emplace(schema.get(), static_cast<uint32_t>(schemas_.size()), schema);
    if (is_new) AddRecord(kSchemaRecord, Serialize(*schema));
    Put<uint32_t>(it->second.first, &payload);
    ChangeBatchImage::Append(*batch->batch, &payload);
    AddRecord(kBatchRecord, payload);
  } else {
    const auto& change = std::get<SchemaItem>(item);
    Put<int64_t>(change.seen_ms, &payload);
    Put<uint32_t>(static_cast<uint32_t>(change.position.size()), &payload);
    payload += change.position;
    payload += StatementChangeImage(*change.change);
    AddRecord(kStatementRecord, payload);
  }
  if (buffer_.size() >= kBufferBytes) return Flush();
  return {};
}

Result<void> SegmentWriter::Flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("write", path_);
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
  return {};
}

Result<void> SegmentWriter::Sync() {
  DRIFTLESS_TRY(Flush());
  if (fdatasync(file_) != 0) return FileError("sync", path_);
  return {};
}

// ---- reading ---------------------------------------------------------------------------------

Result<SegmentReader> SegmentReader::Open(const std::string& path, int64_t bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return FileError("open", path);
  SegmentReader reader(file, path, bytes);
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string magic, reader.ReadExactly(kMagic.size()));
  if (magic != kMagic) return reader.Damaged("is no file of parked items");
  return reader;
}

SegmentReader::SegmentReader(SegmentReader&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      path_(std::move(other.path_)),
      end_(other.end_),
      at_(other.at_),
      schemas_(std::move(other.schemas_)) {}

SegmentReader& SegmentReader::operator=(SegmentReader&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(path_, other.path_);
  std::swap(end_, other.end_);
  std::swap(at_, other.at_);
  std::swap(schemas_, other.schemas_);
  return *this;
}

SegmentReader::~SegmentReader() {
  if (file_ >= 0) close(file_);
}

Error SegmentReader::Damaged(std::string what) const {
  return MakeError(ErrorKind::kCorrupt, fmt::format("{} {} (byte {})", path_, what, at_))
      .Hint(
          "Restore the state folder; the rows that were parked there are not lost at the source "
          "while it keeps its log.");
}

Result<std::string> SegmentReader::ReadExactly(size_t size) {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(file_, bytes.data() + done, size - done,
                              static_cast<off_t>(at_) + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("read", path_);
    if (got == 0) return Damaged("ends too early");
    done += static_cast<size_t>(got);
  }
  at_ += static_cast<int64_t>(size);
  return bytes;
}

Result<ParkedItem> SegmentReader::Next() {
  while (true) {
    DRIFTLESS_CHECK(!AtEnd());
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string header, ReadExactly(kRecordHeader));
    const auto length = Get<uint32_t>(header.data());
    const auto kind = static_cast<uint8_t>(header[8]);
    if (static_cast<int64_t>(length) > end_ - at_) return Damaged("has a record that is too long");
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string payload, ReadExactly(length));
    if (Checksum(kind, payload) != Get<uint32_t>(header.data() + 4)) {
      return Damaged("has a record with a wrong checksum");
    }
    const std::string_view bytes = payload;
    if (kind == kSchemaRecord) {
      DRIFTLESS_ASSIGN_OR_RETURN(TableSchema schema, ParseTableSchema(bytes));
      schemas_.push_back(std::make_shared<const TableSchema>(std::move(schema)));
      continue;
    }
    if (kind == kBatchRecord && length >= 4) {
      const auto number = Get<uint32_t>(bytes.data());
      if (number >= schemas_.size()) return Damaged("names a schema that is not there");
      DRIFTLESS_ASSIGN_OR_RETURN(ChangeBatchPtr batch,
                                 ChangeBatchImage::Parse(bytes.substr(4), schemas_[number]));
      return ParkedItem(BatchItem{std::move(batch)});
    }
    if (kind == kStatementRecord && length >= 12) {
      const auto size = Get<uint32_t>(bytes.data() + 8);
      if (size > length - 12) return Damaged("has a bad record");
      SchemaItem item;
      item.seen_ms = Get<int64_t>(bytes.data());
      item.position = bytes.substr(12, size);
      DRIFTLESS_ASSIGN_OR_RETURN(StatementChange change,
                                 ParseStatementChangeImage(bytes.substr(12 + size)));
      item.change = std::make_shared<const StatementChange>(std::move(change));
      return ParkedItem(std::move(item));
    }
    return Damaged("has a record of an unknown kind");
  }
}

}  // namespace driftless
