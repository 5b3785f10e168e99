#include "sinks/paimon/hash_index.h"

#include <algorithm>
#include <cstdlib>

#include "schema/base/check.h"

namespace driftless::paimon {
namespace {

constexpr std::string_view kIndexType = "HASH";
constexpr size_t kFirstSlots = 64;

std::string EncodeHashes(const std::vector<int32_t>& hashes) {
  std::string bytes(hashes.size() * 4, '\0');
  for (size_t i = 0; i < hashes.size(); ++i) {
    const auto value = static_cast<uint32_t>(hashes[i]);
    for (size_t b = 0; b < 4; ++b) bytes[4 * i + b] = static_cast<char>(value >> (24 - 8 * b));
  }
  return bytes;
}

int64_t NumberOption(const PaimonSchema& schema, std::string_view key, int64_t default_value) {
  const std::string text = schema.Option(key, "");
  return text.empty() ? default_value : std::strtoll(text.c_str(), nullptr, 10);
}

}  // namespace

size_t HashBuckets::Slot(int32_t hash) const {
  const size_t mask = hashes_.size() - 1;
  size_t slot = (static_cast<uint32_t>(hash) * 0x9E3779B1u) & mask;
  while (buckets_[slot] != kNone && hashes_[slot] != hash) slot = (slot + 1) & mask;
  return slot;
}

uint16_t HashBuckets::Find(int32_t hash) const {
  return hashes_.empty() ? kNone : buckets_[Slot(hash)];
}

void HashBuckets::Insert(int32_t hash, uint16_t bucket) {
  if (static_cast<size_t>(size_ + 1) * 4 > hashes_.size() * 3) Grow();
  const size_t slot = Slot(hash);
  DRIFTLESS_CHECK(buckets_[slot] == kNone);
  hashes_[slot] = hash;
  buckets_[slot] = bucket;
  ++size_;
}

void HashBuckets::Grow() {
  std::vector<int32_t> hashes(std::max(kFirstSlots, hashes_.size() * 2));
  std::vector<uint16_t> buckets(hashes.size(), kNone);
  hashes.swap(hashes_);
  buckets.swap(buckets_);
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (buckets[i] == kNone) continue;
    const size_t slot = Slot(hashes[i]);
    hashes_[slot] = hashes[i];
    buckets_[slot] = buckets[i];
  }
}

std::vector<int32_t> HashBuckets::Of(uint16_t bucket) const {
  std::vector<int32_t> found;
  for (size_t i = 0; i < hashes_.size(); ++i) {
    if (buckets_[i] == bucket) found.push_back(hashes_[i]);
  }
  return found;
}

HashIndex::HashIndex(const PaimonTable& table, std::vector<IndexManifestEntry> index_files,
                     const PaimonSchema& schema, MemoryBudget* budget)
    : table_(table),
      target_rows_(NumberOption(schema, "dynamic-bucket.target-row-num", 2000000)),
      max_buckets_(static_cast<int32_t>(NumberOption(schema, "dynamic-bucket.max-buckets", -1))),
      initial_buckets_(
          static_cast<int32_t>(NumberOption(schema, "dynamic-bucket.initial-buckets", 1))),
      budget_(budget) {
  if (max_buckets_ <= 0 || max_buckets_ > HashBuckets::kMaxBuckets) {
    max_buckets_ = HashBuckets::kMaxBuckets;
  }
  initial_buckets_ = std::clamp(initial_buckets_, 1, max_buckets_);
  for (IndexManifestEntry& entry : index_files) {
    if (entry.index_type != kIndexType) continue;
    files_[entry.partition].push_back({entry.bucket, std::move(entry.file_name), entry.row_count});
  }
}

HashIndex::~HashIndex() {
  if (budget_ != nullptr) budget_->Release(charged_);
}

