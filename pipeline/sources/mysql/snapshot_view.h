#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "pipeline/sources/mysql/connection.h"
#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/mysql/server_facts.h"
#include "pipeline/sources/mysql/source_options.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// A transaction that sees the tables as they are at one place in the log.
struct SnapshotView {
  std::unique_ptr<Connection> connection;  // kept for the next view
  LogPosition at;
};

// The views of one round of reading, and the tables for which their places are exact.
struct SnapshotViews {
  std::vector<SnapshotView> views;
  // MySQL flushes a transaction to the log before views see it. Where such a transaction was on its
  // way while the views began, it is not known which of them see it: its tables wait.
  std::set<TablePath> uncertain;
  bool all_uncertain = false;
  std::optional<TablePath> only;  // the views are exact for this table alone

  bool IsExactFor(const TablePath& table) const {
    return only ? *only == table : !all_uncertain && !uncertain.contains(table);
  }
};

// Begins `count` views, or as many as the server allows (at least one), on the connections that
// `views` has, each at or behind `log`, where the reader of the log stands, and exact for at least
// one of `wanted` (not empty). Without a log their places stay empty.
//
// MariaDB tells a view's place. MySQL with GTIDs: @@gtid_executed before the views is a lower
// bound, the log's end behind them an upper one, and the log between is looked through
// (mysql-source.md 10.3 measured both). Without GTIDs, or where the log between never is free of
// the wanted tables: LOCK TABLES ... READ for the moment in which the views begin.
//
// Errors: those of the connections; kCancelled when `stopping`.
Result<void> BeginViews(const SourceOptions& options, const ServerFacts& facts,
                        const LogPosition& log, const std::vector<TablePath>& wanted, size_t count,
                        const std::function<bool()>& stopping, SnapshotViews* views);
// Ends the transactions; connections that fail are dropped.
void EndViews(SnapshotViews* views);

}  // namespace driftless::mysql
