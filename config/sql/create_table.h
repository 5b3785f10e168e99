#pragma once

#include <map>
#include <string>

#include "config/sql/session.h"
#include "config/sql/statement.h"

namespace driftless::flink {

// CREATE TABLE, with LIKE.
class TableCreation {
 public:
  TableCreation(Session* session, const Statement& statement) : session_(*session), s_(statement) {}

  Result<void> Run();

 private:
  Result<void> TakeBase();
  Result<void> AddColumns();
  Result<void> AddKey();
  Result<void> AddWatermark();
  Result<void> AddStorage();
  Result<void> Store(const ObjectName& name);
  std::string Mode(const std::string& feature) const;

  Session& session_;
  const Statement& s_;
  TableEntry table_;
  size_t base_columns_ = 0;  // taken from the LIKE table
  std::map<std::string, std::string> modes_;
};

// The stored form of a column as written. `validated`: CREATE prints expressions so.
Column MakeColumn(const ColumnSpec& spec, bool validated, const Session& session);

}  // namespace driftless::flink
