#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/plan/schema_plan.h"

namespace driftless {

// How the values of a row are written; every format of change messages has its own habits.
enum class JsonDialect : uint8_t {
  kFlink,    // Flink's JSON format: text for times, numbers for decimals, base64 for bytes
  kConnect,  // what Kafka Connect's schema declares: Debezium's logical types
  kCanal,    // every value a string; bytes as ISO-8859-1
  kMaxwell,  // typed values; moments as text in UTC without a zone
};

struct RowJsonOptions {
  JsonDialect dialect = JsonDialect::kFlink;
  char date_time_separator = ' ';
  bool ignore_null_fields = false;
};

// Writes row images of one sink table as JSON objects, straight from the columns. One thread.
class RowJson {
 public:
  RowJson(const EvolvedSchema& table, RowJsonOptions options);

  // What the source says about its columns decides how some values are written (BIT, SET, decimals
  // that are text here). Call it for every batch; cheap where the schema is the last one.
  void Follow(const TableSchemaPtr& source);

  // `{"id":7,"name":"x"}` with one view per column of the table; absent values are left out.
  void Append(std::span<const ColumnView> columns, int64_t row, std::string* out) const;
  // The columns of `before` whose value is another one in `after`.
  void AppendChanged(std::span<const ColumnView> before, std::span<const ColumnView> after,
                     int64_t row, std::string* out) const;
  // One value, NULL included.
  void AppendValue(size_t column, const ColumnView& values, int64_t row, std::string* out) const;
  // `"name":`, escaped.
  const std::string& key(size_t column) const { return columns_[column].key; }
  size_t size() const { return columns_.size(); }

 private:
  enum class Write : uint8_t { kPlain, kBits, kSet, kNumberText };
  struct ColumnPlan {
    std::string key;
    LogicalType type;
    ColumnId source = 0;
    Write write = Write::kPlain;
  };
  void AppendPlain(const LogicalType& type, const ColumnView& values, int64_t row,
                   std::string* out) const;
  void AppendConnect(const LogicalType& type, const ColumnView& values, int64_t row,
                     std::string* out) const;
  void AppendCanal(const LogicalType& type, const ColumnView& values, int64_t row,
                   std::string* out) const;

  const RowJsonOptions options_;
  std::vector<ColumnPlan> columns_;
  TableSchemaPtr source_;
};

}  // namespace driftless
