#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "pipeline/sources/debezium/debezium_stream.h"
#include "pipeline/sources/kafka/aligning_output.h"
#include "pipeline/sources/kafka/canal_order.h"
#include "pipeline/sources/kafka/schema_topic.h"

namespace driftless {

// How far a partition is in statements that stand elsewhere.
struct StatementCursor {
  uint64_t next = 0;   // SchemaTopic::Get
  uint64_t taken = 0;  // in this process
};

// Canal writes its statements into the first partition of a topic, and rows into all. This brings
// the statements in front of the rows that come behind them, for one partition (rules: the folder's
// README). One thread.
class CanalStatements {
 public:
  using IsDue = std::function<bool(const SchemaTopic::Statement&)>;
  // What the reader of the partition does for it.
  struct Reader {
    std::function<Result<bool>(const IsDue&)> take_statements;  // those next that are due, by Take
    std::function<Result<void>()> catch_up;  // all that was there before the present messages
    const StatementCursor* cursor = nullptr;
    debezium::DebeziumStream* stream = nullptr;
    AligningOutput* output = nullptr;
    const Clock* clock = nullptr;
    int64_t wait_us = 0;      // how long a row waits for its statement
    bool is_bounded = false;  // nothing more will come
  };
  CanalStatements(const KafkaPartition& partition, Reader reader)
      : partition_(partition), reader_(std::move(reader)) {}

  // The first partition.
  bool is_home() const { return partition_.partition == 0; }
  // The message that the stream gets next. `is_marked`: a statement of our sink's.
  void At(int64_t offset, bool is_marked) {
    offset_ = offset;
    is_marked_ = is_marked;
  }
  // The stream has taken it.
  void Done();
  // StreamOptions::before_message and more_statements.
  Result<debezium::MessageTurn> BeforeMessage(const debezium::Record& record);
  Result<bool> WaitForMore(debezium::Patience patience);
  // One statement, in front of the record at `place`.
  Result<bool> Take(const SchemaTopic::Statement& statement, const Point& place,
                    const std::string& origin);
  // The cursor moved to where all statements in front of it are known to be taken.
  uint64_t Cursor() const;

 private:
  Result<debezium::MessageTurn> Pass(const debezium::Record& record);
  void TellOfTie(const CanalStatement& statement, const TableSchemaPtr& before,
                 const std::string& origin) const;
  std::string Position() const {
    return partition_.topic + "/" + std::to_string(partition_.partition) + ":" +
           std::to_string(offset_);
  }

  const KafkaPartition& partition_;
  const Reader reader_;
  int64_t offset_ = 0;
  bool is_marked_ = false;
  std::optional<CanalPlace> row_;  // of the present message, where it has rows of Canal's
  using Table = std::pair<std::string, std::string>;  // database and name
  Table row_table_;
  std::map<Table, CanalPlace> last_rows_;  // that were taken
  int64_t other_keys_ = 0;
  std::set<Table> warned_of_;
  std::pair<const Table, CanalPlace>* last_row_ = nullptr;  // of the last message's table
};

}  // namespace driftless
