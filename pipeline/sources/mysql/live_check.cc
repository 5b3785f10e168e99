#include "pipeline/sources/mysql/live_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/mysql/mysql_source.h"
#include "pipeline/sources/mysql/server_facts.h"
#include "pipeline/sources/mysql/tables.h"
#include "schema/base/letter_case.h"
#include "schema/types/time.h"

namespace driftless::mysql {
namespace {

constexpr int64_t kDayS = 86400;

class Examination {
 public:
  Examination(const SourceOptions& options, Connection* connection, ServerFacts facts)
      : options_(options), connection_(*connection), facts_(std::move(facts)) {}

  Result<LiveReport> Run() {
    report_.server = fmt::format("{} {} at {}:{}{}", facts_.IsMariaDb() ? "MariaDB" : "MySQL",
                                 facts_.version_text, options_.connection.host,
                                 options_.connection.port, connection_.uses_tls() ? ", TLS" : "");
    for (Finding& finding : CheckServer(facts_, options_.WantsLog(), options_.time_zone)) {
      Add(finding.level == Finding::Level::kError, std::move(finding.what),
          std::move(finding.remedy));
    }
    DRIFTLESS_TRY(ReadVariables());
    CheckTimeZone();
    if (options_.WantsLog()) {
      CheckLog();
      CheckFilters();
      CheckReplicas();
    }
    DRIFTLESS_TRY(ReadTables());
    DRIFTLESS_TRY(CheckPrivileges());
    return std::move(report_);
  }

 private:
  void Add(bool is_error, std::string what, std::string remedy) {
    report_.findings.push_back(
        {is_error ? LiveFinding::Level::kError : LiveFinding::Level::kWarning, std::move(what),
         std::move(remedy)});
  }
  void Fault(std::string what, std::string remedy) {
    Add(true, std::move(what), std::move(remedy));
  }
  void Doubt(std::string what, std::string remedy) {
    Add(false, std::move(what), std::move(remedy));
  }

  Result<void> ReadVariables() {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto rows, connection_.Query("SHOW GLOBAL VARIABLES"));
    for (const TextRow& row : rows) {
      if (row.size() >= 2 && row[0]) variables_[*row[0]] = row[1].value_or("");
    }
    return {};
  }
  std::string Variable(const char* name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? "" : found->second;
  }
  int64_t Number(const char* name) const {
    return std::strtoll(Variable(name).c_str(), nullptr, 10);
  }
  bool IsOn(const char* name) const {
    const std::string value = Variable(name);
    return value == "1" || EqualsIgnoringCase(value, "ON");
  }

  // Flink CDC refuses half an hour of difference, too.
  void CheckTimeZone() {
    if (options_.time_zone.empty()) return;
    const auto zone = TimeZone::Load(options_.time_zone);
    if (!zone) return;  // CheckServer has told
    const int64_t offset_s = zone->OffsetAtUtc(SystemClock()->NowMillis() / 1000);
    if (std::llabs(offset_s - facts_.utc_offset_s) <= 1800) return;
    Doubt(fmt::format("server-time-zone {} is {} s from UTC, the server's time zone ({}) {} s",
                      options_.time_zone, offset_s, facts_.time_zone, facts_.utc_offset_s),
          "Leave server-time-zone out, or give the zone of the server (SELECT @@global.time_zone, "
          "@@system_time_zone).");
  }

