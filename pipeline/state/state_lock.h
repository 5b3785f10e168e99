#pragma once

#include <string>

#include "schema/base/clock.h"
#include "schema/base/result.h"

namespace driftless {

// Keeps a second process away from a state folder. The lock is the operating system's (flock(2)),
// so that a killed holder leaves nothing behind; the file's text only tells people who holds it.
class StateLock {
 public:
  StateLock() = default;
  StateLock(StateLock&& other) noexcept;
  StateLock& operator=(StateLock&& other) noexcept;
  ~StateLock();

  // Errors: kConflict that names the holder; kPermission.
  static Result<StateLock> Acquire(const std::string& folder, const Clock& clock);

  // "pid 123 on host since 2026-01-31T10:00:00Z" of a running holder; empty where there is none.
  static std::string Holder(const std::string& folder);

 private:
  int file_ = -1;
};

// Whether statfs(2)'s f_type is a network file system: SQLite's WAL needs shared memory and locks
// that those do not give (sqlite.org/wal.html, "All processes must be on the same host").
bool IsNetworkFileSystem(long f_type);

// Errors: kUnsupported where `folder` lies on a network file system.
Result<void> CheckLocalFileSystem(const std::string& folder);

}  // namespace driftless
