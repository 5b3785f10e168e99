#pragma once

#include <memory>
#include <string>

#include "pipeline/sources/mysql/log_stream.h"

namespace driftless::mysql {

// A table that rows or statements came for.
struct LogStream::Table {
  TablePath path;
  bool is_captured = false;
  bool waits = false;         // for a person: rows and statements come again once it is decided
  bool is_uncertain = false;  // a statement on it was ignored: the next row tells how it is
  OpenBatch batch;
};

// What a table number of the log stands for, until the next format description.
struct LogStream::Mapped {
  Table* table = nullptr;  // null: nobody wants its rows
  std::string bytes;       // of the TABLE_MAP; the plan's names lie here
  std::string identity;
  std::unique_ptr<RowPlan> plan;
  TableSchemaPtr schema;  // that the plan was made for
};

}  // namespace driftless::mysql
