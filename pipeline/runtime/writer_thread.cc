#include "pipeline/runtime/writer_thread.h"

#include <algorithm>
#include <utility>

#include "schema/base/check.h"

namespace driftless {
namespace {

int64_t BytesOf(const WriterItem& item) {
  const auto* rows = std::get_if<WriteRows>(&item);
  if (rows == nullptr) return 0;
  // A batch that is split over several writers counts once in all of their queues together.
  const int64_t share = static_cast<int64_t>(rows->batch->charged_bytes()) *
                        static_cast<int64_t>(rows->rows.size()) /
                        std::max<int64_t>(rows->batch->size(), 1);
  return share + static_cast<int64_t>(rows->rows.size() * sizeof(uint32_t)) + 256;
}

}  // namespace

WriterThread::WriterThread(Context context)
    : context_(std::move(context)),
      kept_back_(context_.sink_name, context_.metrics),
      reporter_(context_.sink_name, context_.dead_letters, context_.metrics, &kept_back_),
      queue_(context_.queue_bytes_max),
      last_cut_(context_.last_cut) {
  context_.pressure->Register(this);
}

WriterThread::~WriterThread() {
  context_.pressure->Unregister(this);
  Abort();
  Join();
}

bool WriterThread::Push(WriterItem item) {
  const int64_t bytes = BytesOf(item);
  return queue_.Push(std::move(item), bytes);
}

void WriterThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void WriterThread::Abort() { queue_.Abort(); }

void WriterThread::Join() {
  if (thread_.joinable()) thread_.join();
}

void WriterThread::RequestRoll() { queue_.Post(RollLargest{}); }

void WriterThread::Run() {
  using Queue = decltype(queue_);
  while (true) {
    Queue::Taken taken = queue_.Take(Queue::Want::kAll, Queue::Wait::kBlock);
    if (taken.closed) break;
    // After a failure the queue is still emptied, so that nobody waits for room in it.
    Result<void> result;
    if (taken.command.has_value()) {
      if (!failed_) result = Roll();
      context_.pressure->RollDone();
    } else if (!failed_) {
      result = Handle(*taken.item);
    }
    if (!result) {
      failed_ = true;
      context_.failed(std::move(result).error().Context("sink " + context_.sink_name));
    }
  }
  writers_.clear();
  largest_ = 0;
  context_.pressure->Unregister(this);  // nobody waits for a roll that cannot come any more
}

Result<void> WriterThread::Handle(WriterItem& item) {
  if (auto* rows = std::get_if<WriteRows>(&item)) return Write(*rows);
  return Prepare(std::get<PrepareCut>(item));
}

Result<WriterThread::OpenWriter*> WriterThread::Find(const TableEpochPtr& epoch,
                                                     WriterIndex index) {
  OpenWriter& open = writers_[{epoch->key().table, index}];
  if (open.writer != nullptr) {
    // A writer of an older generation has been prepared and closed by the schema cut between.
    DRIFTLESS_CHECK(open.epochs.back()->generation() == epoch->generation());
    if (open.epochs.back() != epoch) open.epochs.push_back(epoch);
    return &open;
  }
  open.epochs = {epoch};
  WriterContext context;
  context.identity.pipeline = context_.pipeline;
  context.identity.sink = context_.sink_name;
  context.identity.table = epoch->key().table;
  context.identity.cut = last_cut_ + 1;
  context.identity.attempt = context_.attempt;
  context.clock = context_.clock;
  context.budget = context_.budget;
  context.reporter = &reporter_;
  const std::shared_ptr<std::mutex> mutex = context_.table_mutex(epoch->key().table);
  const std::lock_guard<std::mutex> lock(*mutex);
  DRIFTLESS_ASSIGN_OR_RETURN(open.writer,
                             context_.sink->OpenWriter(epoch->evolved(), index, context));
  return &open;
}

Result<void> WriterThread::Write(WriteRows& rows) {
  const auto in_table = [&](Error error) {
    return std::move(error).Context("table " + rows.epoch->key().table.ToString());
  };
  Result<OpenWriter*> open = Find(rows.epoch, rows.index);
  if (!open) return in_table(std::move(open).error());
  (*open)->has_rows = true;
  Result<void> written = (*open)->writer->Write(rows.batch, *rows.projection, rows.rows);
  if (!written) return in_table(std::move(written).error());
  DRIFTLESS_TRY(reporter_.Check());
  kept_back_.Take(*rows.epoch, *rows.batch, *rows.projection, rows.rows, &(*open)->kept_back);
  const int64_t bytes = (*open)->writer->buffered_bytes();
  if (bytes > largest_.load(std::memory_order_relaxed)) largest_ = bytes;
  if (context_.budget->IsTight()) context_.pressure->Relieve();
  return {};
}

Result<void> WriterThread::Prepare(const PrepareCut& barrier) {
  last_cut_ = std::max(last_cut_, barrier.cut);
  std::vector<PreparedTable> prepared;
  for (auto it = writers_.begin(); it != writers_.end();) {
    const TablePath& table = it->first.table;
    OpenWriter& open = it->second;
    const bool takes_part =
        barrier.table.has_value() ? *barrier.table == table : !barrier.left_behind->contains(table);
    if (!takes_part) {
      ++it;
      continue;
    }
    if (open.has_rows) {
      Result<PreparedPart> part = open.writer->Prepare(barrier.cut);
      if (!part) return std::move(part).error().Context("table " + table.ToString());
      open.has_rows = false;
      if (prepared.empty() || prepared.back().epoch->key() != open.epochs.back()->key()) {
        prepared.push_back({open.epochs.back(), {}, {}});
      }
      for (const auto& [column, rows] : std::exchange(open.kept_back, {})) {
        prepared.back().kept_back[column] += rows;
      }
      part->writer = it->first.index;
      prepared.back().parts.push_back(std::move(*part));
    }
    it = barrier.table.has_value() ? writers_.erase(it) : std::next(it);
  }
  MeasureLargest();
  DRIFTLESS_TRY(reporter_.Sync());
  context_.prepared(barrier.cut, std::move(prepared));
  return {};
}

Result<void> WriterThread::Roll() {
  const auto largest =
      std::max_element(writers_.begin(), writers_.end(), [](const auto& a, const auto& b) {
        return a.second.writer->buffered_bytes() < b.second.writer->buffered_bytes();
      });
  if (largest == writers_.end()) return {};
  Result<void> rolled = largest->second.writer->Roll();
  if (!rolled) {
    return std::move(rolled).error().Context("table " + largest->first.table.ToString());
  }
  MeasureLargest();
  return {};
}

void WriterThread::MeasureLargest() {
  int64_t largest = 0;
  for (const auto& [key, open] : writers_) {
    largest = std::max(largest, open.writer->buffered_bytes());
  }
  largest_ = largest;
}

}  // namespace driftless
