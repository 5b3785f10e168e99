#include <algorithm>
#include <array>
#include <utility>

#include "pipeline/state/format.h"
#include "pipeline/state/state_store.h"

// Audit records, divergences and requests in the state database.
namespace driftless {
namespace {

// Lists of words are stored one per line; a line break inside one becomes a space.
std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (std::string line : lines) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += line + "\n";
  }
  return text;
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// The value of an enumeration whose ToString is `text`.
template <typename Enum, size_t N>
Result<Enum> FromText(const std::array<Enum, N>& values, const std::string& text) {
  for (const Enum value : values) {
    if (ToString(value) == text) return value;
  }
  return MakeError(ErrorKind::kCorrupt, "\"" + text + "\" in the state database is unknown")
      .Hint("A newer driftless may have written it.");
}

constexpr std::array kPhases = {AuditPhase::kIntent, AuditPhase::kOutcome};
constexpr std::array kResults = {
    AuditResult::kPending, AuditResult::kDone,     AuditResult::kRefused, AuditResult::kSkipped,
    AuditResult::kHeld,    AuditResult::kRejected, AuditResult::kFailed,  AuditResult::kSuperseded};
constexpr std::array kVerdicts = {VerdictKind::kApply,  VerdictKind::kRewrite, VerdictKind::kSkip,
                                  VerdictKind::kIgnore, VerdictKind::kHold,    VerdictKind::kFail};
constexpr std::array kBehaviors = {Behavior::kLenient, Behavior::kEvolve, Behavior::kTryEvolve,
                                   Behavior::kIgnore, Behavior::kException};

Result<EventKind> EventFromText(const std::string& tag) {
  const std::optional<EventKind> event = ParseEventTag(tag);
  if (!event.has_value()) {
    return MakeError(ErrorKind::kCorrupt, "\"" + tag + "\" in the state database is no event");
  }
  return *event;
}

Result<AuditRecord> ReadAudit(const SqliteStatement& row) {
  AuditRecord record;
  record.id = static_cast<DecisionId>(row.Int(1));
  record.time_ms = row.Int(2);
  DRIFTLESS_ASSIGN_OR_RETURN(record.phase, FromText(kPhases, row.Text(3)));
  record.statement = row.Text(4);
  DRIFTLESS_ASSIGN_OR_RETURN(record.source_table, DecodeTablePath(row.Text(5)));
  DRIFTLESS_ASSIGN_OR_RETURN(record.point,
                             ParsePointSortKey(row.Text(7), static_cast<StreamId>(row.Int(6))));
  record.position = row.Text(8);
  record.part = static_cast<uint32_t>(row.Int(9));
  record.is_unclear = row.Text(10) == kUnclearTag;
  record.is_unseen = row.Text(10) == kUnseenTag;
  if (!record.is_unclear && !record.is_unseen) {
    DRIFTLESS_ASSIGN_OR_RETURN(record.event, EventFromText(row.Text(10)));
  }
  record.detail = row.Text(11);
  record.sink.sink = row.Text(12);
  DRIFTLESS_ASSIGN_OR_RETURN(record.sink.table, DecodeTablePath(row.Text(13)));
  record.sink_type = row.Text(14);
  DRIFTLESS_ASSIGN_OR_RETURN(record.behavior, FromText(kBehaviors, row.Text(15)));
  DRIFTLESS_ASSIGN_OR_RETURN(record.verdict.kind, FromText(kVerdicts, row.Text(16)));
  record.verdict.reason = row.Text(17);
  record.verdict.rule = row.Text(18);
  record.verdict.cell = row.Text(19);
  record.verdict.rewrites = SplitLines(row.Text(20));
  record.verdict.rows = row.Text(21);
  record.verdict.rows_may_stop = row.Int(22) != 0;
  record.verdict.never = row.Int(23) != 0;
  record.actions = SplitLines(row.Text(24));
  DRIFTLESS_ASSIGN_OR_RETURN(record.result, FromText(kResults, row.Text(25)));
  record.message = row.Text(26);
  return record;
}

}  // namespace

Result<void> StateTransaction::PutAudit(const AuditRecord& record) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement put,
      database_->Prepare("INSERT INTO audit VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                         "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  DRIFTLESS_TRY(put.Bind(record.id)
                    .Bind(record.time_ms)
                    .Bind(ToString(record.phase))
                    .Bind(record.statement)
                    .Bind(EncodeTablePath(record.source_table))
                    .Bind(record.point.stream)
                    .Bind(PointSortKey(record.point))
                    .Bind(record.position)
                    .Bind(record.part)
                    .Bind(EventText(record))
                    .Bind(record.detail)
                    .Bind(record.sink.sink)
                    .Bind(EncodeTablePath(record.sink.table))
                    .Bind(record.sink_type)
                    .Bind(ToString(record.behavior))
                    .Bind(ToString(record.verdict.kind))
                    .Bind(record.verdict.reason)
                    .Bind(record.verdict.rule)
                    .Bind(record.verdict.cell)
                    .Bind(JoinLines(record.verdict.rewrites))
                    .Bind(record.verdict.rows)
                    .Bind(record.verdict.rows_may_stop ? 1 : 0)
                    .Bind(record.verdict.never ? 1 : 0)
                    .Bind(JoinLines(record.actions))
                    .Bind(ToString(record.result))
                    .Bind(record.message)
                    .Run());
  // The number outlives the record: `audit.retention` must not give it out again.
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement keep,
      database_->Prepare("UPDATE meta SET value = MAX(CAST(value AS INTEGER), ?) "
                         "WHERE key = 'next_decision'"));
  return keep.Bind(record.id + 1).Run();
}

