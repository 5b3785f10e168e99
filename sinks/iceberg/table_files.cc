#include "sinks/iceberg/table_files.h"

#include <utility>

namespace driftless::iceberg {

std::string NormalUri(std::string_view uri) {
  std::string text(uri);
  if (text.starts_with("/")) {
    text = "file://" + text;
  } else if (text.starts_with("file:/") && !text.starts_with("file://")) {
    text = "file://" + text.substr(5);
  } else if (text.starts_with("s3a://") || text.starts_with("s3n://")) {
    text = "s3" + text.substr(3);
  }
  while (text.ends_with('/')) text.pop_back();
  return text;
}

TableFiles::TableFiles(std::shared_ptr<ObjectStore> store)
    : store_(std::move(store)), root_(NormalUri(store_->root())) {}

Result<std::string> TableFiles::Path(std::string_view uri) const {
  std::string normal = NormalUri(uri);
  if (!normal.starts_with(root_) || normal.size() <= root_.size() + 1 ||
      normal[root_.size()] != '/') {
    return MakeError(ErrorKind::kUnsupported,
                     "file " + std::string(uri) + " lies outside of " + root_);
  }
  return normal.substr(root_.size() + 1);
}

Result<std::string> TableFiles::Read(std::string_view uri) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, Path(uri));
  return store_->Read(path);
}

Result<void> TableFiles::Delete(std::string_view uri) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, Path(uri));
  return store_->Delete(path);
}

}  // namespace driftless::iceberg
