#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "schema/base/clock.h"
#include "sinks/clients/objectstore/s3_signature.h"
#include "sinks/iceberg/table_files.h"

namespace driftless::iceberg {

using FileProperties = std::map<std::string, std::string>;

// The keys of a table's files as its catalog vends them: they expire, and are asked for again
// before they do and when the store refuses them. Thread-safe.
class VendedKeys : public S3KeySource {
 public:
  // Gives the table's configuration anew.
  using Ask = std::function<Result<FileProperties>()>;
  VendedKeys(Ask ask, const Clock* clock) : ask_(std::move(ask)), clock_(clock) {}

  // Takes the keys of a configuration (s3.access-key-id and so on); false: it has none.
  bool Take(const FileProperties& config);
  Result<S3Credentials> Keys(const S3Credentials* refused) override;

 private:
  Ask ask_;
  const Clock* clock_;
  std::mutex mutex_;
  S3Credentials keys_;
  int64_t renew_at_ms_ = 0;  // 0: never of their own accord
};

// How the files of tables are reached that lie wherever their catalog put them. One store per place
// and table stays open, so that connections and keys live on. Thread-safe.
class TableAccess {
 public:
  explicit TableAccess(const Clock* clock) : clock_(clock) {}

  // `location` is the table's; `own` are the user's properties, over which the table's `config`
  // stands. `ask` is for keys that expire.
  Result<TableFiles> Open(const std::string& location, const FileProperties& own,
                          const FileProperties& config, VendedKeys::Ask ask);

 private:
  struct Place {
    FileProperties properties;  // without keys
    std::shared_ptr<VendedKeys> keys;
    TableFiles files;
  };
  const Clock* clock_;
  std::mutex mutex_;
  std::map<std::string, Place> places_;  // by location
};

// The folder or bucket that the store of a table is opened at: names in metadata may point beside
// the table's own folder.
std::string StoreRootOf(const std::string& location);

}  // namespace driftless::iceberg