  void CheckLog() {
    int64_t expires_s = Number("binlog_expire_logs_seconds");
    if (expires_s == 0) {
      expires_s =
          static_cast<int64_t>(std::strtod(Variable("expire_logs_days").c_str(), nullptr) * kDayS);
    }
    if (expires_s > 0 && expires_s < kDayS) {
      Doubt(fmt::format("the binary log is kept for {} s: a pipeline that is down for longer has "
                        "to take a new snapshot",
                        expires_s),
            "SET GLOBAL binlog_expire_logs_seconds = 604800 (on RDS: CALL "
            "mysql.rds_set_configuration('binlog retention hours', 168)), and in my.cnf.");
    }
    const char* updates =
        variables_.contains("log_replica_updates") ? "log_replica_updates" : "log_slave_updates";
    if (variables_.contains(updates) && !IsOn(updates) && IsOn("read_only")) {
      Doubt(fmt::format("the server is read-only and {} is OFF: a replica that does not write what "
                        "it gets from its source into its own log",
                        updates),
            fmt::format("Set {} = ON in my.cnf and restart it, or read from the source.", updates));
    }
    if (!facts_.row_value_options.empty()) {
      Doubt(
          fmt::format("binlog_row_value_options is {}: JSON columns are logged as what changed of "
                      "them; sinks that need whole rows follow pipeline.on-absent where the row "
                      "before is not logged whole",
                      facts_.row_value_options),
          "SET GLOBAL binlog_row_value_options = ''.");
    }
  }

  // Databases that the log leaves out are never seen.
  void CheckFilters() {
    const bool new_form = !facts_.IsMariaDb() && facts_.version >= 80200;
    const auto rows = connection_.Query(new_form ? "SHOW BINARY LOG STATUS" : "SHOW MASTER STATUS");
    if (!rows || rows->empty()) return;  // a privilege is missing: told below
    const TextRow& row = rows->front();
    for (size_t i = 2; i <= 3 && i < row.size(); ++i) {
      if (!row[i] || row[i]->empty()) continue;
      Doubt(
          fmt::format("the binary log {} the databases {} ({})", i == 2 ? "has only" : "leaves out",
                      *row[i], i == 2 ? "binlog_do_db" : "binlog_ignore_db"),
          "Take the option out of my.cnf and restart the server, or leave those tables out.");
    }
  }

  void CheckReplicas() {
    if (options_.server_id.empty()) return;
    const auto low = static_cast<uint64_t>(std::strtoull(options_.server_id.c_str(), nullptr, 10));
    uint64_t high = low;
    if (const size_t dash = options_.server_id.find('-'); dash != std::string::npos) {
      high = std::strtoull(options_.server_id.c_str() + dash + 1, nullptr, 10);
    }
    const auto clash = [&](uint64_t id, std::string_view whose) {
      if (id < low || id > high) return;
      const bool only = low == high;
      Add(only, fmt::format("server-id {} is also that of {}", options_.server_id, whose),
          "Two readers with one id cut each other off: give a number, or a range, of its own.");
    };
    clash(facts_.server_id, "the server itself");
    const bool new_form = !facts_.IsMariaDb() && facts_.version >= 80022;
    const auto rows = connection_.Query(new_form ? "SHOW REPLICAS" : "SHOW SLAVE HOSTS");
    if (!rows) return;
    for (const TextRow& row : *rows) {
      if (row.empty() || !row[0]) continue;
      clash(std::strtoull(row[0]->c_str(), nullptr, 10), "a replica that is connected");
    }
  }

  Result<void> ReadTables() {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto tables, ListTables(&connection_, options_));
    if (tables.empty()) {
      Fault("no table of the server matches \"tables\": " + options_.tables->text(),
            "Each entry is database.table, and the user sees only what it has SELECT on.");
    }
    std::vector<std::string> without_key;
    uint64_t incarnation = 1;
    for (const TablePath& table : tables) {
      const auto text = ShowCreateTable(&connection_, table);
      if (!text) {
        Fault(fmt::format("table {} cannot be read: {}", table.ToString(), text.error().message()),
              GrantOn(table, "SELECT"));
        continue;
      }
      auto schema = SchemaOfStatement(*text, table, SettingsOf(facts_, options_),
                                      options_.include_comments, incarnation++);
      if (!schema) {
        Fault(schema.error().message(), schema.error().hint());
        continue;
      }
      if ((*schema)->primary_key.empty()) without_key.push_back(table.ToString());
      report_.tables.push_back(std::move(*schema));
    }
    if (!without_key.empty()) {
      Doubt(fmt::format("{} {} no primary key: updates and deletes look for whole rows, and an "
                        "interrupted snapshot of such a table starts anew",
                        fmt::join(without_key, ", "), without_key.size() == 1 ? "has" : "have"),
            "ALTER TABLE ... ADD PRIMARY KEY, or leave the table out with tables.exclude.");
    }
    return {};
  }

