#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless {

// One entry of a listing.
struct ListedObject {
  std::string path;           // relative to the store's root
  bool is_directory = false;  // a common prefix where the store has no directories
};

// What is known of one object.
struct ObjectInfo {
  int64_t size = 0;  // bytes; 0 for a directory
  bool is_directory = false;
};

// An object to be created only if nothing is there.
struct NewObject {
  std::string path;
  std::string bytes;
};

// Takes a large object piece by piece, in bounded memory. Nothing is visible under the object's
// path before Finish; an ObjectWriter that is destroyed without it leaves nothing behind.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  virtual Result<void> Append(std::string_view bytes) = 0;
  virtual Result<void> Finish() = 0;
  virtual int64_t size() const = 0;  // bytes appended so far
};

// Where lakes keep their files: a local folder, an S3-compatible bucket, or memory (architecture,
// section 5). All paths are relative to the store's root, separated by '/', without a leading one.
// Thread-safe. Objects are immutable except for the few hints that Put overwrites.
//
// Durability: what Put and ObjectWriter wrote is durable after SyncAll. CreateExclusive orders
// itself: everything that was written before it through this store is durable before the new object
// appears, and the new object is durable when it returns.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // Writes a whole object, replacing what is there; readers see the old or the new one.
  virtual Result<void> Put(const std::string& path, std::string_view bytes) = 0;
  // The same for what readers can do without: nothing waits until it is durable.
  virtual Result<void> PutHint(const std::string& path, std::string_view bytes) {
    return Put(path, bytes);
  }
  virtual Result<std::unique_ptr<ObjectWriter>> OpenWriter(const std::string& path) = 0;

  // Creates each object only if its path is free: one result per object, in order. kAlreadyExists:
  // somebody was faster. kCommitUnknown: it may be there (read it to find out). One call for many
  // objects costs two file system syncs in all on a local disk.
  virtual std::vector<Result<void>> CreateExclusive(std::span<const NewObject> objects) = 0;
  Result<void> CreateExclusive(const std::string& path, std::string_view bytes);

  // Errors: kNotFound.
  virtual Result<std::string> Read(const std::string& path) = 0;
  // Exactly `length` bytes from `offset`. Errors: kNotFound; kInvalidInput beyond the end.
  virtual Result<std::string> ReadRange(const std::string& path, int64_t offset,
                                        int64_t length) = 0;
  // nullopt: nothing there. A directory that holds something exists.
  virtual Result<std::optional<ObjectInfo>> Stat(const std::string& path) = 0;
  Result<bool> Exists(const std::string& path);

  enum class Depth : uint8_t { kDirect, kAll };
  // What lies below a directory, sorted by path; empty where there is none. kAll gives objects
  // only. Names only, so that a folder of thousands costs no look at each of them.
  virtual Result<std::vector<ListedObject>> List(const std::string& directory, Depth depth) = 0;

  // Removes an object; a success where there is none.
  virtual Result<void> Delete(const std::string& path) = 0;
  // Makes the directory and its parents; does nothing where the store has no directories.
  virtual Result<void> MakeDirectory(const std::string& path) = 0;

  // Everything written so far is durable. Calls of several threads share one sync.
  virtual Result<void> SyncAll() = 0;

  // Checks that the store answers, may be written, and honours exclusive creation. Leaves nothing.
  virtual Result<void> Probe() = 0;
  // The root for people: "file:/warehouse", "s3://bucket/prefix".
  virtual std::string root() const = 0;
};

class S3KeySource;  // s3_signature.h

// What an S3-compatible store needs beyond its address.
struct S3Options {
  std::string endpoint;  // "http://127.0.0.1:9000"; empty: AWS of the region
  std::string region = "us-east-1";
  std::string access_key;
  std::string secret_key;
  std::string session_token;
  std::shared_ptr<S3KeySource> keys;  // instead of the three; null: they hold for good
  bool path_style = true;
  int64_t timeout_ms = 60000;  // of one request
  int max_retries = 5;
};

// Opens the store behind a location: a path, "file:/path", "file:///path", "s3://bucket/prefix"
// (also s3a://, oss:// with an endpoint). Nothing is contacted yet. `properties` are a catalog's
// properties as Paimon and Flink name them (s3.endpoint, s3.access-key, s3.secret-key,
// s3.path.style.access, s3.endpoint.region). `keys` may be null: then the properties have them.
// Errors: kInvalidConfig.
Result<std::shared_ptr<ObjectStore>> OpenObjectStore(
    std::string_view location, const std::map<std::string, std::string>& properties,
    std::shared_ptr<S3KeySource> keys = nullptr);

}  // namespace driftless
