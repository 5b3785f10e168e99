#include "sinks/lake/object_stream.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <arrow/buffer.h>

#include <algorithm>
#include <cstring>

namespace driftless::lake {
namespace {

constexpr size_t kFlushBytes = 256 << 10;

::arrow::Status ToStatus(const Error& error) { return ::arrow::Status::IOError(error.ToString()); }

class ObjectOutputStream : public ::arrow::io::OutputStream {
 public:
  ObjectOutputStream(ObjectWriter* target, StreamFailure* failure)
      : target_(target), failure_(failure) {}
  ::arrow::Status Close() override;
  bool closed() const override { return closed_; }
  ::arrow::Result<int64_t> Tell() const override {
    return target_->size() + static_cast<int64_t>(buffer_.size());
  }
  ::arrow::Status Write(const void* data, int64_t bytes) override;
  using OutputStream::Write;
  ::arrow::Status Flush() override;

 private:
  ::arrow::Status Append(std::string_view piece);

  ObjectWriter* target_;
  StreamFailure* failure_;
  std::string buffer_;  // many small writes of a Parquet footer and of page headers become one
  bool closed_ = false;
};

class ObjectInputFile : public ::arrow::io::RandomAccessFile {
 public:
  ObjectInputFile(std::shared_ptr<ObjectStore> store, std::string path, int64_t size)
      : store_(std::move(store)), path_(std::move(path)), size_(size) {}
  ::arrow::Status Close() override;
  bool closed() const override { return closed_; }
  ::arrow::Result<int64_t> Tell() const override { return position_; }
  ::arrow::Status Seek(int64_t position) override;
  ::arrow::Result<int64_t> GetSize() override { return size_; }
  ::arrow::Result<int64_t> ReadAt(int64_t position, int64_t bytes, void* out) override;
  ::arrow::Result<std::shared_ptr<::arrow::Buffer>> ReadAt(int64_t position,
                                                           int64_t bytes) override;
  ::arrow::Result<int64_t> Read(int64_t bytes, void* out) override;
  ::arrow::Result<std::shared_ptr<::arrow::Buffer>> Read(int64_t bytes) override;

 private:
  std::shared_ptr<ObjectStore> store_;
  std::string path_;
  int64_t size_;
  int64_t position_ = 0;
  bool closed_ = false;
};

::arrow::Status ObjectOutputStream::Append(std::string_view piece) {
  auto result = target_->Append(piece);
  if (result) return ::arrow::Status::OK();
  failure_->error = result.error();
  return ToStatus(result.error());
}

::arrow::Status ObjectOutputStream::Flush() {
  if (buffer_.empty()) return ::arrow::Status::OK();
  const ::arrow::Status appended = Append(buffer_);
  buffer_.clear();
  return appended;
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
  return Append(piece);
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

}  // namespace

std::shared_ptr<::arrow::io::OutputStream> MakeObjectOutputStream(ObjectWriter* target,
                                                                  StreamFailure* failure) {
  return std::make_shared<ObjectOutputStream>(target, failure);
}

std::shared_ptr<::arrow::io::RandomAccessFile> MakeObjectInputFile(
    std::shared_ptr<ObjectStore> store, std::string path, int64_t size) {
  return std::make_shared<ObjectInputFile>(std::move(store), std::move(path), size);
}

}  // namespace driftless::lake
