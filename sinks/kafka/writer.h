#pragma once

#include <memory>

#include "sinks/api/sink.h"
#include "sinks/kafka/options.h"
#include "sinks/kafka/producer.h"

namespace driftless::kafka {

// Where a table's messages go.
struct WriterTarget {
  const SinkOptions* options = nullptr;
  Client* client = nullptr;                         // of the transactions, or shared by all tables
  std::shared_ptr<TableTransactions> transactions;  // null: none
  std::string topic;
  int32_t partitions = 1;
};

Result<TableWriterPtr> MakeWriter(WriterTarget target, const EvolvedSchema& table,
                                  const WriterContext& context);

// Sends a statement's message: into every partition that rows go to, or to the schema topic.
Result<void> SendStatement(const WriterTarget& target, const TablePath& table,
                           std::string_view message);

}  // namespace driftless::kafka
