#include "pipeline/runtime/kept_back.h"

#include <utility>

namespace driftless {
namespace {

// Rows that write something: deletes have no values.
int64_t CountWrites(const ChangeBatch& batch, const std::vector<uint32_t>& rows) {
  int64_t count = 0;
  for (const uint32_t row : rows) count += batch.ops()[row] == Op::kDelete ? 0 : 1;
  return count;
}

// A NULL that is not written is not missed.
int64_t CountValues(const ChangeBatch& batch, const ColumnView& column,
                    const std::vector<uint32_t>& rows) {
  int64_t count = 0;
  for (const uint32_t row : rows) {
    const bool has_value =
        batch.ops()[row] != Op::kDelete && !column.IsNull(row) && !column.IsAbsent(row);
    count += has_value ? 1 : 0;
  }
  return count;
}

}  // namespace

void KeptBackCounter::AddValue(std::string_view sink_column, RowReporter::Loss loss, int64_t rows) {
  if (loss == RowReporter::Loss::kAbsent) return;  // the source's doing, not a divergence
  const auto [entry, is_new] = values_.try_emplace(std::string(sink_column), 0);
  entry->second += rows;
}

void KeptBackCounter::Take(const TableEpoch& epoch, const ChangeBatch& batch,
                           const Projection& projection, const std::vector<uint32_t>& rows,
                           KeptBack* into) {
  const TableSchema& source = *batch.schema();
  for (const ColumnId id : projection.dropped()) {
    const int index = source.IndexOf(id);
    if (index < 0) continue;
    const auto at = static_cast<size_t>(index);
    Count(epoch, {id, source.columns[at].name}, "skipped",
          CountValues(batch, batch.after()[at], rows), into);
  }
  const EvolvedSchema& evolved = epoch.EvolvedFor(source.path);
  for (size_t i = 0; i < projection.columns().size(); ++i) {
    const bool is_filled = projection.columns()[i].from == ProjectedColumn::From::kDefault &&
                           evolved.columns[i].source == 0 && evolved.columns[i].former != 0;
    if (!is_filled) continue;
    Count(epoch, {evolved.columns[i].former, evolved.columns[i].sink.name}, "filled",
          CountWrites(batch, rows), into);
  }
  for (const auto& [name, count] : std::exchange(values_, {})) {
    const EvolvedColumn* column = evolved.FindName(name);
    const Column* from = column == nullptr ? nullptr : source.Find(column->source);
    if (from != nullptr) Count(epoch, {from->id, from->name}, "", count, into);
  }
}

// Without a kind: the metrics have it already.
void KeptBackCounter::Count(const TableEpoch& epoch, KeptBackColumn column, std::string_view kind,
                            int64_t rows, KeptBack* into) {
  if (rows == 0) return;
  if (!kind.empty()) {
    metrics_->AddLostValues({sink_, epoch.key().table}, column.name, kind, rows);
  }
  // Identities of one of many source tables are not the merged ones, by which divergences go.
  if (epoch.is_merged()) column.column = 0;
  (*into)[std::move(column)] += rows;
}

}  // namespace driftless