Result<void> StateTransaction::PutDivergence(const Divergence& divergence) {
  // One standing divergence per (sink table, column, event): a replayed decision adds no second.
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement update,
      database_->Prepare("UPDATE divergences SET text = ?, rows = MAX(rows, ?) WHERE sink = ? AND "
                         "sink_table = ? AND column_id = ? AND event = ? AND cause = ? AND "
                         "ended_ms IS NULL"));
  const std::string table = EncodeTablePath(divergence.sink.table);
  DRIFTLESS_TRY(update.Bind(divergence.text)
                    .Bind(divergence.rows)
                    .Bind(divergence.sink.sink)
                    .Bind(table)
                    .Bind(divergence.column)
                    .Bind(Tag(divergence.event))
                    .Bind(divergence.cause)
                    .Run());
  if (database_->changed_rows() > 0) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement put,
      database_->Prepare(
          "INSERT INTO divergences VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  put.Bind(divergence.sink.sink)
      .Bind(table)
      .Bind(divergence.column)
      .Bind(divergence.column_name)
      .Bind(Tag(divergence.event))
      .Bind(divergence.text)
      .Bind(divergence.cause)
      .Bind(divergence.since_ms)
      .Bind(divergence.rows);
  if (divergence.ended_ms.has_value()) {
    put.Bind(*divergence.ended_ms);
  } else {
    put.BindNull();
  }
  return put.Bind(divergence.ended_by).Bind(divergence.of_old_rows ? 1 : 0).Run();
}

Result<void> StateTransaction::CountDivergenceRows(const SinkTableKey& table, ColumnId column,
                                                   std::string_view column_name, int64_t rows) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement count,
      database_->Prepare("UPDATE divergences SET rows = rows + ?1 WHERE sink = ?2 AND "
                         "sink_table = ?3 AND ((?4 <> 0 AND column_id = ?4) OR "
                         "(?4 = 0 AND column_id <> 0 AND column_name = ?5)) AND "
                         "old_rows = 0 AND ended_ms IS NULL"));
  return count.Bind(rows)
      .Bind(table.sink)
      .Bind(EncodeTablePath(table.table))
      .Bind(column)
      .Bind(column_name)
      .Run();
}

Result<void> StateTransaction::EndDivergence(uint64_t id, std::string_view by, int64_t now_ms) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement end,
      database_->Prepare("UPDATE divergences SET ended_ms = ?, ended_by = ? WHERE id = ? AND "
                         "ended_ms IS NULL"));
  return end.Bind(now_ms).Bind(by).Bind(id).Run();
}

Result<void> StateTransaction::EndDivergences(const SinkTableKey& table, ColumnId column,
                                              std::optional<EventKind> event, std::string_view by,
                                              int64_t now_ms) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement end,
      database_->Prepare("UPDATE divergences SET ended_ms = ?, ended_by = ? WHERE sink = ? AND "
                         "sink_table = ? AND (?5 = 0 OR column_id = ?5) AND "
                         "(?6 = '' OR event = ?6) AND ended_ms IS NULL"));
  return end.Bind(now_ms)
      .Bind(by)
      .Bind(table.sink)
      .Bind(EncodeTablePath(table.table))
      .Bind(column)
      .Bind(event.has_value() ? Tag(*event) : std::string_view())
      .Run();
}

Result<DecisionId> StateStore::NextDecision() const {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const auto next,
      Number("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'next_decision'"));
  return static_cast<DecisionId>(next.value_or(1));
}

Result<std::vector<AuditRecord>> StateStore::Audit(const AuditQuery& query) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare(
          "SELECT * FROM (SELECT * FROM audit WHERE (?1 IS NULL OR sink = ?1) AND (?2 IS NULL OR "
          "source_table = ?2 OR sink_table = ?2) AND (?3 IS NULL OR id = ?3) ORDER BY seq DESC "
          "LIMIT ?4) ORDER BY seq"));
  if (query.sink.has_value())
    rows.Bind(*query.sink);
  else
    rows.BindNull();
  if (query.table.has_value())
    rows.Bind(EncodeTablePath(*query.table));
  else
    rows.BindNull();
  if (query.decision.has_value())
    rows.Bind(*query.decision);
  else
    rows.BindNull();
  rows.Bind(query.limit > 0 ? query.limit : int64_t{-1});
  std::vector<AuditRecord> records;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return records;
    DRIFTLESS_ASSIGN_OR_RETURN(AuditRecord record, ReadAudit(rows));
    records.push_back(std::move(record));
  }
}

