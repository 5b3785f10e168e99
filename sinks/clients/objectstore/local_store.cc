#include "sinks/clients/objectstore/local_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <utility>

namespace driftless {
namespace {

ErrorKind KindOf(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR: return ErrorKind::kNotFound;
    case EEXIST: return ErrorKind::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorKind::kPermission;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EFBIG: return ErrorKind::kResourceExhausted;
    default: return ErrorKind::kUnavailable;
  }
}

Error SystemError(const std::string& what, const std::string& path, int code) {
  Error error = MakeError(KindOf(code), what + " " + path + ": " + std::strerror(code));
  if (code == ENOSPC || code == EDQUOT) {
    return std::move(error).Hint("Free some space; nothing that was committed is lost.");
  }
  if (code == EROFS) return std::move(error).Hint("The file system is mounted read-only.");
  return error;
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // 0, or the error that only close reports (quota, network file systems).
  int Close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_;
};

Result<void> WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return SystemError("cannot write", path, errno);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

std::string ParentOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// ".name.tmp" beside the target: hidden from listings of table files by every reader.
std::string TempName(const std::string& path, std::string_view random) {
  const size_t slash = path.rfind('/');
  std::string temp = path.substr(0, slash + 1) + "." + path.substr(slash + 1);
  if (!random.empty()) temp.append(".").append(random);
  return temp + ".tmp";
}

std::string RandomText() {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(engine()));
  return text;
}

Result<FileDescriptor> CreateFile(const std::string& path) {
  for (const bool again : {true, false}) {
    FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (fd.valid()) return fd;
    if (errno != ENOENT || !again) break;
    std::error_code error;
    std::filesystem::create_directories(ParentOf(path), error);
    if (error) return SystemError("cannot create the folder", ParentOf(path), error.value());
  }
  return SystemError("cannot create", path, errno);
}

// Creates `path` with `bytes`; removes it again where that fails.
Result<void> WriteFile(const std::string& path, std::string_view bytes) {
  DRIFTLESS_ASSIGN_OR_RETURN(FileDescriptor fd, CreateFile(path));
  Result<void> written = WriteAll(fd.get(), bytes, path);
  if (written) {
    const int code = fd.Close();
    if (code == 0) return {};
    written = SystemError("cannot close", path, code);
  }
  ::unlink(path.c_str());
  return written;
}

class LocalWriter : public ObjectWriter {
 public:
  LocalWriter(std::string path, std::string temp, FileDescriptor fd, std::atomic<uint64_t>* writes)
      : path_(std::move(path)), temp_(std::move(temp)), fd_(std::move(fd)), writes_(writes) {}
  ~LocalWriter() override {
    if (!finished_) ::unlink(temp_.c_str());
  }

  Result<void> Append(std::string_view bytes) override {
    DRIFTLESS_TRY(WriteAll(fd_.get(), bytes, temp_));
    size_ += static_cast<int64_t>(bytes.size());
    return {};
  }
  Result<void> Finish() override {
    if (const int code = fd_.Close(); code != 0) return SystemError("cannot close", temp_, code);
    if (::rename(temp_.c_str(), path_.c_str()) != 0) {
      return SystemError("cannot rename to", path_, errno);
    }
    finished_ = true;
    writes_->fetch_add(1);
    return {};
  }
  int64_t size() const override { return size_; }

 private:
  const std::string path_;
  const std::string temp_;
  FileDescriptor fd_;
  std::atomic<uint64_t>* writes_;
  int64_t size_ = 0;
  bool finished_ = false;
};

class LocalStore : public ObjectStore {
 public:
  explicit LocalStore(std::string root) : root_(std::move(root)) {
    while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  }

  Result<void> Put(const std::string& path, std::string_view bytes) override {
    DRIFTLESS_TRY(PutHint(path, bytes));
    writes_.fetch_add(1);
    return {};
  }

  Result<void> PutHint(const std::string& path, std::string_view bytes) override {
    const std::string full = Full(path);
    const std::string temp = TempName(full, RandomText());
    DRIFTLESS_TRY(WriteFile(temp, bytes));
    if (::rename(temp.c_str(), full.c_str()) != 0) {
      const int code = errno;
      ::unlink(temp.c_str());
      return SystemError("cannot rename to", full, code);
    }
    return {};
  }

  Result<std::unique_ptr<ObjectWriter>> OpenWriter(const std::string& path) override {
    std::string full = Full(path);
    std::string temp = TempName(full, "");
    DRIFTLESS_ASSIGN_OR_RETURN(FileDescriptor fd, CreateFile(temp));
    return std::make_unique<LocalWriter>(std::move(full), std::move(temp), std::move(fd), &writes_);
  }

