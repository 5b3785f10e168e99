#include "pipeline/sources/mysql/dump_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

#include "pipeline/sources/mysql/binlog/gtid_set.h"

namespace driftless::mysql {
namespace {

constexpr uint8_t kComBinlogDump = 0x12;
constexpr uint8_t kComBinlogDumpGtid = 0x1e;
constexpr int64_t kHeartbeatNanos = 1'000'000'000;
constexpr unsigned kMasterFatalError = 1236;  // ER_MASTER_FATAL_ERROR_READING_BINLOG

void AppendNumber(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) *out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::pair<uint32_t, uint32_t> RangeOf(const std::string& text) {
  if (text.empty()) return {5400, 6400};
  const auto low = static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  const size_t dash = text.find('-');
  if (dash == std::string::npos) return {low, low};
  return {low,
          std::max(low, static_cast<uint32_t>(std::strtoul(text.c_str() + dash + 1, nullptr, 10)))};
}

// What the session must know before the dump (mysql-source.md 4.2: the same on both servers, each
// under its old and its new name).
std::string SessionText(const ServerFacts& facts, const LogPosition& from, uint32_t server_id) {
  const std::string checksum = facts.checksum.empty() ? "NONE" : facts.checksum;
  const std::string uuid =
      fmt::format("'{:08x}-0000-1000-8000-{:012x}'", server_id, uint64_t{server_id});
  std::string text = fmt::format(
      "SET @master_binlog_checksum = '{0}', @source_binlog_checksum = '{0}', "
      "@master_heartbeat_period = {1}, @source_heartbeat_period = {1}, @slave_uuid = {2}, "
      "@replica_uuid = {2}",
      checksum, kHeartbeatNanos, uuid);
  if (facts.IsMariaDb()) {
    text += ", @mariadb_slave_capability = 4";
    if (!from.gtids.empty()) text += fmt::format(", @slave_connect_state = '{}'", from.gtids);
  }
  return text;
}

Error Explained(Error error, unsigned number) {
  const std::string& text = error.message();
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (has("server_uuid/server_id") || has("server_id as this")) {
    return MakeError(ErrorKind::kConflict, text)
        .Hint("Another replica or pipeline uses the same server-id; give each its own range.");
  }
  if (number != kMasterFatalError) return error;
  return MakeError(ErrorKind::kNotFound, text)
      .Hint(
          "The server has no such place in its binary log any more: it was purged "
          "(binlog_expire_logs_seconds), reset, or this is another server. Start the pipeline "
          "on a new state folder, so that it takes a snapshot, or bring the log back.");
}

}  // namespace

uint32_t ChooseServerId(const std::string& range) {
  const auto [low, high] = RangeOf(range);
  std::random_device seed;
  return std::uniform_int_distribution<uint32_t>(low, high > low ? high - 1 : low)(seed);
}

uint32_t SecondServerId(const std::string& range) {
  if (range.empty()) {
    std::random_device seed;
    return std::uniform_int_distribution<uint32_t>(6401, 7400)(seed);
  }
  const auto [low, high] = RangeOf(range);
  return high > low ? high : 0;
}

Result<std::unique_ptr<DumpClient>> DumpClient::Open(const SourceOptions& options,
                                                     const ServerFacts& facts,
                                                     const LogPosition& from, uint32_t server_id) {
  ConnectionOptions with = options.connection;
  with.read_timeout_ms = 30000;  // heartbeats come every second
  DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(with));
  DRIFTLESS_TRY(connection->Execute(SessionText(facts, from, server_id)));
  std::string argument;
  if (!facts.IsMariaDb() && facts.gtid && !from.gtids.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const GtidSet set, GtidSet::Parse(from.gtids));
    const std::string encoded = set.Encode();
    AppendNumber(0, 2, &argument);
    AppendNumber(server_id, 4, &argument);
    AppendNumber(0, 4, &argument);  // no file name
    AppendNumber(4, 8, &argument);
    AppendNumber(encoded.size(), 4, &argument);
    argument += encoded;
    DRIFTLESS_TRY(connection->SendCommand(kComBinlogDumpGtid, argument));
  } else {
    const bool by_gtid = facts.IsMariaDb() && !from.gtids.empty();
    if (!by_gtid && from.offset > 0xffffffff) {
      return MakeError(ErrorKind::kUnsupported,
                       "the position lies behind 4 GiB of its file, where only GTIDs lead: " +
                           from.ToString())
          .Hint("Turn gtid_mode on and start on a new state folder.");
    }
    AppendNumber(by_gtid ? 4 : from.offset, 4, &argument);
    AppendNumber(facts.IsMariaDb() ? 2 : 0, 2, &argument);  // 2: with ANNOTATE_ROWS
    AppendNumber(server_id, 4, &argument);
    if (!by_gtid) argument += from.file;
    DRIFTLESS_TRY(connection->SendCommand(kComBinlogDump, argument));
  }
  return std::unique_ptr<DumpClient>(new DumpClient(std::move(connection)));
}

Result<std::string_view> DumpClient::Next() {
  auto packet = connection_->NextPacket();
  if (!packet) return Explained(std::move(packet).error(), connection_->last_errno());
  if (packet->empty()) return std::string_view();
  return packet->substr(1);  // behind the OK byte
}

}  // namespace driftless::mysql
