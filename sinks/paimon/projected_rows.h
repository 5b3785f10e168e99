#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sinks/api/projection.h"

namespace driftless::paimon {

// One batch as columns of the sink: kept by the writer until its rows are encoded.
class ProjectedRows {
 public:
  static Result<std::shared_ptr<const ProjectedRows>> Make(const ChangeBatchPtr& batch,
                                                           const Projection& projection);
  std::span<const ColumnView> after() const { return after_; }
  std::span<const ColumnView> before() const { return before_; }  // empty where no row has one
  const ChangeBatch& source() const { return *batch_; }
  size_t charged_bytes() const { return batch_->charged_bytes() + own_bytes_; }

 private:
  ChangeBatchPtr batch_;
  std::vector<ColumnView> after_;
  std::vector<ColumnView> before_;
  std::vector<uint8_t> null_bits_;  // one bitmap of zeros for all columns that are null
  size_t own_bytes_ = 0;
};

}  // namespace driftless::paimon
