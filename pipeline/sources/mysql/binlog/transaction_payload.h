#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/sources/mysql/binlog/binlog_event.h"

namespace driftless::mysql {

// The events inside of a TRANSACTION_PAYLOAD (MySQL's binlog_transaction_compression), unpacked as
// they are asked for: memory for one event at a time, however large the transaction.
class TransactionPayload {
 public:
  // The event's bytes must live as long as this. Errors: kInvalidInput; kUnsupported for another
  // compression than zstd or none.
  static Result<TransactionPayload> Open(const BinlogEvent& event);
  TransactionPayload(TransactionPayload&&) noexcept;
  ~TransactionPayload();

  // The next event, valid until the next call; false at the end. Errors: kCorrupt, kInvalidInput.
  Result<bool> Next(BinlogEvent* event);

  uint64_t uncompressed_size() const;

 private:
  struct Impl;
  explicit TransactionPayload(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless::mysql