  std::string GrantOn(const TablePath& table, std::string_view privilege) const {
    return fmt::format("GRANT {} ON {}.{} TO {};", privilege, QuoteName(table.database),
                       QuoteName(table.table), user_.empty() ? "the user" : user_);
  }

  // ---- privileges ----------------------------------------------------------------------------

  Result<void> CheckPrivileges() {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto user, connection_.QueryValue("SELECT CURRENT_USER()"));
    if (user) {
      const size_t at = user->rfind('@');
      user_ = fmt::format("'{}'@'{}'", user->substr(0, at), user->substr(at + 1));
    }
    for (const TableSchemaPtr& table : report_.tables) {
      const auto rows = connection_.Query(fmt::format("SELECT 1 FROM {}.{} LIMIT 0",
                                                      QuoteName(table->path.database),
                                                      QuoteName(table->path.table)));
      if (rows) continue;
      Fault(fmt::format("table {} cannot be read: {}", table->path.ToString(),
                        rows.error().message()),
            GrantOn(table->path, "SELECT"));
    }
    if (!options_.WantsLog()) return {};
    const auto grants = connection_.Query("SHOW GRANTS");
    if (!grants) return {};
    bool has_roles = false;
    for (const TextRow& row : *grants) {
      if (!row.empty() && row[0]) has_roles |= ReadGrant(*row[0]);
    }
    Needs({"REPLICATION SLAVE", "REPLICATION REPLICA"}, "to read the binary log", has_roles);
    Needs({"REPLICATION CLIENT", "BINLOG MONITOR"}, "to ask for the log's place", has_roles);
    if (!facts_.gtid && options_.WantsSnapshot()) {
      Needs({"RELOAD", "FLUSH_TABLES"},
            "for the moment's global read lock with which a snapshot begins without GTIDs",
            has_roles);
    }
    return {};
  }

  // "GRANT SELECT, REPLICATION SLAVE ON *.* TO ...". Whether it grants a role, whose privileges the
  // answer may not name.
  bool ReadGrant(const std::string& grant) {
    const size_t on = grant.find(" ON ");
    if (on == std::string::npos) return true;
    if (grant.compare(on + 4, 4, "*.* ") != 0) return false;
    const std::string list = grant.substr(6, on - 6);
    for (size_t begin = 0; begin < list.size();) {
      size_t end = list.find(',', begin);
      if (end == std::string::npos) end = list.size();
      std::string word = list.substr(begin, end - begin);
      word.erase(0, word.find_first_not_of(' '));
      global_.insert(std::move(word));
      begin = end + 1;
    }
    return false;
  }

  void Needs(std::vector<std::string_view> any_of, std::string_view why, bool has_roles) {
    if (global_.contains("ALL PRIVILEGES") || global_.contains("SUPER")) return;
    for (const std::string_view name : any_of) {
      if (global_.contains(std::string(name))) return;
    }
    Add(!has_roles,
        fmt::format("the user {} lacks {}, which is needed {}{}", user_, any_of.front(), why,
                    has_roles ? " (unless one of its roles has it)" : ""),
        fmt::format("GRANT {} ON *.* TO {};", any_of.front(), user_));
  }

  const SourceOptions& options_;
  Connection& connection_;
  const ServerFacts facts_;
  LiveReport report_;
  std::map<std::string, std::string> variables_;
  std::set<std::string> global_;
  std::string user_;
};

}  // namespace

Result<LiveReport> ExamineServer(const SourceOptions& options) {
  DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options.connection));
  DRIFTLESS_ASSIGN_OR_RETURN(ServerFacts facts, ReadServerFacts(connection.get()));
  return Examination(options, connection.get(), std::move(facts)).Run();
}

Result<LiveReport> MySqlSource::Examine(const SourceContext&) { return ExamineServer(options_); }

}  // namespace driftless::mysql
