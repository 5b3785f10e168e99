#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/sources/debezium/debezium_stream.h"

namespace driftless::debezium {

// One table of a stream: its batch, and how its rows are read.
struct DebeziumStream::Table {
  TablePath path;
  std::string database_key;  // how records name it
  std::string table_key;
  bool captured = false;        // selected, and no shadow of an online schema change...
  uint64_t captured_epoch = 0;  // ...as DdlTracker said at this epoch
  bool has_ddl = false;         // its schema came from statements
  bool by_statement = false;    // some statement has told of it: its columns are certain
  bool row_tells = false;       // a statement could not be told to be about it or not
  bool waits = false;           // in front of a statement that is not understood
  OpenBatch batch;
  RowPlan plan;
  bool plan_is_current = false;
  bool ever_without_key = false;  // now or in an earlier version: before images are always decoded
  uint64_t schema_id = 0;         // of the embedded schema that the plan was made with
  std::string schema_text;        // and its text
  uint64_t key_schema_id = 0;
  std::string key_schema_text;
  // Canal: schema_text and key_schema_text are the last row's own description, with these codes.
  std::string codes_text;
  bool relabels = false;  // its rows have names of another time
  // Without schemas: what keys of the table look like, so that another key is seen.
  std::vector<std::string> key_marks;  // `"id":` of each column
  std::unique_ptr<EmbeddedSchema> embedded;

  const TableSchemaPtr& schema() const { return batch.schema(); }
  void RememberKey() {
    key_marks.clear();
    for (const ColumnId id : schema()->primary_key) {
      key_marks.push_back("\"" + JsonKeyOf(schema()->Find(id)->name) + "\":");
    }
  }
  // False where the record's key has other columns than the table's.
  bool HasKey(std::string_view key) const {
    if (key.empty()) return key_marks.empty();
    if (key_marks.empty() || key.substr(1).compare(0, key_marks[0].size(), key_marks[0]) != 0) {
      return false;
    }
    return std::all_of(key_marks.begin() + 1, key_marks.end(), [&](const std::string& mark) {
      return key.find(mark) != std::string_view::npos;
    });
  }
};

}  // namespace driftless::debezium
