#pragma once

// Decodes whole binary logs without a server: statements keep up a catalog, rows are decoded with
// the schema of their moment, and both go to tables in memory the way a perfect sink would keep
// them.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sources/mysql/binlog/event_bodies.h"
#include "pipeline/sources/mysql/binlog/row_decoder.h"
#include "schema/ddl/mysql/catalog.h"
#include "tests/doubles/replayed_tables.h"

namespace driftless::testing {

class BinlogReplay {
 public:
  explicit BinlogReplay(mysql::Dialect dialect);

  // A log file; gzip is unpacked. Its name is for points only.
  Result<void> ReadFile(const std::string& path);
  // What follows is another file or connection.
  void StartStream();
  // One event as it comes from a file or a connection.
  Result<void> ReadEvent(std::string_view bytes);

  ReplayedTables out;
  mysql::DdlCatalog catalog;
  int64_t row_count = 0;
  std::map<mysql::EventType, int> events;
  // What the log cannot tell: columns (0: all) by incarnation of their table to whose stored rows a
  // statement gave new values.
  std::set<std::pair<uint64_t, ColumnId>> changed_by_statement;
  // Called behind each event of a file with the place where it ends.
  std::function<void(uint64_t)> on_event;
  std::set<std::string> untracked;  // tables that had rows but no schema

 private:
  struct Table {
    std::string identity;
    TableSchemaPtr schema;
    std::unique_ptr<mysql::RowPlan> plan;
  };
  Result<void> Use(const mysql::BinlogEvent& event);
  Result<void> UseQuery(const mysql::BinlogEvent& event);
  Result<void> UseTableMap(const mysql::BinlogEvent& event);
  Result<void> UseRows(const mysql::BinlogEvent& event);
  Result<void> UsePayload(const mysql::BinlogEvent& event);
  void UseEffect(mysql::StatementEffect effect);
  void Commit();

  mysql::EventReader reader_;
  mysql::RowDecoder decoder_{mysql::BeforeImages::kAll};
  std::map<uint64_t, Table> tables_;
  std::vector<ChangeBatchPtr> transaction_;
  std::map<std::string, std::vector<ChangeBatchPtr>> prepared_;
  uint64_t file_ = 0;
  uint32_t end_position_ = 0;
  uint32_t next_row_ = 0;
  std::string buffer_;
};

// The bytes of a file, unpacked.
std::string ReadUnpacked(const std::string& path);

}  // namespace driftless::testing
