#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/mysql/server_facts.h"
#include "pipeline/sources/mysql/source_options.h"

namespace driftless::mysql {

// A number of the range, or of Flink CDC's default range, for this process. A connection that only
// looks ahead takes the range's last number, which the first never does (of the default range: a
// number behind it); 0 where the user gave one number only.
uint32_t ChooseServerId(const std::string& range);
uint32_t SecondServerId(const std::string& range);

// The stream of a server's binary log events, as a replica gets it.
class DumpClient {
 public:
  // Connects and asks for the events behind `from`: by GTID where the position has them and the
  // server too, else by file and offset. Errors: those of the connection; kNotFound with a remedy
  // where the server has no such place any more (purged, reset, another server).
  static Result<std::unique_ptr<DumpClient>> Open(const SourceOptions& options,
                                                  const ServerFacts& facts, const LogPosition& from,
                                                  uint32_t server_id);

  // The next event, valid until the next call; empty when the server ends the stream. Heartbeats
  // come at least every second. Errors: kUnavailable (try again), kNotFound (as above), kConflict:
  // another replica uses our server id.
  Result<std::string_view> Next();

 private:
  explicit DumpClient(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  std::unique_ptr<Connection> connection_;
};

}  // namespace driftless::mysql
