#include "schema/plan/schema_plan.h"

namespace driftless {

const SinkColumn* SinkTable::FindName(std::string_view name) const {
  for (const SinkColumn& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

const EvolvedColumn* EvolvedSchema::FindSource(ColumnId id) const {
  if (id == 0) return nullptr;  // that would be a free column
  for (const EvolvedColumn& column : columns) {
    if (column.source == id) return &column;
  }
  return nullptr;
}

const EvolvedColumn* EvolvedSchema::FindName(std::string_view name) const {
  for (const EvolvedColumn& column : columns) {
    if (column.sink.name == name) return &column;
  }
  return nullptr;
}

SinkTable EvolvedSchema::ToSinkTable() const {
  SinkTable table;
  table.path = path;
  table.columns.reserve(columns.size());
  for (const EvolvedColumn& column : columns) table.columns.push_back(column.sink);
  table.primary_key = primary_key;
  table.partition_keys = partition_keys;
  table.options = options;
  table.comment = comment;
  return table;
}

}  // namespace driftless
