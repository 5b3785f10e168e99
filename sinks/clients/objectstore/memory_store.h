#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sinks/clients/objectstore/object_store.h"

namespace driftless {

// A store in memory for tests and the simulator. It is forgetful: what was not synced may be gone,
// or there after all, when the machine crashes. Thread-safe.
class MemoryStore : public ObjectStore {
 public:
  enum class Operation : uint8_t {
    kPut,
    kCreate,
    kRead,
    kStat,
    kList,
    kDelete,
    kMakeDirectory,
    kSync
  };
  enum class Fault : uint8_t {
    kNone,
    kRefuse,      // an error, and nothing happened
    kLoseAnswer,  // it happened, but the answer is lost: kCommitUnknown for writes
    kCrash,       // nothing happened; the process is dead: every later call fails
    kCrashAfter,  // it happened, then the process is dead
  };
  // Asked before every operation; for CreateExclusive once per object.
  using FaultHook = std::function<Fault(Operation operation, const std::string& path)>;
  void SetFaults(FaultHook hook);

  // The process starts again. `power_cut` forgets: each unsynced change is independently kept or
  // lost, as `coin` says; changes of one path stay in order.
  void Restart(bool power_cut, const std::function<bool()>& coin);
  bool crashed() const;
  // How many operations were asked for so far.
  int64_t operations() const;
  // Everything that is there, for comparing.
  std::map<std::string, std::string> Contents() const;

  using ObjectStore::CreateExclusive;
  Result<void> Put(const std::string& path, std::string_view bytes) override;
  Result<std::unique_ptr<ObjectWriter>> OpenWriter(const std::string& path) override;
  std::vector<Result<void>> CreateExclusive(std::span<const NewObject> objects) override;
  Result<std::string> Read(const std::string& path) override;
  Result<std::string> ReadRange(const std::string& path, int64_t offset, int64_t length) override;
  Result<std::optional<ObjectInfo>> Stat(const std::string& path) override;
  Result<std::vector<ListedObject>> List(const std::string& directory, Depth depth) override;
  Result<void> Delete(const std::string& path) override;
  Result<void> MakeDirectory(const std::string& path) override;
  Result<void> SyncAll() override;
  Result<void> Probe() override;
  std::string root() const override { return "memory:"; }

 private:
  struct Change {
    std::string path;
    std::optional<std::string> bytes;  // none: deleted
  };

  // Begins an operation: asks the hook. `after` says whether the effect is wanted.
  struct Begun {
    bool effect = true;
    std::optional<Error> error;
  };
  Begun Begin(Operation operation, const std::string& path);
  void Apply(Change change);  // mutex_ held
  void Sync();                // mutex_ held

  mutable std::mutex mutex_;
  FaultHook hook_;
  bool crashed_ = false;
  int64_t operations_ = 0;
  std::map<std::string, std::string> objects_;  // what readers see
  std::map<std::string, std::string> durable_;  // what a power cut leaves
  std::vector<Change> unsynced_;
};

}  // namespace driftless
