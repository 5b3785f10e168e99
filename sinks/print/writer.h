#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "schema/plan/schema_plan.h"
#include "sinks/api/sink.h"
#include "sinks/print/line_output.h"

namespace driftless {

enum class PrintFormat : uint8_t { kText, kJson };

// What all writers of one print sink share.
struct PrintTarget {
  std::unique_ptr<LineOutput> output;  // null: print nothing
  PrintFormat format = PrintFormat::kText;
  std::string prefix;               // "name> " or empty
  int64_t limit = 0;                // 0: none
  std::atomic<int64_t> printed{0};  // changes so far
};

// The line of a schema change: "DDL shop.orders: add column qty INT".
std::string SchemaLine(const PrintTarget& target, const TablePath& table, const std::string& what);

TableWriterPtr MakePrintWriter(std::shared_ptr<PrintTarget> target, const EvolvedSchema& table,
                               const WriterContext& context);

}  // namespace driftless
