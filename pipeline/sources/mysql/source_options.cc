#include "pipeline/sources/mysql/source_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "pipeline/sources/captured_tables.h"
#include "pipeline/sources/online_options.h"

namespace driftless::mysql {
namespace {

StartMode Start(const std::string& text) {
  if (text == "snapshot") return StartMode::kSnapshot;
  if (text == "latest-offset") return StartMode::kLatest;
  if (text == "earliest-offset") return StartMode::kEarliest;
  if (text == "specific-offset") return StartMode::kSpecific;
  if (text == "timestamp") return StartMode::kTimestamp;
  return StartMode::kInitial;
}

TlsMode Tls(const std::string& text) {
  if (text == "disabled") return TlsMode::kDisabled;
  if (text == "required") return TlsMode::kRequired;
  if (text == "verify-identity") return TlsMode::kVerifyIdentity;
  return TlsMode::kPreferred;
}

}  // namespace

Result<std::vector<std::pair<TableSelector, std::string>>> ReadChunkColumns(std::string_view text) {
  std::vector<std::pair<TableSelector, std::string>> columns;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (entry.find_first_not_of(" \t\n") == std::string_view::npos) continue;
    const size_t colon = entry.rfind(':');
    const auto trimmed = [](std::string_view part) {
      const size_t first = part.find_first_not_of(" \t\n`");
      const size_t last = part.find_last_not_of(" \t\n`");
      return first == std::string_view::npos ? "" : part.substr(first, last - first + 1);
    };
    if (colon == std::string_view::npos || trimmed(entry.substr(colon + 1)).empty()) {
      return MakeError(ErrorKind::kInvalidConfig,
                       fmt::format("\"{}\" names no table and column", entry))
          .Hint("Write database.table:column, several separated by semicolons.");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(TableSelector selector,
                               TableSelector::Parse(trimmed(entry.substr(0, colon))));
    columns.emplace_back(std::move(selector), std::string(trimmed(entry.substr(colon + 1))));
  }
  return columns;
}

Result<SourceOptions> ReadSourceOptions(const OptionValues& values) {
  SourceOptions options;
  ConnectionOptions& connection = options.connection;
  connection.host = values.String("hostname").value_or("");
  connection.port = static_cast<int>(values.Int("port").value_or(3306));
  connection.user = values.String("username").value_or("");
  connection.password = values.String("password").value_or("");
  connection.connect_timeout_ms = values.DurationMs("connect.timeout").value_or(30000);
  connection.tls = Tls(values.Enum("tls.mode").value_or("preferred"));
  connection.tls_ca = values.String("tls.ca").value_or("");
  connection.tls_certificate = values.String("tls.certificate").value_or("");
  connection.tls_key = values.String("tls.key").value_or("");
  DRIFTLESS_ASSIGN_OR_RETURN(options.tables, ReadTableSelector("tables", values));
  if (values.IsSet("tables.exclude")) {
    DRIFTLESS_ASSIGN_OR_RETURN(options.exclude, ReadTableSelector("tables.exclude", values));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(options.online, ReadOnlinePatterns(values));
  options.server_id = values.String("server-id").value_or("");
  options.time_zone = values.String("server-time-zone").value_or("");
  options.start = Start(values.Enum("scan.startup.mode").value_or("initial"));
  options.start_file = values.String("scan.startup.specific-offset.file").value_or("");
  options.start_offset =
      static_cast<uint64_t>(values.Int("scan.startup.specific-offset.pos").value_or(4));
  options.start_gtids = values.String("scan.startup.specific-offset.gtid-set").value_or("");
  options.start_timestamp_ms = values.Int("scan.startup.timestamp-millis").value_or(0);
  options.chunk_rows = values.Int("scan.incremental.snapshot.chunk.size").value_or(8096);
  const auto on_unparsed = values.Enum("on-unparsed-ddl");
  if (on_unparsed == "park") options.on_unparsed_ddl = OnUnparsedDdl::kPark;
  if (on_unparsed == "fail") options.on_unparsed_ddl = OnUnparsedDdl::kFail;
  if (on_unparsed == "ignore") options.on_unparsed_ddl = OnUnparsedDdl::kIgnore;
  options.snapshot_connections = values.Int("connection.pool.size").value_or(4);
  constexpr std::string_view kChunkColumn = "scan.incremental.snapshot.chunk.key-column";
  if (const auto text = values.String(kChunkColumn)) {
    auto columns = ReadChunkColumns(*text);
    if (!columns) {
      const Location at = values.At(kChunkColumn);
      return std::move(columns).error().At(at.line, at.column);
    }
    options.chunk_columns = std::move(*columns);
  }
  options.newly_added_tables = values.Bool("scan.newly-added-table.enabled").value_or(false);
  options.include_comments = values.Bool("include-comments.enabled").value_or(false);
  options.tinyint1_is_boolean = values.Bool("treat-tinyint1-as-boolean.enabled").value_or(true);
  return options;
}

}  // namespace driftless::mysql
