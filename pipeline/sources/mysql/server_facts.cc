#include "pipeline/sources/mysql/server_facts.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <map>

#include "pipeline/sources/mysql/connection.h"
#include "schema/base/letter_case.h"
#include "schema/types/time.h"

namespace driftless::mysql {
namespace {

// "10.11.19-MariaDB" is 101119; "5.5.5-10.6.1-MariaDB" too has a prefix that means nothing.
int VersionNumber(std::string_view text) {
  if (text.starts_with("5.5.5-")) text.remove_prefix(6);
  int parts[3] = {0, 0, 0};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int& part : parts) {
    const auto [stop, error] = std::from_chars(at, end, part);
    if (error != std::errc()) break;
    at = stop;
    if (at == end || *at != '.') break;
    ++at;
  }
  return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

bool IsOn(const std::string& value) {
  return value == "1" || EqualsIgnoringCase(value, "ON") ||
         EqualsIgnoringCase(value, "ON_PERMISSIVE");
}

}  // namespace

Result<ServerFacts> ReadServerFacts(Connection* connection) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto rows, connection->Query("SHOW GLOBAL VARIABLES"));
  std::map<std::string, std::string> all;
  for (const TextRow& row : rows) {
    if (row.size() >= 2 && row[0]) all[*row[0]] = row[1].value_or("");
  }
  const auto text = [&](const char* name) { return all[name]; };
  ServerFacts facts;
  facts.version_text = text("version");
  facts.version = VersionNumber(facts.version_text);
  if (facts.version_text.find("MariaDB") != std::string::npos ||
      text("version_comment").find("MariaDB") != std::string::npos ||
      all.contains("gtid_domain_id")) {
    facts.flavour = Dialect::kMariaDb;
  }
  facts.server_id = static_cast<uint32_t>(std::strtoul(text("server_id").c_str(), nullptr, 10));
  facts.identity = facts.IsMariaDb() ? fmt::format("{}@{}", facts.server_id, text("hostname"))
                                     : text("server_uuid");
  facts.log_bin = IsOn(text("log_bin"));
  facts.binlog_format = text("binlog_format");
  facts.row_image = text("binlog_row_image");
  facts.row_metadata = text("binlog_row_metadata");
  facts.row_value_options = text("binlog_row_value_options");
  facts.gtid = facts.IsMariaDb() || EqualsIgnoringCase(text("gtid_mode"), "ON");
  facts.checksum = text("binlog_checksum");
  facts.time_zone = text("time_zone");
  if (facts.time_zone == "SYSTEM") facts.time_zone = text("system_time_zone");
  facts.lower_case_table_names =
      static_cast<int>(std::strtol(text("lower_case_table_names").c_str(), nullptr, 10));
  facts.charset = text("character_set_server");
  facts.collation = text("collation_server");
  facts.explicit_defaults_for_timestamp = IsOn(text("explicit_defaults_for_timestamp"));
  const int oldest = facts.IsMariaDb() ? 100200 : 50700;
  if (facts.version < oldest) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("the server's version {} is older than what Driftless reads "
                                 "(MySQL 5.7, MariaDB 10.2)",
                                 facts.version_text));
  }
  // The session runs in UTC; the server's own zone is the global one.
  DRIFTLESS_ASSIGN_OR_RETURN(
      const auto offset,
      connection->QueryValue("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), CONVERT_TZ("
                             "UTC_TIMESTAMP(), '+00:00', @@global.time_zone))"));
  facts.utc_offset_s = offset ? std::strtoll(offset->c_str(), nullptr, 10) : 0;
  return facts;
}

std::vector<Finding> CheckServer(const ServerFacts& facts, bool wants_log,
                                 const std::string& time_zone) {
  std::vector<Finding> findings;
  const auto error = [&](std::string what, std::string remedy) {
    findings.push_back({Finding::Level::kError, std::move(what), std::move(remedy)});
  };
  const auto warning = [&](std::string what, std::string remedy) {
    findings.push_back({Finding::Level::kWarning, std::move(what), std::move(remedy)});
  };
  if (!time_zone.empty()) {
    const auto zone = TimeZone::Load(time_zone);
    if (!zone) {
      error(fmt::format("server-time-zone {} is not known", time_zone),
            "Give a name of the time zone database, such as Europe/Berlin, or an offset.");
    }
  }
  if (!wants_log) return findings;
  if (!facts.log_bin) {
    error("the server writes no binary log (log_bin is OFF)",
          "Start it with --log-bin (my.cnf: log_bin = binlog) and a server_id.");
    return findings;
  }
  if (facts.server_id == 0) {
    error("the server's server_id is 0: it serves no replicas", "Set server_id in my.cnf.");
  }
  if (!EqualsIgnoringCase(facts.binlog_format, "ROW")) {
    error(fmt::format("binlog_format is {}: changes are logged as statements, not rows",
                      facts.binlog_format),
          "SET GLOBAL binlog_format = 'ROW', and let the clients reconnect.");
  }
  if (!facts.row_image.empty() && !EqualsIgnoringCase(facts.row_image, "FULL")) {
    warning(fmt::format("binlog_row_image is {}: values that an update does not touch are not "
                        "logged; sinks that need whole rows follow pipeline.on-absent",
                        facts.row_image),
            "SET GLOBAL binlog_row_image = 'FULL'.");
  }
  if (!EqualsIgnoringCase(facts.row_metadata, "FULL")) {
    warning(fmt::format("binlog_row_metadata is {}: the log has no column names, so a DDL that "
                        "was missed is seen later",
                        facts.row_metadata.empty() ? "not there" : facts.row_metadata),
            "SET GLOBAL binlog_row_metadata = 'FULL'.");
  }
  if (!facts.gtid) {
    warning(
        "gtid_mode is OFF: positions are files and offsets, which another server does not "
        "know after a failover; a snapshot takes a short global read lock",
        "Turn gtid_mode on (Reference Manual, 19.1.4).");
  }
  return findings;
}

}  // namespace driftless::mysql
