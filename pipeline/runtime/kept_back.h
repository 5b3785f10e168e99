#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/runtime/items.h"
#include "pipeline/runtime/metrics.h"
#include "sinks/api/projected_batch.h"

namespace driftless {

// Of which column a standing difference kept values back: by the identity that the divergence has.
struct KeptBackColumn {
  ColumnId column = 0;  // 0: many source tables feed the sink table, only the name can be told
  std::string name;     // at the source
  friend auto operator<=>(const KeptBackColumn&, const KeptBackColumn&) = default;
};
// Rows per column.
using KeptBack = std::map<KeptBackColumn, int64_t>;

// Counts what the projection of one batch keeps out of the sink: values of columns that the sink
// lacks, and rows for which a column that no source column feeds gets its default or zero value.
// `values` are the single values that did not go over as they were, as the writer told them.
class KeptBackCounter {
 public:
  KeptBackCounter(std::string sink, Metrics* metrics) : sink_(std::move(sink)), metrics_(metrics) {}

  // Of a value that the writer counted, by the sink column's name.
  void AddValue(std::string_view sink_column, RowReporter::Loss loss, int64_t rows);
  // After the writer took the rows: all of it, the values included.
  void Take(const TableEpoch& epoch, const ChangeBatch& batch, const Projection& projection,
            const std::vector<uint32_t>& rows, KeptBack* into);

 private:
  void Count(const TableEpoch& epoch, KeptBackColumn column, std::string_view kind, int64_t rows,
             KeptBack* into);

  const std::string sink_;
  Metrics* const metrics_;
  std::map<std::string, int64_t, std::less<>> values_;
};

}  // namespace driftless
