#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sinks/clients/objectstore/object_store.h"

namespace arrow::io {
class OutputStream;
class RandomAccessFile;
}  // namespace arrow::io

// Arrow's stream interfaces over our object stores.
namespace driftless::lake {

// What the store said when a write failed: Arrow's status keeps only its text.
struct StreamFailure {
  std::optional<Error> error;
};

// Appends to an object; small writes are collected. Flush before the object is finished. Not
// thread-safe; `target` and `failure` outlive it.
std::shared_ptr<::arrow::io::OutputStream> MakeObjectOutputStream(ObjectWriter* target,
                                                                  StreamFailure* failure);

// Reads ranges of an object of `size` bytes. Safe for the concurrent reads that Arrow promises.
std::shared_ptr<::arrow::io::RandomAccessFile> MakeObjectInputFile(
    std::shared_ptr<ObjectStore> store, std::string path, int64_t size);

}  // namespace driftless::lake
