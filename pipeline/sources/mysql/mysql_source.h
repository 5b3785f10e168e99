#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/sources/mysql/handover.h"
#include "pipeline/sources/mysql/server_facts.h"
#include "pipeline/sources/mysql/source_options.h"
#include "pipeline/sources/source.h"

namespace driftless::mysql {

// A MySQL or MariaDB server: a snapshot of its tables, and its binary log. Two streams: "snapshot",
// whose points count chunks, and "binlog", whose points are places in the log. The schemas belong
// to the log's stream, tables are announced at the place where it begins. Tables of a snapshot are
// read later than that place, so the log gives every change since then once more; with a primary
// key that ends in the same rows, and tables without one leave out what their view has seen.
class MySqlSource : public Source {
 public:
  explicit MySqlSource(SourceOptions options) : options_(std::move(options)) {}

  Result<void> Connect(const SourceContext& context) override;
  Result<LiveReport> Examine(const SourceContext& context) override;
  bool Captures(const TablePath& table) const override { return options_.IsCaptured(table); }
  std::vector<std::string> streams() const override { return {"snapshot", "binlog"}; }
  Result<void> Run(StreamId stream, size_t stream_index, const CutPosition& from,
                   SourceOutput* output) override;

 private:
  Result<void> RunSnapshot(StreamId stream, const CutPosition& from, SourceOutput* output);

  const SourceOptions options_;
  SourceContext context_;
  ServerFacts facts_;
  Handover handover_;
};

// The log's stream (log_run.cc): plans, announces, then follows the log until the end.
Result<void> RunLog(const SourceOptions& options, const ServerFacts& facts,
                    const SourceContext& context, StreamId stream, const CutPosition& from,
                    SourceOutput* output, Handover* handover);

}  // namespace driftless::mysql
