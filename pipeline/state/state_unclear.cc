#include <utility>

#include "pipeline/state/format.h"
#include "pipeline/state/state_store.h"

// Statements that a source does not understand for certain, and what people said of them.
namespace driftless {
namespace {

constexpr std::string_view kColumns =
    "SELECT stream, point, decision, position, statement, tables, why, choice, content "
    "FROM unclear ";

Result<StoredUnclear> ReadUnclear(const SqliteStatement& row) {
  StoredUnclear stored;
  DRIFTLESS_ASSIGN_OR_RETURN(stored.statement.point,
                             ParsePointSortKey(row.Text(1), static_cast<StreamId>(row.Int(0))));
  stored.decision = static_cast<DecisionId>(row.Int(2));
  stored.statement.position = row.Text(3);
  stored.statement.text = row.Text(4);
  const std::string tables = row.Text(5);
  for (size_t begin = 0, end; (end = tables.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    DRIFTLESS_ASSIGN_OR_RETURN(TablePath table, DecodeTablePath(tables.substr(begin, end - begin)));
    stored.statement.tables.push_back(std::move(table));
  }
  stored.statement.why = row.Text(6);
  stored.choice = row.Text(7);
  stored.content = row.Text(8);
  return stored;
}

Result<std::optional<StoredUnclear>> ReadOne(SqliteStatement* rows) {
  DRIFTLESS_ASSIGN_OR_RETURN(const bool found, rows->Step());
  if (!found) return std::optional<StoredUnclear>();
  DRIFTLESS_ASSIGN_OR_RETURN(StoredUnclear stored, ReadUnclear(*rows));
  return std::optional<StoredUnclear>(std::move(stored));
}

}  // namespace

Result<void> StateTransaction::PutUnclear(DecisionId decision, const UnclearStatement& statement) {
  std::string tables;
  for (const TablePath& table : statement.tables) tables += EncodeTablePath(table) + "\n";
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement put,
      database_->Prepare("INSERT OR REPLACE INTO unclear VALUES (?, ?, ?, ?, ?, ?, ?, '', '')"));
  return put.Bind(statement.point.stream)
      .Bind(PointSortKey(statement.point))
      .Bind(decision)
      .Bind(statement.position)
      .Bind(statement.text)
      .Bind(tables)
      .Bind(statement.why)
      .Run();
}

Result<void> StateTransaction::AnswerUnclear(DecisionId decision, std::string_view choice,
                                             std::string_view content) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement answer,
      database_->Prepare("UPDATE unclear SET choice = ?, content = ? WHERE decision = ?"));
  return answer.Bind(choice).Bind(content).Bind(decision).Run();
}

Result<std::optional<StoredUnclear>> StateStore::Unclear(DecisionId decision) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement rows,
                             database_.Prepare(std::string(kColumns) + "WHERE decision = ?"));
  rows.Bind(decision);
  return ReadOne(&rows);
}

Result<std::optional<StoredUnclear>> StateStore::UnclearAt(const Point& point) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare(std::string(kColumns) + "WHERE stream = ? AND point = ?"));
  rows.Bind(point.stream).Bind(PointSortKey(point));
  return ReadOne(&rows);
}

Result<std::optional<UnclearAnswer>> StateStore::AnswerTo(const Point& point) const {
  DRIFTLESS_ASSIGN_OR_RETURN(std::optional<StoredUnclear> stored, UnclearAt(point));
  if (!stored.has_value() || stored->choice.empty()) return std::optional<UnclearAnswer>();
  UnclearAnswer answer;
  answer.kind =
      stored->choice == "schema" ? UnclearAnswer::Kind::kSchema : UnclearAnswer::Kind::kSkip;
  answer.schema = std::move(stored->content);
  answer.tables = std::move(stored->statement.tables);
  return std::optional<UnclearAnswer>(std::move(answer));
}

}  // namespace driftless
