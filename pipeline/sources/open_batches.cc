#include "pipeline/sources/open_batches.h"

#include <algorithm>

#include "schema/base/check.h"

namespace driftless {

bool OpenBatches::Open(OpenBatch* batch, ChangeBatchBuilder** builder) {
  DRIFTLESS_CHECK(batch->schema_ != nullptr);
  if (open_.size() >= kOpenMax && !Seal(open_.front())) return false;
  if (batch->builder_ == nullptr) {
    batch->builder_ = std::make_unique<ChangeBatchBuilder>(batch->schema_, stream_);
  }
  batch->open_ = true;
  open_.push_back(batch);
  *builder = batch->builder_.get();
  return true;
}

bool OpenBatches::Send(OpenBatch* batch) {
  batch->open_ = false;
  ChangeBatchPtr sealed = batch->builder_->Seal();
  return sealed == nullptr || output_->Changes(std::move(sealed));
}

bool OpenBatches::Seal(OpenBatch* batch) {
  if (!batch->open_) return true;
  open_.erase(std::find(open_.begin(), open_.end(), batch));
  return Send(batch);
}

bool OpenBatches::SealAll() {
  std::vector<OpenBatch*> batches;
  batches.swap(open_);
  for (OpenBatch* batch : batches) {
    if (!Send(batch)) return false;
  }
  return true;
}

bool OpenBatches::SetSchema(OpenBatch* batch, TableSchemaPtr schema) {
  if (!Seal(batch)) return false;
  if (batch->schema_ != schema) batch->builder_.reset();
  batch->schema_ = std::move(schema);
  return true;
}

}  // namespace driftless
