#include "schema/coordinator/reconcile.h"

#include <set>

namespace driftless {
namespace {

const EvolvedColumn* ByNativeId(const EvolvedSchema& schema, int64_t id) {
  if (id < 0) return nullptr;
  for (const EvolvedColumn& column : schema.columns) {
    if (column.sink.native_id == id) return &column;
  }
  return nullptr;
}

}  // namespace

EvolvedSchema Reconcile(const EvolvedSchema& evolved, const SinkTable& actual,
                        const EvolvedSchema& intended) {
  EvolvedSchema result = evolved;
  result.columns.clear();
  std::set<ColumnId> bound;
  const auto adopt = [&](EvolvedColumn* column, const EvolvedColumn* known) {
    if (known == nullptr || (known->source != 0 && bound.count(known->source) > 0)) return;
    column->source = known->source;
    column->former = known->former;
    column->fill = known->fill;
    if (known->source != 0) bound.insert(known->source);
  };
  // A name that both schemas give to different columns belongs to the later one only where the
  // earlier holder has gone elsewhere, so native ids come first, then names of `evolved`.
  std::vector<size_t> open;
  for (const SinkColumn& sink : actual.columns) {
    EvolvedColumn column;
    column.sink = sink;
    const EvolvedColumn* known = ByNativeId(evolved, sink.native_id);
    if (known == nullptr) known = evolved.FindName(sink.name);
    if (known != nullptr) {
      adopt(&column, known);
    } else {
      open.push_back(result.columns.size());
    }
    result.columns.push_back(std::move(column));
  }
  for (const size_t index : open) {
    EvolvedColumn& column = result.columns[index];
    adopt(&column, intended.FindName(column.sink.name));
    const bool same_shape = actual.columns.size() == evolved.columns.size();
    if (column.source == 0 && same_shape) adopt(&column, &evolved.columns[index]);
  }
  result.primary_key = actual.primary_key;
  result.partition_keys = actual.partition_keys;
  result.options = actual.options;
  result.comment = actual.comment;
  return result;
}

}  // namespace driftless
