#include "sinks/clients/objectstore/memory_store.h"

#include <utility>

namespace driftless {
namespace {

class MemoryWriter : public ObjectWriter {
 public:
  MemoryWriter(MemoryStore* store, std::string path) : store_(store), path_(std::move(path)) {}
  Result<void> Append(std::string_view bytes) override {
    bytes_.append(bytes);
    return {};
  }
  Result<void> Finish() override { return store_->Put(path_, bytes_); }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }

 private:
  MemoryStore* store_;
  std::string path_;
  std::string bytes_;
};

}  // namespace

void MemoryStore::SetFaults(FaultHook hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void MemoryStore::Restart(bool power_cut, const std::function<bool()>& coin) {
  const std::lock_guard lock(mutex_);
  crashed_ = false;
  if (power_cut) {
    objects_ = durable_;
    for (Change& change : std::exchange(unsynced_, {})) {
      if (!coin()) continue;
      if (change.bytes) {
        objects_[change.path] = std::move(*change.bytes);
      } else {
        objects_.erase(change.path);
      }
    }
    durable_ = objects_;
  }
}

bool MemoryStore::crashed() const {
  const std::lock_guard lock(mutex_);
  return crashed_;
}

int64_t MemoryStore::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

std::map<std::string, std::string> MemoryStore::Contents() const {
  const std::lock_guard lock(mutex_);
  return objects_;
}

MemoryStore::Begun MemoryStore::Begin(Operation operation, const std::string& path) {
  // mutex_ is held by the caller; the hook must not call the store.
  ++operations_;
  if (crashed_) return {false, MakeError(ErrorKind::kUnavailable, "the process is dead")};
  switch (hook_ ? hook_(operation, path) : Fault::kNone) {
    case Fault::kNone: return {};
    case Fault::kRefuse:
      return {false, MakeError(ErrorKind::kUnavailable, "injected: refused " + path)};
    case Fault::kLoseAnswer:
      return {true, MakeError(operation == Operation::kCreate ? ErrorKind::kCommitUnknown
                                                              : ErrorKind::kUnavailable,
                              "injected: the answer for " + path + " is lost")};
    case Fault::kCrash:
      crashed_ = true;
      return {false, MakeError(ErrorKind::kUnavailable, "injected: crash before " + path)};
    case Fault::kCrashAfter:
      crashed_ = true;
      return {true, MakeError(ErrorKind::kUnavailable, "injected: crash after " + path)};
  }
  return {};
}

void MemoryStore::Apply(Change change) {
  if (change.bytes) {
    objects_[change.path] = *change.bytes;
  } else {
    objects_.erase(change.path);
  }
  unsynced_.push_back(std::move(change));
}

void MemoryStore::Sync() {
  unsynced_.clear();
  durable_ = objects_;
}

Result<void> MemoryStore::Put(const std::string& path, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  Begun begun = Begin(Operation::kPut, path);
  if (begun.effect) Apply({path, std::string(bytes)});
  if (begun.error) return *std::move(begun.error);
  return {};
}

Result<std::unique_ptr<ObjectWriter>> MemoryStore::OpenWriter(const std::string& path) {
  return std::make_unique<MemoryWriter>(this, path);
}

std::vector<Result<void>> MemoryStore::CreateExclusive(std::span<const NewObject> objects) {
  const std::lock_guard lock(mutex_);
  std::vector<Result<void>> results;
  Sync();
  for (const NewObject& object : objects) {
    Begun begun = Begin(Operation::kCreate, object.path);
    if (begun.effect) {
      if (objects_.contains(object.path)) {
        begun.error = MakeError(ErrorKind::kAlreadyExists, object.path + " exists already");
      } else {
        Apply({object.path, object.bytes});
      }
    }
    if (begun.error) {
      results.push_back(*std::move(begun.error));
    } else {
      results.emplace_back();
    }
  }
  // A crash inside the call leaves the new names to chance; else they are durable.
  if (!crashed_) Sync();
  return results;
}

Result<std::string> MemoryStore::Read(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (Begun begun = Begin(Operation::kRead, path); begun.error) return *std::move(begun.error);
  const auto found = objects_.find(path);
  if (found == objects_.end()) return MakeError(ErrorKind::kNotFound, path + " is not there");
  return found->second;
}

Result<std::string> MemoryStore::ReadRange(const std::string& path, int64_t offset,
                                           int64_t length) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, Read(path));
  const auto size = static_cast<int64_t>(bytes.size());
  if (offset < 0 || length < 0 || offset > size || length > size - offset) {
    return MakeError(ErrorKind::kInvalidInput, "range beyond the end of " + path);
  }
  return bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
}

Result<std::optional<ObjectInfo>> MemoryStore::Stat(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (Begun begun = Begin(Operation::kStat, path); begun.error) return *std::move(begun.error);
  ObjectInfo info;
  if (const auto found = objects_.find(path); found != objects_.end()) {
    info.size = static_cast<int64_t>(found->second.size());
    return std::optional(info);
  }
  const std::string prefix = path + "/";
  const auto below = objects_.lower_bound(prefix);
  if (below == objects_.end() || !below->first.starts_with(prefix)) {
    return std::optional<ObjectInfo>();
  }
  info.is_directory = true;
  return std::optional(info);
}

Result<std::vector<ListedObject>> MemoryStore::List(const std::string& directory, Depth depth) {
  const std::lock_guard lock(mutex_);
  if (Begun begun = Begin(Operation::kList, directory); begun.error) return *std::move(begun.error);
  const std::string prefix = directory.empty() ? "" : directory + "/";
  std::vector<ListedObject> found;
  for (auto it = objects_.lower_bound(prefix); it != objects_.end(); ++it) {
    const std::string& path = it->first;
    if (!path.starts_with(prefix)) break;
    const size_t slash = path.find('/', prefix.size());
    ListedObject info;
    if (depth == Depth::kAll || slash == std::string::npos) {
      info.path = path;
    } else {
      info.path = path.substr(0, slash);
      info.is_directory = true;
      if (!found.empty() && found.back().path == info.path) continue;
    }
    found.push_back(std::move(info));
  }
  return found;
}

Result<void> MemoryStore::Delete(const std::string& path) {
  const std::lock_guard lock(mutex_);
  Begun begun = Begin(Operation::kDelete, path);
  if (begun.effect && objects_.contains(path)) Apply({path, std::nullopt});
  if (begun.error) return *std::move(begun.error);
  return {};
}

Result<void> MemoryStore::MakeDirectory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (Begun begun = Begin(Operation::kMakeDirectory, path); begun.error) {
    return *std::move(begun.error);
  }
  return {};
}

Result<void> MemoryStore::SyncAll() {
  const std::lock_guard lock(mutex_);
  Begun begun = Begin(Operation::kSync, "");
  if (begun.effect) Sync();
  if (begun.error) return *std::move(begun.error);
  return {};
}

Result<void> MemoryStore::Probe() { return {}; }

}  // namespace driftless
