#pragma once

#include <string>
#include <vector>

#include "pipeline/sources/source.h"
#include "pipeline/sources/sql/options.h"

namespace driftless {

// A script of Flink SQL as one bounded stream. Points: epoch 1, offset the number of the statement
// (from 1), row the row or table in it (from 0).
class SqlSource : public Source {
 public:
  explicit SqlSource(SqlSourceOptions options) : options_(std::move(options)) {}

  Result<void> Connect(const SourceContext& context) override;
  std::vector<std::string> streams() const override { return {"sql"}; }
  Result<void> Run(StreamId stream, size_t stream_index, const CutPosition& from,
                   SourceOutput* output) override;
  bool Captures(const TablePath& table) const override {
    return !options_.tables || options_.tables->Matches(table);
  }

 private:
  class Playing;
  Result<std::string> ReadScript() const;

  const SqlSourceOptions options_;
  SourceContext context_;
};

}  // namespace driftless