  std::vector<Result<void>> CreateExclusive(std::span<const NewObject> objects) override {
    if (objects.size() == 1 && EverythingIsSynced()) return {CreateAlone(objects[0])};
    std::vector<Result<void>> results(objects.size());
    std::vector<std::string> temps(objects.size());
    for (size_t i = 0; i < objects.size(); ++i) {
      temps[i] = TempName(Full(objects[i].path), RandomText());
      results[i] = WriteFile(temps[i], objects[i].bytes);
    }
    writes_.fetch_add(1);
    // The contents must be durable before the names are: after a power cut a name without its
    // content would be a snapshot that nobody can read and nobody may replace.
    if (Result<void> synced = SyncAll(); !synced) {
      for (size_t i = 0; i < objects.size(); ++i) {
        if (results[i]) results[i] = synced;
        ::unlink(temps[i].c_str());
      }
      return results;
    }
    for (size_t i = 0; i < objects.size(); ++i) {
      if (results[i]) results[i] = Publish(temps[i], Full(objects[i].path));
      ::unlink(temps[i].c_str());
    }
    writes_.fetch_add(1);
    if (Result<void> synced = SyncAll(); !synced) {
      for (Result<void>& result : results) {
        if (!result) continue;
        result = MakeError(ErrorKind::kCommitUnknown,
                           "created, but not known to be durable: " + synced.error().message());
      }
    }
    return results;
  }

