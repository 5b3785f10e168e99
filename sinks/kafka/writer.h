#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "sinks/api/sink.h"
#include "sinks/kafka/options.h"
#include "sinks/kafka/producer.h"

namespace driftless::kafka {

// Numbers the statements of a sink, and holds one back until the one before it has arrived.
struct StatementOrder {
  explicit StatementOrder(int64_t run_ms) : run(run_ms) {}
  const int64_t run;  // when the process began: runs grow
  std::mutex mutex;
  int64_t number = 0;  // of the last one
};

// A statement's message. `name` tells it from any other one of the same text (statement_header.h).
struct StatementMessage {
  std::string name;
  std::string text;

  static std::string NameOf(const StatementChange& change);
  // As a step of a plan keeps it.
  std::string ToPayload() const { return text.empty() ? "" : name + "\n" + text; }
  static StatementMessage OfPayload(std::string_view payload);
};

// Where a table's messages go.
struct WriterTarget {
  const SinkOptions* options = nullptr;
  std::shared_ptr<Client> client;                   // of the transactions, or shared by all tables
  std::shared_ptr<TableTransactions> transactions;  // null: none
  std::string topic;
  std::shared_ptr<FirstMessages> first;   // of this client in this topic
  std::shared_ptr<StatementOrder> order;  // the sink's

  int32_t partitions() const { return first->partitions(); }
};

Result<TableWriterPtr> MakeWriter(WriterTarget target, const EvolvedSchema& table,
                                  const WriterContext& context);

// Sends a statement's message, into every partition that rows go to or to the schema topic, and
// waits until it is acknowledged.
Result<void> SendStatement(const WriterTarget& target, const TablePath& table,
                           const StatementMessage& message);

}  // namespace driftless::kafka
