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
// whose points count chunks, and "binlog", whose points are places in the log. The log's thread
// owns the schemas and leads: it asks for a round of chunks, reads on to where the round's views
// begin, and so on, until the log has passed the last view.
class MySqlSource : public Source {
 public:
  explicit MySqlSource(SourceOptions options) : options_(std::move(options)) {}

  Result<void> Connect(const SourceContext& context) override;
  Result<LiveReport> Examine(const SourceContext& context) override;
  bool Captures(const TablePath& table) const override { return options_.IsCaptured(table); }
  std::vector<std::string> streams() const override { return {"snapshot", "binlog"}; }
  bool GoesOnForOthers() const override { return options_.GoesOnForOthers(); }
  Result<void> Run(StreamId stream, size_t stream_index, const CutPosition& from,
                   SourceOutput* output) override;

 private:
  const SourceOptions options_;
  SourceContext context_;
  ServerFacts facts_;
  Handover handover_;
};

// The log's stream (log_run.cc): plans, announces, leads the snapshot, follows the log to the end.
Result<void> RunLog(const SourceOptions& options, const ServerFacts& facts,
                    const SourceContext& context, StreamId stream, const CutPosition& from,
                    SourceOutput* output, Handover* handover);
// The snapshot's stream (snapshot_run.cc): answers what the log's asks.
Result<void> RunSnapshot(const SourceOptions& options, const ServerFacts& facts,
                         const SourceContext& context, StreamId stream, const CutPosition& from,
                         SourceOutput* output, Handover* handover);

}  // namespace driftless::mysql
