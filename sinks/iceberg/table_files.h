#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sinks/clients/objectstore/object_store.h"

namespace driftless::iceberg {

// The files of a table: metadata names them by URI, the store by path.
class TableFiles {
 public:
  TableFiles() = default;
  explicit TableFiles(std::shared_ptr<ObjectStore> store);

  ObjectStore* store() const { return store_.get(); }
  const std::shared_ptr<ObjectStore>& shared_store() const { return store_; }
  std::string Uri(std::string_view path) const { return root_ + "/" + std::string(path); }
  // Errors: kUnsupported for a file that lies outside the store.
  Result<std::string> Path(std::string_view uri) const;
  Result<std::string> Read(std::string_view uri) const;
  // A success where there is nothing.
  Result<void> Delete(std::string_view uri) const;

 private:
  std::shared_ptr<ObjectStore> store_;
  std::string root_;  // "file:///warehouse", "s3://bucket/prefix"
};

// One spelling for each place: "file:/x", "file:///x" and "/x" become "file:///x", s3a and s3n s3.
std::string NormalUri(std::string_view uri);

}  // namespace driftless::iceberg
