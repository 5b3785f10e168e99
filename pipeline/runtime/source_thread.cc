#include "pipeline/runtime/source_thread.h"

#include <optional>
#include <utility>

#include "pipeline/runtime/rename_split.h"

namespace driftless {

void SourceThread::Start() {
  thread_ = std::thread([this] {
    Result<void> result =
        context_.source->Run(context_.stream, context_.stream_index, context_.from, this);
    if (failure_.has_value()) result = *failure_;
    context_.ended(std::move(result));
  });
}

void SourceThread::Join() {
  if (thread_.joinable()) thread_.join();
}

bool SourceThread::Push(const Item& item) {
  for (Inlet* inlet : context_.inlets) {
    if (stopping() || !inlet->Push(item)) return false;
  }
  return true;
}

bool SourceThread::Changes(ChangeBatchPtr batch) {
  if (batch == nullptr) return !stopping();
  if (context_.budget->IsOver()) {
    context_.pressure->Relieve();
    context_.budget->WaitUntilBelow();
  }
  return Push(BatchItem{Charge(std::move(batch), context_.budget)});
}

namespace {

// Out of the captured tables: what else the statement does concerns nobody any more.
StatementChangePtr Left(const StatementChange& change, const RenameTable& rename) {
  auto left = std::make_shared<StatementChange>(*SplitRename(change, rename).left);
  left->parts.front().detail = RenameTable{};
  return left;
}

}  // namespace

bool SourceThread::Schema(StatementChangePtr change, std::string position) {
  const int64_t now_ms = context_.clock->NowMillis();
  if (const RenameTable* rename = FindRename(*change)) {
    if (!context_.source->Captures(change->table)) {
      change = SplitRename(*change, *rename).appears;
    } else if (!context_.source->Captures(rename->to)) {
      change = Left(*change, *rename);
    }
  }
  return Push(SchemaItem{std::move(change), std::move(position), now_ms});
}

bool SourceThread::Progress(const Point& point, std::string resume, int64_t event_time_ms) {
  if (event_time_ms > 0) event_time_ms_.store(event_time_ms, std::memory_order_relaxed);
  return Push(ProgressItem{point, std::move(resume), event_time_ms});
}

bool SourceThread::DeadLetter(const Point& point, std::string position, std::string_view record,
                              const Error& error) {
  Result<void> written =
      context_.dead_letters->Add(context_.stream_name, point, position, record, error);
  if (!written) {
    failure_ = std::move(written).error();
    return false;
  }
  context_.metrics->AddDeadLetter();
  return !stopping();
}

// Held back at every sink before anything behind the statement is sent, so no position of these
// tables moves past it.
Result<bool> SourceThread::Park(const UnclearStatement& statement) {
  for (const TablePath& table : statement.tables) {
    if (!Push(HoldBackItem{table, statement.point})) return false;
  }
  if (!statement.follows_another) context_.unclear(statement);
  return !stopping();
}

// A conversion is never a failure: no row is missing, old ones keep what they had.
bool SourceThread::Unseen(const UnseenChange& change) {
  if (context_.fails_on_unseen && !change.is_conversion) {
    failure_ =
        MakeError(ErrorKind::kRefused, "table " + change.table.ToString() + ": " + change.what +
                                           " changed rows and no row event says so "
                                           "(pipeline.rows-without-events: fail)")
            .Position(change.position)
            .Hint(
                "Bring the sink's rows in line by hand, then start once with "
                "rows-without-events: warn, which records the difference and goes on.");
    return false;
  }
  context_.unseen(change);
  return !stopping();
}

}  // namespace driftless
