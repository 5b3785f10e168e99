#pragma once

#include <functional>
#include <set>

#include "pipeline/sources/mysql/binlog/binlog_event.h"
#include "pipeline/sources/mysql/binlog/gtid_set.h"
#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/mysql/server_facts.h"
#include "pipeline/sources/mysql/source_options.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// What transactions of a stretch of the log are about.
struct TouchedTables {
  std::set<TablePath> tables;
  bool any = false;  // a statement: it may be about any table
};

// Collects the tables of the transactions that are not among `known`, event by event. Pure.
class TouchedCollector {
 public:
  TouchedCollector(const GtidSet* known, LogPosition from)
      : known_(*known), position_(std::move(from)) {}

  // Takes the next event of MySQL's log. Errors: those of decoding.
  Result<void> Event(std::string_view bytes);
  bool in_transaction() const { return in_transaction_; }
  // Behind the last event.
  const LogPosition& position() const { return position_; }
  const TouchedTables& touched() const { return touched_; }

 private:
  Result<void> Take(const BinlogEvent& event);

  const GtidSet& known_;
  LogPosition position_;
  EventReader reader_;
  TouchedTables touched_;
  bool in_transaction_ = false;
  bool is_known_ = true;  // the transaction at hand
};

// Reads the log of a MySQL server from `from` to `until`, over a connection of its own. Errors:
// those of the dump; kCancelled when `stopping`.
Result<TouchedTables> PeekLog(const SourceOptions& options, const ServerFacts& facts,
                              LogPosition from, const GtidSet& known, const LogPosition& until,
                              const std::function<bool()>& stopping);

}  // namespace driftless::mysql
