#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schema/types/time.h"
#include "sinks/api/sink.h"
#include "sinks/paimon/data_file.h"
#include "sinks/paimon/hash_index.h"
#include "sinks/paimon/table_state.h"

namespace driftless::paimon {

// What a writer is made of beyond its context.
struct WriterSetup {
  PaimonTable table;
  DataFileFormat format;
  std::shared_ptr<TableState> state;
  std::unique_ptr<HashIndex> index;  // dynamic buckets only
  WriterIndex writer = 0;
  WriterIndex writers = 1;
  int64_t buffer_bytes_max = 256 << 20;    // write-buffer-size
  TimeZone zone;                           // for files of older schemas that are read again
  std::function<void(const Error&)> warn;  // SinkEnvironment::warn; may be null
};

// Keeps batches and references to their rows, bucket by bucket; sorts and encodes them when it is
// told to roll or to prepare, or when the buffer is full. See writer.cc for the rules of a flush.
Result<TableWriterPtr> MakePaimonWriter(WriterSetup setup, const WriterContext& context);

}  // namespace driftless::paimon
