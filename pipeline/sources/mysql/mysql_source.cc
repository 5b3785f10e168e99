#include "pipeline/sources/mysql/mysql_source.h"

#include <spdlog/spdlog.h>

#include "pipeline/sources/registry.h"

namespace driftless::mysql {

Result<void> MySqlSource::Connect(const SourceContext& context) {
  context_ = context;
  if (context.reads_tables_again && options_.WantsLog() && !options_.WantsSnapshot()) {
    return MakeError(ErrorKind::kInvalidConfig,
                     "rows-without-events: resync: a scan.startup.mode without a snapshot has no "
                     "table that could be read again")
        .Hint("Set rows-without-events: warn or fail; or start with scan.startup.mode: initial.");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
  DRIFTLESS_ASSIGN_OR_RETURN(facts_, ReadServerFacts(connection.get()));
  for (const Finding& finding : CheckServer(facts_, options_.WantsLog(), options_.time_zone)) {
    if (finding.level == Finding::Level::kError) {
      return MakeError(ErrorKind::kInvalidConfig, finding.what).Hint(finding.remedy);
    }
    spdlog::warn("mysql source: {}. {}", finding.what, finding.remedy);
  }
  return {};
}

Result<void> MySqlSource::Run(StreamId stream, size_t stream_index, const CutPosition& from,
                              SourceOutput* output) {
  const bool is_snapshot = stream_index == 0;
  Result<void> result =
      is_snapshot ? RunSnapshot(options_, facts_, context_, stream, from, output, &handover_)
                  : RunLog(options_, facts_, context_, stream, from, output, &handover_);
  // A failure, and the log's end, leave the other stream nothing to wait for.
  if (!result || !is_snapshot) handover_.End();
  if (!result && result.error().kind() == ErrorKind::kCancelled) return {};
  return result;
}

}  // namespace driftless::mysql

namespace driftless {

Result<std::unique_ptr<Source>> MakeMySqlSource(const OptionValues& values) {
  DRIFTLESS_ASSIGN_OR_RETURN(mysql::SourceOptions options, mysql::ReadSourceOptions(values));
  return std::unique_ptr<Source>(std::make_unique<mysql::MySqlSource>(std::move(options)));
}

}  // namespace driftless
