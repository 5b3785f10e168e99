#pragma once

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <memory>
#include <optional>
#include <string>

#include "sinks/clients/objectstore/object_store.h"

// Arrow's stream interfaces over our object stores. Included by .cc files only.
namespace driftless::lake {

// Appends to an object. Not thread-safe.
class ObjectOutputStream : public ::arrow::io::OutputStream {
 public:
  explicit ObjectOutputStream(ObjectWriter* target) : target_(target) {}
  ::arrow::Status Close() override;
  bool closed() const override { return closed_; }
  ::arrow::Result<int64_t> Tell() const override { return target_->size() + Buffered(); }
  ::arrow::Status Write(const void* data, int64_t bytes) override;
  using OutputStream::Write;
  ::arrow::Status Flush() override;
  // What the store said, when a write failed.
  const std::optional<Error>& error() const { return error_; }

 private:
  int64_t Buffered() const { return static_cast<int64_t>(buffer_.size()); }

  ObjectWriter* target_;
  std::string buffer_;  // many small writes of a Parquet footer and of page headers become one
  bool closed_ = false;
  std::optional<Error> error_;
};

// Reads ranges of an object. Safe for the concurrent reads that Arrow promises its users.
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

}  // namespace driftless::lake
