#include "pipeline/cli/log_format.h"

#include <fmt/chrono.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "schema/base/json_writer.h"

namespace driftless {
namespace {

class JsonLines : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto time = std::chrono::time_point_cast<std::chrono::milliseconds>(message.time);
    const auto millis = time.time_since_epoch().count() % 1000;
    std::string line;
    JsonWriter json(&line);
    json.BeginObject().Key("time").String(
        fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03d}Z",
                    fmt::gmtime(  // NOLINT(banned): fmt's own is thread-safe
                        std::chrono::time_point_cast<std::chrono::seconds>(message.time)),
                    millis));
    const auto level = spdlog::level::to_string_view(message.level);
    json.Key("level").String(std::string_view(level.data(), level.size()));
    json.Key("message").String(std::string_view(message.payload.data(), message.payload.size()));
    json.EndObject();
    line += '\n';
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<formatter> clone() const override { return std::make_unique<JsonLines>(); }
};

}  // namespace

void SetUpLogging(LogFormat format, LogLevel level) {
  auto logger = std::make_shared<spdlog::logger>("driftless",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (format == LogFormat::kJson) {
    logger->set_formatter(std::make_unique<JsonLines>());
  } else {
    logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v");
  }
  switch (level) {
    case LogLevel::kDebug: logger->set_level(spdlog::level::debug); break;
    case LogLevel::kInfo: logger->set_level(spdlog::level::info); break;
    case LogLevel::kWarn: logger->set_level(spdlog::level::warn); break;
    case LogLevel::kError: logger->set_level(spdlog::level::err); break;
  }
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace driftless
