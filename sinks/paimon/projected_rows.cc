#include "sinks/paimon/projected_rows.h"

namespace driftless::paimon {

Result<std::shared_ptr<const ProjectedRows>> ProjectedRows::Make(const ChangeBatchPtr& batch,
                                                                 const Projection& projection) {
  auto rows = std::make_shared<ProjectedRows>();
  rows->batch_ = batch;
  rows->null_bits_.assign(static_cast<size_t>(batch->size() + 7) / 8, 0);
  const auto project = [&](std::span<const ColumnView> from, std::vector<ColumnView>* to) {
    to->reserve(projection.columns().size());
    for (const ProjectedColumn& column : projection.columns()) {
      if (column.from == ProjectedColumn::From::kSource) {
        to->push_back(from[static_cast<size_t>(column.source_index)]);
        continue;
      }
      ColumnView view;
      view.length = batch->size();
      view.validity = rows->null_bits_.data();
      to->push_back(view);
    }
  };
  for (const ProjectedColumn& column : projection.columns()) {
    if (column.needs_cast || column.from == ProjectedColumn::From::kDefault) {
      return MakeError(ErrorKind::kUnsupported, "casts of rows are not wired yet");
    }
  }
  project(batch->after(), &rows->after_);
  if (!batch->before().empty()) project(batch->before(), &rows->before_);
  return std::shared_ptr<const ProjectedRows>(std::move(rows));
}

}  // namespace driftless::paimon
