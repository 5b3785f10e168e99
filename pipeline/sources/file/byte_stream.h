#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "schema/base/result.h"

namespace driftless {

// Reads one file from the front, unpacked: gzip and zstd are told by their first bytes, whatever
// the name. Several members or frames one behind the other are one text.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Errors: kNotFound, kPermission, kCorrupt.
  static Result<std::unique_ptr<ByteStream>> Open(const std::string& path);

  // At most `size` bytes; 0 at the end of what is there now. A plain file that grew gives more
  // later. Errors: kCorrupt for a packed file that is damaged or cut off; all that came before the
  // damage has been read then.
  virtual Result<size_t> Read(char* out, size_t size) = 0;
  // Goes to a place that was told by a reader of the same file. Packed files cannot.
  virtual Result<void> Seek(uint64_t offset) = 0;
  virtual bool is_packed() const = 0;
  // The size of the open file now, in bytes as stored.
  virtual Result<uint64_t> StoredSize() const = 0;
  // Tells this file from another of the same name: device and inode.
  virtual std::string Identity() const = 0;
};

// The identity that a path has now; empty where there is no file.
std::string FileIdentity(const std::string& path);

}  // namespace driftless
