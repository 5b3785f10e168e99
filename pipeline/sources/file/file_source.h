#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/sources/file/options.h"
#include "pipeline/sources/source.h"

namespace driftless {

// Files of change records, one a line, read in order as one stream. Points: epoch is the number of
// the file in reading order (from 1), offset the line in it (from 1).
class FileSource : public Source {
 public:
  explicit FileSource(FileSourceOptions options) : options_(std::move(options)) {}

  Result<void> Connect(const SourceContext& context) override;
  std::vector<std::string> streams() const override { return {"files"}; }
  Result<void> Run(StreamId stream, size_t stream_index, const CutPosition& from,
                   SourceOutput* output) override;
  bool Captures(const TablePath& table) const override {
    return !options_.stream.tables || options_.stream.tables->Matches(table);
  }

 private:
  class Reading;
  const FileSourceOptions options_;
  SourceContext context_;
};

}  // namespace driftless
