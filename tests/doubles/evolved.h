#pragma once

#include "schema/plan/schema_plan.h"
#include "tests/doubles/source_table.h"

namespace driftless {

// The table at the sink that a table at the source makes, name by name.
inline EvolvedSchema Evolved(const TableSchema& table) {
  EvolvedSchema evolved;
  evolved.path = table.path;
  evolved.incarnation = table.incarnation;
  for (const Column& column : table.columns) {
    EvolvedColumn one;
    one.sink.name = column.name;
    one.sink.type = column.type;
    one.source = column.id;
    evolved.columns.push_back(one);
  }
  for (const ColumnId id : table.primary_key) {
    evolved.primary_key.push_back(table.Find(id)->name);
  }
  return evolved;
}

}  // namespace driftless
