#include "pipeline/sources/file/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace driftless {
namespace {

constexpr size_t kPackedBufferBytes = 1 << 18;

Error SystemError(const std::string& what, const std::string& path, int code) {
  const ErrorKind kind = code == ENOENT                    ? ErrorKind::kNotFound
                         : code == EACCES || code == EPERM ? ErrorKind::kPermission
                                                           : ErrorKind::kUnavailable;
  return MakeError(kind, what + " " + path + ": " + std::strerror(code));
}

Error Damaged(const std::string& path, const std::string& why) {
  return MakeError(ErrorKind::kCorrupt, path + " cannot be unpacked: " + why)
      .Hint("The file is damaged or was not written to its end.");
}

std::string IdentityOf(const struct stat& status) {
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

class File {
 public:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  File(File&& other) noexcept : fd_(other.fd_), path_(std::move(other.path_)) { other.fd_ = -1; }
  File& operator=(File&&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  const std::string& path() const { return path_; }

  Result<size_t> Read(char* out, size_t size) {
    for (;;) {
      const ssize_t got = ::read(fd_, out, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return SystemError("cannot read", path_, errno);
    }
  }
  Result<void> Seek(uint64_t offset) {
    if (::lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) {
      return SystemError("cannot seek in", path_, errno);
    }
    return {};
  }
  Result<uint64_t> Size() const {
    struct stat status;
    if (::fstat(fd_, &status) != 0) return SystemError("cannot examine", path_, errno);
    return static_cast<uint64_t>(status.st_size);
  }
  std::string Identity() const {
    struct stat status;
    return ::fstat(fd_, &status) == 0 ? IdentityOf(status) : "";
  }

 private:
  int fd_;
  std::string path_;
};

class FileStream : public ByteStream {
 public:
  explicit FileStream(File file) : file_(std::move(file)) {}
  Result<size_t> Read(char* out, size_t size) override { return file_.Read(out, size); }
  Result<void> Seek(uint64_t offset) override { return file_.Seek(offset); }
  bool is_packed() const override { return false; }
  Result<uint64_t> StoredSize() const override { return file_.Size(); }
  std::string Identity() const override { return file_.Identity(); }

 protected:
  File file_;
};

// What gzip and zstd share: an input buffer that is filled from the file.
class PackedStream : public FileStream {
 public:
  explicit PackedStream(File file) : FileStream(std::move(file)), input_(kPackedBufferBytes) {}
  Result<void> Seek(uint64_t) override {
    return MakeError(ErrorKind::kUnsupported, "a packed file is read from its front only");
  }
  bool is_packed() const override { return true; }

 protected:
  // Bytes in the buffer from `at_` on; 0: the file has ended.
  Result<size_t> Fill() {
    if (at_ < filled_) return filled_ - at_;
    at_ = 0;
    DRIFTLESS_ASSIGN_OR_RETURN(filled_, file_.Read(input_.data(), input_.size()));
    return filled_;
  }

  std::vector<char> input_;
  size_t at_ = 0;
  size_t filled_ = 0;
};

class GzipStream : public PackedStream {
 public:
  explicit GzipStream(File file) : PackedStream(std::move(file)) {
    inflateInit2(&state_, 15 + 16);  // the largest window; the gzip format (zlib manual)
  }
  ~GzipStream() override { inflateEnd(&state_); }

  Result<size_t> Read(char* out, size_t size) override {
    state_.next_out = reinterpret_cast<Bytef*>(out);
    state_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
    const uInt wanted = state_.avail_out;
    while (state_.avail_out == wanted) {
      DRIFTLESS_ASSIGN_OR_RETURN(const size_t available, Fill());
      if (available == 0) {
        if (in_member_) return Damaged(file_.path(), "it ends in the middle");
        return size_t{0};
      }
      if (!in_member_) {
        if (input_[at_] == '\0') {  // padding behind the last member
          ++at_;
          continue;
        }
        inflateReset(&state_);
        in_member_ = true;
      }
      state_.next_in = reinterpret_cast<Bytef*>(input_.data() + at_);
      state_.avail_in = static_cast<uInt>(available);
      const int code = inflate(&state_, Z_NO_FLUSH);
      at_ += available - state_.avail_in;
      if (code == Z_STREAM_END) {
        in_member_ = false;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return Damaged(file_.path(), state_.msg != nullptr ? state_.msg : "bad gzip data");
      }
    }
    return static_cast<size_t>(wanted - state_.avail_out);
  }

 private:
  z_stream state_{};
  bool in_member_ = false;
};

class ZstdStream : public PackedStream {
 public:
  explicit ZstdStream(File file) : PackedStream(std::move(file)), state_(ZSTD_createDStream()) {
    ZSTD_initDStream(state_);
  }
  ~ZstdStream() override { ZSTD_freeDStream(state_); }

  Result<size_t> Read(char* out, size_t size) override {
    ZSTD_outBuffer output{out, size, 0};
    while (output.pos == 0) {
      DRIFTLESS_ASSIGN_OR_RETURN(const size_t available, Fill());
      if (available == 0) {
        if (in_frame_) return Damaged(file_.path(), "it ends in the middle");
        return size_t{0};
      }
      ZSTD_inBuffer input{input_.data() + at_, available, 0};
      const size_t code = ZSTD_decompressStream(state_, &output, &input);
      if (ZSTD_isError(code)) return Damaged(file_.path(), ZSTD_getErrorName(code));
      at_ += input.pos;
      in_frame_ = code != 0;
    }
    return output.pos;
  }

 private:
  ZSTD_DStream* state_;
  bool in_frame_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> ByteStream::Open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot open", path, errno);
  File file(fd, path);
  struct stat status;
  if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    return MakeError(ErrorKind::kInvalidConfig, path + " is a folder")
        .Hint("Name files, or a pattern: " + path + "/*.jsonl");
  }
  unsigned char magic[4] = {};
  const ssize_t got = ::pread(fd, magic, sizeof magic, 0);
  if (got >= 2 && magic[0] == 0x1F && magic[1] == 0x8B) {
    return std::unique_ptr<ByteStream>(new GzipStream(std::move(file)));
  }
  static constexpr unsigned char kZstd[4] = {0x28, 0xB5, 0x2F, 0xFD};
  if (got == 4 && std::memcmp(magic, kZstd, 4) == 0) {
    return std::unique_ptr<ByteStream>(new ZstdStream(std::move(file)));
  }
  return std::unique_ptr<ByteStream>(new FileStream(std::move(file)));
}

std::string FileIdentity(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? IdentityOf(status) : "";
}

}  // namespace driftless
