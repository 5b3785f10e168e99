#include "sinks/lake/object_stream.h"

#include <arrow/buffer.h>

#include <algorithm>
#include <cstring>

namespace driftless::lake {
namespace {

constexpr size_t kFlushBytes = 256 << 10;

::arrow::Status ToStatus(const Error& error) { return ::arrow::Status::IOError(error.ToString()); }

}  // namespace

::arrow::Status ObjectOutputStream::Flush() {
  if (buffer_.empty()) return ::arrow::Status::OK();
  auto result = target_->Append(buffer_);
  buffer_.clear();
  if (!result) {
    error_ = result.error();
    return ToStatus(result.error());
  }
  return ::arrow::Status::OK();
}

::arrow::Status ObjectOutputStream::Close() {
  if (closed_) return ::arrow::Status::OK();
  closed_ = true;
  return Flush();
}

::arrow::Status ObjectOutputStream::Write(const void* data, int64_t bytes) {
  const std::string_view piece(static_cast<const char*>(data), static_cast<size_t>(bytes));
  if (buffer_.size() + piece.size() < kFlushBytes) {
    buffer_ += piece;
    return ::arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(Flush());
  if (piece.size() < kFlushBytes) {
    buffer_ += piece;
    return ::arrow::Status::OK();
  }
  auto result = target_->Append(piece);
  if (!result) {
    error_ = result.error();
    return ToStatus(result.error());
  }
  return ::arrow::Status::OK();
}

::arrow::Status ObjectInputFile::Close() {
  closed_ = true;
  return ::arrow::Status::OK();
}

::arrow::Status ObjectInputFile::Seek(int64_t position) {
  position_ = position;
  return ::arrow::Status::OK();
}

::arrow::Result<std::shared_ptr<::arrow::Buffer>> ObjectInputFile::ReadAt(int64_t position,
                                                                          int64_t bytes) {
  if (position < 0 || position > size_) {
    return ::arrow::Status::IOError("read beyond the end of ", path_);
  }
  bytes = std::min(bytes, size_ - position);
  if (bytes == 0) return ::arrow::Buffer::FromString({});
  auto read = store_->ReadRange(path_, position, bytes);
  if (!read) return ToStatus(read.error());
  return ::arrow::Buffer::FromString(std::move(*read));
}

::arrow::Result<int64_t> ObjectInputFile::ReadAt(int64_t position, int64_t bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const auto buffer, ReadAt(position, bytes));
  if (buffer->size() > 0) {
    std::memcpy(out, buffer->data(), static_cast<size_t>(buffer->size()));
  }
  return buffer->size();
}

::arrow::Result<std::shared_ptr<::arrow::Buffer>> ObjectInputFile::Read(int64_t bytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, bytes));
  position_ += buffer->size();
  return buffer;
}

::arrow::Result<int64_t> ObjectInputFile::Read(int64_t bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position_, bytes, out));
  position_ += read;
  return read;
}

}  // namespace driftless::lake