Result<std::vector<DecisionId>> StateStore::OpenHolds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare("SELECT DISTINCT id FROM audit AS a WHERE result = 'held' AND seq = "
                        "(SELECT MAX(seq) FROM audit WHERE id = a.id AND part = a.part) "
                        "ORDER BY id"));
  std::vector<DecisionId> holds;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return holds;
    holds.push_back(static_cast<DecisionId>(rows.Int(0)));
  }
}

Result<std::vector<Divergence>> StateStore::Divergences(bool also_ended) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare("SELECT * FROM divergences WHERE ? OR ended_ms IS NULL ORDER BY id"));
  rows.Bind(also_ended ? 1 : 0);
  std::vector<Divergence> divergences;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return divergences;
    Divergence d;
    d.id = static_cast<uint64_t>(rows.Int(0));
    d.sink.sink = rows.Text(1);
    DRIFTLESS_ASSIGN_OR_RETURN(d.sink.table, DecodeTablePath(rows.Text(2)));
    d.column = static_cast<ColumnId>(rows.Int(3));
    d.column_name = rows.Text(4);
    DRIFTLESS_ASSIGN_OR_RETURN(d.event, EventFromText(rows.Text(5)));
    d.text = rows.Text(6);
    d.cause = static_cast<DecisionId>(rows.Int(7));
    d.since_ms = rows.Int(8);
    d.rows = rows.Int(9);
    if (!rows.IsNull(10)) d.ended_ms = rows.Int(10);
    d.ended_by = rows.Text(11);
    d.of_old_rows = rows.Int(12) != 0;
    divergences.push_back(std::move(d));
  }
}

Result<void> StateStore::TrimAudit(int64_t before_ms) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement trim,
      database_.Prepare("DELETE FROM audit WHERE time_ms < ?1 AND id NOT IN "
                        "(SELECT cause FROM divergences WHERE ended_ms IS NULL) AND id NOT IN "
                        "(SELECT decision FROM unclear WHERE choice = '')"));
  DRIFTLESS_TRY(trim.Bind(before_ms).Run());
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement requests,
      database_.Prepare("DELETE FROM requests WHERE handled_ms IS NOT NULL AND handled_ms < ?"));
  DRIFTLESS_TRY(requests.Bind(before_ms).Run());
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement ended,
      database_.Prepare("DELETE FROM divergences WHERE ended_ms IS NOT NULL AND ended_ms < ?"));
  return ended.Bind(before_ms).Run();
}

// ---- requests --------------------------------------------------------------------------------

Result<int64_t> StateStore::AddRequest(const StoredRequest& request) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement put,
      database_.Prepare("INSERT INTO requests (decision, choice, content, requested_by, time_ms) "
                        "VALUES (?, ?, ?, ?, ?)"));
  DRIFTLESS_TRY(put.Bind(request.decision)
                    .Bind(request.choice)
                    .Bind(request.content)
                    .Bind(request.by)
                    .Bind(request.time_ms)
                    .Run());
  return database_.last_insert_id();
}

namespace {

constexpr std::string_view kRequestColumns =
    "SELECT number, decision, choice, content, requested_by, time_ms, handled_ms, answer "
    "FROM requests ";

StoredRequest ReadRequest(const SqliteStatement& row) {
  StoredRequest request;
  request.number = row.Int(0);
  request.decision = static_cast<DecisionId>(row.Int(1));
  request.choice = row.Text(2);
  request.content = row.Text(3);
  request.by = row.Text(4);
  request.time_ms = row.Int(5);
  if (!row.IsNull(6)) request.handled_ms = row.Int(6);
  request.answer = row.Text(7);
  return request;
}

}  // namespace

Result<std::vector<StoredRequest>> StateStore::OpenRequests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare(std::string(kRequestColumns) + "WHERE handled_ms IS NULL ORDER BY number"));
  std::vector<StoredRequest> requests;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return requests;
    requests.push_back(ReadRequest(rows));
  }
}

Result<std::optional<StoredRequest>> StateStore::Request(int64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement rows,
                             database_.Prepare(std::string(kRequestColumns) + "WHERE number = ?"));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool found, rows.Bind(number).Step());
  if (!found) return std::optional<StoredRequest>();
  return std::optional<StoredRequest>(ReadRequest(rows));
}

Result<void> StateTransaction::AnswerRequest(int64_t number, std::string_view answer,
                                             int64_t now_ms) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement mark,
      database_->Prepare("UPDATE requests SET handled_ms = ?, answer = ? WHERE number = ?"));
  return mark.Bind(now_ms).Bind(answer).Bind(number).Run();
}

Result<int64_t> StateStore::DataVersion() const {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto version, Number("PRAGMA data_version"));
  return version.value_or(0);
}

}  // namespace driftless
