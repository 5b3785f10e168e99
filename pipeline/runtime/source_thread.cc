#include "pipeline/runtime/source_thread.h"

#include <limits>
#include <optional>
#include <utility>

#include "pipeline/runtime/rename_split.h"
#include "schema/base/json_writer.h"
#include "schema/types/value_text.h"

namespace driftless {

void SourceThread::Start() {
  thread_ = std::thread([this] {
    Result<void> result = SwitchAtStart();
    if (result) {
      result = context_.source->Run(context_.stream, context_.stream_index, context_.from, this);
    }
    if (failure_.has_value()) result = *failure_;
    context_.ended(std::move(result));
  });
}

void SourceThread::Join() {
  if (thread_.joinable()) thread_.join();
}

bool SourceThread::Push(const Item& item, const SinkChoice& choice) {
  for (Inlet* inlet : context_.inlets) {
    if (!choice.Has(inlet->sink_name())) continue;
    if (stopping() || !inlet->Push(item)) return false;
  }
  return true;
}

bool SourceThread::Changes(ChangeBatchPtr batch) {
  if (batch == nullptr) return !stopping();
  return context_.transforms == nullptr ? Send(std::move(batch)) : Transform(batch);
}

bool SourceThread::Send(ChangeBatchPtr batch) {
  if (context_.budget->IsOver()) {
    context_.pressure->Relieve();
    context_.budget->WaitUntilBelow();
  }
  return Push(BatchItem{Charge(std::move(batch), context_.budget)}, choice_);
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
  if (!Switch(change->point)) return false;
  const int64_t now_ms = context_.clock->NowMillis();
  if (const RenameTable* rename = FindRename(*change)) {
    if (!context_.source->Captures(change->table)) {
      change = SplitRename(*change, *rename).appears;
    } else if (!context_.source->Captures(rename->to)) {
      change = Left(*change, *rename);
    }
  }
  return Tell(std::move(change), std::move(position), now_ms);
}

// ---- transforms --------------------------------------------------------------------------------

bool SourceThread::Stop(Error error) {
  failure_ = std::move(error);
  return false;
}

// The tables whose transforms were changed follow before anything behind their points.
bool SourceThread::Switch(const Point& point) {
  if (context_.transforms == nullptr) return !stopping();
  Result<std::vector<StatementChangePtr>> changes = context_.transforms->SwitchesBefore(point);
  if (!changes) return Stop(std::move(changes).error());
  for (StatementChangePtr& change : *changes) {
    if (!Push(SchemaItem{std::move(change), "(start)", context_.clock->NowMillis()})) return false;
  }
  return true;
}

// A stream that stands where its sinks stand may be idle: what was changed need not wait for rows.
Result<void> SourceThread::SwitchAtStart() {
  const std::optional<Point> last = context_.from.Last(context_.stream);
  if (context_.transforms == nullptr || !last) return {};
  Point next = *last;
  next.part = std::numeric_limits<uint32_t>::max();
  if (!Switch(next) && failure_.has_value()) return *failure_;
  return {};
}

bool SourceThread::Tell(StatementChangePtr change, std::string position, int64_t now_ms) {
  if (context_.transforms != nullptr) {
    Result<StatementChangePtr> made = context_.transforms->Apply(change);
    if (!made) return Stop(std::move(made).error().Position(position));
    if (*made == nullptr) {
      context_.metrics->AddUnseenChange();
      return !stopping();
    }
    change = *std::move(made);
  }
  return Push(SchemaItem{std::move(change), std::move(position), now_ms}, choice_);
}

namespace {

// A source row for people: the image that there is, as JSON.
std::string RowText(const ChangeBatch& batch, int64_t row) {
  const bool before = batch.ops()[static_cast<size_t>(row)] == Op::kDelete;
  const std::span<const ColumnView> columns = before ? batch.before() : batch.after();
  std::string text = "{";
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = batch.schema()->columns[i];
    if (columns[i].IsAbsent(row)) continue;
    if (text.size() > 1) text += ',';
    AppendJsonString(column.name, &text);
    text += ':';
    AppendJson(column.type, columns[i], row, {}, &text);
  }
  return text + "}";
}

}  // namespace

bool SourceThread::Transform(const ChangeBatchPtr& batch) {
  if (!Switch(batch->last_point())) return false;
  Result<TransformStage::Output> made = context_.transforms->Apply(batch);
  if (!made) return Stop(std::move(made).error());
  for (const TableTransform::BadRow& bad : made->bad_rows) {
    const Point point = batch->point(bad.row);
    if (!DeadLetter(point, point.ToString(), RowText(*batch, bad.row),
                    MakeError(ErrorKind::kInvalidInput, bad.what))) {
      return false;
    }
  }
  context_.metrics->AddFiltered(made->filtered);
  context_.metrics->AddTransformNulls(made->nulled);
  for (ChangeBatchPtr& output : made->batches) {
    if (!Send(std::move(output))) return false;
  }
  return !stopping();
}

bool SourceThread::Progress(const Point& point, std::string resume, int64_t event_time_ms) {
  if (!Switch(point)) return false;
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
