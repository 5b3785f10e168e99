#include "pipeline/state/state_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace driftless {
namespace {

std::string LockPath(const std::string& folder) { return folder + "/lock"; }

std::string ReadText(int file) {
  std::array<char, 512> buffer;
  const ssize_t size = pread(file, buffer.data(), buffer.size(), 0);
  std::string text(buffer.data(), size > 0 ? static_cast<size_t>(size) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string HolderText(const Clock& clock) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::time_t now = clock.NowMillis() / 1000;
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> since{};
  std::strftime(since.data(), since.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return fmt::format("pid {} on {} since {}\n", getpid(), host.data(), since.data());
}

}  // namespace

StateLock::StateLock(StateLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

StateLock& StateLock::operator=(StateLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

StateLock::~StateLock() {
  if (file_ < 0) return;
  // The text goes before the lock does, so that nobody reads a holder that is gone.
  if (ftruncate(file_, 0) != 0) { /* the text is for people only */
  }
  close(file_);
}

Result<StateLock> StateLock::Acquire(const std::string& folder, const Clock& clock) {
  const std::string path = LockPath(folder);
  StateLock lock;
  lock.file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock.file_ < 0) {
    return MakeError(ErrorKind::kPermission,
                     fmt::format("cannot open {}: {}", path, std::strerror(errno)))
        .Hint("The state folder must be writable by the user that runs the pipeline.");
  }
  if (flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = ReadText(lock.file_);
    close(std::exchange(lock.file_, -1));  // not ours: leave the holder's text alone
    return MakeError(ErrorKind::kConflict,
                     fmt::format("the state folder {} is in use by {}", folder,
                                 holder.empty() ? "another process" : holder))
        .Hint("Stop that process first, or give this pipeline a folder of its own with --state.");
  }
  const std::string text = HolderText(clock);
  if (ftruncate(lock.file_, 0) != 0 ||
      pwrite(lock.file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return MakeError(ErrorKind::kResourceExhausted,
                     fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return lock;
}

std::string StateLock::Holder(const std::string& folder) {
  const int file = open(LockPath(folder).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  // A shared lock that we get means that nobody holds the exclusive one.
  const bool is_held = flock(file, LOCK_SH | LOCK_NB) != 0;
  std::string text = is_held ? ReadText(file) : std::string();
  close(file);
  return text;
}

bool IsNetworkFileSystem(long f_type) {
  // Linux's magic numbers, statfs(2) and linux/magic.h.
  constexpr std::array<uint32_t, 12> kNetwork = {
      0x6969,      // NFS
      0x517b,      // SMB
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x5346414f,  // AFS
      0x6b414653,  // AFS of the kernel
      0x73757245,  // Coda
      0x00c36400,  // Ceph
      0x0bd00bd0,  // Lustre
      0x47504653,  // GPFS
      0x01021997,  // 9P
      0x7461636f,  // OCFS2
  };
  return std::find(kNetwork.begin(), kNetwork.end(), static_cast<uint32_t>(f_type)) !=
         kNetwork.end();
}

Result<void> CheckLocalFileSystem(const std::string& folder) {
  struct statfs info{};
  if (statfs(folder.c_str(), &info) != 0) {
    return MakeError(ErrorKind::kPermission,
                     fmt::format("cannot examine {}: {}", folder, std::strerror(errno)));
  }
  if (IsNetworkFileSystem(info.f_type)) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("the state folder {} is on a network file system", folder))
        .Hint("Its locks and syncs cannot be trusted there; choose a local disk with --state.");
  }
  return {};
}

}  // namespace driftless
