#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "config/options/option.h"
#include "config/yaml/problems.h"
#include "schema/policy/policy.h"

namespace driftless {

enum class RouteMode : uint8_t { kAllMatch, kFirstMatch };
enum class RuntimeMode : uint8_t { kStreaming, kBatch };
enum class OnUnparsedDdl : uint8_t { kPark, kFail, kIgnore };
enum class RowsWithoutEvents : uint8_t { kWarn, kFail, kResync };
enum class CreateNullability : uint8_t { kSource, kRelaxed };
enum class ParkingOnFull : uint8_t { kBlock, kFail };
enum class ApprovalOnTimeout : uint8_t { kFail, kReject };
enum class LogFormat : uint8_t { kText, kJson };
enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };

// The `pipeline` block, defaults filled in. Each option is declared, with its text, beside the line
// that fills the member here (pipeline_options.cc).
struct PipelineOptions {
  std::string name;     // the file's name without its ending where the user gives none
  int parallelism = 0;  // writers per sink table at most; 0: one per core
  RuntimeMode runtime_mode = RuntimeMode::kStreaming;
  RouteMode route_mode = RouteMode::kAllMatch;
  std::string local_time_zone;  // an IANA name

  Behavior behavior = Behavior::kLenient;
  bool behavior_is_set = false;  // the user wrote it
  LenientStyle lenient_style = LenientStyle::kMatrix;
  std::set<EventKind> approval;
  int64_t approval_timeout_ms = 0;
  ApprovalOnTimeout approval_on_timeout = ApprovalOnTimeout::kFail;
  std::optional<OnCastFailure> on_cast_failure;      // none: by behaviour
  std::optional<OnNullViolation> on_null_violation;  // none: by behaviour
  OnAbsent on_absent = OnAbsent::kFail;
  OnUnparsedDdl on_unparsed_ddl = OnUnparsedDdl::kPark;
  RowsWithoutEvents rows_without_events = RowsWithoutEvents::kWarn;
  CreateNullability create_nullability = CreateNullability::kSource;
  TableRename table_rename = TableRename::kNewTable;
  std::optional<DropSkip> drop_skip;  // none: null, or keep after a reject
  RenameSkip rename_skip = RenameSkip::kFollow;

  int64_t checkpoint_interval_ms = 0;
  int64_t memory_budget_bytes = 0;
  int64_t parking_memory_bytes_max = 0;
  int64_t parking_disk_bytes_max = 0;
  ParkingOnFull parking_on_full = ParkingOnFull::kBlock;
  int64_t stop_timeout_ms = 0;
  std::string state_dir;  // empty: the command line or its default decides
  int64_t audit_retention_ms = 0;
  std::string http_address;  // "host:port"; empty: no server
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
};

// The declarations of the whole `pipeline` block, Flink CDC's ignored options included.
std::span<const OptionSpec> PipelineOptionSpecs();

// Fills the struct from checked values; what concerns the text of one option (a time zone, an
// address, event words) is checked here.
PipelineOptions FillPipelineOptions(const OptionValues& values, Problems* problems);

}  // namespace driftless
