#pragma once

#include <string>

#include "config/sql/session.h"
#include "config/sql/statement.h"

namespace driftless::flink {

// ALTER TABLE, and what ALTER MATERIALIZED TABLE has in common with it: works on a copy of
// the table that replaces the old one only when all checks passed.
class TableAlteration {
 public:
  TableAlteration(Session* session, const Statement& statement)
      : session_(*session), s_(statement) {}

  Result<void> Run();

 private:
  std::string Prefix() const;
  Error Failed(const std::string& message) const;
  Result<void> CheckNotNested(const Path& path) const;
  Result<void> CheckInQuery(const Column& column) const;
  Result<void> CheckWidened(const Column& from, const Column& to) const;
  Result<void> Apply();
  Result<void> Rename();
  Result<void> RenameColumn();
  Result<void> Reset();
  Result<void> AddOrModify(bool add);
  Result<void> PlaceColumns(bool add);
  Result<void> SetWatermark(bool add);
  Result<void> SetKey(bool add);
  Result<void> DropColumns();
  Result<void> DropKey();
  Result<void> DropNamedKey();
  Result<void> DropWatermark();
  Result<void> SetDistribution(bool add);
  Result<void> DropDistribution();
  Result<void> AddPartitions();
  Result<void> DropPartitions();
  // Whether something refers to the column; `leaving` are columns that go in the same statement.
  Result<void> CheckUnused(const std::string& column, const std::vector<std::string>& leaving,
                           bool key_too) const;

  Session& session_;
  const Statement& s_;
  ObjectName name_;
  TableEntry table_;
};

}  // namespace driftless::flink