Result<HashIndex::Partition*> HashIndex::Load(const std::string& partition) {
  if (last_ != nullptr && last_partition_ == partition) return last_;
  std::unique_ptr<Partition>& slot = partitions_[partition];
  if (slot == nullptr) {
    auto loaded = std::make_unique<Partition>();
    const auto files = files_.find(partition);
    if (files != files_.end()) {
      for (const SavedFile& file : files->second) {
        if (file.bucket < 0 || file.bucket >= HashBuckets::kMaxBuckets) {
          return MakeError(ErrorKind::kCorrupt,
                           "hash index names bucket " + std::to_string(file.bucket));
        }
        const std::string path = table_.Path("index/" + file.name);
        DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, table_.store()->Read(path));
        if (bytes.size() % 4 != 0) {
          return MakeError(ErrorKind::kCorrupt, "hash index " + path + " is cut off");
        }
        const auto bucket = static_cast<uint16_t>(file.bucket);
        if (loaded->rows.size() <= bucket) loaded->rows.resize(bucket + size_t{1}, 0);
        for (size_t at = 0; at < bytes.size(); at += 4) {
          uint32_t hash = 0;
          for (size_t b = 0; b < 4; ++b) hash = hash << 8 | static_cast<uint8_t>(bytes[at + b]);
          if (loaded->buckets.Find(static_cast<int32_t>(hash)) != HashBuckets::kNone) continue;
          loaded->buckets.Insert(static_cast<int32_t>(hash), bucket);
          ++loaded->rows[bucket];
        }
      }
    }
    if (loaded->rows.size() < static_cast<size_t>(initial_buckets_)) {
      loaded->rows.resize(static_cast<size_t>(initial_buckets_), 0);
    }
    slot = std::move(loaded);
    EvictIfLarge(slot.get());
    Recharge();
  }
  slot->last_use = ++clock_;
  last_partition_ = partition;
  last_ = slot.get();
  return last_;
}

Result<int32_t> HashIndex::Assign(const std::string& partition, int32_t hash) {
  DRIFTLESS_ASSIGN_OR_RETURN(Partition * at, Load(partition));
  const uint16_t known = at->buckets.Find(hash);
  if (known != HashBuckets::kNone) return static_cast<int32_t>(known);
  size_t bucket = 0;
  while (bucket < at->rows.size() && at->rows[bucket] >= target_rows_) ++bucket;
  if (bucket == at->rows.size()) {
    if (bucket < static_cast<size_t>(max_buckets_)) {
      at->rows.push_back(0);
    } else {
      // All full, and no more allowed: the emptiest, so that buckets grow alike.
      bucket = static_cast<size_t>(std::min_element(at->rows.begin(), at->rows.end()) -
                                   at->rows.begin());
    }
  }
  const int64_t before = at->buckets.bytes();
  at->buckets.Insert(hash, static_cast<uint16_t>(bucket));
  if (at->buckets.bytes() != before) Recharge();
  ++at->rows[bucket];
  at->unsaved.insert(static_cast<uint16_t>(bucket));
  return static_cast<int32_t>(bucket);
}

Result<std::vector<IndexManifestEntry>> HashIndex::Save(FileNames* names) {
  std::vector<IndexManifestEntry> entries;
  for (auto& [partition, state] : partitions_) {
    if (state == nullptr) continue;
    for (const uint16_t bucket : state->unsaved) {
      const std::string bytes = EncodeHashes(state->buckets.Of(bucket));
      IndexManifestEntry entry;
      entry.partition = partition;
      entry.bucket = bucket;
      entry.index_type = std::string(kIndexType);
      entry.file_name = names->Next("index", "");
      entry.file_size = static_cast<int64_t>(bytes.size());
      entry.row_count = entry.file_size / 4;
      DRIFTLESS_TRY(table_.store()->Put(table_.Path("index/" + entry.file_name), bytes));
      auto& files = files_[partition];
      std::erase_if(files, [&](const SavedFile& file) { return file.bucket == bucket; });
      files.push_back({bucket, entry.file_name, entry.row_count});
      entries.push_back(std::move(entry));
    }
    state->unsaved.clear();
  }
  return entries;
}

void HashIndex::Recharge() {
  int64_t bytes = 0;
  for (const auto& [partition, state] : partitions_) {
    if (state != nullptr) bytes += state->buckets.bytes();
  }
  if (budget_ != nullptr) {
    if (bytes > charged_) budget_->Add(bytes - charged_);
    if (bytes < charged_) budget_->Release(charged_ - bytes);
  }
  charged_ = bytes;
}

void HashIndex::EvictIfLarge(const Partition* keep) {
  if (budget_ == nullptr) return;
  const int64_t share = budget_->limit_bytes() / 4;
  int64_t bytes = 0;
  for (const auto& [partition, state] : partitions_) {
    if (state != nullptr) bytes += state->buckets.bytes();
  }
  while (bytes > share) {
    auto oldest = partitions_.end();
    for (auto it = partitions_.begin(); it != partitions_.end(); ++it) {
      if (it->second == nullptr || it->second.get() == keep || !it->second->unsaved.empty()) {
        continue;
      }
      if (oldest == partitions_.end() || it->second->last_use < oldest->second->last_use) {
        oldest = it;
      }
    }
    if (oldest == partitions_.end()) return;
    bytes -= oldest->second->buckets.bytes();
    if (last_ == oldest->second.get()) last_ = nullptr;
    partitions_.erase(oldest);
  }
}

}  // namespace driftless::paimon
