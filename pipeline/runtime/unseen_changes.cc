#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "pipeline/runtime/control.h"
#include "pipeline/runtime/unseen_verdict.h"

// Rows that change without row events, and divergences that people acknowledge.
namespace driftless {

void Runtime::Impl::OnUnseen(const UnseenChange& change) {
  for (const auto& run : sinks_) {
    if (!change.sinks.Has(run->name())) continue;
    Result<std::vector<TablePath>> tables = run->config->route(change.table);
    if (!tables) return Fail(std::move(tables).error());
    for (const TablePath& table : *tables) RecordUnseen(*run, table, change);
  }
}

// The statement comes again by replay; what it left behind stands already then.
void Runtime::Impl::RecordUnseen(const SinkRun& run, const TablePath& table,
                                 const UnseenChange& change) {
  AuditQuery query;
  query.sink = run.name();
  query.table = table;
  Result<std::vector<AuditRecord>> known = parts_.state->Audit(query);
  if (!known) return Fail(std::move(known).error());
  const bool is_known = std::any_of(known->begin(), known->end(), [&](const AuditRecord& record) {
    return record.is_unseen && record.point == change.point && record.detail == change.what;
  });
  if (is_known) return;

  AuditRecord record;
  record.id = coordinator_->NewDecision();
  record.time_ms = parts_.clock->NowMillis();
  record.phase = AuditPhase::kOutcome;
  record.statement = change.statement;
  record.source_table = change.table;
  record.point = change.point;
  record.position = change.position;
  record.is_unseen = true;
  record.detail = change.what;
  record.sink = {run.name(), table};
  record.sink_type = run.config->type;
  record.behavior = run.config->policy.behavior;
  record.verdict =
      change.is_repeated
          ? VerdictOfGap()
          : VerdictOfUnseen(change.is_conversion, change.is_read_again ? RowsWithoutEvents::kResync
                                                                       : RowsWithoutEvents::kWarn);
  record.result = change.is_read_again ? AuditResult::kDone : AuditResult::kSkipped;
  parts_.metrics->AddVerdict(record);
  // What stays different after that is what becomes of the truncate.table.
  if (change.is_read_again) {
    spdlog::warn("schema change {}: {}: {} at {} of {}: {}", record.id, record.sink.ToString(),
                 change.what, change.position, change.table.ToString(), record.verdict.rows);
    Record([record = std::move(record)](StateTransaction& t) { return t.PutAudit(record); });
    return;
  }

  Divergence divergence;
  divergence.sink = record.sink;
  divergence.event = EventKind::kTruncateTable;  // one that is carried out ends it
  divergence.text =
      fmt::format("{} at {} of {}: {}; {}", change.what, change.position, change.table.ToString(),
                  record.verdict.reason, record.verdict.rows);
  divergence.cause = record.id;
  divergence.since_ms = record.time_ms;
  divergence.of_old_rows = true;
  spdlog::warn("schema change {}: {}: {}", record.id, record.sink.ToString(), divergence.text);
  Record([record = std::move(record),
          divergence = std::move(divergence)](StateTransaction& t) -> Result<void> {
    DRIFTLESS_TRY(t.PutAudit(record));
    return t.PutDivergence(divergence);
  });
}

// Only what concerns rows from before can be over by somebody's word: a difference that goes on
// stays visible until it is gone.
std::string Runtime::Impl::Acknowledge(const StoredRequest& request) {
  Result<std::vector<Divergence>> open = parts_.state->Divergences(/*also_ended=*/false);
  if (!open) {
    Fail(std::move(open).error());
    return "refused: the state cannot be read";
  }
  const auto found = std::find_if(open->begin(), open->end(),
                                  [&](const Divergence& d) { return d.id == request.decision; });
  if (found == open->end()) return "refused: no such divergence is open";
  if (!found->of_old_rows) return "refused: it goes on: " + found->text;
  Record([id = found->id, by = "acknowledged by " + request.by, now = parts_.clock->NowMillis()](
             StateTransaction& t) { return t.EndDivergence(id, by, now); });
  return "taken";
}

void Runtime::Impl::CountDivergences() {
  Result<std::vector<Divergence>> open = parts_.state->Divergences(/*also_ended=*/false);
  if (!open) return Fail(std::move(open).error());
  std::map<SinkTableKey, int64_t> counts;
  for (const SinkTableKey& table : diverging_) counts[table] = 0;
  for (const Divergence& divergence : *open) {
    ++counts[divergence.sink];
    diverging_.insert(divergence.sink);
  }
  for (const auto& [table, count] : counts) parts_.metrics->SetOpenDivergences(table, count);
}

}  // namespace driftless
