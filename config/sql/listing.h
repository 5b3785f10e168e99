#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/sql/session.h"
#include "config/sql/statement.h"
#include "config/sql/tableau.h"

namespace driftless::flink {

// SHOW and DESCRIBE: reads a session and prints.
class Listing {
 public:
  Listing(const Session& session, const Statement& statement) : session_(session), s_(statement) {}

  Result<std::string> Print() const;

 private:
  Result<std::string> Show() const;
  Result<std::string> Names(std::string_view header, std::vector<std::string> names) const;
  Result<std::string> Tables(std::string_view header, std::optional<TableKind> only) const;
  Result<std::string> Databases() const;
  Result<std::string> Functions(bool user_only) const;
  Result<std::string> Models() const;
  Result<std::string> Partitions() const;
  Result<std::string> Columns(const Path& name) const;
  Result<std::string> ShowCreate() const;
  Result<std::string> ShowCreateCatalog() const;
  Result<std::string> ShowCreateModel() const;
  Result<std::string> DescribeCatalog() const;
  Result<std::string> DescribeFunction() const;
  Result<std::string> DescribeModel() const;
  Result<bool> Selected(const std::string& name) const;

  const Session& session_;
  const Statement& s_;
};

// SQL LIKE with % _ and \ as escape. Errors: an escape that means nothing.
Result<bool> MatchesLike(std::string_view text, std::string_view pattern, bool ignore_case);

// The text of SHOW CREATE TABLE and SHOW CREATE VIEW, a line feed at the end.
std::string CreateText(const ObjectName& name, const TableEntry& table, bool temporary);

}  // namespace driftless::flink
