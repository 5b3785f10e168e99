#include "pipeline/runtime/items.h"

namespace driftless {
namespace {

struct ChargedBatch {
  ChargedBatch(ChangeBatchPtr held, MemoryBudget* charged)
      : batch(std::move(held)), budget(charged) {
    budget->Add(static_cast<int64_t>(batch->charged_bytes()));
  }
  ~ChargedBatch() { budget->Release(static_cast<int64_t>(batch->charged_bytes())); }
  ChargedBatch(const ChargedBatch&) = delete;
  ChargedBatch& operator=(const ChargedBatch&) = delete;

  ChangeBatchPtr batch;
  MemoryBudget* budget;
};

}  // namespace

int64_t ItemBytes(const Item& item) {
  if (const auto* batch = std::get_if<BatchItem>(&item)) {
    return static_cast<int64_t>(batch->batch->charged_bytes());
  }
  return 1024;
}

const TablePath& TableOf(const BatchItem& item) { return item.batch->table(); }
const TablePath& TableOf(const SchemaItem& item) { return item.change->table; }

ChangeBatchPtr Charge(ChangeBatchPtr batch, MemoryBudget* budget) {
  auto charged = std::make_shared<ChargedBatch>(std::move(batch), budget);
  const ChangeBatch* bare = charged->batch.get();
  return {std::move(charged), bare};
}

const EvolvedSchema& TableEpoch::EvolvedFor(const TablePath& source) const {
  if (by_source_.empty()) return *evolved_;
  const auto it = by_source_.find(source);
  return it == by_source_.end() ? *evolved_ : *it->second;
}

const Projection& TableEpoch::ProjectionFor(const TableSchemaPtr& source) {
  if (source.get() == last_schema_) return *last_projection_;
  const Version version{source->path, source->incarnation, source->version};
  auto& projection = projections_[version];
  if (projection == nullptr) {
    projection = std::make_unique<const Projection>(
        Projection::Make(*source, EvolvedFor(source->path), policy_));
  }
  last_schema_owner_ = source;
  last_schema_ = source.get();
  last_projection_ = projection.get();
  return *projection;
}

}  // namespace driftless
