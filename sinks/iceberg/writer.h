#pragma once

#include "sinks/api/sink.h"
#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/data_file.h"

namespace driftless::iceberg {

struct WriterSetup {
  LoadedTable table;
  FileFormat format;
  WriterIndex writer = 0;
  int64_t buffer_bytes_max = 256 << 20;
};

// Keeps batches and references to their rows. With a key, every flush writes the newest row of each
// key and an equality delete for each key that it touched; so no key is ever twice among the rows
// of one snapshot, and each flush becomes a snapshot of its own. Without a key, rows that leave
// cancel out against the buffer; what is left of them is found by the commit.
Result<TableWriterPtr> MakeIcebergWriter(WriterSetup setup, const WriterContext& context);

}  // namespace driftless::iceberg