  Result<std::string> Read(const std::string& path) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const FileDescriptor fd, OpenForReading(path));
    struct stat info{};
    if (::fstat(fd.get(), &info) != 0) return SystemError("cannot read", Full(path), errno);
    if (S_ISDIR(info.st_mode)) {
      return MakeError(ErrorKind::kNotFound, Full(path) + " is a folder, not a file");
    }
    return ReadAt(fd.get(), path, 0, info.st_size);
  }

  Result<std::string> ReadRange(const std::string& path, int64_t offset, int64_t length) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const FileDescriptor fd, OpenForReading(path));
    return ReadAt(fd.get(), path, offset, length);
  }

  Result<std::optional<ObjectInfo>> Stat(const std::string& path) override {
    struct stat info{};
    if (::stat(Full(path).c_str(), &info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return std::optional<ObjectInfo>();
      return SystemError("cannot look at", Full(path), errno);
    }
    const bool is_directory = S_ISDIR(info.st_mode);
    return std::optional(ObjectInfo{is_directory ? 0 : info.st_size, is_directory});
  }

  Result<std::vector<ListedObject>> List(const std::string& directory, Depth depth) override {
    std::vector<ListedObject> found;
    DRIFTLESS_TRY(ListInto(directory, depth, &found));
    std::ranges::sort(found, {}, &ListedObject::path);
    return found;
  }

  Result<void> Delete(const std::string& path) override {
    if (::unlink(Full(path).c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
      return SystemError("cannot delete", Full(path), errno);
    }
    writes_.fetch_add(1);
    return {};
  }

  Result<void> MakeDirectory(const std::string& path) override {
    std::error_code error;
    std::filesystem::create_directories(Full(path), error);
    if (error) return SystemError("cannot create the folder", Full(path), error.value());
    writes_.fetch_add(1);
    return {};
  }

  // Calls that come while a sync runs wait for one that begins after them; that one serves them
  // all.
  Result<void> SyncAll() override {
    const uint64_t wanted = writes_.load();
    std::unique_lock lock(sync_mutex_);
    while (true) {
      if (synced_ >= wanted) return {};
      if (!sync_running_) break;
      sync_done_.wait(lock);
    }
    sync_running_ = true;
    lock.unlock();
    const uint64_t covers = writes_.load();
    Result<void> result = SyncFileSystem();
    lock.lock();
    sync_running_ = false;
    if (result) synced_ = std::max(synced_, covers);
    sync_done_.notify_all();
    return result;
  }

  Result<void> Probe() override {
    DRIFTLESS_TRY(MakeDirectory(""));
    const std::string name = ".driftless-probe-" + RandomText();
    DRIFTLESS_TRY(ObjectStore::CreateExclusive(name, "probe"));
    const Result<void> second = ObjectStore::CreateExclusive(name, "probe");
    DRIFTLESS_TRY(Delete(name));
    if (second || second.error().kind() != ErrorKind::kAlreadyExists) {
      return MakeError(ErrorKind::kUnsupported,
                       "the file system of " + root_ + " does not honour exclusive creation");
    }
    return {};
  }

  std::string root() const override { return "file:" + root_; }

 private:
  std::string Full(const std::string& path) const {
    return path.empty() ? root_ : root_ + "/" + path;
  }

  Result<FileDescriptor> OpenForReading(const std::string& path) const {
    FileDescriptor fd(::open(Full(path).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return SystemError("cannot open", Full(path), errno);
    return fd;
  }

  Result<std::string> ReadAt(int fd, const std::string& path, int64_t offset,
                             int64_t length) const {
    if (offset < 0 || length < 0) {
      return MakeError(ErrorKind::kInvalidInput, "negative range in " + Full(path));
    }
    std::string bytes(static_cast<size_t>(length), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::pread(fd, bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(offset + static_cast<int64_t>(done)));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return SystemError("cannot read", Full(path), errno);
      if (got == 0) {
        return MakeError(ErrorKind::kInvalidInput,
                         Full(path) + " ends at byte " +
                             std::to_string(offset + static_cast<int64_t>(done)) + ", wanted " +
                             std::to_string(offset + length));
      }
      done += static_cast<size_t>(got);
    }
    return bytes;
  }

  Result<void> ListInto(const std::string& directory, Depth depth,
                        std::vector<ListedObject>* found) const {
    std::error_code error;
    std::filesystem::directory_iterator entries(Full(directory), error);
    if (error) {
      if (error.value() == ENOENT || error.value() == ENOTDIR) return {};
      return SystemError("cannot list", Full(directory), error.value());
    }
    for (const std::filesystem::directory_iterator end; entries != end; entries.increment(error)) {
      if (error) return SystemError("cannot list", Full(directory), error.value());
      const std::string name = entries->path().filename().string();
      std::string path = directory.empty() ? name : directory + "/" + name;
      std::error_code unknown;  // a link whose target is gone
      const bool is_directory = entries->is_directory(unknown);
      if (depth == Depth::kAll && is_directory) {
        DRIFTLESS_TRY(ListInto(path, depth, found));
      } else {
        found->push_back({std::move(path), is_directory});
      }
    }
    if (error) return SystemError("cannot list", Full(directory), error.value());
    return {};
  }

  bool EverythingIsSynced() {
    const std::lock_guard lock(sync_mutex_);
    return synced_ >= writes_.load();
  }

  // One object, nothing before it to wait for: its file and its folder are synced, whatever else
  // the file system has to write.
  Result<void> CreateAlone(const NewObject& object) {
    const std::string full = Full(object.path);
    const std::string folder = ParentOf(full);
    if (!std::filesystem::exists(folder)) {
      DRIFTLESS_TRY(MakeDirectory(std::filesystem::path(object.path).parent_path()));
      DRIFTLESS_TRY(SyncAll());
    }
    const std::string temp = TempName(full, RandomText());
    Result<void> done = WriteFile(temp, object.bytes);
    if (done) done = SyncPath(temp, O_RDONLY);
    if (done) done = Publish(temp, full);
    ::unlink(temp.c_str());
    DRIFTLESS_TRY(std::move(done));
    if (Result<void> synced = SyncPath(folder, O_RDONLY | O_DIRECTORY); !synced) {
      return MakeError(ErrorKind::kCommitUnknown,
                       "created, but not known to be durable: " + synced.error().message());
    }
    return {};
  }

  static Result<void> SyncPath(const std::string& path, int flags) {
    const FileDescriptor fd(::open(path.c_str(), flags | O_CLOEXEC));
    if (!fd.valid() || ::fsync(fd.get()) != 0) return SystemError("cannot sync", path, errno);
    return {};
  }

  // link() fails where the target exists; file systems without hard links have renameat2.
  static Result<void> Publish(const std::string& temp, const std::string& target) {
    if (::link(temp.c_str(), target.c_str()) == 0) return {};
    int code = errno;
    if (code == EPERM || code == ENOTSUP || code == EMLINK) {
      if (::renameat2(AT_FDCWD, temp.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
        return {};
      }
      code = errno;
    }
    if (code == EEXIST) {
      return MakeError(ErrorKind::kAlreadyExists, target + " exists already");
    }
    return SystemError("cannot create", target, code);
  }

  Result<void> SyncFileSystem() const {
    const FileDescriptor fd(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) return SystemError("cannot open", root_, errno);
    if (::syncfs(fd.get()) != 0) return SystemError("cannot sync the file system of", root_, errno);
    return {};
  }

  std::string root_;
  // Counts completed changes; one for what a former process left, which may not be durable.
  std::atomic<uint64_t> writes_{1};
  std::mutex sync_mutex_;
  std::condition_variable sync_done_;
  uint64_t synced_ = 0;  // all changes up to this number are durable
  bool sync_running_ = false;
};

}  // namespace

std::shared_ptr<ObjectStore> OpenLocalStore(std::string root) {
  return std::make_shared<LocalStore>(std::move(root));
}

}  // namespace driftless
