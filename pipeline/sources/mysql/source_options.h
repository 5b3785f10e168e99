#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/definition/pipeline_options.h"
#include "config/definition/selector.h"
#include "config/options/option.h"
#include "pipeline/sources/mysql/connection.h"
#include "schema/ddl/online_schema_change.h"

namespace driftless::mysql {

enum class StartMode : uint8_t {
  kInitial,
  kSnapshot,
  kLatest,
  kEarliest,
  kSpecific,
  kTimestamp,
};

// What the user configured for `type: mysql`.
struct SourceOptions {
  ConnectionOptions connection;
  std::optional<TableSelector> tables;
  std::optional<TableSelector> exclude;
  OnlineSchemaChange::Patterns online;
  std::string server_id;  // "", "5401" or "5400-5410"
  std::string time_zone;
  StartMode start = StartMode::kInitial;
  std::string start_file;
  uint64_t start_offset = 0;
  std::string start_gtids;
  int64_t start_timestamp_ms = 0;
  int64_t chunk_rows = 8096;
  std::optional<OnUnparsedDdl> on_unparsed_ddl;  // none: as the pipeline says
  int64_t snapshot_connections = 4;
  // By which column the tables that match are split; the first that matches counts.
  std::vector<std::pair<TableSelector, std::string>> chunk_columns;
  bool include_comments = false;
  bool newly_added_tables = false;  // scan.newly-added-table.enabled
  bool tinyint1_is_boolean = true;

  bool IsCaptured(const TablePath& table) const {
    return tables->Matches(table) && !(exclude && exclude->Matches(table));
  }
  std::string ChunkColumn(const TablePath& table) const {
    for (const auto& [selector, column] : chunk_columns) {
      if (selector.Matches(table)) return column;
    }
    return "";
  }
  bool WantsSnapshot() const {
    return start == StartMode::kInitial || start == StartMode::kSnapshot;
  }
  bool WantsLog() const { return start != StartMode::kSnapshot; }
  // Whether a sink that is added may begin where the others are. The other modes name its
  // beginning.
  bool GoesOnForOthers() const { return WantsSnapshot() || start == StartMode::kLatest; }
};

// "database.table:column;..." Errors: kInvalidConfig.
Result<std::vector<std::pair<TableSelector, std::string>>> ReadChunkColumns(std::string_view text);
// Errors: kInvalidConfig.
Result<SourceOptions> ReadSourceOptions(const OptionValues& values);

}  // namespace driftless::mysql
